#include "apiserver/registry/time_zone.h"

#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "api/time.h"

namespace berth::apiserver {
namespace {

int64_t Seconds(const char* time) { return api::Time::Parse(time)->seconds; }

TEST(TimeZoneTest, OffsetsAndTheirChanges) {
  const auto zone = TimeZone::Load("Europe/Berlin");
  ASSERT_TRUE(zone);
  EXPECT_EQ(zone->Offset(Seconds("2024-01-01T00:00:00Z")), 3600);
  EXPECT_EQ(zone->Offset(Seconds("2024-03-31T00:59:59Z")), 3600);
  EXPECT_EQ(zone->Offset(Seconds("2024-03-31T01:00:00Z")), 7200);
  EXPECT_EQ(zone->NextChange(Seconds("2024-03-31T01:00:00Z")), Seconds("2024-10-27T01:00:00Z"));
  EXPECT_EQ(zone->NextChange(Seconds("2050-01-01T00:00:00Z")), Seconds("2050-03-27T01:00:00Z"));
  EXPECT_EQ(TimeZone().Offset(0), 0);
  EXPECT_FALSE(TimeZone().NextChange(0));
}

TEST(TimeZoneTest, UnknownNames) {
  for (const char* name : {"Nowhere/Land", "", "/etc/passwd", "../../../etc/passwd", "Europe",
                           "Europe/", "europe//berlin", "Europe/Berlin\n", "tzdata.zi"}) {
    const auto zone = TimeZone::Load(name);
    ASSERT_FALSE(zone) << name;
    EXPECT_EQ(zone.error().Message(), std::string("unknown time zone ") + name);
  }
}

// A file by hand: one offset, no change but those of its rule.
std::string File(std::string_view rule) {
  const auto header = [](char types) {
    return std::string("TZif2") + std::string(15 + 16, '\0') + std::string("\0\0\0", 3) + types +
           std::string("\0\0\0\x04", 4);
  };
  const std::string type("\0\0\x0e\x10\0\0CET\0", 10);
  return header(1) + type + header(1) + type + "\n" + std::string(rule) + "\n";
}

TEST(TimeZoneTest, Rules) {
  struct Row {
    const char* what;
    const char* rule;
    const char* after;
    const char* change;  // null: none
    int64_t offset;      // since then
  };
  const Row rows[] = {
      {"no daylight saving", "CET-1", "2024-01-01T00:00:00Z", nullptr, 3600},
      {"the last Sunday", "CET-1CEST,M3.5.0,M10.5.0/3", "2024-01-01T00:00:00Z",
       "2024-03-31T01:00:00Z", 7200},
      {"a numbered one, west of UTC", "EST5EDT,M3.2.0,M11.1.0", "2024-04-01T00:00:00Z",
       "2024-11-03T06:00:00Z", -18000},
      {"quoted names, minutes, an offset of its own", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
       "2024-05-01T00:00:00Z", "2024-10-05T15:30:00Z", 39600},
      {"times beyond the day", "EET-2EEST,M3.4.4/50,M10.4.4/50", "2024-01-01T00:00:00Z",
       "2024-03-30T00:00:00Z", 10800},
      {"a negative time", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2024-01-01T00:00:00Z",
       "2024-03-31T01:00:00Z", -3600},
      {"nonsense", "CET-1CEST,nonsense", "2024-01-01T00:00:00Z", nullptr, 3600},
      {"a month there is not", "CET-1CEST,M13.5.0,M10.5.0", "2024-01-01T00:00:00Z", nullptr, 3600},
      {"nothing", "", "2024-01-01T00:00:00Z", nullptr, 3600},
  };
  for (const Row& row : rows) {
    const auto zone = TimeZone::Parse(File(row.rule));
    ASSERT_TRUE(zone) << row.what;
    const auto change = zone->NextChange(Seconds(row.after));
    ASSERT_EQ(change.has_value(), row.change != nullptr) << row.what;
    if (change) {
      EXPECT_EQ(*change, Seconds(row.change)) << row.what;
    }
    EXPECT_EQ(zone->Offset(change.value_or(0)), row.offset) << row.what;
  }
}

TEST(TimeZoneTest, FilesThatAreCutOffOrNonsense) {
  std::ifstream file("/usr/share/zoneinfo/Europe/Berlin", std::ios::binary);
  std::stringstream whole;
  whole << file.rdbuf();
  const std::string bytes = whole.str();
  ASSERT_TRUE(TimeZone::Parse(bytes));
  for (size_t size = 0; size < bytes.size(); ++size) (void)TimeZone::Parse(bytes.substr(0, size));
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string other = bytes;
    other[at] = static_cast<char>(other[at] ^ 0xff);
    if (const auto zone = TimeZone::Parse(other)) (void)zone->Offset(0);
  }
  EXPECT_FALSE(TimeZone::Parse(""));
  EXPECT_FALSE(TimeZone::Parse(bytes.substr(0, 100)));
}

}  // namespace
}  // namespace berth::apiserver
