#include "base/go_number.h"

#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>

#include <fmt/format.h>

namespace berth {
namespace {

bool EqualFold(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

Error Refused(std::string_view text, std::string_view why) {
  return Error(fmt::format("strconv.ParseFloat: parsing \"{}\": {}", text, why));
}

}  // namespace

Result<double> ParseGoFloat(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  const double sign = negative ? -1 : 1;
  if (EqualFold(rest, "inf") || EqualFold(rest, "infinity")) {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (EqualFold(text, "nan")) return std::numeric_limits<double>::quiet_NaN();
  if (rest.empty() || !(rest[0] == '.' || (rest[0] >= '0' && rest[0] <= '9'))) {
    return Fail(Refused(text, "invalid syntax"));
  }
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error == std::errc::invalid_argument || end != rest.data() + rest.size()) {
    return Fail(Refused(text, "invalid syntax"));
  }
  if (error == std::errc::result_out_of_range) {
    // Too small is 0, too large an error.
    if (std::strtod(std::string(rest).c_str(), nullptr) < 1) return sign * 0.0;
    return Fail(Refused(text, "value out of range"));
  }
  return sign * value;
}

}  // namespace berth
