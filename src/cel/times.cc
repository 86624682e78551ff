// Durations and points in time.
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cel/functions.h"

namespace berth::cel {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kFirstSecond = api::Instant::kZeroSeconds;  // 0001-01-01T00:00:00Z
constexpr int64_t kLastSecond = 253402300799;                 // 9999-12-31T23:59:59Z

Value Overflow() { return Value::Error("integer overflow"); }
Value NoConversion(std::string_view from, std::string_view to) {
  return Value::Error(
      fmt::format("type conversion error from '{}' to 'google.protobuf.{}'", from, to));
}
bool InRange(int64_t seconds) { return seconds >= kFirstSecond && seconds <= kLastSecond; }
Value AtSecond(int64_t seconds, int32_t nanos, int offset) {
  if (!InRange(seconds)) return Value::Error("timestamp overflow");
  return Value::FromTimestamp({{seconds, nanos}, offset});
}

// --- conversions
Value Same(CallContext&, Args a) { return a[0]; }
Value DurationFromString(CallContext&, Args a) {
  const Result<api::Duration> duration = api::Duration::Parse(a[0].Text());
  return duration ? Value::FromDuration(*duration) : NoConversion("string", "Duration");
}
// Declared upstream, and always refused.
Value DurationFromInt(CallContext&, Args) { return NoConversion("int", "Duration"); }

// The zone of a valid RFC 3339 text.
int OffsetOf(std::string_view text) {
  if (text.back() == 'Z') return 0;
  const std::string_view zone = text.substr(text.size() - 6);  // "+05:30"
  int hours = 0;
  int minutes = 0;
  std::from_chars(&zone[1], &zone[1] + 2, hours);
  std::from_chars(&zone[4], &zone[4] + 2, minutes);
  const int seconds = hours * 3600 + minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}
Value TimestampFromString(CallContext&, Args a) {
  const Result<api::Time> time = api::Time::Parse(a[0].Text());
  if (!time) return NoConversion("string", "Timestamp");
  return AtSecond(time->seconds, time->nanos, OffsetOf(a[0].Text()));
}
Value TimestampFromInt(CallContext&, Args a) { return AtSecond(a[0].AsInt(), 0, 0); }
Value IntFromDuration(CallContext&, Args a) { return Value::Int(a[0].AsDuration().ns); }
Value IntFromTimestamp(CallContext&, Args a) { return Value::Int(a[0].AsTimestamp().at.seconds); }

// --- arithmetic
Value AddDurations(CallContext&, Args a) {
  api::Duration sum;
  if (__builtin_add_overflow(a[0].AsDuration().ns, a[1].AsDuration().ns, &sum.ns)) {
    return Overflow();
  }
  return Value::FromDuration(sum);
}
Value SubDurations(CallContext&, Args a) {
  api::Duration difference;
  if (__builtin_sub_overflow(a[0].AsDuration().ns, a[1].AsDuration().ns, &difference.ns)) {
    return Overflow();
  }
  return Value::FromDuration(difference);
}
// The seconds of a point in time are few enough not to overflow here.
Value Shift(const Timestamp& time, int64_t ns) {
  int64_t seconds = time.at.seconds + ns / kSecond;
  int64_t nanos = time.at.nanos + ns % kSecond;
  seconds += nanos / kSecond;
  nanos %= kSecond;
  if (nanos < 0) {
    nanos += kSecond;
    --seconds;
  }
  return AtSecond(seconds, static_cast<int32_t>(nanos), time.offset);
}
Value AddToTimestamp(CallContext&, Args a) {
  return Shift(a[0].AsTimestamp(), a[1].AsDuration().ns);
}
Value AddTimestamp(CallContext&, Args a) { return Shift(a[1].AsTimestamp(), a[0].AsDuration().ns); }
Value SubFromTimestamp(CallContext&, Args a) {
  int64_t negated = 0;
  if (__builtin_sub_overflow(int64_t{0}, a[1].AsDuration().ns, &negated)) return Overflow();
  return Shift(a[0].AsTimestamp(), negated);
}
Value SubTimestamps(CallContext&, Args a) {
  const api::Instant& x = a[0].AsTimestamp().at;
  const api::Instant& y = a[1].AsTimestamp().at;
  int64_t ns = 0;
  if (__builtin_mul_overflow(x.seconds - y.seconds, kSecond, &ns) ||
      __builtin_add_overflow(ns, int64_t{x.nanos} - y.nanos, &ns)) {
    return Overflow();
  }
  return Value::FromDuration({ns});
}
Value SumDurations(CallContext& context, Args a) {
  Value sum = Value::FromDuration({});
  for (const Value& element : a[0].AsList()) {
    if (!context.budget.Spend(1)) return Value::Error(std::string(kCostExceeded));
    const Value pair[] = {sum, element};
    if (element.kind() != Kind::kDuration) return Value::NoSuchOverload();
    sum = AddDurations(context, Args(pair));
    if (sum.IsError()) return sum;
  }
  return sum;
}

// --- parts of a duration, through a double as Go does it
Value Units(Args a, int64_t unit) {
  const int64_t ns = a[0].AsDuration().ns;
  const double units =
      static_cast<double>(ns / unit) + static_cast<double>(ns % unit) / static_cast<double>(unit);
  return Value::Int(static_cast<int64_t>(units));
}
Value Hours(CallContext&, Args a) { return Units(a, 3600 * kSecond); }
Value Minutes(CallContext&, Args a) { return Units(a, 60 * kSecond); }
Value Seconds(CallContext&, Args a) { return Units(a, kSecond); }
Value Milliseconds(CallContext&, Args a) {
  return Value::Int(a[0].AsDuration().ns / (kSecond / 1000));
}

// --- parts of a point in time
struct Calendar {
  std::chrono::sys_days day;
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> time;
  int milliseconds;

  Calendar(const api::Instant& at, int64_t offset)
      : day(std::chrono::floor<std::chrono::days>(
            std::chrono::sys_seconds(std::chrono::seconds(at.seconds + offset)))),
        date(day),
        time(std::chrono::sys_seconds(std::chrono::seconds(at.seconds + offset)) - day),
        milliseconds(at.nanos / 1'000'000) {}
};

// strconv.Atoi
std::optional<int64_t> ParseInt(std::string_view text, Value* error) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
  int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc() && end == digits.data() + digits.size()) return value;
  const bool range = code == std::errc::result_out_of_range && end == digits.data() + digits.size();
  *error = Value::Error(fmt::format("strconv.Atoi: parsing {}: {}", api::GoQuote(text),
                                    range ? "value out of range" : "invalid syntax"));
  return std::nullopt;
}

// "+05:30" or "UTC", in seconds. Named zones are not known here: they would have to be read from
// files.
std::optional<int64_t> ZoneOffset(std::string_view zone, Value* error) {
  const size_t colon = zone.find(':');
  if (colon == std::string_view::npos) {
    if (zone.empty() || zone == "UTC" || zone == "Local") return 0;
    *error = Value::Error("unknown time zone " + std::string(zone));
    return std::nullopt;
  }
  const auto hours = ParseInt(zone.substr(0, colon), error);
  if (!hours) return std::nullopt;
  const auto minutes = ParseInt(zone.substr(colon + 1), error);
  if (!minutes) return std::nullopt;
  constexpr int64_t kMost = 1'000'000;  // a zone of a century; nobody means more
  if (std::abs(*hours) > kMost || std::abs(*minutes) > kMost) {
    *error = Value::Error("unknown time zone " + std::string(zone));
    return std::nullopt;
  }
  return (*hours * 60 + (zone[0] == '-' ? -*minutes : *minutes)) * 60;
}

template <class Part>
Value PartOf(Args a, Part part) {
  Value error;
  const std::optional<int64_t> offset = a.size() > 1 ? ZoneOffset(a[1].Text(), &error) : 0;
  if (!offset) return error;
  return Value::Int(static_cast<int64_t>(part(Calendar(a[0].AsTimestamp().at, *offset))));
}
Value FullYear(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return int{c.date.year()}; });
}
Value Month(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return unsigned{c.date.month()} - 1; });
}
Value DayOfYear(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) {
    return (c.day - std::chrono::sys_days(c.date.year() / 1 / 1)).count();
  });
}
Value DayOfMonth(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return unsigned{c.date.day()} - 1; });
}
Value Date(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return unsigned{c.date.day()}; });
}
Value DayOfWeek(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return std::chrono::weekday(c.day).c_encoding(); });
}
Value HourOf(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return c.time.hours().count(); });
}
Value MinuteOf(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return c.time.minutes().count(); });
}
Value SecondOf(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return c.time.seconds().count(); });
}
Value MillisecondOf(CallContext&, Args a) {
  return PartOf(a, [](const Calendar& c) { return c.milliseconds; });
}

Value DurationToString(CallContext&, Args a) { return Value::String(DurationText(a[0])); }
Value TimestampToString(CallContext&, Args a) { return Value::String(TimestampText(a[0])); }

}  // namespace

std::string DurationText(const Value& duration) {
  const int64_t ns = duration.AsDuration().ns;
  const double seconds = static_cast<double>(ns / kSecond) +
                         static_cast<double>(ns % kSecond) / static_cast<double>(kSecond);
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, seconds, std::chars_format::fixed).ptr;
  return std::string(text, static_cast<size_t>(end - text)) + "s";
}

std::string TimestampText(const Value& timestamp) {
  const Timestamp& time = timestamp.AsTimestamp();
  api::Time local{time.at};
  local.seconds += time.offset;
  std::string text = local.FormatNano();
  if (time.offset == 0) return text;
  text.pop_back();  // the Z
  const int minutes = std::abs(time.offset) / 60;
  return text +
         fmt::format("{}{:02}:{:02}", time.offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

void AddTimes(std::vector<Overload>* table) {
  using enum TypeKind;
  const auto add = [&](std::string_view name, bool member, std::vector<Type> params, Type result,
                       Function f, Mismatch mismatch = Mismatch::kSignature, bool folds = false) {
    table->push_back({name, member, std::move(params), std::move(result), f, mismatch, folds});
  };
  const auto convert = [&](std::string_view name, Type from, Type to, Function f) {
    add(name, false, {std::move(from)}, std::move(to), f, Mismatch::kSignature, true);
  };
  const auto op = [&](std::string_view name, std::vector<Type> params, Type result, Function f) {
    add(name, false, std::move(params), std::move(result), f, Mismatch::kPlain);
  };
  convert("duration", kDuration, kDuration, Same);
  convert("duration", kInt, kDuration, DurationFromInt);
  convert("duration", kString, kDuration, DurationFromString);
  convert("timestamp", kTimestamp, kTimestamp, Same);
  convert("timestamp", kInt, kTimestamp, TimestampFromInt);
  convert("timestamp", kString, kTimestamp, TimestampFromString);
  convert("int", kDuration, kInt, IntFromDuration);
  convert("int", kTimestamp, kInt, IntFromTimestamp);
  convert("string", kDuration, kString, DurationToString);
  convert("string", kTimestamp, kString, TimestampToString);
  op("_+_", {kDuration, kDuration}, kDuration, AddDurations);
  op("_+_", {kDuration, kTimestamp}, kTimestamp, AddTimestamp);
  op("_+_", {kTimestamp, kDuration}, kTimestamp, AddToTimestamp);
  op("_-_", {kDuration, kDuration}, kDuration, SubDurations);
  op("_-_", {kTimestamp, kDuration}, kTimestamp, SubFromTimestamp);
  op("_-_", {kTimestamp, kTimestamp}, kDuration, SubTimestamps);
  add("sum", true, {Type::ListOf(kDuration)}, kDuration, SumDurations);
  add("getHours", true, {kDuration}, kInt, Hours);
  add("getMinutes", true, {kDuration}, kInt, Minutes);
  add("getSeconds", true, {kDuration}, kInt, Seconds);
  add("getMilliseconds", true, {kDuration}, kInt, Milliseconds);
  const std::pair<std::string_view, Function> parts[] = {
      {"getFullYear", FullYear},   {"getMonth", Month},
      {"getDayOfYear", DayOfYear}, {"getDayOfMonth", DayOfMonth},
      {"getDate", Date},           {"getDayOfWeek", DayOfWeek},
      {"getHours", HourOf},        {"getMinutes", MinuteOf},
      {"getSeconds", SecondOf},    {"getMilliseconds", MillisecondOf}};
  for (const auto& [name, f] : parts) {
    add(name, true, {kTimestamp}, kInt, f);
    add(name, true, {kTimestamp, kString}, kInt, f);
  }
}

}  // namespace berth::cel
