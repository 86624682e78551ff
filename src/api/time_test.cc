#include "api/time.h"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(Time, ZeroIsTheYearOne) {
  EXPECT_TRUE(Time().IsZero());
  EXPECT_EQ(Time().Format(), "0001-01-01T00:00:00Z");
  EXPECT_EQ(Time::Parse("0001-01-01T00:00:00Z"), Time());
  EXPECT_FALSE(Time::FromUnixNano(0).IsZero());
}

TEST(Time, Parses) {
  struct Case {
    const char* name;
    const char* in;
    const char* out;
    int64_t nanos;
  };
  const std::vector<Case> cases = {
      {"UTC", "2025-01-01T00:00:00Z", "2025-01-01T00:00:00Z", 1735689600000000000},
      {"an offset", "2025-01-01T02:00:00+02:00", "2025-01-01T00:00:00Z", 1735689600000000000},
      {"an offset back", "2024-12-31T18:30:00-05:30", "2025-01-01T00:00:00Z", 1735689600000000000},
      {"a fraction, which is not printed", "2025-01-01T00:00:00.25Z", "2025-01-01T00:00:00Z",
       1735689600250000000},
      {"digits beyond nanoseconds", "2025-01-01T00:00:00.1234567899Z", "2025-01-01T00:00:00Z",
       1735689600123456789},
      {"a comma", "2025-01-01T00:00:00,5Z", "2025-01-01T00:00:00Z", 1735689600500000000},
      {"an hour of one digit", "2025-01-01T1:00:00Z", "2025-01-01T01:00:00Z", 1735693200000000000},
      {"a leap day", "2024-02-29T12:00:00Z", "2024-02-29T12:00:00Z", 1709208000000000000},
      {"before 1970", "1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", -500000000},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Result<Time> time = Time::Parse(c.in);
    ASSERT_TRUE(time) << time.error().Message();
    EXPECT_EQ(time->Format(), c.out);
    EXPECT_EQ(time->UnixNano(), c.nanos);
    EXPECT_EQ(Time::FromUnixNano(c.nanos), *time);
  }
}

TEST(Time, SaysWhatIsWrong) {
  struct Case {
    const char* in;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"now",
       "parsing time \"now\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"now\" as \"2006\""},
      {"2025-01-01",
       "parsing time \"2025-01-01\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"\" as \"T\""},
      {"2025-13-01T00:00:00Z", "parsing time \"2025-13-01T00:00:00Z\": month out of range"},
      {"2025-02-29T00:00:00Z", "parsing time \"2025-02-29T00:00:00Z\": day out of range"},
      {"2025-01-01T00:00:00Zx", "parsing time \"2025-01-01T00:00:00Zx\": extra text: \"x\""},
      {"2025-01-01T00:00:00+25:00",
       "parsing time \"2025-01-01T00:00:00+25:00\": time zone offset hour out of range"},
      {"\"\xC3\xA9\n",
       "parsing time \"\\\"\\xc3\\xa9\\x0a\" as \"2006-01-02T15:04:05Z07:00\": cannot parse "
       "\"\\\"\\xc3\\xa9\\x0a\" as \"2006\""},
  };
  for (const Case& c : cases) {
    const Result<Time> time = Time::Parse(c.in);
    ASSERT_FALSE(time) << c.in;
    EXPECT_EQ(time.error().Message(), c.error);
  }
}

TEST(Time, PrintsFractionsOnRequest) {
  EXPECT_EQ(Time::FromUnixNano(1735689600250000000).FormatNano(), "2025-01-01T00:00:00.25Z");
  EXPECT_EQ(Time::FromUnixNano(1735689600000000000).FormatNano(), "2025-01-01T00:00:00Z");
}

TEST(Time, Orders) {
  EXPECT_LT(Time(), Time::FromUnixNano(0));
  EXPECT_LT(Time::FromUnixNano(1), Time::FromUnixNano(2));
  EXPECT_LT(Time::FromUnixNano(-1), Time::FromUnixNano(0));
}

TEST(MicroTime, NeedsSixDigits) {
  EXPECT_EQ(MicroTime::Parse("2025-01-01T00:00:00.123456Z")->Format(),
            "2025-01-01T00:00:00.123456Z");
  EXPECT_EQ(MicroTime::Parse("2025-01-01T00:00:00.000000Z")->Format(),
            "2025-01-01T00:00:00.000000Z");
  EXPECT_EQ(MicroTime::Parse("2025-01-01T00:00:00.5Z").error().Message(),
            "parsing time \"2025-01-01T00:00:00.5Z\" as \"2006-01-02T15:04:05.000000Z07:00\": "
            "cannot parse \".5Z\" as "
            "\".000000\"");
  EXPECT_EQ(MicroTime::Parse("2025-01-01T00:00:00.1234567Z").error().Message(),
            "parsing time \"2025-01-01T00:00:00.1234567Z\" as "
            "\"2006-01-02T15:04:05.000000Z07:00\": cannot parse "
            "\"7Z\" as \"Z07:00\"");
}

TEST(Duration, ParsesAndPrints) {
  struct Case {
    const char* in;
    int64_t ns;
    const char* out;
  };
  const std::vector<Case> cases = {
      {"0", 0, "0s"},
      {"1.5h", 5400000000000, "1h30m0s"},
      {"90s", 90000000000, "1m30s"},
      {"-2ms", -2000000, "-2ms"},
      {"1us", 1000, "1\xC2\xB5s"},
      {"1\xCE\xBCs", 1000, "1\xC2\xB5s"},
      {"1.0000000019s", 1000000001, "1.000000001s"},
      {".5s", 500000000, "500ms"},
      {"999ns", 999, "999ns"},
      {"2562047h47m16.854775807s", std::numeric_limits<int64_t>::max(), "2562047h47m16.854775807s"},
      {"-2562047h47m16.854775808s", std::numeric_limits<int64_t>::min(),
       "-2562047h47m16.854775808s"},
  };
  for (const Case& c : cases) {
    const Result<Duration> duration = Duration::Parse(c.in);
    ASSERT_TRUE(duration) << c.in;
    EXPECT_EQ(duration->ns, c.ns);
    EXPECT_EQ(duration->Format(), c.out);
  }
}

TEST(Duration, SaysWhatIsWrong) {
  EXPECT_EQ(Duration::Parse("").error().Message(), "time: invalid duration \"\"");
  EXPECT_EQ(Duration::Parse("1").error().Message(), "time: missing unit in duration \"1\"");
  EXPECT_EQ(Duration::Parse("1d").error().Message(), "time: unknown unit \"d\" in duration \"1d\"");
  EXPECT_EQ(Duration::Parse(".s").error().Message(), "time: invalid duration \".s\"");
  EXPECT_EQ(Duration::Parse("10000000h").error().Message(), "time: invalid duration \"10000000h\"");
  EXPECT_FALSE(Duration::Parse("2562047h47m16.854775808s"));
}

}  // namespace
}  // namespace berth::api
