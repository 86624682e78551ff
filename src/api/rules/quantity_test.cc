#include "api/rules/quantity.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

using Format = Quantity::Format;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr const char* kFormatError =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

Quantity Q(std::string_view text) {
  Result<Quantity> q = Quantity::Parse(text);
  EXPECT_TRUE(q) << text;
  return q.value_or(Quantity());
}

TEST(Quantity, DefaultIsZero) {
  const Quantity q;
  EXPECT_TRUE(q.IsZero());
  EXPECT_EQ(q.String(), "0");
  EXPECT_EQ(q.format(), Format::kDecimalSI);
  EXPECT_EQ(q.MilliValue(), 0);
}

TEST(Quantity, ParsesAndPrints) {
  struct Case {
    const char* name;
    const char* in;
    const char* string;
    const char* canonical;
    int64_t value;
    int64_t milli;
    Format format;
  };
  const std::vector<Case> cases = {
      {"a plain number", "2", "2", "2", 2, 2000, Format::kDecimalSI},
      {"thousandths", "1500m", "1500m", "1500m", 2, 1500, Format::kDecimalSI},
      {"a fraction becomes thousandths", "1.5", "1500m", "1500m", 2, 1500, Format::kDecimalSI},
      {"thousands of thousandths become units", "2000m", "2", "2", 2, 2000, Format::kDecimalSI},
      {"a binary suffix", "2Gi", "2Gi", "2Gi", int64_t{2} << 30, (int64_t{2} << 30) * 1000,
       Format::kBinarySI},
      {"a fraction of a binary suffix", "1.5Gi", "1536Mi", "1536Mi", 1610612736, 1610612736000,
       Format::kBinarySI},
      {"less than 1024 is printed without suffix", "0.5Ki", "512", "512", 512, 512000,
       Format::kBinarySI},
      {"an exponent", "12e6", "12e6", "12e6", 12000000, 12000000000, Format::kDecimalExponent},
      {"text that was accepted is kept", "1E3", "1E3", "1e3", 1000, 1000000,
       Format::kDecimalExponent},
      {"a plus is kept too", "+1", "+1", "1", 1, 1000, Format::kDecimalSI},
      {"leading zeros as well", "007", "007", "7", 7, 7000, Format::kDecimalSI},
      {"but not an exponent of zero in canonical form", "1e0", "1e0", "1", 1, 1000,
       Format::kDecimalExponent},
      {"a trailing point", "5.", "5.", "5", 5, 5000, Format::kDecimalSI},
      {"a sign alone is zero", "-", "0", "0", 0, 0, Format::kDecimalSI},
      {"a suffix alone is zero", "m", "0", "0", 0, 0, Format::kDecimalSI},
      {"finer than a nano rounds up", "0.5n", "1n", "1n", 1, 1, Format::kDecimalSI},
      {"and so does a tiny exponent", "1e-100", "1e-9", "1e-9", 1, 1, Format::kDecimalExponent},
      {"negative amounts round away from zero", "-1500m", "-1500m", "-1500m", -2, -1500,
       Format::kDecimalSI},
      {"binary amounts are capped", "10Ei", "9223372036854775807", "9223372036854775807", kMax,
       -1000, Format::kBinarySI},
      {"a fraction of one byte is shown in thousandths", "0.001Ki", "1024m", "1024m", 2, 1024,
       Format::kBinarySI},
      {"beyond int64", "12345678901234567890", "12345678901234567890", "12345678901234567890",
       -6101065172474983726, 1272360074659119696, Format::kDecimalSI},
      {"a suffix beyond exa is lost", "1000E", "1", "1", 0, 0, Format::kDecimalSI},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Quantity q = Q(c.in);
    EXPECT_EQ(q.String(), c.string);
    EXPECT_EQ(q.Canonical(), c.canonical);
    EXPECT_EQ(q.format(), c.format);
    if (q.AsApproxDouble() < 9e15) {
      EXPECT_EQ(q.Value(), c.value);
      EXPECT_EQ(q.MilliValue(), c.milli);
    }
  }
}

TEST(Quantity, Rejects) {
  struct Case {
    const char* name;
    const char* in;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"nothing", "", kFormatError},
      {"a blank before", " 1", kFormatError},
      {"two points", "1..5", kFormatError},
      {"a letter that is in no suffix", "1g", kFormatError},
      {"letters of suffixes that make none", "1ki", "unable to parse quantity's suffix"},
      {"an exponent without digits", "1e+", "unable to parse quantity's suffix"},
      {"an exponent beyond int64", "1e99999999999999999999", "unable to parse quantity's suffix"},
      {"two signs", "--1", "unable to parse quantity's suffix"},
      {"no digits where they are needed", "Ei", "unable to parse numeric part of quantity"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<Quantity> q = Quantity::Parse(c.in);
    ASSERT_FALSE(q);
    EXPECT_EQ(q.error().Message(), c.error);
  }
}

TEST(Quantity, HostileInputCostsLittle) {
  EXPECT_EQ(Q("1e999999999").Canonical(), "1e999999999");
  EXPECT_EQ(Q("1e999999999").Value(), 0);
  EXPECT_EQ(Q("0e999999999").Value(), 0);
  EXPECT_EQ(Q("1e-999999999").Canonical(), "1e-9");
  EXPECT_EQ(Q("1e99999999999").Canonical(), "10e1215752190");  // the exponent has 32 bits
  EXPECT_FALSE(Quantity::Parse("12345678901234567890e999999999"));
  EXPECT_FALSE(Quantity::Parse(std::string(1'000'000, '9')));
  EXPECT_FALSE(Quantity::Parse("0." + std::string(1'000'000, '1')));
  EXPECT_TRUE(Quantity::Parse(std::string(1'000'000, '0')));

  EXPECT_GT(Q("1e999999999"), Q("1"));
  EXPECT_LT(Q("-1e999999999"), Q("12345678901234567890"));
  EXPECT_GT(Q("1e999999999"), Q("12345678901234567890"));
  Quantity sum = Q("1e999999999");
  sum.Add(Q("1"));
  EXPECT_EQ(sum.Canonical(), "1e999999999");
  sum.Sub(Q("12345678901234567890"));
  EXPECT_EQ(sum.Canonical(), "1e999999999");
}

TEST(Quantity, ReadsJson) {
  EXPECT_EQ(Quantity::ParseJson("1.50")->String(), "1500m");
  EXPECT_EQ(Quantity::ParseJson("\"1Gi\"")->String(), "1Gi");
  EXPECT_EQ(Quantity::ParseJson("\" 1 \"")->String(), "1");
  EXPECT_EQ(Quantity::ParseJson("null")->String(), "0");
  EXPECT_FALSE(Quantity::ParseJson("true"));
  EXPECT_FALSE(Quantity::ParseJson("\"\\u0031\""));
  EXPECT_FALSE(Quantity::ParseJson("\""));
}

TEST(Quantity, Compares) {
  struct Case {
    const char* name;
    const char* a;
    const char* b;
    int order;
  };
  const std::vector<Case> cases = {
      {"the same amount in two forms", "1", "1000m", 0},
      {"across formats", "1Ki", "1024", 0},
      {"a fraction above", "1001m", "1", 1},
      {"a fraction below zero", "-1n", "0", -1},
      {"far apart", "1n", "9E", -1},
      {"beyond int64", "99999999999999999999", "9223372036854775807", 1},
      {"beyond int64 and equal", "100000000000000000000", "100E", 0},
      {"zero of any scale", "0e99", "0", 0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Q(c.a).Compare(Q(c.b)), c.order);
    EXPECT_EQ(Q(c.b).Compare(Q(c.a)), -c.order);
    EXPECT_EQ(Q(c.a) == Q(c.b), c.order == 0);
    EXPECT_EQ(Q(c.a) < Q(c.b), c.order < 0);
  }
}

TEST(Quantity, AddsAndSubtracts) {
  struct Case {
    const char* name;
    const char* a;
    const char* b;
    const char* sum;
    const char* difference;
  };
  const std::vector<Case> cases = {
      {"scales meet", "1", "500m", "1500m", "500m"},
      {"the format is that of the first", "1Gi", "1024", "1048577Ki", "1048575Ki"},
      {"of the second if the first is zero", "0", "1Ki", "1Ki", "-1Ki"},
      {"zero changes nothing but forgets the text", "+1", "0", "1", "1"},
      {"out of int64", "9223372036854775807", "1", "9223372036854775808", "9223372036854775806"},
      {"with amounts beyond int64", "100000000000000000000", "1n",
       "100000000000000000000000000001n", "99999999999999999999999999999n"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Quantity sum = Q(c.a);
    sum.Add(Q(c.b));
    EXPECT_EQ(sum.String(), c.sum);
    Quantity difference = Q(c.a);
    difference.Sub(Q(c.b));
    EXPECT_EQ(difference.String(), c.difference);
  }
}

TEST(Quantity, AddsItself) {
  for (const char* text : {"007", "9223372036854775807", "100000000000000000000"}) {
    Quantity q = Q(text);
    q.Add(q);
    Quantity twice = Q(text);
    twice.Add(Q(text));
    EXPECT_EQ(q, twice) << text;
  }
}

TEST(Quantity, CopiesAndMoves) {
  for (const char* text : {"1", "007", "100000000000000000000"}) {
    SCOPED_TRACE(text);
    Quantity a = Q(text);
    Quantity b = a;
    EXPECT_EQ(a.String(), b.String());
    Quantity c = std::move(a);
    EXPECT_EQ(c.String(), b.String());
    b = Quantity::FromMilli(250);
    EXPECT_EQ(b.String(), "250m");
    EXPECT_EQ(c.String(), Q(text).String());
    a = std::move(c);
    EXPECT_EQ(a.String(), Q(text).String());
  }
}

TEST(Quantity, IsApproximatedAsDouble) {
  EXPECT_EQ(Q("1500m").AsApproxDouble(), 1.5);
  EXPECT_EQ(Q("-2Gi").AsApproxDouble(), -2147483648.0);
  EXPECT_EQ(Q("1e100").AsApproxDouble(), 1e100);
  EXPECT_EQ(Q("1e999").AsApproxDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(Q("99999999999999999999999999999999").AsApproxDouble(), 1e32);
}

}  // namespace
}  // namespace berth::api
