#include "cel/semver.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::cel {
namespace {

TEST(Semver, OrdersByPrecedence) {
  // The order of semver.org's own example, and what surrounds it.
  const char* ascending[] = {"0.9.9",      "1.0.0-alpha",  "1.0.0-alpha.1", "1.0.0-alpha.beta",
                             "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1",
                             "1.0.0",      "1.0.1",        "1.1.0",         "2.0.0"};
  for (size_t i = 0; i < std::size(ascending); ++i) {
    for (size_t j = 0; j < std::size(ascending); ++j) {
      const int want = i < j ? -1 : (i > j ? 1 : 0);
      EXPECT_EQ(Semver::Parse(ascending[i])->Compare(*Semver::Parse(ascending[j])), want)
          << ascending[i] << " and " << ascending[j];
    }
  }
  EXPECT_EQ(Semver::Parse("1.0.0+a")->Compare(*Semver::Parse("1.0.0+b")), 0);
}

TEST(Semver, SaysWhatIsWrong) {
  struct Row {
    const char* text;
    const char* error;
  };
  static constexpr Row kRows[] = {
      {"", "Version string empty"},
      {"1.2", "No Major.Minor.Patch elements found"},
      {"a.2.3", "Invalid character(s) found in major number \"a\""},
      {"1.02.3", "Minor number must not contain leading zeroes \"02\""},
      {"1.2.x", "Invalid character(s) found in patch number \"x\""},
      {"1.2.3-", "Prerelease is empty"},
      {"1.2.3-01", "Numeric PreRelease version must not contain leading zeroes \"01\""},
      {"1.2.3-a_b", "Invalid character(s) found in prerelease \"a_b\""},
      {"1.2.3+", "Build meta data is empty"},
      {"1.2.3+a_b", "Invalid character(s) found in build meta data \"a_b\""},
      {"99999999999999999999.0.0",
       "strconv.ParseUint: parsing \"99999999999999999999\": value out of range"},
      {".1.2", "strconv.ParseUint: parsing \"\": invalid syntax"},
  };
  for (const Row& row : kRows) {
    const auto version = Semver::Parse(row.text);
    ASSERT_FALSE(version) << row.text;
    EXPECT_EQ(version.error().Message(), row.error) << row.text;
  }
}

TEST(Semver, TolerantParsingFillsInAndStrips) {
  for (const char* text : {"v1.2", "1.2", "01.02.0", "v1.2.0"}) {
    const auto version = Semver::ParseTolerant(text);
    ASSERT_TRUE(version) << text;
    EXPECT_EQ(version->Compare(*Semver::Parse("1.2.0")), 0) << text;
  }
  EXPECT_FALSE(Semver::ParseTolerant("1.2-rc"));
  EXPECT_FALSE(Semver::ParseTolerant(""));
}

}  // namespace
}  // namespace berth::cel
