#include "plugins/pod_topology_spread/constraints.h"

#include <cmath>
#include <utility>

namespace berth::plugins::pod_topology_spread {
namespace {

// Labels the pod has for `keys`, as demands added to `selector`. A selector that matches nothing
// stays so.
api::Selector WithLabels(api::Selector selector, const std::vector<std::string>& keys,
                         const api::StringMap& pod_labels) {
  if (selector.MatchesNothing()) return selector;
  api::StringMap wanted;
  for (const std::string& key : keys) {
    const auto it = pod_labels.find(key);
    if (it != pod_labels.end()) wanted.emplace(key, it->second);
  }
  if (wanted.empty()) return selector;
  api::Selector merged = api::Selector::FromSet(wanted);
  for (const api::Requirement& requirement : selector.Requirements()) merged.Add(requirement);
  return merged;
}

// Adds what `other` demands, if it parses and does not match nothing.
void AddRequirements(const std::optional<api::LabelSelector>& other, api::Selector* selector) {
  const auto parsed = api::Selector::From(other);
  if (!parsed || parsed->MatchesNothing()) return;
  for (const api::Requirement& requirement : parsed->Requirements()) selector->Add(requirement);
}

}  // namespace

Result<std::vector<Constraint>> ConstraintsOf(
    const std::vector<api::TopologySpreadConstraint>& list, const api::StringMap& pod_labels,
    std::string_view action) {
  std::vector<Constraint> constraints;
  for (const api::TopologySpreadConstraint& from : list) {
    if (from.when_unsatisfiable != action) continue;
    auto selector = api::Selector::From(from.label_selector);
    if (!selector) return Fail(selector.error());
    Constraint constraint;
    constraint.max_skew = from.max_skew;
    constraint.topology_key = from.topology_key;
    constraint.selector = WithLabels(std::move(*selector), from.match_label_keys, pod_labels);
    constraint.min_domains = from.min_domains.value_or(1);
    constraint.honors_node_affinity = from.node_affinity_policy.value_or("Honor") == "Honor";
    constraint.honors_taints = from.node_taints_policy.value_or("Ignore") == "Honor";
    constraints.push_back(std::move(constraint));
  }
  return constraints;
}

api::Selector DefaultSelector(api::StringMap wanted, const cluster::PodShape& shape,
                              const cluster::ObjectStore& objects) {
  const auto& owners = shape.source.metadata.owner_references;
  if (owners.empty()) return api::Selector::FromSet(wanted);
  const api::OwnerReference& owner = owners.front();
  if (owner.api_version == "v1" && owner.kind == "ReplicationController") {
    const auto* rc = objects.replication_controllers.Find(shape.namespace_, owner.name);
    if (rc != nullptr) {
      for (const auto& [key, value] : rc->spec.selector) wanted.insert_or_assign(key, value);
    }
    return api::Selector::FromSet(wanted);
  }
  api::Selector selector = api::Selector::FromSet(wanted);
  if (owner.api_version == "apps/v1" && owner.kind == "ReplicaSet") {
    const auto* rs = objects.replica_sets.Find(shape.namespace_, owner.name);
    if (rs != nullptr) AddRequirements(rs->spec.selector, &selector);
  } else if (owner.api_version == "apps/v1" && owner.kind == "StatefulSet") {
    const auto* set = objects.stateful_sets.Find(shape.namespace_, owner.name);
    if (set != nullptr) AddRequirements(set->spec.selector, &selector);
  }
  return selector;
}

OwnerGenerations GenerationsOf(const cluster::ObjectStore& objects) {
  return {objects.services.Generation(), objects.replication_controllers.Generation(),
          objects.replica_sets.Generation(), objects.stateful_sets.Generation()};
}

std::vector<api::TopologySpreadConstraint> SystemDefaultConstraints() {
  std::vector<api::TopologySpreadConstraint> constraints(2);
  constraints[0].topology_key = kHostnameKey;
  constraints[0].max_skew = 3;
  constraints[1].topology_key = "topology.kubernetes.io/zone";
  constraints[1].max_skew = 5;
  for (auto& constraint : constraints) constraint.when_unsatisfiable = kScheduleAnyway;
  return constraints;
}

double GoLog(int64_t n) {
  // n = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)); log(1 + f) from a polynomial in
  // s = f / (2 + f), after fdlibm. The order of operations is what makes the last bit.
  int exponent = 0;
  double mantissa = std::frexp(static_cast<double>(n), &exponent);
  if (mantissa < 7.07106781186547524401e-01) {
    mantissa *= 2;
    --exponent;
  }
  const double k = exponent;
  const double f = mantissa - 1;
  const double s = f / (2 + f);
  const double s2 = s * s;
  const double s4 = s2 * s2;
  const double odd = s2 * (6.666666666666735130e-01 +
                           s4 * (2.857142874366239149e-01 +
                                 s4 * (1.818357216161805012e-01 + s4 * 1.479819860511658591e-01)));
  const double even = s4 * (3.999999999940941908e-01 +
                            s4 * (2.222219843214978396e-01 + s4 * 1.531383769920937332e-01));
  const double rest = odd + even;
  const double half_square = 0.5 * f * f;
  return k * 6.93147180369123816490e-01 -
         ((half_square - (s * (half_square + rest) + k * 1.90821492927058770002e-10)) - f);
}

}  // namespace berth::plugins::pod_topology_spread
