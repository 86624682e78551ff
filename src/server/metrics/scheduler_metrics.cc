#include "server/metrics/scheduler_metrics.h"

#include <chrono>
#include <utility>

#include "framework/points/device_claims.h"

namespace berth::server {
namespace {

using framework::Code;
using framework::Point;
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

}  // namespace

SchedulerMetrics::SchedulerMetrics(Registry& registry, const SchedulerMetricsOptions& options)
    : now_ns_(options.now_ns != nullptr ? options.now_ns : &SteadyNs),
      families_(registry),
      cache_assumed_(families_.Gauges(Metric::kCacheSize).With({"assumed_pods"})),
      cache_pods_(families_.Gauges(Metric::kCacheSize).With({"pods"})),
      cache_nodes_(families_.Gauges(Metric::kCacheSize).With({"nodes"})),
      binding_(families_.Gauges(Metric::kGoroutines).With({"binding"})),
      preemption_attempts_(families_.Counters(Metric::kPreemptionAttemptsTotal).Only()),
      after_flush_(families_.Counters(Metric::kPodScheduledAfterFlushTotal).Only()),
      preemption_victims_(families_.Histograms(Metric::kPreemptionVictims).Only()),
      algorithm_duration_(families_.Histograms(Metric::kSchedulingAlgorithmDurationSeconds).Only()),
      pod_attempts_(families_.Histograms(Metric::kPodSchedulingAttempts).Only()),
      attempts_(families_.Counters(Metric::kScheduleAttemptsTotal)),
      attempt_duration_(families_.Histograms(Metric::kSchedulingAttemptDurationSeconds)),
      sli_duration_(families_.Histograms(Metric::kPodSchedulingSliDurationSeconds)),
      incoming_(families_.Counters(Metric::kQueueIncomingPodsTotal)),
      incoming_entities_(families_.Counters(Metric::kQueueIncomingEntitiesTotal)),
      point_duration_(families_.Histograms(Metric::kFrameworkExtensionPointDurationSeconds)),
      plugin_duration_(families_.Histograms(Metric::kPluginExecutionDurationSeconds)),
      evaluations_(families_.Counters(Metric::kPluginEvaluationTotal)),
      event_duration_(families_.Histograms(Metric::kEventHandlingDurationSeconds)),
      hint_duration_(families_.Histograms(Metric::kQueueingHintExecutionDurationSeconds)),
      permit_wait_(families_.Histograms(Metric::kPermitWaitDurationSeconds)),
      unschedulable_(families_.Gauges(Metric::kUnschedulablePods)),
      inflight_(families_.Gauges(Metric::kInflightEvents)),
      preemption_duration_(families_.Histograms(Metric::kPreemptionGoroutinesDurationSeconds)),
      preemption_total_(families_.Counters(Metric::kPreemptionGoroutinesExecutionTotal)),
      volume_errors_(families_.Counters(Metric::kVolumeSchedulingStageErrorTotal)),
      batch_attempts_(families_.Counters(Metric::kBatchAttemptsTotal)),
      batch_flushed_(families_.Counters(Metric::kBatchCacheFlushedTotal)),
      batch_rescored_(families_.Counters(Metric::kBatchRescoreAttemptsTotal)),
      batch_hint_(families_.Histograms(Metric::kGetNodeHintDurationSeconds)),
      batch_rescore_(families_.Histograms(Metric::kBatchRescoreDurationSeconds)),
      batch_store_(families_.Histograms(Metric::kStoreScheduleResultsDurationSeconds)),
      groups_(families_, point_duration_, plugin_duration_, now_ns_),
      profiles_(options.profiles) {
  wants() = {.cycles = false, .pods = false, .queues = false, .scheduled = false, .binds = false};
  Follow(options.behaviour);
}

void SchedulerMetrics::Follow(const config::Behaviour& behaviour) {
  families_.Follow(behaviour);
  observes_zero_victims_ = behaviour.observes_zero_victims;
  groups_.Follow(behaviour.pod_group_topology);
  // Which queues are named at all depends on the release, so the series are rebuilt.
  GaugeFamily& pods = families_.Gauges(Metric::kPendingPods);
  pods.RemoveSeries();
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    pending_[i] = pods.With({queue::NameOf(static_cast<queue::QueueName>(i))});
  }
  // Releases that count entities have queues of pod groups.
  if (families_.Find(Metric::kQueuedEntities)->Standing()) {
    incomplete_ = pods.With({"incomplete"});
    waits_for_attempt_ = pods.With({"pending"});
  } else {
    incomplete_ = waits_for_attempt_ = nullptr;
  }
}

uint32_t SchedulerMetrics::NextPluginsWeight() {
  const uint32_t number = plugin_cycles_++;
  if (number < kTimedPlugins) return 1;
  return (number - kTimedPlugins) % kPluginsThinning == 0 ? kPluginsThinning : 0;
}

std::string_view SchedulerMetrics::ProfileName(uint8_t number) const {
  return number < profiles_.size() ? std::string_view(profiles_[number]) : "";
}

// --- Cycles

void SchedulerMetrics::Rename(uint8_t number, std::string_view name) {
  if (number < profiles_.size() && profiles_[number] == name) return;
  if (number >= profiles_.size()) profiles_.resize(number + size_t{1});
  profiles_[number] = name;
  scheduled_.fill(nullptr);
  points_by_code_.clear();
}

scheduler::CycleInterest SchedulerMetrics::CycleBegan(const cluster::Pod& pod,
                                                      std::string_view profile,
                                                      uint8_t profile_number) {
  FlushSteps();
  steps_.clear();
  Rename(profile_number, profile);
  profile_ = profile_number;
  pod_ = pod.id;
  plugins_weight_ = 0;
  if (out_of_turn_) {
    out_of_turn_ = false;
    wants().skip_cycles = skip_after_it_;
    cycle_.weight = 1;
  } else {
    cycle_.weight = NextWeight(cycles_, wants().skip_cycles);
  }
  if (cycle_.weight == 1 && timed_cycles_++ % kPluginsSampling == 0) {
    plugins_weight_ = NextPluginsWeight();
  }
  steps_weight_ = cycle_.weight;
  cycle_.began_ns = Now();
  return {.points = true, .plugins = plugins_weight_ != 0};
}

void SchedulerMetrics::TimeNextCycle() {
  uint32_t& skip = wants().skip_cycles;
  if (skip == 0) return;
  out_of_turn_ = true;
  skip_after_it_ = skip - 1;
  skip = 0;
}

void SchedulerMetrics::AlgorithmEnded() {
  if (cycle_.weight == 0) return;
  algorithm_duration_->OwnObserve(Since(cycle_.began_ns), cycle_.weight);
}

void SchedulerMetrics::PointBegan(Point) { point_began_ns_ = Now(); }

void SchedulerMetrics::PointEnded(Point point, Code code) {
  steps_.push_back({point, code, Now() - point_began_ns_});
}

void SchedulerMetrics::StartedOver() {
  while (!steps_.empty() && steps_.back().point != Point::kPreFilter) steps_.pop_back();
}

Histogram& SchedulerMetrics::PointSeries(Point point, Code code, uint8_t profile) {
  constexpr size_t kCodes = static_cast<size_t>(Code::kPending) + 1;
  const size_t at = (profile * framework::kPoints + static_cast<size_t>(point)) * kCodes +
                    static_cast<size_t>(code);
  if (at >= points_by_code_.size()) points_by_code_.resize(at + 1);
  Histogram*& series = points_by_code_[at];
  if (series == nullptr) {
    series = &point_duration_.Of(
        {framework::PointName(point), framework::CodeName(code), ProfileName(profile)});
  }
  return *series;
}

void SchedulerMetrics::FlushSteps() {
  if (steps_weight_ == 0) return;
  for (const Step& step : steps_) {
    PointSeries(step.point, step.code, profile_)
        .OwnObserve(static_cast<double>(step.took_ns) * 1e-9, steps_weight_);
    if (step.point == Point::kPostFilter) {
      groups_.PreemptionEvaluated(step.code, step.took_ns, steps_weight_);
    }
  }
  steps_weight_ = 0;
}

const scheduler::PointTimes* SchedulerMetrics::CycleTimes() {
  if (cycle_.weight == 0) return nullptr;
  times_.Clear();
  for (const Step& step : steps_) times_.Add(step.point, step.took_ns);
  return &times_;
}

const scheduler::PointTimes* SchedulerMetrics::BindingTimes(const scheduler::PodRef& pod) {
  const Bind* bind = FindBind(pod.uid);
  return bind == nullptr ? nullptr : &bind->times;
}

void SchedulerMetrics::BatchStepBegan(scheduler::BatchStep step) {
  (step == scheduler::BatchStep::kRescore ? rescore_began_ns_ : batch_began_ns_) = Now();
}

void SchedulerMetrics::BatchStepEnded(std::string_view profile, scheduler::BatchStep step,
                                      bool hinted) {
  if (cycle_.weight == 0) return;
  switch (step) {
    case scheduler::BatchStep::kGetHint:
      return batch_hint_.Of({hinted ? "hint" : "no_hint", profile})
          .OwnObserve(Since(batch_began_ns_), cycle_.weight);
    case scheduler::BatchStep::kRescore:
      return batch_rescore_.Of({profile}).OwnObserve(Since(rescore_began_ns_), cycle_.weight);
    case scheduler::BatchStep::kStore:
      return batch_store_.Of({profile}).OwnObserve(Since(batch_began_ns_), cycle_.weight);
  }
}

void SchedulerMetrics::PluginBegan() { plugin_began_ns_ = Now(); }

void SchedulerMetrics::PluginEnded(Point point, std::string_view plugin, Code code) {
  plugin_duration_.Of({plugin, framework::PointName(point), framework::CodeName(code)})
      .OwnObserve(Since(plugin_began_ns_), plugins_weight_);
}

void SchedulerMetrics::CountAttempt(std::string_view result, std::string_view profile,
                                    const Timer& timer) {
  attempts_.Of({result, profile}).OwnAdd();
  if (timer.weight == 0) return;
  attempt_duration_.Of({result, profile}).OwnObserve(Since(timer.began_ns), timer.weight);
}

void SchedulerMetrics::CountAttempted(const cluster::Pod& pod, Outcome outcome) {
  FlushSteps();
  if (outcome == Outcome::kScheduled) {
    const Bind bind = {.cycle = cycle_, .profile = profile_, .plugins_weight = plugins_weight_};
    last_bind_ = &*binding_since_.insert_or_assign(pod.uid, bind).first;
    cycle_.weight = 0;
    return;
  }
  Timer timer;
  if (const Bind* bind = FindBind(pod.uid)) {  // it is the binding that failed
    timer = bind->cycle;
    EraseBind(pod.uid);
  } else if (pod.id == pod_) {
    timer = std::exchange(cycle_, {});
  }
  CountAttempt(ResultOf(outcome), pod.shape->source.spec.scheduler_name, timer);
}

// --- Bindings

void SchedulerMetrics::BindingPointBegan(const scheduler::PodRef& pod, Point) {
  if (Bind* bind = FindBind(pod.uid)) bind->plugin_began_ns = bind->point_began_ns = Now();
}

void SchedulerMetrics::BindingPluginEnded(const scheduler::PodRef& pod, Point point,
                                          std::string_view plugin, Code code) {
  Bind* const bind = FindBind(pod.uid);
  if (bind == nullptr || bind->plugins_weight == 0) return;
  const int64_t now_ns = Now();
  plugin_duration_.Of({plugin, framework::PointName(point), framework::CodeName(code)})
      .OwnObserve(static_cast<double>(now_ns - bind->plugin_began_ns) * 1e-9, bind->plugins_weight);
  bind->plugin_began_ns = now_ns;
}

void SchedulerMetrics::BindingPointEnded(const scheduler::PodRef& pod, Point point, Code code) {
  Bind* const bind = FindBind(pod.uid);
  if (bind == nullptr) return;
  const int64_t took_ns = Now() - bind->point_began_ns;
  bind->times.Add(point, took_ns);
  PointSeries(point, code, bind->profile)
      .OwnObserve(static_cast<double>(took_ns) * 1e-9, bind->cycle.weight);
}

void SchedulerMetrics::TimeBound(const scheduler::PodRef& pod, uint8_t profile) {
  const Bind* bind = FindBind(pod.uid);
  if (bind == nullptr) return;
  attempt_duration_.Of({ResultOf(Outcome::kScheduled), ProfileName(profile)})
      .OwnObserve(Since(bind->cycle.began_ns), bind->cycle.weight);
  EraseBind(pod.uid);
}

void SchedulerMetrics::CountBound(const scheduler::PodRef& pod, const queue::QueuedPod& info,
                                  const api::Time& now, bool watched) {
  if (watched) TimeBound(pod, info.profile);
  Counter*& scheduled = scheduled_[info.profile];
  if (scheduled == nullptr) {
    scheduled = &attempts_.Of({ResultOf(Outcome::kScheduled), ProfileName(info.profile)});
  }
  scheduled->OwnAdd();
  pod_attempts_->OwnObserve(info.attempts);
  if (info.was_flushed) after_flush_->OwnAdd();
  if (info.initial_attempt) SliOf(info.attempts).OwnObserve(Waited(info, now));
}

SchedulerMetrics::Bind* SchedulerMetrics::FindBind(const std::string& uid) {
  if (last_bind_ != nullptr && last_bind_->first == uid) return &last_bind_->second;
  const auto found = binding_since_.find(uid);
  if (found == binding_since_.end()) return nullptr;
  last_bind_ = &*found;
  return &found->second;
}

void SchedulerMetrics::EraseBind(const std::string& uid) {
  last_bind_ = nullptr;
  binding_since_.erase(uid);
}

Histogram& SchedulerMetrics::SliOf(int32_t attempts) {
  if (static_cast<uint32_t>(attempts) >= sli_by_attempts_.size()) return sli_duration_.Of({"15+"});
  Histogram*& few = sli_by_attempts_[static_cast<uint32_t>(attempts)];
  if (few == nullptr) few = &sli_duration_.Of({std::to_string(attempts)});
  return *few;
}

void SchedulerMetrics::PermitWaited(Code code, int64_t waited_ns) {
  permit_wait_.Of({framework::CodeName(code)}).OwnObserve(static_cast<double>(waited_ns) * 1e-9);
}

// --- Devices

void SchedulerMetrics::ClaimCreated(bool created) {
  // Each release shows one of the two.
  const std::string_view status = created ? "success" : "failure";
  families_.Counters(Metric::kResourceclaimCreatesTotal).With({status})->OwnAdd();
  families_.Counters(Metric::kDraResourceclaimCreatesTotal)
      .With({status, "false", "", "Pod"})
      ->OwnAdd();
}

void SchedulerMetrics::DevicesAwaited(std::string_view profile, const framework::DeviceWait& wait) {
  for (const framework::DeviceWait::Device& device : wait.devices) {
    families_.Histograms(Metric::kDraBindingconditionsWaitDurationSeconds)
        .With({profile, device.driver, wait.result})
        ->OwnObserve(static_cast<double>(wait.waited_ns) * 1e-9);
    if (!device.has_conditions) continue;
    families_.Counters(Metric::kDraBindingconditionsAllocationsTotal)
        .With({profile, device.driver, wait.result})
        ->OwnAdd();
  }
}

// --- Preemption

void SchedulerMetrics::VictimsChosen(const scheduler::PodRef& preemptor,
                                     const scheduler::PreemptionSize& size) {
  if (!size.for_group && (size.victims > 0 || observes_zero_victims_)) {
    preemption_victims_->OwnObserve(static_cast<double>(size.victims));
  }
  groups_.VictimsChosen(size);
  preempting_since_[preemptor.uid] = Now();
}

void SchedulerMetrics::PreemptionExecuted(const scheduler::PodRef& preemptor, bool for_group,
                                          bool success) {
  const auto began = preempting_since_.find(preemptor.uid);
  if (began == preempting_since_.end()) return;
  groups_.PreemptionExecuted(for_group, success, Now() - began->second);
}

void SchedulerMetrics::PreemptionEnded(const scheduler::PodRef& preemptor, std::string_view,
                                       bool success) {
  const auto began = preempting_since_.find(preemptor.uid);
  if (began == preempting_since_.end()) return;
  const std::string_view result = success ? "success" : "error";
  preemption_duration_.Of({result}).OwnObserve(Since(began->second));
  preemption_total_.Of({result}).OwnAdd();
  preempting_since_.erase(began);
}

// --- Hints, events, gates, volumes

void SchedulerMetrics::HintEnded(std::string_view plugin, std::string_view event,
                                 std::string_view hint) {
  hint_duration_.Of({plugin, event, hint})
      .OwnObserve(Since(hint_.last.began_ns), hint_.last.weight);
}

void SchedulerMetrics::EventEnded(std::string_view event) {
  if (event.empty()) return;
  event_duration_.Of({event}).OwnObserve(Since(event_.last.began_ns), event_.last.weight);
}

// As with cycles: of those that are timed one by one, one in ten times single plugins.
bool SchedulerMetrics::PreEnqueueBegan() {
  Begin(pre_enqueue_, wants().skip_pre_enqueues);
  times_gates_ = pre_enqueue_.last.weight == 1 && timed_pre_enqueues_++ % kPluginsSampling == 0;
  gate_began_ns_ = pre_enqueue_.last.began_ns;
  return true;
}

void SchedulerMetrics::PreEnqueueAsked(std::string_view plugin, Code code) {
  if (!times_gates_) return;
  const int64_t now_ns = Now();
  plugin_duration_.Of({plugin, framework::PointName(Point::kPreEnqueue), framework::CodeName(code)})
      .OwnObserve(static_cast<double>(now_ns - gate_began_ns_) * 1e-9);
  gate_began_ns_ = now_ns;
}

// kube-scheduler forgets what the plugins said: the point always succeeds.
void SchedulerMetrics::PreEnqueueEnded(std::string_view profile, Code) {
  point_duration_
      .Of({framework::PointName(Point::kPreEnqueue), framework::CodeName(Code::kSuccess), profile})
      .OwnObserve(Since(pre_enqueue_.last.began_ns), pre_enqueue_.last.weight);
}

void SchedulerMetrics::PluginFailed(const scheduler::PodRef&, Point point, std::string_view plugin,
                                    std::string_view, std::string_view) {
  if (plugin != "VolumeBinding") return;
  const std::string_view operation = point == Point::kFilter    ? "predicate"
                                     : point == Point::kReserve ? "assume"
                                                                : "bind";
  volume_errors_.Of({operation}).OwnAdd();
}

}  // namespace berth::server
