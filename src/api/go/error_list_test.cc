#include "api/go/error_list.h"

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(ErrorList, Joins) {
  EXPECT_EQ(JoinErrors({}), "");
  EXPECT_EQ(JoinErrors({"a"}), "a");
  EXPECT_EQ(JoinErrors({"a", "b", "a"}), "[a, b]");
  EXPECT_EQ(JoinErrors({"a", "a"}), "a");
}

TEST(ErrorList, Words) {
  EXPECT_EQ(InvalidString("", "a\"b", "why"), "<nil>: Invalid value: \"a\\\"b\": why");
  EXPECT_EQ(InvalidList("p", {}, "why"), "p: Invalid value: null: why");
  EXPECT_EQ(InvalidList("p", {"a", "<"}, "why"), "p: Invalid value: [\"a\",\"\\u003c\"]: why");
  EXPECT_EQ(UnsupportedValue("p", "x", {"a", "b"}),
            "p: Unsupported value: \"x\": supported values: \"a\", \"b\"");
}

}  // namespace
}  // namespace berth::api
