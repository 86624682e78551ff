#include "api/rules/qualified_name.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(QualifiedName, ErrorsAgreeWithTheQuickCheck) {
  struct Case {
    std::string text;
    size_t errors;
  };
  const std::vector<Case> cases = {
      {"app", 0},
      {"example.com/app", 0},
      {"a.b_c-d", 0},
      {"A1", 0},
      {"", 2},
      {"-a", 1},
      {"a-", 1},
      {"a b", 1},
      {"/a", 1},
      {"a/", 2},
      {"a/b/c", 1},
      {"Example.com/a", 1},
      {"a..b/c", 1},
      {"a-.b/c", 1},
      {"a.-b/c", 1},
      {".a/c", 1},
      {"a./c", 1},
      {std::string(63, 'a'), 0},
      {std::string(64, 'a'), 1},
      {std::string(253, 'a') + "/a", 0},
      {std::string(254, 'a') + "/a", 1},
      {std::string("a\0b", 3), 1},
      {"\xC3\xA9", 1},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(QualifiedNameErrors(c.text).size(), c.errors) << c.text;
    EXPECT_EQ(IsQualifiedName(c.text), c.errors == 0) << c.text;
  }
}

TEST(LabelValue, ErrorsAgreeWithTheQuickCheck) {
  const std::vector<std::pair<std::string, size_t>> cases = {
      {"", 0}, {"a", 0}, {"a.b_c-d", 0}, {"-a", 1}, {"a/b", 1}, {std::string(64, '-'), 2}};
  for (const auto& [text, errors] : cases) {
    EXPECT_EQ(LabelValueErrors(text).size(), errors) << text;
    EXPECT_EQ(IsLabelValue(text), errors == 0) << text;
  }
}

TEST(QualifiedName, SaysWhy) {
  EXPECT_EQ(QualifiedNameErrors(std::string(64, 'a')),
            std::vector<std::string>{"name part must be no more than 63 characters"});
  EXPECT_EQ(QualifiedNameErrors("/a"), std::vector<std::string>{"prefix part must be non-empty"});
}

}  // namespace
}  // namespace berth::api
