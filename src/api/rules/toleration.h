// Which taints a pod tolerates.
#pragma once

#include <vector>

#include "api/core/affinity.h"
#include "api/core/node.h"

namespace berth::api {

// An empty effect or key of the toleration stands for any. Gt and Lt tolerate taints whose value is
// a greater or lesser integer (the feature gate TaintTolerationComparisonOperators; without it
// config::HideDisabledFields removes such tolerations). An operator other than these, Equal (or
// empty) and Exists tolerates nothing.
bool Tolerates(const Toleration& toleration, const Taint& taint);
bool Tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

// Taints that keep a pod off a node: NoSchedule and NoExecute.
bool ForbidsScheduling(const Taint& taint);

// The first taint that `counts` and that no toleration tolerates, or null.
template <class Filter>
const Taint* FirstUntolerated(const std::vector<Taint>& taints,
                              const std::vector<Toleration>& tolerations, const Filter& counts) {
  for (const Taint& taint : taints) {
    if (counts(taint) && !Tolerates(tolerations, taint)) return &taint;
  }
  return nullptr;
}

}  // namespace berth::api
