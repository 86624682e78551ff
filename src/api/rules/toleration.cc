#include "api/rules/toleration.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace berth::api {
namespace {

// A 64-bit integer in its shortest form: no plus, no leading zeros, no minus zero.
std::optional<int64_t> CanonicalInteger(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || std::to_string(value) != text) return std::nullopt;
  return value;
}

bool ToleratesByNumber(const Toleration& toleration, const Taint& taint) {
  const auto bound = CanonicalInteger(toleration.value);
  const auto value = CanonicalInteger(taint.value);
  if (!bound || !value) return false;
  return toleration.operator_ == "Gt" ? *value > *bound : *value < *bound;
}

}  // namespace

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_.empty() || toleration.operator_ == "Equal") {
    return toleration.value == taint.value;
  }
  if (toleration.operator_ == "Gt" || toleration.operator_ == "Lt") {
    return ToleratesByNumber(toleration, taint);
  }
  return toleration.operator_ == "Exists";
}

bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  for (const Toleration& toleration : tolerations) {
    if (Tolerates(toleration, taint)) return true;
  }
  return false;
}

bool ForbidsScheduling(const Taint& taint) {
  return taint.effect == "NoSchedule" || taint.effect == "NoExecute";
}

}  // namespace berth::api
