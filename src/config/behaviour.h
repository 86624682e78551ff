// Behaviour: which kube-scheduler berth is.
//
// One value, made from the Kubernetes minor and the feature gates in one
// function, with a named field per difference. Configuration, plugins, queue,
// engine, metrics and watches get it and ask for the name. No other file
// compares a version or asks for a gate of the scheduler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/rules/pod_requests.h"
#include "config/feature_gates.h"

namespace berth::config {

// Devices: dynamic resource allocation.
struct DraFeatures {
  // Gates of the same name behind "DRA".
  bool admin_access = true;
  bool prioritized_list = true;
  bool binding_conditions = false;  // DRADeviceBindingConditions, DRAResourceClaimDeviceStatus
  bool extended_resource = false;
  bool partitionable = false;  // DRAPartitionableDevices
  bool taints = false;         // DRADeviceTaints
  bool taint_rules = false;    // DeviceTaintRules are watched; 1.34: with DRADeviceTaints
  bool consumable_capacity = false;
  bool fractional_range = false;  // DRAFractionalCapacityRange

  // 1.35: pools are checked as a whole. Counters are found in all slices of a pool; requests for a
  // number of devices pass over incomplete and invalid pools.
  bool checks_whole_pools = false;
  // 1.35: an extended resource is left to devices where a class has it and the node has none of it;
  // before, where the node does not list it.
  bool resources_by_class = false;
  // 1.35: taints with an effect other than NoSchedule and NoExecute do not repel.
  bool only_known_taint_effects = false;
  // 1.36: pools are tried by driver and name, their slices by name, pools with binding conditions
  // last; requests of one claim do not try permutations.
  bool sorted_pools = false;
  bool timeout_is_error = false;      // 1.36: Filter fails instead of rejecting the node
  bool deduplicates_config = false;   // 1.37: a configuration is listed once per allocation
  bool capacity_errors_fail = false;  // 1.37: a bad capacity is an error, not a misfit
  bool rule_without_selector_matches_none = false;  // 1.37.1

  bool operator==(const DraFeatures&) const = default;
};

// A supported minor, for tables that differ by release in most rows: metrics, API paths, flags.
// A single difference in behaviour is a field of Behaviour instead.
enum class Release : uint8_t { k1_34, k1_35, k1_36, k1_37 };

// The minor a field names is the first one that has it.
struct Behaviour {
  // Of DefaultKubernetes() with all gates at their defaults.
  Behaviour() : Behaviour(FeatureGates()) {}
  explicit Behaviour(const FeatureGates& gates);

  std::string kubernetes_version;  // "1.34", to print
  Release release = Release::k1_34;

  // --- Configuration
  bool binding_timeout_arg = false;          // 1.35: DynamicResourcesArgs.bindingTimeout exists
  bool binding_timeout_allowed = false;      // and may be set, with the gates of binding conditions
  bool strict_scoring_strategy = false;      // 1.36: NodeResourcesFitArgs are checked strictly
  bool placement_points = false;             // 1.36: placementGenerate and placementScore
  bool pod_group_post_filter_point = false;  // 1.37
  bool node_name_first = false;              // 1.37: NodeName runs before NodeUnschedulable
  // 1.37: NodeName, NodeUnschedulable and TaintToleration are PreFilter plugins.
  bool cheap_filters_pre_filter = false;

  // 1.35: errors of decoding name the scheme and embedded structs as later versions of Go do.
  bool words_of_later_go = false;
  bool says_label_key = false;  // 1.35: errors of names say "label key" and "bytes"

  // --- Choosing a node
  // 1.35: of nodes with equal totals the one a max-heap over the feasible nodes yields; before, a
  // random one.
  bool tie_break_by_heap = false;
  // 1.36: NodeResourcesBalancedAllocation scores the change of balance, not the balance.
  bool balanced_allocation_scores_change = false;
  bool image_volumes_score = false;        // 1.36: ImageLocality adds image volumes
  bool image_volumes_raise_limit = false;  // 1.37: and counts them in its thresholds
  // Node selectors of pod affinity terms: until 1.36 a namespaceSelector with only NotIn and
  // DoesNotExist matches every namespace for the terms of the pod to schedule.
  bool namespace_selector_quirk = true;
  bool taint_comparison_operators = false;  // TaintTolerationComparisonOperators: Gt and Lt

  // --- Features that nodes declare
  bool node_declared_features = false;           // NodeDeclaredFeatures
  bool names_missing_declared_features = false;  // 1.35 alone: the reason lists them
  bool host_network_user_namespaces = false;  // 1.36: UserNamespacesHostNetworkSupport is inferred
  bool volume_bind_mount_options = false;     // 1.37: VolumeBindMountOptions is inferred

  // --- Preemption
  // 1.37: a victim counts for the first budget it violates only.
  bool victims_stop_at_first_budget = false;
  // 1.37: of victims that have not started, the one listed first has run longest.
  bool victims_start_when_listed = false;
  bool preemption_has_message = false;      // 1.37: success, too, and a prefix "preemption: "
  bool devices_post_filter_silent = false;  // 1.37: DynamicResources' PostFilter has no reasons
  // 1.35: victims that terminate already get no request, and the preemptor waits in PreEnqueue
  // until the request of its last victim ends.
  bool skips_terminating_victims = false;
  // 1.36: a victim that waits on Permit or is in PreBind is cancelled in memory, not deleted. It
  // goes back through the error backoff.
  bool preempts_in_memory = false;
  bool in_memory_victim_activates = false;   // 1.37: the preemptor, when it was the last victim
  bool victim_events_name_preemptor = true;  // until 1.35, in the field `related`
  bool spares_last_victim_on_error = false;  // 1.36: if the request of another victim failed
  // The histogram preemption_victims counts candidates without a victim to delete: all but 1.36.
  bool observes_zero_victims = true;

  // --- Devices
  // Off: DynamicResources is no default plugin, does nothing where it is named, and no kind of
  // resource.k8s.io is watched.
  bool dynamic_resources = true;   // DynamicResourceAllocation
  bool dra_filter_timeout = true;  // DRASchedulerFilterTimeout: arguments may limit Filter
  bool devices_score = false;      // 1.35: DynamicResources scores, with weight 2
  DraFeatures dra;

  // --- Volumes
  // VolumeBinding scores nodes by capacity, its arguments may have a shape.
  bool storage_capacity_scoring = false;  // StorageCapacityScoring
  // VolumeLimitScaling: nodes without the CSI driver are rejected, from 1.36 on only where the
  // CSIDriver says so.
  bool missing_csi_driver_rejects = false;
  bool missing_csi_driver_opts_in = false;
  bool csi_migration_is_on = false;  // 1.36: whatever the annotation of the CSINode says

  // --- Fields of pods. Off: the scheduler does not see them.
  bool match_label_keys_in_spread = true;  // MatchLabelKeysInPodTopologySpread
  bool pod_level_resources = true;         // PodLevelResources
  bool in_place_scaling = true;            // InPlacePodVerticalScaling
  // pod_level_status: InPlacePodLevelResourcesVerticalScaling; max_of_totals: 1.37.
  api::RequestRules requests;

  // --- Queue and cycles
  // A pod in backoff is taken when no other can be tried; backoff ends at whole seconds.
  bool pop_from_backoff = true;            // SchedulerPopFromBackoffQ
  bool async_preemption = true;            // SchedulerAsyncPreemption
  bool nominate_before_binding = false;    // NominatedNodeNameForExpectation
  bool observed_generation = true;         // PodObservedGenerationTracking: in conditions
  bool failures_clear_nomination = false;  // 1.35: every failure does
  // 1.35: gated pods are tried again by wildcard events: the flush of unschedulable pods and forced
  // activation.
  bool wildcard_events_reach_gated_pods = false;
  bool activation_from_backoff_skips_pre_enqueue = false;  // 1.35
  bool flush_counts_from_last_flush = false;               // 1.36: not from the last attempt alone
  bool nominator_knows_gated_pods = false;                 // 1.37
  // 1.35: an assumed pod that gets a deletionTimestamp or is deleted leaves its node at once.
  bool forgets_terminating_assumed_pods = false;
  bool assumed_pods_expire = true;              // until 1.35
  bool parallel_pre_bind = false;               // 1.36: VolumeBinding and DynamicResources together
  bool status_patches_retry_conflicts = false;  // 1.36
  bool binding_retries = false;         // 1.37: after transient errors, four tries from 10 ms on
  bool opportunistic_batching = false;  // OpportunisticBatching
  // Pods that name a PodGroup are scheduled as one entity. These are set by FollowPodGroups alone.
  bool pod_groups = false;                   // 1.37: GenericWorkload
  bool pod_group_topology = false;           // TopologyAwareWorkloadScheduling
  bool pod_group_preemption_policy = false;  // PodGroupPreemptionPolicy
  // For whoever runs group cycles.
  void FollowPodGroups(const FeatureGates& gates);

  // --- Events and hints
  // 1.37: AssignedPod, UnscheduledPod and TargetPod instead of Pod and UnschedulablePod.
  bool pod_events_split = false;
  bool node_feature_events = false;     // 1.35: UpdateNodeDeclaredFeature
  bool node_add_implies_taint = true;   // until 1.36: plugins with Node/Add get taint updates
  bool binding_is_no_deletion = false;  // 1.35: no AssignedPodDelete when a nominated pod is bound
  bool hints_count_nominated_pods = false;  // 1.36: as pods on their nodes
  // 1.36: InterPodAffinity looks at labels of the pod itself and at terms of deleted pods.
  bool affinity_hints_own_labels = false;
  bool affinity_hints_any_term = false;  // 1.37: one matching anti-affinity term is enough
  bool claim_deletion_events = false;    // 1.37: DynamicResources hears of deleted claims

  // --- The API server and endpoints
  // Status patches that wait for their turn are merged, and counted in metrics.
  bool async_api_calls = false;  // SchedulerAsyncAPICalls
  // Lists are the first events of watches.
  bool watch_list = false;  // WatchListClient
  bool statusz = false;     // ComponentStatusz
  bool flagz = false;       // ComponentFlagz
  bool configz_v1 = false;  // 1.36: /configz shows versioned types

  bool operator==(const Behaviour&) const = default;
};

// The minor of "1.N" or "v1.N", one of those that berth can be.
Result<int> ParseKubernetesVersion(std::string_view text);

}  // namespace berth::config
