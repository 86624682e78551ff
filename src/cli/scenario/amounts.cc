#include "cli/scenario/amounts.h"

#include <cmath>

#include <fmt/format.h>

namespace berth::cli {

std::string Grouped(int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    digits.insert(static_cast<size_t>(at), ",");
  }
  return digits;
}

std::string LengthText(double seconds) {
  const auto ms = static_cast<int64_t>(std::llround(seconds * 1000));
  if (ms < 1000) return fmt::format("{}ms", ms);
  if (ms < 10'000) return fmt::format("{:.2f}s", static_cast<double>(ms) / 1000);
  if (ms < 60'000) return fmt::format("{:.1f}s", static_cast<double>(ms) / 1000);
  const int64_t whole = (ms + 500) / 1000;
  const auto pair = [](int64_t large, char large_unit, int64_t small, char small_unit) {
    return small == 0 ? fmt::format("{}{}", large, large_unit)
                      : fmt::format("{}{}{}{}", large, large_unit, small, small_unit);
  };
  if (whole < 3600) return pair(whole / 60, 'm', whole % 60, 's');
  const int64_t minutes = (whole + 30) / 60;
  if (minutes < 48 * 60) return pair(minutes / 60, 'h', minutes % 60, 'm');
  const int64_t hours = (minutes + 30) / 60;
  return pair(hours / 24, 'd', hours % 24, 'h');
}

std::string PercentText(double percent) { return fmt::format("{:.1f}%", percent); }

std::string RateText(double per_second) {
  if (per_second >= 1000) return Grouped(std::llround(per_second));
  if (per_second >= 10) return fmt::format("{:.1f}", per_second);
  return fmt::format("{:.2f}", per_second);
}

}  // namespace berth::cli
