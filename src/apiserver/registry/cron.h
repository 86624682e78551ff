// CronSchedule: when a CronJob is due. Five fields (minute, hour, day of month, month, day of week)
// with lists, ranges, steps and names, the shorthands @hourly … @yearly, and @every DURATION. In
// UTC or a time zone: a time that a change of the clock leaves out does not come, one that it
// repeats comes twice.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "apiserver/registry/time_zone.h"
#include "base/error.h"

namespace berth::apiserver {

class CronSchedule {
 public:
  static Result<CronSchedule> Parse(std::string_view text);

  // The first time after `after`, both in seconds since 1970; none in the next years: never.
  std::optional<int64_t> Next(int64_t after) const;
  std::optional<int64_t> Next(int64_t after, const TimeZone& zone) const;

 private:
  struct Field {
    uint64_t bits = 0;
    bool any = false;  // a star: says nothing about the day
  };
  static Result<Field> ParseField(std::string_view text, int low, int high, std::string_view names);
  bool DayMatches(int64_t day) const;

  Field minutes_, hours_, days_, months_, weekdays_;
  int64_t every_ = 0;  // seconds; above 0: the fields say nothing
};

}  // namespace berth::apiserver
