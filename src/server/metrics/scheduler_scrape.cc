// What SchedulerMetrics reads from the engine when somebody asks for the metrics.
#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "scheduler/decisions/decision_log.h"
#include "server/metrics/scheduler_metrics.h"

namespace berth::server {

using framework::Point;

namespace {

// The event of a pod that is queued for the first time, in the releases that count entities.
constexpr std::string_view kAddition = "UnscheduledPodAdd";

}  // namespace

void SchedulerMetrics::Refresh(const scheduler::Engine& engine) {
  FlushSteps();
  RefreshIncoming(engine);
  RefreshQueues(engine);
  RefreshUnschedulable(engine);
  RefreshInflight(engine.Queue());
  RefreshCalls(engine);
  ForgetOld();
  cycles_ = plugin_cycles_ = 0;
  out_of_turn_ = false;
  hint_.seen = event_.seen = pre_enqueue_.seen = 0;
  scheduler::ObserverWants& next = wants();
  next.skip_cycles = next.skip_hints = next.skip_events = next.skip_pre_enqueues = 0;
}

// The next engine counts from 0.
void SchedulerMetrics::Replaced(const scheduler::Engine& old, const scheduler::Engine& next) {
  RefreshCalls(old);
  RefreshIncoming(old);
  calls_before_.clear();
  incoming_before_.clear();
  for (size_t p = 0; p < next.ProfileCount(); ++p) {
    Rename(static_cast<uint8_t>(p), next.CycleOf(p).profile().Name());
  }
}

void SchedulerMetrics::RefreshQueues(const scheduler::Engine& engine) {
  size_t pending = engine.Queue().InFlightCount();
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    const size_t pods = engine.PendingPods(static_cast<queue::QueueName>(i));
    pending_[i]->Set(static_cast<double>(pods));
    if (entities_[i] != nullptr) entities_[i]->Set(static_cast<double>(pods));
    pending += pods;
  }
  const cluster::Cluster& cluster = engine.GetCluster();
  const size_t all = cluster.PodCountTotal();
  cache_assumed_->Set(static_cast<double>(engine.AssumedPods()));
  cache_pods_->Set(static_cast<double>(all > pending ? all - pending : 0));
  cache_nodes_->Set(static_cast<double>(cluster.NodeCount()));
  binding_->Set(static_cast<double>(engine.BindingPods()));
}

void SchedulerMetrics::RefreshUnschedulable(const scheduler::Engine& engine) {
  unschedulable_.ForEach([](Gauge& gauge) { gauge.Set(0); });
  std::vector<std::array<size_t, 64>> pods(engine.ProfileCount());
  engine.Queue().ForEach([&](const queue::QueuedPod& pod, std::string_view) {
    for (uint64_t rest = pod.unschedulable_plugins | pod.pending_plugins; rest != 0;
         rest &= rest - 1) {
      ++pods[pod.profile][static_cast<size_t>(std::countr_zero(rest))];
    }
  });
  for (size_t p = 0; p < pods.size(); ++p) {
    const framework::Profile& profile = engine.CycleOf(p).profile();
    const size_t plugins = std::min<size_t>(64, profile.Plugins().size());
    for (size_t i = 0; i < plugins; ++i) {
      if (pods[p][i] == 0) continue;
      unschedulable_.Of({profile.Plugins()[i]->Name(), profile.Name()})
          .Set(static_cast<double>(pods[p][i]));
    }
  }
}

void SchedulerMetrics::RefreshInflight(const queue::SchedulingQueue& queue) {
  inflight_.ForEach([](Gauge& gauge) { gauge.Set(0); });
  inflight_.Of({"PodPopped"}).Set(static_cast<double>(queue.InFlightCount()));
  queue.ForEachInFlightEvent(
      [&](const queue::Event& event) { inflight_.Of({event.what.Label()}).OwnAdd(1); });
}

void SchedulerMetrics::RefreshCalls(const scheduler::Engine& engine) {
  calls_before_.resize(engine.ProfileCount());
  for (size_t p = 0; p < engine.ProfileCount(); ++p) {
    if (calls_before_[p].empty()) NameEvaluations(engine.CycleOf(p).profile());
    CountCalls(engine.CycleOf(p), calls_before_[p]);
  }
}

// kube-scheduler counts an entity that an event moves only where it gets elsewhere than the event
// suggests: to the active queue, when its backoff is over already.
void SchedulerMetrics::RefreshIncoming(const scheduler::Engine& engine) {
  const auto& events = engine.IncomingPods();
  incoming_before_.resize(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    for (size_t q = 0; q < queue::kQueueNames; ++q) {
      const uint64_t pods =
          events[i].pods[q] - std::exchange(incoming_before_[i][q], events[i].pods[q]);
      if (pods == 0) continue;
      const auto to = static_cast<queue::QueueName>(q);
      if (entities_[q] == nullptr) {
        entities_[q] =
            families_.Gauges(Metric::kQueuedEntities).With({queue::NameOf(to), kPodEntity});
      }
      // Gated pods are counted as unschedulable ones: kube-scheduler has no word for them here.
      const auto counted = to == queue::QueueName::kGated ? queue::QueueName::kUnschedulable : to;
      const std::string_view name = queue::NameOf(counted);
      incoming_.Of({name, events[i].event}).OwnAdd(static_cast<double>(pods));
      if (counted != queue::QueueName::kActive && events[i].event != kAddition) continue;
      incoming_entities_.Of({name, events[i].event, kPodEntity}).OwnAdd(static_cast<double>(pods));
    }
  }
}

// Every plugin has its series from the start, as in kube-scheduler.
void SchedulerMetrics::NameEvaluations(const framework::Profile& profile) {
  const auto name = [&](const auto& served, Point point) {
    for (const auto& one : served) {
      evaluations_.Of({one.plugin->Name(), framework::PointName(point), profile.Name()});
    }
  };
  name(profile.pre_filter, Point::kPreFilter);
  name(profile.filter, Point::kFilter);
  name(profile.pre_score, Point::kPreScore);
  name(profile.score, Point::kScore);
}

void SchedulerMetrics::CountCalls(const framework::Cycle& cycle,
                                  std::vector<framework::PluginCalls>& before) {
  const framework::Profile& profile = cycle.profile();
  const auto& calls = cycle.calls();
  before.resize(calls.size());
  // What was asked since; another engine starts from 0.
  const auto since = [](uint64_t now, uint64_t last) { return now >= last ? now - last : now; };
  for (size_t i = 0; i < calls.size(); ++i) {
    const std::string_view plugin = profile.Plugins()[i]->Name();
    const auto count = [&](Point point, uint64_t times) {
      if (times == 0) return;
      evaluations_.Of({plugin, framework::PointName(point), profile.Name()})
          .OwnAdd(static_cast<double>(times));
    };
    count(Point::kPreFilter, since(calls[i].pre_filter, before[i].pre_filter));
    count(Point::kFilter, since(calls[i].filter, before[i].filter));
    count(Point::kPreScore, since(calls[i].pre_score, before[i].pre_score));
    count(Point::kScore, since(calls[i].score, before[i].score));
    if (plugin == "DefaultPreemption" || plugin == "PreemptionToleration" ||
        plugin == "CapacityScheduling") {
      preemption_attempts_->OwnAdd(
          static_cast<double>(since(calls[i].post_filter, before[i].post_filter)));
    }
    before[i] = calls[i];
  }
}

// Pods that went away while they were bound, and preemptions nobody has reported the end of.
void SchedulerMetrics::ForgetOld() {
  constexpr int64_t kTooOldNs = 3'600'000'000'000;
  const int64_t now = Now();
  last_bind_ = nullptr;
  erase_if(binding_since_,
           [&](const auto& entry) { return now - entry.second.cycle.began_ns > kTooOldNs; });
  erase_if(preempting_since_, [&](const auto& entry) { return now - entry.second > kTooOldNs; });
}

}  // namespace berth::server
