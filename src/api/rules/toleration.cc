#include "api/rules/toleration.h"

namespace berth::api {

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operator_.empty() || toleration.operator_ == "Equal") {
    return toleration.value == taint.value;
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
