// Semver: a semantic version (semver.org), compared by precedence: build metadata does not count.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::cel {

struct Semver {
  struct PreRelease {
    bool is_number = false;
    uint64_t number = 0;
    std::string text;
  };

  uint64_t major = 0;
  uint64_t minor = 0;
  uint64_t patch = 0;
  std::vector<PreRelease> pre;

  static Result<Semver> Parse(std::string_view text);
  // Also takes a leading "v", missing minor and patch numbers, and leading zeroes.
  static Result<Semver> ParseTolerant(std::string_view text);

  // -1, 0 or 1.
  int Compare(const Semver& other) const;
};

}  // namespace berth::cel
