#include "apiserver/registry/cron.h"

#include <string>

#include <gtest/gtest.h>

#include "api/time.h"

namespace berth::apiserver {
namespace {

TEST(CronScheduleTest, Next) {
  struct Row {
    const char* what;
    const char* schedule;
    const char* after;
    const char* next;
  };
  const Row rows[] = {
      {"every minute", "* * * * *", "2024-01-01T00:00:00Z", "2024-01-01T00:01:00Z"},
      {"the time itself does not count", "30 4 * * *", "2024-01-01T04:30:00Z",
       "2024-01-02T04:30:00Z"},
      {"a step", "*/15 * * * *", "2024-01-01T00:46:10Z", "2024-01-01T01:00:00Z"},
      {"a step from a start", "5/20 * * * *", "2024-01-01T00:26:00Z", "2024-01-01T00:45:00Z"},
      {"lists and ranges", "0 9-11,17 * * *", "2024-01-01T11:00:00Z", "2024-01-01T17:00:00Z"},
      {"names", "0 0 * feb MON", "2024-01-01T00:00:00Z", "2024-02-05T00:00:00Z"},
      {"a day of the month or one of the week", "0 0 13 * 5", "2024-09-01T00:00:00Z",
       "2024-09-06T00:00:00Z"},
      {"a day of the month alone", "0 0 31 * *", "2024-02-01T00:00:00Z", "2024-03-31T00:00:00Z"},
      {"a leap day", "0 0 29 2 *", "2024-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
      {"a shorthand", "@weekly", "2024-01-01T00:00:00Z", "2024-01-07T00:00:00Z"},
      {"a period", "@every 90s", "2024-01-01T00:00:00Z", "2024-01-01T00:01:30Z"},
  };
  for (const Row& row : rows) {
    const auto schedule = CronSchedule::Parse(row.schedule);
    ASSERT_TRUE(schedule) << row.what;
    const auto next = schedule->Next(api::Time::Parse(row.after)->seconds);
    ASSERT_TRUE(next) << row.what;
    EXPECT_EQ(*next, api::Time::Parse(row.next)->seconds) << row.what;
  }
  EXPECT_FALSE(CronSchedule::Parse("0 0 30 2 *")->Next(0)) << "the 30th of February";
}

TEST(CronScheduleTest, NextInATimeZone) {
  struct Row {
    const char* what;
    const char* zone;
    const char* schedule;
    const char* after;
    const char* next;
  };
  const Row rows[] = {
      {"winter in Berlin", "Europe/Berlin", "0 9 * * *", "2024-01-10T00:00:00Z",
       "2024-01-10T08:00:00Z"},
      {"summer in Berlin", "Europe/Berlin", "0 9 * * *", "2024-07-10T00:00:00Z",
       "2024-07-10T07:00:00Z"},
      {"no change of the clock", "Asia/Kolkata", "0 9 * * *", "2024-07-10T00:00:00Z",
       "2024-07-10T03:30:00Z"},
      {"the day is that of the zone", "Asia/Tokyo", "0 1 1 * *", "2024-07-10T00:00:00Z",
       "2024-07-31T16:00:00Z"},
      {"the weekday too", "America/Los_Angeles", "0 20 * * SUN", "2024-07-10T00:00:00Z",
       "2024-07-15T03:00:00Z"},
      {"a time that spring leaves out", "Europe/Berlin", "30 2 * * *", "2024-03-30T12:00:00Z",
       "2024-04-01T00:30:00Z"},
      {"the first moment after it", "Europe/Berlin", "0 3 * * *", "2024-03-30T12:00:00Z",
       "2024-03-31T01:00:00Z"},
      {"every hour of that day", "Europe/Berlin", "0 * * * *", "2024-03-31T00:00:00Z",
       "2024-03-31T01:00:00Z"},
      {"a time that autumn has twice, first", "America/New_York", "30 1 * * *",
       "2024-11-03T00:00:00Z", "2024-11-03T05:30:00Z"},
      {"and again", "America/New_York", "30 1 * * *", "2024-11-03T05:30:00Z",
       "2024-11-03T06:30:00Z"},
      {"and then on the next day", "America/New_York", "30 1 * * *", "2024-11-03T06:30:00Z",
       "2024-11-04T06:30:00Z"},
      {"where summer is in January", "Australia/Lord_Howe", "0 9 * * *", "2024-01-10T00:00:00Z",
       "2024-01-10T22:00:00Z"},
      {"by the rule, far away", "Europe/Berlin", "0 9 1 7 *", "2060-01-01T00:00:00Z",
       "2060-07-01T07:00:00Z"},
      {"UTC", "UTC", "0 9 * * *", "2024-07-10T00:00:00Z", "2024-07-10T09:00:00Z"},
      {"a period needs no zone", "Europe/Berlin", "@every 1h", "2024-03-31T00:30:00Z",
       "2024-03-31T01:30:00Z"},
  };
  for (const Row& row : rows) {
    const auto zone = TimeZone::Load(row.zone);
    ASSERT_TRUE(zone) << row.zone << ": the package tzdata has it";
    const auto schedule = CronSchedule::Parse(row.schedule);
    ASSERT_TRUE(schedule) << row.what;
    const auto next = schedule->Next(api::Time::Parse(row.after)->seconds, *zone);
    ASSERT_TRUE(next) << row.what;
    api::Time time;
    time.seconds = *next;
    EXPECT_EQ(time.Format(), row.next) << row.what;
  }
}

TEST(CronScheduleTest, Refusals) {
  struct Row {
    const char* schedule;
    const char* why;
  };
  const Row rows[] = {
      {"", "empty spec string"},
      {"* * *", "expected exactly 5 fields, found 3: [* * *]"},
      {"60 * * * *", "end of range (60) above maximum (59): 60"},
      {"* * 0 * *", "beginning of range (0) below minimum (1): 0"},
      {"5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"},
      {"*/0 * * * *", "step of range should be a positive number: */0"},
      {"x * * * *", "failed to parse int from x: strconv.Atoi: parsing \"x\": invalid syntax"},
      {"1-2-3 * * * *", "too many hyphens: 1-2-3"},
      {"@often", "unrecognized descriptor: @often"},
  };
  for (const Row& row : rows) {
    const auto schedule = CronSchedule::Parse(row.schedule);
    ASSERT_FALSE(schedule) << row.schedule;
    EXPECT_EQ(schedule.error().Message(), row.why);
  }
}

}  // namespace
}  // namespace berth::apiserver
