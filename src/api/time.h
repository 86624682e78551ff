// Time, MicroTime and Duration as Kubernetes objects carry them.
//
// Grammar, format and error messages are those of Go's time package, since users see them. A point
// in time is UTC; the zero of a Time is Go's zero time (year 1), which is how an absent timestamp
// reads.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api {

// An instant: seconds since 1970-01-01T00:00:00Z and nanoseconds in [0, 1e9). A default Instant is
// Go's zero time.
struct Instant {
  static constexpr int64_t kZeroSeconds = -62135596800;  // 0001-01-01T00:00:00Z

  int64_t seconds = kZeroSeconds;
  int32_t nanos = 0;

  bool IsZero() const { return seconds == kZeroSeconds && nanos == 0; }
  // Meaningful for the years 1678 to 2262, else it wraps.
  int64_t UnixNano() const {
    return static_cast<int64_t>(static_cast<uint64_t>(seconds) * 1'000'000'000u +
                                static_cast<uint64_t>(nanos));
  }
  auto operator<=>(const Instant&) const = default;
};

// metav1.Time: RFC 3339. Parsing keeps a fraction, printing drops it.
struct Time : Instant {
  static Result<Time> Parse(std::string_view text);
  static Time FromUnixNano(int64_t nanos);
  std::string Format() const;
  std::string FormatNano() const;  // with the fraction, trailing zeros dropped (RFC3339Nano)
  auto operator<=>(const Time&) const = default;
};

// metav1.MicroTime: RFC 3339 with six digits of fraction.
struct MicroTime : Instant {
  static Result<MicroTime> Parse(std::string_view text);
  static MicroTime FromUnixNano(int64_t nanos);
  std::string Format() const;
  auto operator<=>(const MicroTime&) const = default;
};

// A length of time in nanoseconds: "1h30m", "1.5s", "-2ms".
struct Duration {
  int64_t ns = 0;

  static Result<Duration> Parse(std::string_view text);
  std::string Format() const;
  auto operator<=>(const Duration&) const = default;
};

}  // namespace berth::api
