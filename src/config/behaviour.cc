#include "config/behaviour.h"

#include <fmt/format.h>

#include "config/minor_rules.h"

namespace berth::config {
namespace {

// Whether berth follows the gates that change what a scheduler does.
constexpr GateOfBerth kGatesOfBerth[] = {
    {Gate::kCSIMigrationPortworx, false},
    {Gate::kComponentFlagz, true},
    {Gate::kComponentStatusz, true},
    {Gate::kCompositePodGroup, false},
    {Gate::kCoordinatedLeaderElection, false},
    {Gate::kDRAAdminAccess, true},
    {Gate::kDRAConsumableCapacity, true},
    {Gate::kDRADerivedAttributes, false},
    {Gate::kDRADeviceBindingConditions, true},
    {Gate::kDRADeviceCompatibilityGroups, false},
    {Gate::kDRADeviceTaintRules, true},
    {Gate::kDRADeviceTaints, true},
    {Gate::kDRAExtendedResource, true},
    {Gate::kDRAFractionalCapacityRange, true},
    {Gate::kDRAListTypeAttributes, false},
    {Gate::kDRANodeAllocatableResources, false},
    {Gate::kDRAOptionalNodeOperations, false},
    {Gate::kDRAPartitionableDevices, true},
    {Gate::kDRAPrioritizedList, true},
    {Gate::kDRAResourceClaimDeviceStatus, true},
    {Gate::kDRASchedulerFilterTimeout, true},
    {Gate::kDRAWorkloadResourceClaims, false},
    {Gate::kDynamicResourceAllocation, true},
    {Gate::kGangScheduling, false},
    {Gate::kGenericWorkload, true, 37},
    {Gate::kInPlacePodLevelResourcesVerticalScaling, true},
    {Gate::kInPlacePodVerticalScaling, true},
    {Gate::kInPlacePodVerticalScalingSchedulerPreemption, false},
    {Gate::kLoggingAlphaOptions, true},
    {Gate::kLoggingBetaOptions, true},
    {Gate::kMatchLabelKeysInPodTopologySpread, true},
    {Gate::kNodeDeclaredFeatures, true},
    {Gate::kNodeInclusionPolicyInPodTopologySpread, false},
    {Gate::kNominatedNodeNameForExpectation, true},
    {Gate::kOpportunisticBatching, true},
    {Gate::kPodGroupPreemptionPolicy, true, 37},
    {Gate::kPodLevelResources, true},
    {Gate::kPodObservedGenerationTracking, true},
    {Gate::kRemoteRequestHeaderUID, true},
    {Gate::kSchedulerAsyncAPICalls, true},
    {Gate::kSchedulerAsyncPreemption, true},
    {Gate::kSchedulerPopFromBackoffQ, true},
    {Gate::kSchedulerPreQueueingHints, false},
    {Gate::kSchedulerQueueingHints, false},
    {Gate::kSidecarContainers, false},
    {Gate::kStorageCapacityScoring, true},
    {Gate::kTaintTolerationComparisonOperators, true},
    {Gate::kTopologyAwareWorkloadScheduling, true, 37},
    {Gate::kVolumeAttributesClass, false},
    {Gate::kVolumeLimitScaling, true},
    {Gate::kWatchListClient, true},
    {Gate::kWorkloadAwarePreemption, false},
};

DraFeatures DraFeaturesOf(const FeatureGates& gates) {
  const int minor = gates.Minor();
  DraFeatures dra;
  dra.admin_access = gates.Enabled(Gate::kDRAAdminAccess);
  dra.prioritized_list = gates.Enabled(Gate::kDRAPrioritizedList);
  dra.binding_conditions = gates.Enabled(Gate::kDRADeviceBindingConditions) &&
                           gates.Enabled(Gate::kDRAResourceClaimDeviceStatus);
  dra.extended_resource = gates.Enabled(Gate::kDRAExtendedResource);
  dra.partitionable = gates.Enabled(Gate::kDRAPartitionableDevices);
  dra.taints = gates.Enabled(Gate::kDRADeviceTaints);
  dra.taint_rules = dra.taints && (minor == 34 || gates.Enabled(Gate::kDRADeviceTaintRules));
  dra.consumable_capacity = gates.Enabled(Gate::kDRAConsumableCapacity);
  dra.fractional_range = gates.Enabled(Gate::kDRAFractionalCapacityRange);
  dra.checks_whole_pools = minor >= 35;
  dra.resources_by_class = minor >= 35;
  dra.only_known_taint_effects = minor >= 35;
  dra.sorted_pools = minor >= 36;
  dra.timeout_is_error = minor >= 36;
  dra.deduplicates_config = minor >= 37;
  dra.capacity_errors_fail = minor >= 37;
  dra.rule_without_selector_matches_none = minor >= 37;
  return dra;
}

}  // namespace

std::span<const GateOfBerth> GatesOfBerth() { return kGatesOfBerth; }

Behaviour::Behaviour(const FeatureGates& gates)
    : kubernetes_version(fmt::format("1.{}", gates.Minor())),
      release(static_cast<Release>(gates.Minor() - OldestKubernetes())) {
  const int minor = gates.Minor();
  binding_timeout_arg = minor >= 35;
  words_of_later_go = minor >= 35;
  says_label_key = minor >= 35;
  strict_scoring_strategy = minor >= 36;
  placement_points = minor >= 36;
  pod_group_post_filter_point = minor >= 37;
  node_name_first = minor >= 37;
  cheap_filters_pre_filter = minor >= 37;

  tie_break_by_heap = minor >= 35;
  balanced_allocation_scores_change = minor >= 36;
  image_volumes_score = minor >= 36;
  image_volumes_raise_limit = minor >= 37;
  namespace_selector_quirk = minor <= 36;
  taint_comparison_operators = gates.Enabled(Gate::kTaintTolerationComparisonOperators);

  node_declared_features = gates.Enabled(Gate::kNodeDeclaredFeatures);
  names_missing_declared_features = minor == 35;
  host_network_user_namespaces = minor >= 36;
  volume_bind_mount_options = minor >= 37;

  victims_stop_at_first_budget = minor >= 37;
  victims_start_when_listed = minor >= 37;
  preemption_has_message = minor >= 37;
  devices_post_filter_silent = minor >= 37;
  skips_terminating_victims = minor >= 35;
  preempts_in_memory = minor >= 36;
  in_memory_victim_activates = minor >= 37;
  victim_events_name_preemptor = minor <= 35;
  spares_last_victim_on_error = minor >= 36;
  observes_zero_victims = minor != 36;

  dynamic_resources = gates.Enabled(Gate::kDynamicResourceAllocation);
  dra_filter_timeout = gates.Enabled(Gate::kDRASchedulerFilterTimeout);
  devices_score = minor >= 35;
  if (dynamic_resources) dra = DraFeaturesOf(gates);
  binding_timeout_allowed = binding_timeout_arg && dra.binding_conditions;

  storage_capacity_scoring = gates.Enabled(Gate::kStorageCapacityScoring);
  missing_csi_driver_rejects = gates.Enabled(Gate::kVolumeLimitScaling);
  missing_csi_driver_opts_in = minor >= 36;
  csi_migration_is_on = minor >= 36;

  match_label_keys_in_spread = gates.Enabled(Gate::kMatchLabelKeysInPodTopologySpread);
  pod_level_resources = gates.Enabled(Gate::kPodLevelResources);
  in_place_scaling = gates.Enabled(Gate::kInPlacePodVerticalScaling);
  requests.pod_level_status = gates.Enabled(Gate::kInPlacePodLevelResourcesVerticalScaling);
  requests.max_of_totals = minor >= 37;

  pop_from_backoff = gates.Enabled(Gate::kSchedulerPopFromBackoffQ);
  async_preemption = gates.Enabled(Gate::kSchedulerAsyncPreemption);
  nominate_before_binding = gates.Enabled(Gate::kNominatedNodeNameForExpectation);
  observed_generation = gates.Enabled(Gate::kPodObservedGenerationTracking);
  failures_clear_nomination = minor >= 35;
  wildcard_events_reach_gated_pods = minor >= 35;
  activation_from_backoff_skips_pre_enqueue = minor >= 35;
  flush_counts_from_last_flush = minor >= 36;
  nominator_knows_gated_pods = minor >= 37;
  forgets_terminating_assumed_pods = minor >= 35;
  assumed_pods_expire = minor <= 35;
  parallel_pre_bind = minor >= 36;
  status_patches_retry_conflicts = minor >= 36;
  binding_retries = minor >= 37;
  opportunistic_batching = gates.Enabled(Gate::kOpportunisticBatching);

  pod_events_split = minor >= 37;
  node_feature_events = minor >= 35;
  node_add_implies_taint = minor <= 36;
  binding_is_no_deletion = minor >= 35;
  hints_count_nominated_pods = minor >= 36;
  affinity_hints_own_labels = minor >= 36;
  affinity_hints_any_term = minor >= 37;
  claim_deletion_events = minor >= 37;

  async_api_calls = gates.Enabled(Gate::kSchedulerAsyncAPICalls);
  watch_list = gates.Enabled(Gate::kWatchListClient);
  statusz = gates.Enabled(Gate::kComponentStatusz);
  flagz = gates.Enabled(Gate::kComponentFlagz);
  configz_v1 = minor >= 36;
  FollowPodGroups(gates);
}

void Behaviour::FollowPodGroups(const FeatureGates& gates) {
  pod_groups = release >= Release::k1_37 && gates.Enabled(Gate::kGenericWorkload);
  pod_group_topology = pod_groups && gates.Enabled(Gate::kTopologyAwareWorkloadScheduling);
  pod_group_preemption_policy = pod_groups && gates.Enabled(Gate::kPodGroupPreemptionPolicy);
}

MinorRules MinorRulesOf(const Behaviour& behaviour) {
  const Release release = behaviour.release;
  return {.assumes_over_same_version = release >= Release::k1_35,
          .allocations_list_tolerations = release >= Release::k1_35,
          .drops_managed_fields_of_pods = release >= Release::k1_35,
          .extended_resources_end_batches = release == Release::k1_35,
          .batches_rescore = release >= Release::k1_37,
          .log_has_pod_of_cycle_first = release >= Release::k1_36};
}

Result<int> ParseKubernetesVersion(std::string_view text) {
  for (int minor = OldestKubernetes(); minor <= NewestKubernetes(); ++minor) {
    const std::string version = fmt::format("1.{}", minor);
    if (text == version || text == "v" + version) return minor;
  }
  return Fail(fmt::format("\"{}\" is not a Kubernetes version from 1.{} to 1.{}", text,
                          OldestKubernetes(), NewestKubernetes()));
}

}  // namespace berth::config
