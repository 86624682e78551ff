#include "plugins/node_metadata/go_layout.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace berth::plugins::node_metadata {
namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
constexpr std::array<std::string_view, 7> kWeekdays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool StartsWithFolded(std::string_view text, std::string_view word) {
  return text.size() >= word.size() &&
         std::equal(word.begin(), word.end(), text.begin(),
                    [](char a, char b) { return Lower(a) == Lower(b); });
}

bool AllDigits(std::string_view text) { return std::all_of(text.begin(), text.end(), IsDigit); }

int ToInt(std::string_view digits) {
  int n = 0;
  for (const char c : digits) n = n * 10 + (c - '0');
  return n;
}

// One or two digits, or exactly two.
bool TakeNumber(std::string_view* text, bool two, int* n) {
  if (text->empty() || !IsDigit((*text)[0])) return false;
  const bool has_two = text->size() > 1 && IsDigit((*text)[1]);
  if (two && !has_two) return false;
  const size_t length = has_two ? 2 : 1;
  *n = ToInt(text->substr(0, length));
  text->remove_prefix(length);
  return true;
}

// The position of the name at the beginning, by its first three letters or as a whole.
template <size_t N>
bool TakeName(std::string_view* text, const std::array<std::string_view, N>& names, bool whole,
              int* index) {
  for (size_t i = 0; i < N; ++i) {
    const std::string_view name = whole ? names[i] : names[i].substr(0, 3);
    if (!StartsWithFolded(*text, name)) continue;
    text->remove_prefix(name.size());
    *index = static_cast<int>(i);
    return true;
  }
  return false;
}

void CutSpace(std::string_view* text) {
  while (text->starts_with(' ')) text->remove_prefix(1);
}

// Spaces in a layout stand for any number of them.
bool TakeLiteral(std::string_view* text, std::string_view literal) {
  while (!literal.empty()) {
    if (literal[0] == ' ') {
      if (!text->empty() && (*text)[0] != ' ') return false;
      CutSpace(&literal);
      CutSpace(text);
      continue;
    }
    if (text->empty() || (*text)[0] != literal[0]) return false;
    literal.remove_prefix(1);
    text->remove_prefix(1);
  }
  return true;
}

// The digits behind a point or comma, as nanoseconds.
int32_t Nanos(std::string_view digits) {
  int32_t nanos = 0;
  for (size_t i = 0; i < 9; ++i) nanos = nanos * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return nanos;
}

size_t DigitsAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) ++end;
  return end - at;
}

}  // namespace

// --- The layout

namespace {

// ".000" or ",999" at the beginning, and no digit behind it; the length, or 0.
size_t FractionLength(std::string_view text) {
  if (text.size() < 2 || (text[0] != '.' && text[0] != ',')) return 0;
  if (text[1] != '0' && text[1] != '9') return 0;
  const size_t end = std::min(text.find_first_not_of(text[1], 1), text.size());
  return end < text.size() && IsDigit(text[end]) ? 0 : end;
}

}  // namespace

Result<GoLayout> GoLayout::Parse(std::string_view layout) {
  struct Word {
    std::string_view text;
    Element element;
    bool not_before_lower = false;
  };
  // Of words that begin alike the first that fits counts.
  static constexpr std::array kWords = {
      Word{"January", Element::kLongMonthName},
      Word{"Jan", Element::kMonthName, true},
      Word{"Monday", Element::kLongWeekday},
      Word{"Mon", Element::kWeekday, true},
      Word{"MST", Element::kZoneName},
      Word{"01", Element::kTwoDigitMonth},
      Word{"02", Element::kTwoDigitDay},
      Word{"03", Element::kTwoDigitHour12},
      Word{"04", Element::kTwoDigitMinute},
      Word{"05", Element::kTwoDigitSecond},
      Word{"06", Element::kShortYear},
      Word{"15", Element::kHour},
      Word{"1", Element::kMonth},
      Word{"2006", Element::kYear},
      Word{"2", Element::kDay},
      Word{"_2", Element::kPaddedDay},
      Word{"3", Element::kHour12},
      Word{"4", Element::kMinute},
      Word{"5", Element::kSecond},
      Word{"PM", Element::kUpperPm},
      Word{"pm", Element::kLowerPm},
      Word{"-070000", Element::kOffset},
      Word{"-07:00:00", Element::kOffset},
      Word{"-0700", Element::kOffset},
      Word{"-07:00", Element::kOffset},
      Word{"-07", Element::kOffset},
      Word{"Z070000", Element::kOffsetOrZ},
      Word{"Z07:00:00", Element::kOffsetOrZ},
      Word{"Z0700", Element::kOffsetOrZ},
      Word{"Z07:00", Element::kOffsetOrZ},
      Word{"Z07", Element::kOffsetOrZ},
  };
  GoLayout out;
  Part part;
  const auto add = [&](Element element, std::string_view shape) {
    part.element = element;
    part.shape = shape;
    out.parts_.push_back(std::exchange(part, {}));
  };
  for (std::string_view rest = layout; !rest.empty();) {
    if (rest.starts_with("002") || rest.starts_with("__2")) {
      return Fail("timestampFormat: the day of the year is not known to berth");
    }
    if (rest.starts_with("_2006")) {  // a literal, and a year
      part.literal += '_';
      rest.remove_prefix(1);
      continue;
    }
    if (const size_t length = FractionLength(rest)) {
      add(rest[1] == '0' ? Element::kFraction : Element::kMaybeFraction, rest.substr(0, length));
      rest.remove_prefix(length);
      continue;
    }
    const auto word = std::find_if(kWords.begin(), kWords.end(), [&](const Word& w) {
      if (!rest.starts_with(w.text)) return false;
      const size_t end = w.text.size();
      return !w.not_before_lower || rest.size() == end || !IsLower(rest[end]);
    });
    if (word == kWords.end()) {
      part.literal += rest[0];
      rest.remove_prefix(1);
      continue;
    }
    add(word->element, word->text);
    rest.remove_prefix(word->text.size());
  }
  add(Element::kEnd, "");
  return out;
}

// --- A text

struct GoLayout::Reading {
  std::string_view text;  // what is left of it
  int year = 0;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int32_t nanos = 0;
  int64_t offset = 0;  // east of UTC, in seconds
  bool pm = false;
  bool am = false;
};

bool GoLayout::ReadDate(Element element, Reading* r) {
  int n = 0;
  switch (element) {
    case Element::kYear:
      if (r->text.size() < 4 || !AllDigits(r->text.substr(0, 4))) return false;
      r->year = ToInt(r->text.substr(0, 4));
      r->text.remove_prefix(4);
      return true;
    case Element::kShortYear:
      if (!TakeNumber(&r->text, true, &n)) return false;
      r->year = n + (n >= 69 ? 1900 : 2000);
      return true;
    case Element::kMonth:
    case Element::kTwoDigitMonth:
      return TakeNumber(&r->text, element == Element::kTwoDigitMonth, &r->month) && r->month >= 1 &&
             r->month <= 12;
    case Element::kMonthName:
    case Element::kLongMonthName:
      if (!TakeName(&r->text, kMonths, element == Element::kLongMonthName, &n)) return false;
      r->month = n + 1;
      return true;
    case Element::kWeekday:
    case Element::kLongWeekday:
      return TakeName(&r->text, kWeekdays, element == Element::kLongWeekday, &n);
    case Element::kPaddedDay:
      if (r->text.starts_with(' ')) r->text.remove_prefix(1);
      [[fallthrough]];
    default:
      return TakeNumber(&r->text, element == Element::kTwoDigitDay, &r->day);
  }
}

bool GoLayout::ReadClock(const Part& part, bool fraction_follows, Reading* r) {
  switch (part.element) {
    case Element::kHour:
      return TakeNumber(&r->text, false, &r->hour) && r->hour < 24;
    case Element::kHour12:
    case Element::kTwoDigitHour12:
      return TakeNumber(&r->text, part.element == Element::kTwoDigitHour12, &r->hour) &&
             r->hour <= 12;
    case Element::kMinute:
    case Element::kTwoDigitMinute:
      return TakeNumber(&r->text, part.element == Element::kTwoDigitMinute, &r->minute) &&
             r->minute < 60;
    case Element::kSecond:
    case Element::kTwoDigitSecond: {
      if (!TakeNumber(&r->text, part.element == Element::kTwoDigitSecond, &r->second) ||
          r->second >= 60) {
        return false;
      }
      // A fraction is read even where the layout has none.
      const bool point = r->text.starts_with('.') || r->text.starts_with(',');
      const size_t digits = point && !fraction_follows ? DigitsAt(r->text, 1) : 0;
      if (digits == 0) return true;
      r->nanos = Nanos(r->text.substr(1, digits));
      r->text.remove_prefix(1 + digits);
      return true;
    }
    case Element::kFraction: {
      const size_t digits = part.shape.size() - 1;
      if (r->text.size() < digits + 1 || (r->text[0] != '.' && r->text[0] != ',') ||
          !AllDigits(r->text.substr(1, digits))) {
        return false;
      }
      r->nanos = Nanos(r->text.substr(1, digits));
      r->text.remove_prefix(1 + digits);
      return true;
    }
    default: {  // kMaybeFraction
      const bool point = r->text.starts_with('.') || r->text.starts_with(',');
      const size_t digits = point ? DigitsAt(r->text, 1) : 0;
      if (digits == 0) return true;
      r->nanos = Nanos(r->text.substr(1, digits));
      r->text.remove_prefix(1 + digits);
      return true;
    }
  }
}

bool GoLayout::ReadZone(const Part& part, Reading* r) {
  if (part.element == Element::kZoneName) {
    size_t length = 0;
    while (length < r->text.size() && r->text[length] >= 'A' && r->text[length] <= 'Z') ++length;
    if (length < 3 || length > 5) return false;
    r->text.remove_prefix(length);
    return true;
  }
  if (part.element == Element::kOffsetOrZ && r->text.starts_with('Z')) {
    r->text.remove_prefix(1);
    return true;
  }
  // Digits and colons are where the layout has them.
  const size_t length = part.shape.size();
  if (r->text.size() < length || (r->text[0] != '+' && r->text[0] != '-')) return false;
  std::string digits;
  for (size_t i = 1; i < length; ++i) {
    if (part.shape[i] == ':' ? r->text[i] != ':' : !IsDigit(r->text[i])) return false;
    if (part.shape[i] != ':') digits += r->text[i];
  }
  digits.resize(6, '0');
  const std::string_view all = digits;
  const int hours = ToInt(all.substr(0, 2));
  const int minutes = ToInt(all.substr(2, 2));
  const int seconds = ToInt(all.substr(4, 2));
  if (hours > 24 || minutes > 60 || seconds > 60) return false;
  r->offset = int64_t{hours} * 3600 + int64_t{minutes} * 60 + seconds;
  if (r->text[0] == '-') r->offset = -r->offset;
  r->text.remove_prefix(length);
  return true;
}

bool GoLayout::ReadPart(const Part& part, bool fraction_follows, Reading* r) {
  if (!TakeLiteral(&r->text, part.literal)) return false;
  if (part.element == Element::kEnd) return r->text.empty();
  if (part.element <= Element::kTwoDigitDay) return ReadDate(part.element, r);
  if (part.element == Element::kUpperPm || part.element == Element::kLowerPm) {
    const bool upper = part.element == Element::kUpperPm;
    r->pm = r->text.starts_with(upper ? "PM" : "pm");
    r->am = r->text.starts_with(upper ? "AM" : "am");
    if (!r->pm && !r->am) return false;
    r->text.remove_prefix(2);
    return true;
  }
  if (part.element >= Element::kZoneName && part.element <= Element::kOffsetOrZ) {
    return ReadZone(part, r);
  }
  return ReadClock(part, fraction_follows, r);
}

std::optional<api::Instant> GoLayout::Read(std::string_view text) const {
  Reading r;
  r.text = text;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Element next = i + 1 < parts_.size() ? parts_[i + 1].element : Element::kEnd;
    const bool fraction = next == Element::kFraction || next == Element::kMaybeFraction;
    if (!ReadPart(parts_[i], fraction, &r)) return std::nullopt;
  }
  if (r.pm && r.hour < 12) r.hour += 12;
  if (r.am && r.hour == 12) r.hour = 0;
  const std::chrono::year_month_day date{std::chrono::year(r.year),
                                         std::chrono::month(static_cast<unsigned>(r.month)),
                                         std::chrono::day(static_cast<unsigned>(r.day))};
  if (!date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  api::Instant instant;
  instant.seconds =
      days * 86400 + int64_t{r.hour} * 3600 + int64_t{r.minute} * 60 + r.second - r.offset;
  instant.nanos = r.nanos;
  return instant;
}

}  // namespace berth::plugins::node_metadata
