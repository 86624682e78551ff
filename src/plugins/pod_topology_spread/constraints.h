// Spread constraints with their selectors parsed, and where a pod's constraints come from: its own
// spec, or the plugin's defaults with a selector deduced from what owns the pod.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/affinity.h"
#include "api/rules/label_selector.h"
#include "base/error.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/pod_shape.h"

namespace berth::plugins::pod_topology_spread {

inline constexpr std::string_view kDoNotSchedule = "DoNotSchedule";
inline constexpr std::string_view kScheduleAnyway = "ScheduleAnyway";
inline constexpr std::string_view kHostnameKey = "kubernetes.io/hostname";

struct Constraint {
  int32_t max_skew = 0;
  std::string topology_key;
  api::Selector selector;
  int32_t min_domains = 1;
  bool honors_node_affinity = true;  // count only nodes the pod's node affinity allows
  bool honors_taints = false;        // count only nodes whose taints the pod tolerates

  bool operator==(const Constraint&) const = default;
};

// The constraints of `list` whose whenUnsatisfiable is `action`; matchLabelKeys look at
// `pod_labels`.
Result<std::vector<Constraint>> ConstraintsOf(
    const std::vector<api::TopologySpreadConstraint>& list, const api::StringMap& pod_labels,
    std::string_view action);

// The labels by which services select the pod (service_index.h), together with what the pod's
// controller selects by; restricts nothing when there is neither.
api::Selector DefaultSelector(api::StringMap service_labels, const cluster::PodShape& shape,
                              const cluster::ObjectStore& objects);

// What decides default constraints besides the pod, as one number per kind of object.
using OwnerGenerations = std::array<uint64_t, 4>;
OwnerGenerations GenerationsOf(const cluster::ObjectStore& objects);

// Spread over nodes and zones: kube-scheduler's default constraints.
std::vector<api::TopologySpreadConstraint> SystemDefaultConstraints();

// The natural logarithm of a whole number, to the last bit as Go's math.Log computes it on amd64.
double GoLog(int64_t n);

}  // namespace berth::plugins::pod_topology_spread
