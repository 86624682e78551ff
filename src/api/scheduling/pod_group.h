// PodGroup: pods that are scheduled together (scheduling.k8s.io/v1beta1, Kubernetes 1.37).
//
// Pods name their group in spec.schedulingGroup. Composite groups and Workloads, from which
// controllers make groups, are not read by the scheduler.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/meta.h"

namespace berth::api {

// The template a group was made from.
struct WorkloadReference {
  std::string workload_name;
  std::string template_name;

  bool operator==(const WorkloadReference&) const = default;
  static const TypeInfo& Type();
};

// Pods are placed as they fit, without a minimum.
struct BasicSchedulingPolicy {
  bool operator==(const BasicSchedulingPolicy&) const = default;
  static const TypeInfo& Type();
};

// Either min_count pods can be placed, or none is.
struct GangSchedulingPolicy {
  int32_t min_count = 0;

  bool operator==(const GangSchedulingPolicy&) const = default;
  static const TypeInfo& Type();
};

// One of them is set.
struct PodGroupSchedulingPolicy {
  Box<BasicSchedulingPolicy> basic;
  Box<GangSchedulingPolicy> gang;

  bool operator==(const PodGroupSchedulingPolicy&) const = default;
  static const TypeInfo& Type();
};

// All pods on nodes with the same value of a label.
struct TopologyConstraint {
  std::string key;

  bool operator==(const TopologyConstraint&) const = default;
  static const TypeInfo& Type();
};

// Where the pods may be placed, as a group.
struct PodGroupSchedulingConstraints {
  std::vector<TopologyConstraint> topology;

  bool operator==(const PodGroupSchedulingConstraints&) const = default;
  static const TypeInfo& Type();
};

// A claim that the pods of the group share.
struct PodGroupResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  bool operator==(const PodGroupResourceClaim&) const = default;
  static const TypeInfo& Type();
};

// Pods of the group may be evicted one by one.
struct SingleDisruptionMode {
  bool operator==(const SingleDisruptionMode&) const = default;
  static const TypeInfo& Type();
};

// All pods of the group are evicted, or none.
struct AllDisruptionMode {
  bool operator==(const AllDisruptionMode&) const = default;
  static const TypeInfo& Type();
};

// One of them is set.
struct DisruptionMode {
  Box<SingleDisruptionMode> single;
  Box<AllDisruptionMode> all;

  bool operator==(const DisruptionMode&) const = default;
  static const TypeInfo& Type();
};

// How the pods of the group are scheduled and disrupted.
struct PodGroupSpec {
  std::optional<std::string> parent_composite_pod_group_name;
  Box<WorkloadReference> workload_ref;
  PodGroupSchedulingPolicy scheduling_policy;
  Box<PodGroupSchedulingConstraints> scheduling_constraints;
  std::vector<PodGroupResourceClaim> resource_claims;
  Box<DisruptionMode> disruption_mode;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::optional<std::string> preemption_policy;

  bool operator==(const PodGroupSpec&) const = default;
  static const TypeInfo& Type();
};

// The claim made from a template for this group.
struct PodGroupResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;

  bool operator==(const PodGroupResourceClaimStatus&) const = default;
  static const TypeInfo& Type();
};

// What happened to the group so far.
struct PodGroupStatus {
  std::vector<Condition> conditions;
  std::vector<PodGroupResourceClaimStatus> resource_claim_statuses;

  bool operator==(const PodGroupStatus&) const = default;
  static const TypeInfo& Type();
};

// A group of pods.
struct PodGroup {
  static constexpr std::string_view kApiVersion = "scheduling.k8s.io/v1beta1";
  static constexpr std::string_view kKind = "PodGroup";

  ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;

  bool operator==(const PodGroup&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
