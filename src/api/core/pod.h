// Pod: what is scheduled. Everything scheduling, preemption, volumes and dynamic resources read;
// environment, probes and most of the security contexts are skipped when decoding.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/affinity.h"
#include "api/core/container.h"
#include "api/core/resources.h"
#include "api/core/volume.h"
#include "api/meta.h"
#include "api/rules/resource_list.h"
#include "api/string_map.h"
#include "api/time.h"

namespace berth::api {

// The operating system the pod is made for.
struct PodOS {
  std::string name;

  bool operator==(const PodOS&) const = default;
  static const TypeInfo& Type();
};

// The pod waits until the gate is removed.
struct PodSchedulingGate {
  std::string name;

  bool operator==(const PodSchedulingGate&) const = default;
  static const TypeInfo& Type();
};

// A condition that must be true for the pod to be ready.
struct PodReadinessGate {
  std::string condition_type;

  bool operator==(const PodReadinessGate&) const = default;
  static const TypeInfo& Type();
};

// A claim the pod needs, by name or made from a template.
struct PodResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  bool operator==(const PodResourceClaim&) const = default;
  static const TypeInfo& Type();
};

// The group the pod is scheduled with.
struct PodSchedulingGroup {
  std::optional<std::string> pod_group_name;  // in the pod's namespace

  bool operator==(const PodSchedulingGroup&) const = default;
  static const TypeInfo& Type();
};

// What the pod's containers may do where they do not say it themselves; see SecurityContext.
struct PodSecurityContext {
  Box<SeccompProfile> seccomp_profile;

  bool operator==(const PodSecurityContext&) const = default;
  static const TypeInfo& Type();
};

// The pod's requests and placement constraints.
struct PodSpec {
  std::vector<Volume> volumes;
  std::vector<Container> init_containers;
  std::vector<Container> containers;
  std::vector<EphemeralContainer> ephemeral_containers;
  std::string restart_policy;
  std::optional<int64_t> termination_grace_period_seconds;
  std::optional<int64_t> active_deadline_seconds;
  StringMap node_selector;
  std::string service_account_name;
  std::string node_name;
  bool host_network = false;
  Box<PodSecurityContext> security_context;
  Box<Affinity> affinity;
  std::string scheduler_name;
  std::vector<Toleration> tolerations;
  std::string priority_class_name;
  std::optional<int32_t> priority;
  std::vector<PodReadinessGate> readiness_gates;
  Box<std::string> runtime_class_name;
  Box<std::string> preemption_policy;
  ResourceList overhead;
  std::vector<TopologySpreadConstraint> topology_spread_constraints;
  Box<PodOS> os;
  std::vector<PodSchedulingGate> scheduling_gates;
  std::vector<PodResourceClaim> resource_claims;
  Box<ResourceRequirements> resources;
  std::optional<bool> host_users;
  Box<PodSchedulingGroup> scheduling_group;

  bool operator==(const PodSpec&) const = default;
  static const TypeInfo& Type();
};

// A condition of the pod, such as PodScheduled or DisruptionTarget.
struct PodCondition {
  std::string type;
  int64_t observed_generation = 0;
  std::string status;
  Time last_probe_time;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const PodCondition&) const = default;
  static const TypeInfo& Type();
};

// The claim made from a template for this pod.
struct PodResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;

  bool operator==(const PodResourceClaimStatus&) const = default;
  static const TypeInfo& Type();
};

// Which request of the special claim backs an extended resource of a container.
struct ContainerExtendedResourceRequest {
  std::string container_name;
  std::string resource_name;
  std::string request_name;

  bool operator==(const ContainerExtendedResourceRequest&) const = default;
  static const TypeInfo& Type();
};

// The special claim made for extended resources backed by devices.
struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings;
  std::string resource_claim_name;

  bool operator==(const PodExtendedResourceClaimStatus&) const = default;
  static const TypeInfo& Type();
};

// An address of the host.
struct HostIP {
  std::string ip;

  bool operator==(const HostIP&) const = default;
  static const TypeInfo& Type();
};

// An address of the pod.
struct PodIP {
  std::string ip;

  bool operator==(const PodIP&) const = default;
  static const TypeInfo& Type();
};

// What happened to the pod so far.
struct PodStatus {
  int64_t observed_generation = 0;
  std::string phase;
  std::vector<PodCondition> conditions;
  std::string message;
  std::string reason;
  std::string nominated_node_name;
  std::string host_ip;
  std::vector<HostIP> host_ips;
  std::string pod_ip;
  std::vector<PodIP> pod_ips;
  std::optional<Time> start_time;
  std::vector<ContainerStatus> init_container_statuses;
  std::vector<ContainerStatus> container_statuses;
  std::string qos_class;
  std::vector<ContainerStatus> ephemeral_container_statuses;
  std::string resize;
  std::vector<PodResourceClaimStatus> resource_claim_statuses;
  Box<PodExtendedResourceClaimStatus> extended_resource_claim_status;
  ResourceList allocated_resources;     // of the pod as a whole
  Box<ResourceRequirements> resources;  // the same, in effect

  bool operator==(const PodStatus&) const = default;
  static const TypeInfo& Type();
};

// A group of containers that is placed on one node.
struct Pod {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Pod";

  ObjectMeta metadata;
  PodSpec spec;
  PodStatus status;

  bool operator==(const Pod&) const = default;
  static const TypeInfo& Type();
};

// What a workload makes pods from.
struct PodTemplateSpec {
  ObjectMeta metadata;
  PodSpec spec;

  bool operator==(const PodTemplateSpec&) const = default;
  static const TypeInfo& Type();
};

// A template stored as an object of its own.
struct PodTemplate {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "PodTemplate";

  ObjectMeta metadata;
  PodTemplateSpec template_;

  bool operator==(const PodTemplate&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
