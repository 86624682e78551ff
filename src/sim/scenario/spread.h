// Spread: a length of time that chance may stretch, as scenarios write it.
//
//   30s               always 30 seconds
//   10s..2m           anything from 10 seconds to 2 minutes, all equally likely
//   exponential 5m    memoryless with a mean of 5 minutes, as times between arrivals often are
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/random.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

// Random draws, a function of the seed.
class Chance {
 public:
  explicit Chance(uint64_t seed) : random_(seed) {}

  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high);
  Nanos Exponential(Nanos mean);
  uint64_t Below(uint64_t bound) { return random_.Below(bound); }
  // A seed for an independent generator.
  uint64_t Seed() { return random_.Below(uint64_t{1} << 62); }

 private:
  Random random_;
};

struct Spread {
  enum class Kind : uint8_t { kFixed, kUniform, kExponential };
  Kind kind = Kind::kFixed;
  Nanos low = 0;   // the mean of kExponential
  Nanos high = 0;  // kUniform only

  static Spread Fixed(Nanos length) { return {Kind::kFixed, length, 0}; }
  // Negative durations are refused.
  static Result<Spread> Parse(std::string_view text);

  Nanos Draw(Chance& chance) const;
  bool operator==(const Spread&) const = default;
};

}  // namespace berth::sim
