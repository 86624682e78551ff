#include "sim/scenario/spread.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "api/time.h"

namespace berth::sim {
namespace {

// Far beyond any run, so that sums of a few of them do not overflow.
constexpr Nanos kLongest = 366 * 24 * 60 * kMinute;

Result<Nanos> Length(std::string_view text, std::string_view whole) {
  const auto length = api::Duration::Parse(text);
  if (!length || length->ns < 0 || length->ns > kLongest) {
    return Fail(
        fmt::format("\"{}\" is no length of time; write 30s, 10s..2m or exponential 5m", whole));
  }
  return length->ns;
}

}  // namespace

int64_t Chance::Between(int64_t low, int64_t high) {
  return low + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(high - low) + 1));
}

Nanos Chance::Exponential(Nanos mean) {
  constexpr uint64_t kSteps = uint64_t{1} << 53;
  // In (0, 1], so that the logarithm exists.
  const double share = static_cast<double>(random_.Below(kSteps) + 1) / static_cast<double>(kSteps);
  return static_cast<Nanos>(-std::log(share) * static_cast<double>(mean));
}

Result<Spread> Spread::Parse(std::string_view text) {
  constexpr std::string_view kExponentialWord = "exponential ";
  if (text.starts_with(kExponentialWord)) {
    const auto mean = Length(text.substr(kExponentialWord.size()), text);
    if (!mean) return Fail(mean.error());
    return Spread{Kind::kExponential, *mean, 0};
  }
  const size_t dots = text.find("..");
  const auto low = Length(text.substr(0, dots), text);
  if (!low) return Fail(low.error());
  if (dots == std::string_view::npos) return Fixed(*low);
  const auto high = Length(text.substr(dots + 2), text);
  if (!high) return Fail(high.error());
  if (*high < *low) {
    return Fail(fmt::format("\"{}\" ends before it begins; the shorter time comes first", text));
  }
  return Spread{Kind::kUniform, *low, *high};
}

Nanos Spread::Draw(Chance& chance) const {
  switch (kind) {
    case Kind::kFixed:
      return low;
    case Kind::kUniform:
      return chance.Between(low, high);
    case Kind::kExponential:
      return std::min(chance.Exponential(low), kLongest);
  }
  return low;
}

}  // namespace berth::sim
