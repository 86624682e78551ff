// Texts of flags: what they mean, and what Go says of those that mean nothing.
#include "cli/scheduler/flags_values.h"

#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli::scheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The value, or the error with "!" in front.
template <class T>
std::string Show(const Result<T>& result) {
  if (!result) return "!" + result.error().Message();
  if constexpr (std::is_same_v<T, std::string>) {
    return *result;
  } else if constexpr (std::is_same_v<T, bool>) {
    return *result ? "true" : "false";
  } else {
    return std::to_string(*result);
  }
}

TEST(FlagValuesTest, Integers) {
  struct Row {
    const char* text;
    int bits;
    const char* shown;
  };
  const Row rows[] = {
      {"0", 64, "0"},
      {"-7", 64, "-7"},
      {"+7", 64, "7"},
      {"0x1F_0", 64, "496"},
      {"0b101", 64, "5"},
      {"0o17", 64, "15"},
      {"017", 64, "15"},
      {"0_7", 64, "7"},
      {"1_000", 64, "1000"},
      {"9223372036854775807", 64, "9223372036854775807"},
      {"-9223372036854775808", 64, "-9223372036854775808"},
      {"2147483647", 32, "2147483647"},
      {"-2147483648", 32, "-2147483648"},
      {"", 64, "!strconv.ParseInt: parsing \"\": invalid syntax"},
      {"-", 64, "!strconv.ParseInt: parsing \"-\": invalid syntax"},
      {"abc", 64, "!strconv.ParseInt: parsing \"abc\": invalid syntax"},
      {"08", 64, "!strconv.ParseInt: parsing \"08\": invalid syntax"},
      {"0x", 64, "!strconv.ParseInt: parsing \"0x\": invalid syntax"},
      {"1__0", 64, "!strconv.ParseInt: parsing \"1__0\": invalid syntax"},
      {"_1", 64, "!strconv.ParseInt: parsing \"_1\": invalid syntax"},
      {"1_", 64, "!strconv.ParseInt: parsing \"1_\": invalid syntax"},
      {"2147483648", 32, "!strconv.ParseInt: parsing \"2147483648\": value out of range"},
      {"9223372036854775808", 64,
       "!strconv.ParseInt: parsing \"9223372036854775808\": value out of range"},
      {"99999999999999999999", 64,
       "!strconv.ParseInt: parsing \"99999999999999999999\": value out of range"},
  };
  for (const Row& row : rows) EXPECT_EQ(Show(ParseInt(row.text, row.bits)), row.shown);
}

TEST(FlagValuesTest, UnsignedIntegers) {
  EXPECT_EQ(Show(ParseUint("2147483647", 31)), "2147483647");
  EXPECT_EQ(Show(ParseUint("18446744073709551615", 64)), "18446744073709551615");
  EXPECT_EQ(Show(ParseUint("2147483648", 31)),
            "!strconv.ParseUint: parsing \"2147483648\": value out of range");
  EXPECT_EQ(Show(ParseUint("-1", 31)), "!strconv.ParseUint: parsing \"-1\": invalid syntax");
  EXPECT_EQ(Show(ParseUint("0x1", 31)), "!strconv.ParseUint: parsing \"0x1\": invalid syntax");
  EXPECT_EQ(Show(ParseUint("1_0", 31)), "!strconv.ParseUint: parsing \"1_0\": invalid syntax");
}

TEST(FlagValuesTest, Truth) {
  for (const char* text : {"1", "t", "T", "true", "TRUE", "True"}) {
    EXPECT_EQ(Show(ParseBool(text)), "true");
  }
  for (const char* text : {"0", "f", "F", "false", "FALSE", "False"}) {
    EXPECT_EQ(Show(ParseBool(text)), "false");
  }
  EXPECT_EQ(Show(ParseBool("tRUE")), "!strconv.ParseBool: parsing \"tRUE\": invalid syntax");
}

TEST(FlagValuesTest, Reals) {
  EXPECT_EQ(*ParseFloat32("0.1"), 0.1f);
  EXPECT_EQ(*ParseFloat32("+5e1"), 50.0f);
  EXPECT_EQ(*ParseFloat32("-.5"), -0.5f);
  EXPECT_EQ(*ParseFloat32("1e-999"), 0.0f);
  EXPECT_EQ(*ParseFloat32("1_0.2_5"), 10.25f);
  EXPECT_TRUE(std::isinf(*ParseFloat32("inf")));
  EXPECT_EQ(Show(ParseFloat32("1__0")), "!strconv.ParseFloat: parsing \"1__0\": invalid syntax");
  EXPECT_EQ(Show(ParseFloat32("_1")), "!strconv.ParseFloat: parsing \"_1\": invalid syntax");
  EXPECT_EQ(Show(ParseFloat32("1e99")),
            "!strconv.ParseFloat: parsing \"1e99\": value out of range");
  EXPECT_EQ(Show(ParseFloat32("1e999")),
            "!strconv.ParseFloat: parsing \"1e999\": value out of range");
  EXPECT_EQ(Show(ParseFloat32("abc")), "!strconv.ParseFloat: parsing \"abc\": invalid syntax");
  EXPECT_EQ(Show(ParseFloat32("")), "!strconv.ParseFloat: parsing \"\": invalid syntax");
  EXPECT_EQ(Show(ParseFloat32("+-1")), "!strconv.ParseFloat: parsing \"+-1\": invalid syntax");
}

TEST(FlagValuesTest, Addresses) {
  EXPECT_EQ(Show(ParseIp("127.0.0.1")), "127.0.0.1");
  EXPECT_EQ(Show(ParseIp(" ::1 ")), "::1");
  EXPECT_EQ(Show(ParseIp("2001:DB8:0:0::1")), "2001:db8::1");
  EXPECT_EQ(Show(ParseIp("::ffff:1.2.3.4")), "1.2.3.4");
  EXPECT_EQ(Show(ParseIp("foo")), "!failed to parse IP: \"foo\"");
  EXPECT_EQ(Show(ParseIp("1.2.3.04")), "!failed to parse IP: \"1.2.3.04\"");
  EXPECT_EQ(Show(ParseIp("fe80::1%eth0")), "!failed to parse IP: \"fe80::1%eth0\"");
}

TEST(FlagValuesTest, CommaSeparated) {
  struct Row {
    const char* text;
    std::vector<std::string> fields;
    const char* error;
  };
  const char* bare = "bare \" in non-quoted-field";
  const Row rows[] = {
      {"", {}, ""},
      {"a", {"a"}, ""},
      {"a,,b ", {"a", "", "b "}, ""},
      {",", {"", ""}, ""},
      {R"("a,b",c)", {"a,b", "c"}, ""},
      {R"("a""b")", {"a\"b"}, ""},
      {"\"a\nb\",c", {"a\nb", "c"}, ""},
      {"a\nb", {"a"}, ""},
      {"\n\na,b", {"a", "b"}, ""},
      {"a\"b", {}, "parse error on line 1, column 2: "},
      {"\"a", {}, "parse error on line 1, column 3: "},
      {"\"a\"b", {}, "parse error on line 1, column 3: "},
      {"\n", {}, "EOF"},
  };
  for (const Row& row : rows) {
    const auto read = ReadCsv(row.text);
    ASSERT_EQ(read.has_value(), *row.error == 0) << row.text;
    if (read) {
      EXPECT_EQ(*read, row.fields) << row.text;
    } else {
      EXPECT_THAT(read.error().Message(), ::testing::StartsWith(row.error)) << row.text;
    }
  }
  EXPECT_THAT(ReadCsv("a\"").error().Message(), ::testing::EndsWith(bare));
  EXPECT_EQ(ReadCsv("\"a\nb").error().Message(),
            "record on line 1; parse error on line 2, column 2: extraneous or missing \" in "
            "quoted-field");
}

TEST(FlagValuesTest, CommaSeparatedBack) {
  EXPECT_EQ(WriteCsv({}), "");
  EXPECT_EQ(WriteCsv({"a", "b c", " d", "e\"f", "g,h", ""}), R"(a,b c," d","e""f","g,h",)");
}

TEST(FlagValuesTest, Maps) {
  EXPECT_THAT(*ParseStringToString("m,l=a"), ElementsAre(Pair("m,l", "a")));
  EXPECT_THAT(*ParseStringToString(R"("m,l=a,b")"), ElementsAre(Pair("m,l", "a,b")));
  EXPECT_THAT(*ParseStringToString(R"("m,l=a,b",x=y)"),
              ElementsAre(Pair("m,l", "a,b"), Pair("x", "y")));
  EXPECT_EQ(ParseStringToString("x").error().Message(), "x must be formatted as key=value");
  EXPECT_EQ(ParseStringToString("a=b,c,d=e").error().Message(), "c must be formatted as key=value");
  std::map<std::string, std::vector<std::string>> gates;
  AddColonSeparated("A=true, kube : B=false ,,C=x:y", &gates);
  EXPECT_THAT(gates, ElementsAre(Pair("", ElementsAre("A=true")), Pair("C=x", ElementsAre("y")),
                                 Pair("kube", ElementsAre("B=false"))));
}

TEST(FlagValuesTest, Certificates) {
  const auto key = ParseSniCertKey(" a , b : c , *.d ");
  ASSERT_TRUE(key);
  EXPECT_EQ(key->cert_file, "a");
  EXPECT_EQ(key->key_file, "b");
  EXPECT_THAT(key->names, ElementsAre("c", "*.d"));
  EXPECT_EQ(FormatSniCertKeys({*key, {.names = {}, .cert_file = "x", .key_file = "y"}}),
            "[a,b:c,*.d;x,y]");
  EXPECT_EQ(ParseSniCertKey("a").error().Message(),
            "expected comma separated certificate and key file paths");
  EXPECT_EQ(ParseSniCertKey("a,b:").error().Message(), "empty names list is not allowed");
}

TEST(FlagValuesTest, Modules) {
  EXPECT_EQ(Show(ParseVmoduleFlag("a=1,,b*=02")), "a=1,b*=2");
  EXPECT_EQ(Show(ParseVmoduleFlag("a")), "!\"a\" does not have the pattern=N format");
  EXPECT_EQ(Show(ParseVmoduleFlag("a=1=2")), "!\"a=1=2\" does not have the pattern=N format");
  EXPECT_EQ(Show(ParseVmoduleFlag("a=x")),
            "!parsing verbosity in \"a=x\": strconv.ParseUint: parsing \"x\": invalid syntax");
}

TEST(FlagValuesTest, Versions) {
  struct Row {
    const char* text;
    bool semantic;
    const char* shown;
  };
  const Row rows[] = {
      {"1.33", false, "1.33"},
      {"v1.33", false, "1.33"},
      {" 1.33-foo", false, "1.33"},
      {"1.2.3.4", false, "1.2.3.4"},
      {"1.34.10", true, "1.34.10"},
      {"v1.34.10-rc.1+build.7", true, "1.34.10"},
      {"1", false, "!illegal version string \"1\""},
      {"1.34", true, "!illegal version string \"1.34\""},
      {"v", true, "!could not parse \"v\" as version"},
      {"x", false, "!could not parse \"x\" as version"},
      {"", false, "!could not parse \"\" as version"},
      {"01.2", false, "!illegal zero-prefixed version component \"01\" in \"01.2\""},
      {"1.02", false, "1.2"},
      {"1.2.3-01", true, "!illegal zero-prefixed version component \"01\" in \"1.2.3-01\""},
      {"1.2.3_x", true, "!could not parse pre-release/metadata (_x) in version \"1.2.3_x\""},
      {"1.2.3-a..b", true,
       "!could not parse pre-release/metadata (-a..b) in version \"1.2.3-a..b\""},
  };
  for (const Row& row : rows) {
    const auto version = ParseVersion(row.text, row.semantic);
    EXPECT_EQ(version ? version->Format() : "!" + version.error().Message(), row.shown);
  }
}

}  // namespace
}  // namespace berth::cli::scheduler
