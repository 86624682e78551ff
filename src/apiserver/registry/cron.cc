#include "apiserver/registry/cron.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/time.h"

namespace berth::apiserver {
namespace {

constexpr int64_t kDaySeconds = 86400;
constexpr int kSearchDays = 366 * 8;  // a 29th of February is never further away
constexpr std::string_view kMonths = "janfebmaraprmayjunjulaugsepoctnovdec";
constexpr std::string_view kWeekdays = "sunmontuewedthufrisat";

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

std::vector<std::string_view> Split(std::string_view text, char separator, bool empty_parts) {
  std::vector<std::string_view> parts;
  for (size_t pos = 0; pos <= text.size();) {
    const size_t end = std::min(text.find(separator, pos), text.size());
    if (empty_parts || end > pos) parts.push_back(text.substr(pos, end - pos));
    pos = end + 1;
  }
  return parts;
}

// A number, or a name of three letters, the first of which stands for `low`.
Result<int> ParseValue(std::string_view text, int low, std::string_view names) {
  if (text.size() == 3) {
    const size_t at = names.find(Lower(text));
    if (at != std::string_view::npos && at % 3 == 0) return low + static_cast<int>(at / 3);
  }
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    return Fail(
        fmt::format("failed to parse int from {}: strconv.Atoi: parsing \"{}\": invalid "
                    "syntax",
                    text, text));
  }
  if (value < 0) return Fail(fmt::format("negative number ({}) not allowed: {}", value, text));
  return value;
}

}  // namespace

Result<CronSchedule::Field> CronSchedule::ParseField(std::string_view text, int low, int high,
                                                     std::string_view names) {
  Field field;
  for (const std::string_view range : Split(text, ',', true)) {
    const auto parts = Split(range, '/', true);
    if (parts.size() > 2) return Fail(fmt::format("too many slashes: {}", range));
    const auto bounds = Split(parts[0], '-', true);
    if (bounds.size() > 2) return Fail(fmt::format("too many hyphens: {}", range));
    int first = low;
    int last = high;
    if (parts[0] == "*" || parts[0] == "?") {
      field.any = field.any || parts.size() == 1;
    } else {
      const auto from = ParseValue(bounds[0], low, names);
      if (!from) return Fail(from.error());
      const auto to = bounds.size() == 2 ? ParseValue(bounds[1], low, names) : from;
      if (!to) return Fail(to.error());
      first = *from;
      // "5/10" goes on to the end.
      last = bounds.size() == 1 && parts.size() == 2 ? high : *to;
    }
    int step = 1;
    if (parts.size() == 2) {
      const auto given = ParseValue(parts[1], 0, "");
      if (!given) return Fail(given.error());
      step = *given;
    }
    if (first < low) {
      return Fail(fmt::format("beginning of range ({}) below minimum ({}): {}", first, low, range));
    }
    if (last > high) {
      return Fail(fmt::format("end of range ({}) above maximum ({}): {}", last, high, range));
    }
    if (first > last) {
      return Fail(
          fmt::format("beginning of range ({}) beyond end of range ({}): {}", first, last, range));
    }
    if (step == 0) return Fail(fmt::format("step of range should be a positive number: {}", range));
    for (int64_t i = first; i <= last; i += step) field.bits |= uint64_t{1} << i;
  }
  return field;
}

Result<CronSchedule> CronSchedule::Parse(std::string_view text) {
  CronSchedule schedule;
  if (text.starts_with("@every ")) {
    const auto period = api::Duration::Parse(text.substr(7));
    if (!period)
      return Fail(fmt::format("failed to parse duration {}: {}", text, period.error().Message()));
    schedule.every_ = std::max<int64_t>(1, period->ns / 1'000'000'000);
    return schedule;
  }
  if (text.starts_with("@")) {
    static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
        {"@yearly", "0 0 1 1 *"}, {"@annually", "0 0 1 1 *"}, {"@monthly", "0 0 1 * *"},
        {"@weekly", "0 0 * * 0"}, {"@daily", "0 0 * * *"},    {"@midnight", "0 0 * * *"},
        {"@hourly", "0 * * * *"}};
    for (const auto& [name, fields] : kShort) {
      if (name == text) return Parse(fields);
    }
    return Fail(fmt::format("unrecognized descriptor: {}", text));
  }
  const auto fields = Split(text, ' ', false);
  if (fields.empty()) return Fail("empty spec string");
  if (fields.size() != 5) {
    return Fail(fmt::format("expected exactly 5 fields, found {}: [{}]", fields.size(),
                            fmt::join(fields, " ")));
  }
  struct Row {
    Field* field;
    int low;
    int high;
    std::string_view names;
  };
  const Row rows[] = {{&schedule.minutes_, 0, 59, ""},
                      {&schedule.hours_, 0, 23, ""},
                      {&schedule.days_, 1, 31, ""},
                      {&schedule.months_, 1, 12, kMonths},
                      {&schedule.weekdays_, 0, 6, kWeekdays}};
  for (size_t i = 0; i < 5; ++i) {
    auto field = ParseField(fields[i], rows[i].low, rows[i].high, rows[i].names);
    if (!field) return Fail(field.error());
    *rows[i].field = *field;
  }
  return schedule;
}

bool CronSchedule::DayMatches(int64_t day) const {
  const std::chrono::sys_days date{std::chrono::days(day)};
  const std::chrono::year_month_day civil(date);
  const auto has = [](const Field& field, unsigned value) { return field.bits >> value & 1; };
  if (!has(months_, static_cast<unsigned>(civil.month()))) return false;
  const bool of_month = has(days_, static_cast<unsigned>(civil.day()));
  const bool of_week = has(weekdays_, std::chrono::weekday(date).c_encoding());
  // When both are given either will do.
  return days_.any || weekdays_.any ? of_month && of_week : of_month || of_week;
}

std::optional<int64_t> CronSchedule::Next(int64_t after) const {
  if (every_ > 0) return after + every_;
  const int64_t start = after - (after % 60 + 60) % 60 + 60;
  int64_t day = start / kDaySeconds;
  if (start % kDaySeconds < 0) --day;
  for (int64_t last = day + kSearchDays; day <= last; ++day) {
    if (!DayMatches(day)) continue;
    const int64_t from = std::max<int64_t>(0, start - day * kDaySeconds) / 60;
    for (int64_t minute = from; minute < kDaySeconds / 60; ++minute) {
      if ((hours_.bits >> (minute / 60) & 1) == 0) {
        minute = (minute / 60 + 1) * 60 - 1;
      } else if (minutes_.bits >> (minute % 60) & 1) {
        return day * kDaySeconds + minute * 60;
      }
    }
  }
  return std::nullopt;
}

// Between two changes of the clock local time runs like UTC.
std::optional<int64_t> CronSchedule::Next(int64_t after, const TimeZone& zone) const {
  if (every_ > 0) return after + every_;
  const int64_t last = after + int64_t{kSearchDays} * kDaySeconds;
  while (after < last) {
    const int64_t offset = zone.Offset(after);
    const auto change = zone.NextChange(after);
    const auto next = Next(after + offset);
    if (next && (!change || *next - offset < *change)) return *next - offset;
    if (!change) return std::nullopt;
    // The first moment of the new time counts.
    const int64_t begin = *change + zone.Offset(*change);
    const auto first = Next(begin - 1);
    if (first && *first == begin) return *change;
    after = *change;
  }
  return std::nullopt;
}

}  // namespace berth::apiserver
