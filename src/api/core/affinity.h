// Affinity, tolerations and topology spread: where a pod may, should or must not run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/meta.h"

namespace berth::api {

// Required and preferred node selector terms.
struct NodeAffinity {
  std::optional<NodeSelector> required_during_scheduling_ignored_during_execution;
  std::vector<PreferredSchedulingTerm> preferred_during_scheduling_ignored_during_execution;

  bool operator==(const NodeAffinity&) const = default;
  static const TypeInfo& Type();
};

// Pods matched by the selectors, counted per value of the topology key.
struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector;
  std::vector<std::string> namespaces;
  std::string topology_key;
  std::optional<LabelSelector> namespace_selector;
  std::vector<std::string> match_label_keys;
  std::vector<std::string> mismatch_label_keys;

  bool operator==(const PodAffinityTerm&) const = default;
  static const TypeInfo& Type();
};

// A pod affinity term with the weight it adds.
struct WeightedPodAffinityTerm {
  int32_t weight = 0;
  PodAffinityTerm pod_affinity_term;

  bool operator==(const WeightedPodAffinityTerm&) const = default;
  static const TypeInfo& Type();
};

// Run near the pods the terms match.
struct PodAffinity {
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution;
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution;

  bool operator==(const PodAffinity&) const = default;
  static const TypeInfo& Type();
};

// Run away from the pods the terms match.
struct PodAntiAffinity {
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution;
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution;

  bool operator==(const PodAntiAffinity&) const = default;
  static const TypeInfo& Type();
};

// All affinity of a pod.
struct Affinity {
  Box<NodeAffinity> node_affinity;
  Box<PodAffinity> pod_affinity;
  Box<PodAntiAffinity> pod_anti_affinity;

  bool operator==(const Affinity&) const = default;
  static const TypeInfo& Type();
};

// Lets a pod run on nodes with matching taints.
struct Toleration {
  std::string key;
  std::string operator_;
  std::string value;
  std::string effect;
  std::optional<int64_t> toleration_seconds;

  bool operator==(const Toleration&) const = default;
  static const TypeInfo& Type();
};

// Matching pods differ by at most maxSkew between values of the topology key.
struct TopologySpreadConstraint {
  int32_t max_skew = 0;
  std::string topology_key;
  std::string when_unsatisfiable;
  std::optional<LabelSelector> label_selector;
  std::optional<int32_t> min_domains;
  std::optional<std::string> node_affinity_policy;
  std::optional<std::string> node_taints_policy;
  std::vector<std::string> match_label_keys;

  bool operator==(const TopologySpreadConstraint&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
