#include "api/time.h"

#include <array>
#include <optional>

#include <fmt/format.h>

#include "api/go/go_quote.h"

namespace berth::api {
namespace {

constexpr std::string_view kSecondsLayout = "2006-01-02T15:04:05Z07:00";
constexpr std::string_view kMicroLayout = "2006-01-02T15:04:05.000000Z07:00";

bool IsDigit(std::string_view s, size_t i) { return i < s.size() && s[i] >= '0' && s[i] <= '9'; }

bool IsLeap(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysIn(int month, int year) {
  static constexpr std::array<int, 13> kDays = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[static_cast<size_t>(month)];
}

// Days from 1970-01-01 to a date of the proleptic Gregorian calendar. Years begin in March, so that
// the leap day is the last of its year; eras of 400 years have 146097 days.
int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

struct Civil {
  int64_t year;
  int month, day, hour, minute, second;
};

Civil CivilFromSeconds(int64_t seconds) {
  int64_t days = seconds / 86400;
  int64_t rest = seconds % 86400;
  if (rest < 0) {
    rest += 86400;
    --days;
  }
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t doe = days - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2),
          month,
          static_cast<int>(doy - (153 * mp + 2) / 5 + 1),
          static_cast<int>(rest / 3600),
          static_cast<int>(rest / 60 % 60),
          static_cast<int>(rest % 60)};
}

std::string FormatSeconds(int64_t seconds) {
  const Civil c = CivilFromSeconds(seconds);
  return fmt::format("{}{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year < 0 ? "-" : "",
                     c.year < 0 ? -c.year : c.year, c.month, c.day, c.hour, c.minute, c.second);
}

// Reads one of the two layouts the way Go's time.Parse does, which is more lenient than RFC 3339 in
// places (hours of one digit, comma before the fraction, offsets of 24 hours) and whose errors name
// the element that did not match.
class LayoutReader {
 public:
  LayoutReader(std::string_view text, bool micro) : text_(text), rest_(text), micro_(micro) {}

  Result<Instant> Read() {
    int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
    const bool ok = Year(year) && Literal("-") && Number("01", true, 1, 12, "month", month) &&
                    Literal("-") && Number("02", true, 0, 99, "", day) && Literal("T") &&
                    Number("15", false, 0, 23, "hour", hour) && Literal(":") &&
                    Number("04", true, 0, 59, "minute", minute) && Literal(":") &&
                    Number("05", true, 0, 59, "second", second) && Fraction() && Zone();
    if (!ok) return Fail(std::move(error_));
    if (!rest_.empty()) return Fail(Message(": extra text: " + QuoteForTimeError(rest_)));
    if (day < 1 || day > DaysIn(month, year)) return Fail(Message(": day out of range"));
    const int64_t seconds =
        DaysFromCivil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;
    return Instant{seconds - offset_, nanos_};
  }

 private:
  std::string Message(std::string_view what) const {
    return "parsing time " + QuoteForTimeError(text_) + std::string(what);
  }

  bool Mismatch(std::string_view element, std::string_view at) {
    error_ = Message(" as ") + QuoteForTimeError(micro_ ? kMicroLayout : kSecondsLayout) +
             ": cannot parse " + QuoteForTimeError(at) + " as " + QuoteForTimeError(element);
    return false;
  }

  bool OutOfRange(std::string_view what) {
    error_ = Message(": " + std::string(what) + " out of range");
    return false;
  }

  bool Literal(std::string_view literal) {
    if (rest_.substr(0, 1) != literal) return Mismatch(literal, rest_);
    rest_.remove_prefix(1);
    return true;
  }

  bool Year(int& year) {
    for (size_t i = 0; i < 4; ++i) {
      if (!IsDigit(rest_, i)) return Mismatch("2006", rest_);
      year = year * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(4);
    return true;
  }

  // One or two digits, exactly two if `fixed`.
  bool Number(std::string_view element, bool fixed, int min, int max, std::string_view what,
              int& out) {
    const bool two = IsDigit(rest_, 1);
    if (!IsDigit(rest_, 0) || (!two && fixed)) return Mismatch(element, rest_);
    out = rest_[0] - '0';
    if (two) out = out * 10 + (rest_[1] - '0');
    rest_.remove_prefix(two ? 2 : 1);
    if (out < min || out > max) return OutOfRange(what);
    return true;
  }

  bool Fraction() {
    const bool mark = !rest_.empty() && (rest_[0] == '.' || rest_[0] == ',');
    size_t digits = 0;
    if (micro_) {
      if (rest_.size() < 7 || !mark) return Mismatch(".000000", rest_);
      digits = 6;
      // A sign is read as part of the number; a minus puts it out of range, unless it is zero.
      const bool sign = rest_[1] == '-' || rest_[1] == '+';
      int value = 0;
      for (size_t i = sign ? 2 : 1; i <= digits; ++i) {
        if (!IsDigit(rest_, i)) return Mismatch(".000000", rest_);
        value = value * 10 + (rest_[i] - '0');
      }
      nanos_ = value * 1000;
      const bool negative = rest_[1] == '-' && value != 0;
      rest_.remove_prefix(7);
      return negative ? OutOfRange("fractional second") : true;
    }
    if (!mark || !IsDigit(rest_, 1)) return true;  // no fraction
    int value = 0;
    while (IsDigit(rest_, digits + 1)) {
      if (++digits <= 9) value = value * 10 + (rest_[digits] - '0');
    }
    for (size_t i = digits; i < 9; ++i) value *= 10;
    nanos_ = value;
    rest_.remove_prefix(digits + 1);
    return true;
  }

  bool Zone() {
    if (!rest_.empty() && rest_[0] == 'Z') {
      rest_.remove_prefix(1);
      return true;
    }
    const std::string_view hold = rest_;
    if (rest_.size() < 6 || rest_[3] != ':') return Mismatch("Z07:00", hold);
    const auto two = [&](size_t i) {
      return IsDigit(hold, i) && IsDigit(hold, i + 1) ? (hold[i] - '0') * 10 + (hold[i + 1] - '0')
                                                      : -1;
    };
    const int hours = two(1);
    const int minutes = hours < 0 ? -1 : two(4);
    rest_.remove_prefix(6);
    if (minutes > 60) return OutOfRange("time zone offset minute");
    if (hours > 24) return OutOfRange("time zone offset hour");
    if (hours < 0 || minutes < 0 || (hold[0] != '+' && hold[0] != '-'))
      return Mismatch("Z07:00", hold);
    offset_ = (hours * 60 + minutes) * 60;
    if (hold[0] == '-') offset_ = -offset_;
    return true;
  }

  std::string_view text_;
  std::string_view rest_;
  bool micro_;
  int32_t nanos_ = 0;
  int64_t offset_ = 0;  // seconds east of UTC
  std::string error_;
};

template <class T>
Result<T> ParseAs(std::string_view text, bool micro) {
  Result<Instant> instant = LayoutReader(text, micro).Read();
  if (!instant) return Fail(std::move(instant.error()));
  return T{*instant};
}

Instant InstantFromUnixNano(int64_t nanos) {
  int64_t seconds = nanos / 1'000'000'000;
  int64_t rest = nanos % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  return {seconds, static_cast<int32_t>(rest)};
}

struct Unit {
  std::string_view name;
  uint64_t ns;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\xC2\xB5s", 1'000},  // micro sign
                                         {"\xCE\xBCs", 1'000},  // Greek letter mu
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

constexpr uint64_t kTooLong = uint64_t{1} << 63;

uint64_t UnitNs(std::string_view name) {
  for (const Unit& unit : kUnits) {
    if (unit.name == name) return unit.ns;
  }
  return 0;
}

// Digits at the start of `s`, consumed. Nothing if the number is beyond 2^63.
std::optional<uint64_t> TakeInteger(std::string_view& s) {
  uint64_t x = 0;
  while (IsDigit(s, 0)) {
    if (x > kTooLong / 10) return std::nullopt;
    x = x * 10 + static_cast<uint64_t>(s[0] - '0');
    if (x > kTooLong) return std::nullopt;
    s.remove_prefix(1);
  }
  return x;
}

// The same for digits after the point; those that do not fit are dropped. `scale` is 10^(digits
// counted).
uint64_t TakeFraction(std::string_view& s, double& scale) {
  uint64_t x = 0;
  bool full = false;
  for (; IsDigit(s, 0); s.remove_prefix(1)) {
    if (full) continue;
    if (x > (kTooLong - 1) / 10 || x * 10 + static_cast<uint64_t>(s[0] - '0') > kTooLong) {
      full = true;
      continue;
    }
    x = x * 10 + static_cast<uint64_t>(s[0] - '0');
    scale *= 10;
  }
  return x;
}

// One number with its unit ("1.5h"), consumed and added to `total`. On failure: what is wrong.
std::optional<std::string> TakeTerm(std::string_view& s, uint64_t& total) {
  if (s[0] != '.' && !IsDigit(s, 0)) return "invalid duration";
  const size_t before = s.size();
  std::optional<uint64_t> whole = TakeInteger(s);
  if (!whole) return "invalid duration";
  bool digits = s.size() != before;
  double scale = 1;
  uint64_t fraction = 0;
  if (!s.empty() && s[0] == '.') {
    s.remove_prefix(1);
    digits = digits || IsDigit(s, 0);
    fraction = TakeFraction(s, scale);
  }
  if (!digits) return "invalid duration";

  size_t length = 0;
  while (length < s.size() && s[length] != '.' && !IsDigit(s, length)) ++length;
  if (length == 0) return "missing unit in duration";
  const std::string_view name = s.substr(0, length);
  const uint64_t unit = UnitNs(name);
  if (unit == 0) return "unknown unit " + QuoteForTimeError(name) + " in duration";
  s.remove_prefix(length);

  if (*whole > kTooLong / unit) return "invalid duration";
  uint64_t ns = *whole * unit;
  if (fraction > 0) {
    ns +=
        static_cast<uint64_t>(static_cast<double>(fraction) * (static_cast<double>(unit) / scale));
    if (ns > kTooLong) return "invalid duration";
  }
  total += ns;
  if (total > kTooLong) return "invalid duration";
  return std::nullopt;
}

// value / 10^digits without trailing zeros: "1.5".
std::string Fixed(uint64_t value, int digits) {
  uint64_t divisor = 1;
  for (int i = 0; i < digits; ++i) divisor *= 10;
  std::string out = std::to_string(value / divisor);
  if (value % divisor == 0) return out;
  out += fmt::format(".{:0{}}", value % divisor, digits);
  out.resize(out.find_last_not_of('0') + 1);
  return out;
}

}  // namespace

Result<Time> Time::Parse(std::string_view text) { return ParseAs<Time>(text, false); }
Time Time::FromUnixNano(int64_t nanos) { return Time{InstantFromUnixNano(nanos)}; }
std::string Time::Format() const { return FormatSeconds(seconds) + "Z"; }

std::string Time::FormatNano() const {
  std::string out = FormatSeconds(seconds);
  if (nanos != 0) {
    out += fmt::format(".{:09}", nanos);
    out.resize(out.find_last_not_of('0') + 1);
  }
  return out + "Z";
}

Result<MicroTime> MicroTime::Parse(std::string_view text) { return ParseAs<MicroTime>(text, true); }
MicroTime MicroTime::FromUnixNano(int64_t nanos) { return MicroTime{InstantFromUnixNano(nanos)}; }
std::string MicroTime::Format() const {
  return FormatSeconds(seconds) + fmt::format(".{:06}Z", nanos / 1000);
}

Result<Duration> Duration::Parse(std::string_view text) {
  const auto fail = [&](std::string_view what) {
    return Fail("time: " + std::string(what) + " " + QuoteForTimeError(text));
  };
  std::string_view s = text;
  bool negative = false;
  if (!s.empty() && (s[0] == '-' || s[0] == '+')) {
    negative = s[0] == '-';
    s.remove_prefix(1);
  }
  if (s == "0") return Duration{};
  if (s.empty()) return fail("invalid duration");
  uint64_t total = 0;
  while (!s.empty()) {
    if (const auto what = TakeTerm(s, total)) return fail(*what);
  }
  if (negative) return Duration{static_cast<int64_t>(0 - total)};
  if (total >= kTooLong) return fail("invalid duration");
  return Duration{static_cast<int64_t>(total)};
}

std::string Duration::Format() const {
  if (ns == 0) return "0s";
  const uint64_t u = ns < 0 ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  std::string out = ns < 0 ? "-" : "";
  if (u < 1'000) return out + std::to_string(u) + "ns";
  if (u < 1'000'000) return out + Fixed(u, 3) + "\xC2\xB5s";
  if (u < 1'000'000'000) return out + Fixed(u, 6) + "ms";
  const uint64_t minutes = u / 60'000'000'000;
  if (minutes >= 60) out += std::to_string(minutes / 60) + "h";
  if (minutes > 0) out += std::to_string(minutes % 60) + "m";
  return out + Fixed(u % 60'000'000'000, 9) + "s";
}

}  // namespace berth::api
