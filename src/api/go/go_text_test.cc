#include "api/go/go_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace berth::api {
namespace {

TEST(GoText, FloatsAreTheShortestThatReadBack) {
  struct Case {
    const char* what;
    double value;
    int bits;
    const char* want;
  };
  const Case cases[] = {
      {"a whole number", 50, 64, "50"},
      {"a fraction", 1.5, 64, "1.5"},
      {"the largest exponent without e", 100000, 64, "100000"},
      {"a million has an exponent", 1000000, 64, "1e+06"},
      {"digits do not move the limit", 123456789, 64, "1.23456789e+08"},
      {"a small fraction", 0.0001, 64, "0.0001"},
      {"a smaller one has an exponent", 0.00001, 64, "1e-05"},
      {"fewer digits for a float", 0.1f, 32, "0.1"},
      {"negative", -2.25, 64, "-2.25"},
      {"zero", 0, 64, "0"},
      {"infinity", std::numeric_limits<double>::infinity(), 64, "+Inf"},
  };
  for (const Case& c : cases) EXPECT_EQ(FormatGoFloat(c.value, c.bits), c.want) << c.what;
}

TEST(GoText, JsonNumbersSwitchToExponentsLate) {
  struct Case {
    double value;
    const char* want;
  };
  for (const Case& c :
       {Case{1e20, "100000000000000000000"}, Case{1e21, "1e+21"}, Case{1e-6, "0.000001"},
        Case{1e-7, "1e-7"}, Case{-0.0, "-0"}, Case{123.5, "123.5"}}) {
    std::string out;
    AppendJsonNumber(out, c.value);
    EXPECT_EQ(out, c.want);
  }
}

TEST(GoText, JsonStringsEscapeWhatGoEscapes) {
  struct Case {
    const char* what;
    std::string in;
    const char* want;
  };
  const Case cases[] = {
      {"plain", "abc", R"("abc")"},
      {"quote and backslash", "a\"\\", R"("a\"\\")"},
      {"control characters", std::string("\n\t\b\f\r\x01\0", 7), R"("\n\t\b\f\r\u0001\u0000")"},
      {"HTML", "<&>", R"("\u003c\u0026\u003e")"},
      {"line separators", "\u2028\u2029", R"("\u2028\u2029")"},
      {"other Unicode stays", "é漢😀", "\"é漢😀\""},
      {"broken UTF-8", "a\xff\xc3", R"("a\ufffd\ufffd")"},
      {"surrogates are no UTF-8", "\xed\xa0\x80", R"("\ufffd\ufffd\ufffd")"},
  };
  for (const Case& c : cases) {
    std::string out;
    AppendJsonString(out, c.in);
    EXPECT_EQ(out, c.want) << c.what;
  }
}

TEST(GoText, QuoteIsThatOfPercentQ) {
  EXPECT_EQ(GoQuote("a\"b\\c\n\x01"), R"("a\"b\\c\n\x01")");
  EXPECT_EQ(GoQuote("\u00ad\u2028\ufeff é"), R"("\u00ad\u2028\ufeff é")");
  EXPECT_EQ(GoQuote("\xff"), R"("\xff")");
}

}  // namespace
}  // namespace berth::api
