#include "server/metrics/scheduler_families.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::server {
namespace {

using config::Behaviour;
using config::Release;

enum class Type : uint8_t { kCounter, kGauge, kHistogram };

// Exponential ones.
struct Buckets {
  double start = 0;
  double factor = 0;
  size_t count = 0;
};

struct Row {
  Metric metric;
  Type type;
  std::string_view name;
  std::string_view help;
  Stability stability;
  std::vector<std::string> labels = {};
  Buckets buckets = {};
  // The first and the last release that have it.
  Release since = Release::k1_34;
  Release until = Release::k1_37;
  // What a later release changed.
  std::optional<Release> beta_since = {};
  std::optional<Release> new_help_since = {};
  std::string_view new_help = {};
  // Whether the gates show it. Null: always.
  bool (*when)(const Behaviour&) = nullptr;
};

constexpr Stability kAlpha = Stability::kAlpha;
constexpr Stability kBeta = Stability::kBeta;
constexpr Stability kStable = Stability::kStable;

constexpr Buckets kAttempt = {0.001, 2, 15};
constexpr Buckets kPoint = {0.0001, 2, 12};
constexpr Buckets kPlugin = {0.00001, 1.5, 20};
constexpr Buckets kBatch = {0.00001, 2, 12};
constexpr Buckets kVictims = {1, 2, 11};
constexpr Buckets kPreemption = {0.001, 2, 16};

bool AsyncPreemption(const Behaviour& behaviour) { return behaviour.async_preemption; }
bool AsyncApiCalls(const Behaviour& behaviour) { return behaviour.async_api_calls; }
bool ExtendedResource(const Behaviour& behaviour) { return behaviour.dra.extended_resource; }
bool PodGroups(const Behaviour& behaviour) { return behaviour.pod_groups; }
bool PodGroupTopology(const Behaviour& behaviour) { return behaviour.pod_group_topology; }
bool BindingConditions(const Behaviour& behaviour) { return behaviour.dra.binding_conditions; }

std::vector<Row> CycleRows() {
  return {
      {.metric = Metric::kScheduleAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_schedule_attempts_total",
       .help = "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod "
               "could not be scheduled, while 'error' means an internal scheduler problem.",
       .stability = kStable,
       .labels = {"result", "profile"}},
      {.metric = Metric::kSchedulingAttemptDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_scheduling_attempt_duration_seconds",
       .help = "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
       .stability = kStable,
       .labels = {"result", "profile"},
       .buckets = kAttempt},
      {.metric = Metric::kSchedulingAlgorithmDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_scheduling_algorithm_duration_seconds",
       .help = "Scheduling algorithm latency in seconds",
       .stability = kAlpha,
       .buckets = kAttempt,
       .beta_since = Release::k1_37},
      {.metric = Metric::kPodSchedulingSliDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_pod_scheduling_sli_duration_seconds",
       .help = "E2e latency for a pod being scheduled, from the time the pod enters the scheduling "
               "queue and might involve multiple scheduling attempts.",
       .stability = kBeta,
       .labels = {"attempts"},
       .buckets = {0.01, 2, 20}},
      {.metric = Metric::kPodSchedulingAttempts,
       .type = Type::kHistogram,
       .name = "scheduler_pod_scheduling_attempts",
       .help = "Number of attempts to successfully schedule a pod.",
       .stability = kStable,
       .buckets = {1, 2, 5}},
      {.metric = Metric::kPodScheduledAfterFlushTotal,
       .type = Type::kCounter,
       .name = "scheduler_pod_scheduled_after_flush_total",
       .help = "Number of pods that were successfully scheduled after being flushed from "
               "unschedulablePods due to timeout. This metric helps detect potential queueing hint "
               "misconfigurations or event handling issues.",
       .stability = kAlpha,
       .since = Release::k1_36,
       .new_help_since = Release::k1_37,
       .new_help = "Number of pods that were successfully scheduled after being flushed from "
                   "unschedulableEntities due to timeout. This metric helps detect potential "
                   "queueing hint misconfigurations or event handling issues."},
      {.metric = Metric::kFrameworkExtensionPointDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_framework_extension_point_duration_seconds",
       .help = "Latency for running all plugins of a specific extension point.",
       .stability = kStable,
       .labels = {"extension_point", "status", "profile"},
       .buckets = kPoint},
      {.metric = Metric::kPluginExecutionDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_plugin_execution_duration_seconds",
       .help = "Duration for running a plugin at a specific extension point.",
       .stability = kAlpha,
       .labels = {"plugin", "extension_point", "status"},
       .buckets = kPlugin,
       .beta_since = Release::k1_37},
      {.metric = Metric::kPluginEvaluationTotal,
       .type = Type::kCounter,
       .name = "scheduler_plugin_evaluation_total",
       .help = "Number of attempts to schedule pods by each plugin and the extension point "
               "(available only in PreFilter, Filter, PreScore, and Score).",
       .stability = kAlpha,
       .labels = {"plugin", "extension_point", "profile"},
       .beta_since = Release::k1_36},
      {.metric = Metric::kPermitWaitDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_permit_wait_duration_seconds",
       .help = "Duration of waiting on permit.",
       .stability = kAlpha,
       .labels = {"result"},
       .buckets = kAttempt,
       .beta_since = Release::k1_36},
      {.metric = Metric::kGoroutines,
       .type = Type::kGauge,
       .name = "scheduler_goroutines",
       .help = "Number of running goroutines split by the work they do such as binding.",
       .stability = kAlpha,
       .labels = {"operation"},
       .beta_since = Release::k1_36},
      {.metric = Metric::kCacheSize,
       .type = Type::kGauge,
       .name = "scheduler_cache_size",
       .help = "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
       .stability = kAlpha,
       .labels = {"type"}},
  };
}

std::vector<Row> BatchRows() {
  return {
      {.metric = Metric::kBatchAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_batch_attempts_total",
       .help = "Counts of results when we attempt to use batching.",
       .stability = kAlpha,
       .labels = {"profile", "result"},
       .since = Release::k1_35},
      {.metric = Metric::kBatchCacheFlushedTotal,
       .type = Type::kCounter,
       .name = "scheduler_batch_cache_flushed_total",
       .help = "Counts of cache flushes by reason.",
       .stability = kAlpha,
       .labels = {"profile", "reason"},
       .since = Release::k1_35},
      {.metric = Metric::kBatchRescoreAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_batch_rescore_attempts_total",
       .help = "Counts of rescore attempts during opportunistic batching.",
       .stability = kAlpha,
       .labels = {"profile"},
       .since = Release::k1_37},
      {.metric = Metric::kBatchRescoreDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_batch_rescore_duration_seconds",
       .help = "Latency for rescoring a node during opportunistic batching.",
       .stability = kAlpha,
       .labels = {"profile"},
       .buckets = kBatch,
       .since = Release::k1_37},
      {.metric = Metric::kGetNodeHintDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_get_node_hint_duration_seconds",
       .help = "Latency for getting a node hint.",
       .stability = kAlpha,
       .labels = {"hinted", "profile"},
       .buckets = kBatch,
       .since = Release::k1_35},
      {.metric = Metric::kStoreScheduleResultsDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_store_schedule_results_duration_seconds",
       .help = "Latency for getting a no.",
       .stability = kAlpha,
       .labels = {"profile"},
       .buckets = kBatch,
       .since = Release::k1_35,
       .new_help_since = Release::k1_37,
       .new_help = "Latency for storing scheduling results."},
  };
}

std::vector<Row> QueueRows() {
  return {
      {.metric = Metric::kPendingPods,
       .type = Type::kGauge,
       .name = "scheduler_pending_pods",
       .help = "Number of pending pods, by the queue type. 'active' means number of pods in "
               "activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means number "
               "of pods in unschedulablePods that the scheduler attempted to schedule and failed; "
               "'gated' is the number of unschedulable pods that the scheduler never attempted to "
               "schedule because they are gated.",
       .stability = kStable,
       .labels = {"queue"},
       .new_help_since = Release::k1_37,
       .new_help = "Number of pending pods, by the queue type. 'active' means number of pods in "
                   "activeQ; 'backoff' means number of pods in backoffQ; 'unschedulable' means "
                   "number of pods in unschedulableEntities that the scheduler attempted to "
                   "schedule and failed; 'gated' is the number of unschedulable pods that the "
                   "scheduler never attempted to schedule because they are gated; 'incomplete' "
                   "means number of pods in incompletePodGroupPods; 'pending' means number of pods "
                   "in pendingPodGroupPods."},
      {.metric = Metric::kQueuedEntities,
       .type = Type::kGauge,
       .name = "scheduler_queued_entities",
       .help = "Number of queued scheduling entities ('pod' or 'podgroup'; 'pod' stands for "
               "individual pods that are not members of any podgroup) by the queue type. 'active' "
               "means number of entities in activeQ; 'backoff' means number of entities in "
               "backoffQ; 'unschedulable' means number of entities in unschedulableEntities that "
               "the scheduler attempted to schedule and failed; 'gated' is the number of "
               "unschedulable entities that the scheduler never attempted to schedule because they "
               "are gated.",
       .stability = kAlpha,
       .labels = {"queue", "type"},
       .since = Release::k1_37},
      {.metric = Metric::kQueueIncomingPodsTotal,
       .type = Type::kCounter,
       .name = "scheduler_queue_incoming_pods_total",
       .help = "Number of pods added to scheduling queues by event and queue type.",
       .stability = kStable,
       .labels = {"queue", "event"}},
      {.metric = Metric::kQueueIncomingEntitiesTotal,
       .type = Type::kCounter,
       .name = "scheduler_queue_incoming_entities_total",
       .help = "Number of scheduling entities added to scheduling queues by event, queue type, and "
               "entity type. Entity types are either 'pod' (for individual pods that are not "
               "members of any podgroup) or 'podgroup'.",
       .stability = kAlpha,
       .labels = {"queue", "event", "type"},
       .since = Release::k1_37},
      {.metric = Metric::kUnschedulablePods,
       .type = Type::kGauge,
       .name = "scheduler_unschedulable_pods",
       .help = "The number of unschedulable pods broken down by plugin name. A pod will increment "
               "the gauge for all plugins that caused it to not schedule and so this metric have "
               "meaning only when broken down by plugin.",
       .stability = kAlpha,
       .labels = {"plugin", "profile"},
       .beta_since = Release::k1_36},
      {.metric = Metric::kInflightEvents,
       .type = Type::kGauge,
       .name = "scheduler_inflight_events",
       .help = "Number of events currently tracked in the scheduling queue.",
       .stability = kAlpha,
       .labels = {"event"}},
      {.metric = Metric::kEventHandlingDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_event_handling_duration_seconds",
       .help = "Event handling latency in seconds.",
       .stability = kAlpha,
       .labels = {"event"},
       .buckets = kPoint},
      {.metric = Metric::kQueueingHintExecutionDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_queueing_hint_execution_duration_seconds",
       .help = "Duration for running a queueing hint function of a plugin.",
       .stability = kAlpha,
       .labels = {"plugin", "event", "hint"},
       .buckets = kPlugin},
      {.metric = Metric::kPreQueueingHintEvaluationsTotal,
       .type = Type::kCounter,
       .name = "scheduler_pre_queueing_hint_evaluations_total",
       .help = "Number of PreQueueingHint evaluations, labeled by plugin and result (all_pods or "
               "narrowed).",
       .stability = kAlpha,
       .labels = {"plugin", "result"},
       .since = Release::k1_37},
  };
}

std::vector<Row> PreemptionRows() {
  return {
      {.metric = Metric::kPreemptionVictims,
       .type = Type::kHistogram,
       .name = "scheduler_preemption_victims",
       .help = "Number of selected preemption victims",
       .stability = kStable,
       .buckets = {1, 2, 7},
       .new_help_since = Release::k1_37,
       .new_help = "Number of selected preemption victims for preemption initiated by a single "
                   "pod"},
      {.metric = Metric::kPreemptionAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_preemption_attempts_total",
       .help = "Total preemption attempts in the cluster till now",
       .stability = kStable},
      {.metric = Metric::kPreemptionGoroutinesDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_preemption_goroutines_duration_seconds",
       .help = "Duration in seconds for running goroutines for the preemption.",
       .stability = kAlpha,
       .labels = {"result"},
       .buckets = {0.01, 2, 20},
       .until = Release::k1_36,  // then deprecated, and hidden as it is ALPHA
       .when = AsyncPreemption},
      {.metric = Metric::kPreemptionGoroutinesExecutionTotal,
       .type = Type::kCounter,
       .name = "scheduler_preemption_goroutines_execution_total",
       .help = "Number of preemption goroutines executed.",
       .stability = kAlpha,
       .labels = {"result"},
       .when = AsyncPreemption},
  };
}

std::vector<Row> PodGroupRows() {
  return {
      {.metric = Metric::kPodgroupScheduleAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_podgroup_schedule_attempts_total",
       .help = "Number of attempts to schedule pod group, by the result. 'unschedulable' means a "
               "pod group could not be scheduled, while 'error' means an internal scheduler "
               "problem.",
       .stability = kAlpha,
       .labels = {"result", "profile"},
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPodgroupSchedulingAttemptDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_podgroup_scheduling_attempt_duration_seconds",
       .help = "Pod group scheduling attempt latency in seconds",
       .stability = kAlpha,
       .labels = {"result", "profile"},
       .buckets = kAttempt,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPodgroupSchedulingAlgorithmDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_podgroup_scheduling_algorithm_duration_seconds",
       .help = "Pod group scheduling algorithm latency in seconds",
       .stability = kAlpha,
       .buckets = kAttempt,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kGeneratedPlacementsTotal,
       .type = Type::kCounter,
       .name = "scheduler_generated_placements_total",
       .help = "Number of candidate placements generated when scheduling pod groups.",
       .stability = kAlpha,
       .labels = {"profile"},
       .since = Release::k1_37,
       .when = PodGroupTopology},
      {.metric = Metric::kPlacementEvaluationsTotal,
       .type = Type::kCounter,
       .name = "scheduler_placement_evaluations_total",
       .help = "Number of candidate placements evaluated when scheduling pod groups, by result. "
               "'feasible' means the pod group fit into the placement, while 'infeasible' means it "
               "did not.",
       .stability = kAlpha,
       .labels = {"result", "profile"},
       .since = Release::k1_37,
       .when = PodGroupTopology},
      {.metric = Metric::kPlacementEvaluationDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_placement_evaluation_duration_seconds",
       .help = "Latency in seconds of evaluating a single candidate placement when scheduling pod "
               "groups, by result. 'feasible' means the pod group fit into the placement, while "
               "'infeasible' means it did not.",
       .stability = kAlpha,
       .labels = {"result", "profile"},
       .buckets = kAttempt,
       .since = Release::k1_37,
       .when = PodGroupTopology},
  };
}

std::vector<Row> WorkloadPreemptionRows() {
  return {
      {.metric = Metric::kWorkloadPreemptionAttemptsTotal,
       .type = Type::kCounter,
       .name = "scheduler_workload_preemption_attempts_total",
       .help = "Total preemption attempts initiated by workload (including pod groups) in the "
               "cluster till now.",
       .stability = kAlpha,
       .labels = {"result"},
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kWorkloadPreemptionVictims,
       .type = Type::kHistogram,
       .name = "scheduler_workload_preemption_victims",
       .help = "Number of pod preemption victims caused by workload preemption.",
       .stability = kAlpha,
       .buckets = kVictims,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPreemptionWorkloadDisruptions,
       .type = Type::kHistogram,
       .name = "scheduler_preemption_workload_disruptions",
       .help = "Number of workload preemption units being preempted. A single preemption unit can "
               "be all pods in a pod group (in case of DisruptionMode=all), or a single pod (in "
               "case of DisruptionMode=single).",
       .stability = kAlpha,
       .labels = {"preemptor"},
       .buckets = kVictims,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPreemptionEvaluationDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_preemption_evaluation_duration_seconds",
       .help = "Duration in seconds for identifying the target preemption victims.",
       .stability = kAlpha,
       .labels = {"preemptor", "result"},
       .buckets = kPreemption,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPreemptionExecutionDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_preemption_execution_duration_seconds",
       .help = "Duration in seconds for preempting the target preemption victims. With async "
               "preemption enabled, preemption execution does not block the scheduling of other "
               "pods.",
       .stability = kAlpha,
       .labels = {"preemptor", "result"},
       .buckets = kPreemption,
       .since = Release::k1_37,
       .when = PodGroups},
      {.metric = Metric::kPreemptionPdbViolationsTotal,
       .type = Type::kCounter,
       .name = "scheduler_preemption_pdb_violations_total",
       .help = "Total number of pod disruption budget violations caused by preemption.",
       .stability = kAlpha,
       .labels = {"preemptor"},
       .since = Release::k1_37,
       .when = PodGroups},
  };
}

std::vector<Row> OtherRows() {
  return {
      {.metric = Metric::kAsyncApiCallExecutionTotal,
       .type = Type::kCounter,
       .name = "scheduler_async_api_call_execution_total",
       .help = "Total number of API calls executed by the async dispatcher.",
       .stability = kAlpha,
       .labels = {"call_type", "result"},
       .when = AsyncApiCalls},
      {.metric = Metric::kAsyncApiCallExecutionDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_async_api_call_execution_duration_seconds",
       .help = "Duration in seconds for executing API call in the async dispatcher.",
       .stability = kAlpha,
       .labels = {"call_type", "result"},
       .buckets = kAttempt,
       .when = AsyncApiCalls},
      {.metric = Metric::kPendingAsyncApiCalls,
       .type = Type::kGauge,
       .name = "scheduler_pending_async_api_calls",
       .help = "Number of API calls currently pending in the async queue.",
       .stability = kAlpha,
       .labels = {"call_type"},
       .when = AsyncApiCalls},
      {.metric = Metric::kResourceclaimCreatesTotal,
       .type = Type::kCounter,
       .name = "scheduler_resourceclaim_creates_total",
       .help = "Number of ResourceClaims creation requests within scheduler",
       .stability = kAlpha,
       .labels = {"status"},
       .since = Release::k1_35,
       .until = Release::k1_36,
       .when = ExtendedResource},
      {.metric = Metric::kDraResourceclaimCreatesTotal,
       .type = Type::kCounter,
       .name = "dynamic_resource_allocation_resourceclaim_creates_total",
       .help = "Number of ResourceClaims creation requests, categorized by creation status, admin "
               "access, and owning API group and kind (either Pod or scheduling.k8s.io/PodGroup)",
       .stability = kAlpha,
       .labels = {"status", "admin_access", "owner_api_group", "owner_api_kind"},
       .since = Release::k1_37,
       .when = ExtendedResource},
      {.metric = Metric::kDraBindingconditionsAllocationsTotal,
       .type = Type::kCounter,
       .name = "scheduler_dra_bindingconditions_allocations_total",
       .help = "Number of allocations using devices with BindingConditions, counted per driver per "
               "scheduling attempt",
       .stability = kAlpha,
       .labels = {"profile", "driver", "status"},
       .since = Release::k1_36,
       .when = BindingConditions},
      {.metric = Metric::kDraBindingconditionsWaitDurationSeconds,
       .type = Type::kHistogram,
       .name = "scheduler_dra_bindingconditions_wait_duration_seconds",
       .help =
           "Time in seconds spent waiting for BindingConditions to be satisfied during PreBind.",
       .stability = kAlpha,
       .labels = {"profile", "driver", "status"},
       .buckets = {0.1, 2, 14},
       .since = Release::k1_36,
       .when = BindingConditions},
      {.metric = Metric::kVolumeBinderCacheRequestsTotal,
       .type = Type::kCounter,
       .name = "scheduler_volume_binder_cache_requests_total",
       .help = "Total number for request volume binding cache",
       .stability = kAlpha,
       .labels = {"operation"}},
      {.metric = Metric::kVolumeSchedulingStageErrorTotal,
       .type = Type::kCounter,
       .name = "scheduler_volume_scheduling_stage_error_total",
       .help = "Volume scheduling stage error count",
       .stability = kAlpha,
       .labels = {"operation"}},
  };
}

const std::vector<Row>& Rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
    for (const auto& some : {CycleRows(), BatchRows(), QueueRows(), PreemptionRows(),
                             PodGroupRows(), WorkloadPreemptionRows(), OtherRows()}) {
      all.insert(all.end(), some.begin(), some.end());
    }
    return all;
  }();
  return rows;
}

Family& Register(Registry& registry, const Row& row) {
  FamilyOptions options{std::string(row.name), std::string(row.help), row.stability, row.labels};
  switch (row.type) {
    case Type::kCounter:
      return registry.AddCounter(std::move(options));
    case Type::kGauge:
      return registry.AddGauge(std::move(options));
    case Type::kHistogram:
      break;
  }
  const auto& [start, factor, count] = row.buckets;
  return registry.AddHistogram(std::move(options), ExponentialBuckets(start, factor, count));
}

FamilyDescription DescriptionOf(const Row& row, const Behaviour& behaviour) {
  const auto since = [&](const std::optional<Release>& change) {
    return change && behaviour.release >= *change;
  };
  FamilyDescription description;
  description.help = since(row.new_help_since) ? row.new_help : row.help;
  description.stability = since(row.beta_since) ? kBeta : row.stability;
  description.shown = behaviour.release >= row.since && behaviour.release <= row.until &&
                      (row.when == nullptr || row.when(behaviour));
  return description;
}

}  // namespace

SchedulerFamilies::SchedulerFamilies(Registry& registry) {
  for (const Row& row : Rows()) {
    families_[static_cast<size_t>(row.metric)] = &Register(registry, row);
  }
}

void SchedulerFamilies::Follow(const Behaviour& behaviour) {
  for (const Row& row : Rows()) {
    families_[static_cast<size_t>(row.metric)]->Describe(DescriptionOf(row, behaviour));
  }
}

}  // namespace berth::server
