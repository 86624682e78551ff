#include "server/metrics/scheduler_metrics.h"

#include <algorithm>
#include <chrono>

namespace berth::server {
namespace {

using framework::Code;
using scheduler::Outcome;

int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string_view ResultOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kScheduled:
      return "scheduled";
    case Outcome::kUnschedulable:
      return "unschedulable";
    case Outcome::kError:
      return "error";
  }
  return "";
}

std::string AttemptsLabel(int32_t attempts) {
  return attempts >= 15 ? "15+" : std::to_string(attempts);
}

}  // namespace

// Everything that is registered, so that the constructor can resolve it.
struct SchedulerMetrics::Families {
  CounterFamily* attempts;
  HistogramFamily* attempt_duration;
  HistogramFamily* algorithm_duration;
  HistogramFamily* event_duration;
  HistogramFamily* preemption_victims;
  CounterFamily* preemption_attempts;
  GaugeFamily* pending;
  GaugeFamily* inflight;
  GaugeFamily* goroutines;
  HistogramFamily* sli_duration;
  HistogramFamily* pod_attempts;
  HistogramFamily* point_duration;
  HistogramFamily* plugin_duration;
  HistogramFamily* hint_duration;
  CounterFamily* incoming;
  HistogramFamily* permit_wait;
  GaugeFamily* cache_size;
  GaugeFamily* unschedulable;
  CounterFamily* evaluations;
  HistogramFamily* preemption_duration;
  CounterFamily* preemption_total;
  CounterFamily* volume_errors;
};

SchedulerMetrics::Families SchedulerMetrics::MakeFamilies(Registry& r,
                                                          const SchedulerMetricsOptions& options) {
  constexpr Stability kAlpha = Stability::kAlpha;
  constexpr Stability kBeta = Stability::kBeta;
  constexpr Stability kStable = Stability::kStable;
  Families f;
  f.attempts = &r.AddCounter(
      {"scheduler_schedule_attempts_total",
       "Number of attempts to schedule pods, by the result. 'unschedulable' means a pod could not "
       "be scheduled, while 'error' means an internal scheduler problem.",
       kStable,
       {"result", "profile"}});
  f.attempt_duration =
      &r.AddHistogram({"scheduler_scheduling_attempt_duration_seconds",
                       "Scheduling attempt latency in seconds (scheduling algorithm + binding)",
                       kStable,
                       {"result", "profile"}},
                      ExponentialBuckets(0.001, 2, 15));
  f.algorithm_duration = &r.AddHistogram({"scheduler_scheduling_algorithm_duration_seconds",
                                          "Scheduling algorithm latency in seconds", kAlpha},
                                         ExponentialBuckets(0.001, 2, 15));
  f.event_duration = &r.AddHistogram({"scheduler_event_handling_duration_seconds",
                                      "Event handling latency in seconds.",
                                      kAlpha,
                                      {"event"}},
                                     ExponentialBuckets(0.0001, 2, 12));
  f.preemption_victims = &r.AddHistogram(
      {"scheduler_preemption_victims", "Number of selected preemption victims", kStable},
      ExponentialBuckets(1, 2, 7));
  f.preemption_attempts =
      &r.AddCounter({"scheduler_preemption_attempts_total",
                     "Total preemption attempts in the cluster till now", kStable});
  f.pending = &r.AddGauge(
      {"scheduler_pending_pods",
       "Number of pending pods, by the queue type. 'active' means number of pods in activeQ; "
       "'backoff' means number of pods in backoffQ; 'unschedulable' means number of pods in "
       "unschedulablePods that the scheduler attempted to schedule and failed; 'gated' is the "
       "number of unschedulable pods that the scheduler never attempted to schedule because they "
       "are gated.",
       kStable,
       {"queue"}});
  f.inflight = &r.AddGauge({"scheduler_inflight_events",
                            "Number of events currently tracked in the scheduling queue.",
                            kAlpha,
                            {"event"}});
  f.goroutines =
      &r.AddGauge({"scheduler_goroutines",
                   "Number of running goroutines split by the work they do such as binding.",
                   kAlpha,
                   {"operation"}});
  f.sli_duration = &r.AddHistogram(
      {"scheduler_pod_scheduling_sli_duration_seconds",
       "E2e latency for a pod being scheduled, from the time the pod enters the scheduling queue "
       "and might involve multiple scheduling attempts.",
       kBeta,
       {"attempts"}},
      ExponentialBuckets(0.01, 2, 20));
  f.pod_attempts = &r.AddHistogram({"scheduler_pod_scheduling_attempts",
                                    "Number of attempts to successfully schedule a pod.", kStable},
                                   ExponentialBuckets(1, 2, 5));
  f.point_duration =
      &r.AddHistogram({"scheduler_framework_extension_point_duration_seconds",
                       "Latency for running all plugins of a specific extension point.",
                       kStable,
                       {"extension_point", "status", "profile"}},
                      ExponentialBuckets(0.0001, 2, 12));
  f.plugin_duration =
      &r.AddHistogram({"scheduler_plugin_execution_duration_seconds",
                       "Duration for running a plugin at a specific extension point.",
                       kAlpha,
                       {"plugin", "extension_point", "status"}},
                      ExponentialBuckets(0.00001, 1.5, 20));
  f.hint_duration = &r.AddHistogram({"scheduler_queueing_hint_execution_duration_seconds",
                                     "Duration for running a queueing hint function of a plugin.",
                                     kAlpha,
                                     {"plugin", "event", "hint"}},
                                    ExponentialBuckets(0.00001, 1.5, 20));
  f.incoming = &r.AddCounter({"scheduler_queue_incoming_pods_total",
                              "Number of pods added to scheduling queues by event and queue type.",
                              kStable,
                              {"queue", "event"}});
  f.permit_wait = &r.AddHistogram({"scheduler_permit_wait_duration_seconds",
                                   "Duration of waiting on permit.",
                                   kAlpha,
                                   {"result"}},
                                  ExponentialBuckets(0.001, 2, 15));
  f.cache_size =
      &r.AddGauge({"scheduler_cache_size",
                   "Number of nodes, pods, and assumed (bound) pods in the scheduler cache.",
                   kAlpha,
                   {"type"}});
  f.unschedulable = &r.AddGauge(
      {"scheduler_unschedulable_pods",
       "The number of unschedulable pods broken down by plugin name. A pod will increment the "
       "gauge for all plugins that caused it to not schedule and so this metric have meaning only "
       "when broken down by plugin.",
       kAlpha,
       {"plugin", "profile"}});
  f.evaluations = &r.AddCounter(
      {"scheduler_plugin_evaluation_total",
       "Number of attempts to schedule pods by each plugin and the extension point (available only "
       "in PreFilter, Filter, PreScore, and Score).",
       kAlpha,
       {"plugin", "extension_point", "profile"}});
  f.preemption_duration =
      &r.AddHistogram({"scheduler_preemption_goroutines_duration_seconds",
                       "Duration in seconds for running goroutines for the preemption.",
                       kAlpha,
                       {"result"}},
                      ExponentialBuckets(0.01, 2, 20));
  f.preemption_total = &r.AddCounter({"scheduler_preemption_goroutines_execution_total",
                                      "Number of preemption goroutines executed.",
                                      kAlpha,
                                      {"result"}});
  if (options.async_api_calls) {
    r.AddCounter({"scheduler_async_api_call_execution_total",
                  "Total number of API calls executed by the async dispatcher.",
                  kAlpha,
                  {"call_type", "result"}});
    r.AddHistogram({"scheduler_async_api_call_execution_duration_seconds",
                    "Duration in seconds for executing API call in the async dispatcher.",
                    kAlpha,
                    {"call_type", "result"}},
                   ExponentialBuckets(0.001, 2, 15));
    r.AddGauge({"scheduler_pending_async_api_calls",
                "Number of API calls currently pending in the async queue.",
                kAlpha,
                {"call_type"}});
  }
  r.AddCounter({"scheduler_volume_binder_cache_requests_total",
                "Total number for request volume binding cache",
                kAlpha,
                {"operation"}});
  f.volume_errors = &r.AddCounter({"scheduler_volume_scheduling_stage_error_total",
                                   "Volume scheduling stage error count",
                                   kAlpha,
                                   {"operation"}});
  return f;
}

SchedulerMetrics::SchedulerMetrics(Registry& registry, const SchedulerMetricsOptions& options)
    : SchedulerMetrics(MakeFamilies(registry, options), options) {}

SchedulerMetrics::SchedulerMetrics(const Families& f, const SchedulerMetricsOptions& options)
    : now_ns_(options.now_ns != nullptr ? options.now_ns : &SteadyNs),
      cache_assumed_(f.cache_size->With({"assumed_pods"})),
      cache_pods_(f.cache_size->With({"pods"})),
      cache_nodes_(f.cache_size->With({"nodes"})),
      binding_(f.goroutines->With({"binding"})),
      preemption_attempts_(f.preemption_attempts->Only()),
      preemption_victims_(f.preemption_victims->Only()),
      algorithm_duration_(f.algorithm_duration->Only()),
      pod_attempts_(f.pod_attempts->Only()),
      attempts_(*f.attempts),
      attempt_duration_(*f.attempt_duration),
      sli_duration_(*f.sli_duration),
      incoming_(*f.incoming),
      point_duration_(*f.point_duration),
      plugin_duration_(*f.plugin_duration),
      evaluations_(*f.evaluations),
      event_duration_(*f.event_duration),
      hint_duration_(*f.hint_duration),
      permit_wait_(*f.permit_wait),
      unschedulable_(*f.unschedulable),
      inflight_(*f.inflight),
      preemption_duration_(*f.preemption_duration),
      preemption_total_(*f.preemption_total),
      volume_errors_(*f.volume_errors),
      profiles_(options.profiles) {
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    pending_[i] = f.pending->With({queue::NameOf(static_cast<queue::QueueName>(i))});
  }
}

uint32_t SchedulerMetrics::NextWeight(uint32_t& seen) {
  const uint32_t number = seen++;
  if (number < kTimedCycles) return 1;
  if (number % kSampling != 0) return 0;
  return kSampling;
}

void SchedulerMetrics::QueueIncoming(queue::QueueName queue, std::string_view event) {
  incoming_.Of({queue::NameOf(queue), event}).OwnAdd();
}

int SchedulerMetrics::CycleBegan(const cluster::Pod&, std::string_view profile) {
  profile_ = profile;
  cycle_.weight = NextWeight(cycles_);
  if (cycle_.weight == 0) return kNothing;
  cycle_.began_ns = Now();
  return timed_cycles_++ % kPluginsSampling == 0 ? kPlugins : kPoints;
}

void SchedulerMetrics::AlgorithmEnded() {
  if (cycle_.weight == 0) return;
  algorithm_duration_->OwnObserve(Since(cycle_.began_ns), cycle_.weight);
}

void SchedulerMetrics::PointBegan(std::string_view) { point_ = {Now(), cycle_.weight}; }

void SchedulerMetrics::PointEnded(std::string_view point, Code code) {
  if (point_.weight == 0) return;
  point_duration_.Of({point, framework::CodeName(code), profile_})
      .OwnObserve(Since(point_.began_ns), point_.weight);
}

void SchedulerMetrics::PluginBegan() { plugin_.began_ns = Now(); }

void SchedulerMetrics::PluginEnded(std::string_view point, std::string_view plugin, Code code) {
  plugin_duration_.Of({plugin, point, framework::CodeName(code)})
      .OwnObserve(Since(plugin_.began_ns));
}

void SchedulerMetrics::PluginEvaluated(std::string_view point, std::string_view plugin,
                                       std::string_view profile, uint64_t times) {
  evaluations_.Of({plugin, point, profile}).OwnAdd(static_cast<double>(times));
}

void SchedulerMetrics::CountAttempt(std::string_view result, std::string_view profile,
                                    const Timer& timer) {
  attempts_.Of({result, profile}).OwnAdd();
  if (timer.weight == 0) return;
  attempt_duration_.Of({result, profile}).OwnObserve(Since(timer.began_ns), timer.weight);
}

void SchedulerMetrics::Attempted(const cluster::Pod& pod, Outcome outcome, std::string_view,
                                 std::string_view) {
  // What was decided counts as scheduled only once it is bound.
  if (outcome == Outcome::kScheduled) {
    if (cycle_.weight != 0) binding_since_[pod.uid] = cycle_;
    cycle_.weight = 0;
    return;
  }
  Timer timer = cycle_;
  const auto bound = binding_since_.find(pod.uid);
  if (bound != binding_since_.end()) {  // it is the binding that failed
    timer = bound->second;
    binding_since_.erase(bound);
  } else {
    cycle_.weight = 0;
  }
  CountAttempt(ResultOf(outcome), pod.shape->source.spec.scheduler_name, timer);
}

void SchedulerMetrics::Bound(const scheduler::PodRef& pod, std::string_view,
                             const queue::QueuedPod& info, const api::Time& now) {
  Timer timer;
  const auto began = binding_since_.find(pod.uid);
  if (began != binding_since_.end()) {
    timer = began->second;
    binding_since_.erase(began);
  }
  const std::string_view profile =
      info.profile < profiles_.size() ? std::string_view(profiles_[info.profile]) : "";
  CountAttempt("scheduled", profile, timer);
  pod_attempts_->OwnObserve(info.attempts);
  if (info.initial_attempt) {
    const double waited =
        static_cast<double>(now.UnixNano() - info.initial_attempt->UnixNano()) * 1e-9;
    sli_duration_.Of({AttemptsLabel(info.attempts)}).OwnObserve(std::max(waited, 0.0));
  }
}

void SchedulerMetrics::Preempted(const scheduler::PodRef& preemptor, size_t victims,
                                 std::string_view) {
  preemption_victims_->OwnObserve(static_cast<double>(victims));
  preempting_since_[preemptor.uid] = Now();
}

void SchedulerMetrics::PreemptionEnded(const scheduler::PodRef& preemptor, bool success) {
  const auto began = preempting_since_.find(preemptor.uid);
  if (began == preempting_since_.end()) return;
  const std::string_view result = success ? "success" : "error";
  preemption_duration_.Of({result}).OwnObserve(Since(began->second));
  preemption_total_.Of({result}).OwnAdd();
  preempting_since_.erase(began);
}

void SchedulerMetrics::PermitWaited(Code code, int64_t waited_ns) {
  permit_wait_.Of({framework::CodeName(code)}).OwnObserve(static_cast<double>(waited_ns) * 1e-9);
}

bool SchedulerMetrics::HintBegan() {
  hint_.weight = NextWeight(hints_);
  if (hint_.weight == 0) return false;
  hint_.began_ns = Now();
  return true;
}

void SchedulerMetrics::HintEnded(std::string_view plugin, std::string_view event,
                                 std::string_view hint) {
  hint_duration_.Of({plugin, event, hint}).OwnObserve(Since(hint_.began_ns), hint_.weight);
}

bool SchedulerMetrics::EventBegan() {
  event_.weight = NextWeight(events_);
  if (event_.weight == 0) return false;
  event_.began_ns = Now();
  return true;
}

void SchedulerMetrics::EventEnded(std::string_view event) {
  event_duration_.Of({event}).OwnObserve(Since(event_.began_ns), event_.weight);
}

void SchedulerMetrics::VolumeStageFailed(std::string_view operation) {
  volume_errors_.Of({operation}).OwnAdd();
}

void SchedulerMetrics::Refresh(const scheduler::Engine& engine) {
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    pending_[i]->Set(static_cast<double>(engine.PendingPods(static_cast<queue::QueueName>(i))));
  }
  const cluster::Cluster& cluster = engine.GetCluster();
  size_t pending = engine.Queue().InFlightCount();
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    pending += engine.PendingPods(static_cast<queue::QueueName>(i));
  }
  const size_t all = cluster.PodCountTotal();
  cache_assumed_->Set(static_cast<double>(engine.AssumedPods()));
  cache_pods_->Set(static_cast<double>(all > pending ? all - pending : 0));
  cache_nodes_->Set(static_cast<double>(cluster.NodeCount()));
  binding_->Set(static_cast<double>(engine.BindingPods()));
  unschedulable_.ForEach([](Gauge& gauge) { gauge.Set(0); });
  inflight_.ForEach([](Gauge& gauge) { gauge.Set(0); });
  if (engine.Queue().InFlightCount() > 0) {
    SetInflightEvents("PodPopped", engine.Queue().InFlightCount());
  }
  ForgetOld();
  cycles_ = 0;
  hints_ = 0;
  events_ = 0;
}

// Pods that went away while they were bound, and preemptions nobody has reported the end of.
void SchedulerMetrics::ForgetOld() {
  constexpr int64_t kTooOldNs = 3'600'000'000'000;
  const int64_t now = Now();
  erase_if(binding_since_,
           [&](const auto& entry) { return now - entry.second.began_ns > kTooOldNs; });
  erase_if(preempting_since_, [&](const auto& entry) { return now - entry.second > kTooOldNs; });
}

void SchedulerMetrics::SetUnschedulablePods(std::string_view plugin, std::string_view profile,
                                            size_t pods) {
  unschedulable_.Of({plugin, profile}).Set(static_cast<double>(pods));
}

void SchedulerMetrics::SetInflightEvents(std::string_view event, size_t events) {
  inflight_.Of({event}).Set(static_cast<double>(events));
}

}  // namespace berth::server
