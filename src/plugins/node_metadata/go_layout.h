// GoLayout: points in time in a format given as Go's package time does, by the example of
// 2006-01-02 15:04:05.
//
// Years, months, days, weekdays, times of day, fractions and offsets are known; the day of the year
// is not. Abbreviations of time zones count as UTC, as they do in Go unless they are local ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/time.h"
#include "base/error.h"

namespace berth::plugins::node_metadata {

class GoLayout {
 public:
  // Fails when the layout has an element that is not known here.
  static Result<GoLayout> Parse(std::string_view layout);

  // Nothing: `text` does not have the format.
  std::optional<api::Instant> Read(std::string_view text) const;

 private:
  enum class Element : uint8_t {
    kYear,
    kShortYear,
    kMonth,
    kTwoDigitMonth,
    kMonthName,
    kLongMonthName,
    kWeekday,
    kLongWeekday,
    kDay,
    kPaddedDay,
    kTwoDigitDay,
    kHour,
    kHour12,
    kTwoDigitHour12,
    kMinute,
    kTwoDigitMinute,
    kSecond,
    kTwoDigitSecond,
    kUpperPm,
    kLowerPm,
    kZoneName,
    kOffset,         // "-0700" and its kin
    kOffsetOrZ,      // the same, or "Z"
    kFraction,       // of as many digits
    kMaybeFraction,  // of any number of digits, or none
    kEnd,
  };
  struct Part {
    std::string literal;  // in front
    Element element = Element::kEnd;
    std::string shape;  // of offsets and fractions: as in the layout
  };
  struct Reading;

  static bool ReadPart(const Part& part, bool fraction_follows, Reading* reading);
  static bool ReadDate(Element element, Reading* reading);
  static bool ReadClock(const Part& part, bool fraction_follows, Reading* reading);
  static bool ReadZone(const Part& part, Reading* reading);

  std::vector<Part> parts_;
};

}  // namespace berth::plugins::node_metadata
