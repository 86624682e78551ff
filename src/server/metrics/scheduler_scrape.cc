// What SchedulerMetrics reads from the engine when somebody asks for the metrics.
#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <utility>

#include "queue/grouped_queue.h"
#include "scheduler/decisions/decision_log.h"
#include "server/metrics/scheduler_metrics.h"

namespace berth::server {

using framework::Point;

namespace {

// The event of a pod that is queued for the first time, in the releases that count entities.
constexpr std::string_view kAddition = "UnscheduledPodAdd";
// Of a group that is queued again after an attempt.
constexpr std::string_view kFailure = "ScheduleAttemptFailure";

// Null: pods are scheduled one by one.
const queue::GroupedQueue* GroupsOf(const scheduler::Engine& engine) {
  return dynamic_cast<const queue::GroupedQueue*>(&engine.Queue());
}

// Gated pods are counted as unschedulable ones: kube-scheduler has no word for them here.
std::string_view IncomingName(queue::QueueName queue) {
  const bool gated = queue == queue::QueueName::kGated;
  return queue::NameOf(gated ? queue::QueueName::kUnschedulable : queue);
}

const queue::GroupMoves* MovesOf(const queue::GroupedQueue& queue, std::string_view event) {
  const auto found = std::ranges::find(queue.Moves(), event, &queue::GroupMoves::event);
  return found == queue.Moves().end() ? nullptr : &*found;
}

// What was counted since `before`, which becomes `now`.
uint64_t TakeNew(uint64_t now, uint64_t& before) { return now - std::exchange(before, now); }

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
  groups_before_.clear();
  for (size_t p = 0; p < next.ProfileCount(); ++p) {
    Rename(static_cast<uint8_t>(p), next.CycleOf(p).profile().Name());
  }
}

void SchedulerMetrics::RefreshQueues(const scheduler::Engine& engine) {
  const queue::GroupedQueue* groups = GroupsOf(engine);
  size_t pending = engine.Queue().InFlightCount();
  for (size_t i = 0; i < queue::kQueueNames; ++i) {
    const size_t pods = engine.PendingPods(static_cast<queue::QueueName>(i));
    pending_[i]->Set(static_cast<double>(pods));
    pending += pods;
    const auto [own, members] = groups == nullptr
                                    ? queue::GroupedQueue::GroupCount()
                                    : groups->CountGroups(static_cast<queue::QueueName>(i));
    if (queued_[i][0] != nullptr) queued_[i][0]->Set(static_cast<double>(pods - members));
    if (queued_[i][1] != nullptr) queued_[i][1]->Set(static_cast<double>(own));
  }
  const size_t incomplete = groups == nullptr ? 0 : groups->IncompleteCount();
  const size_t waiting = groups == nullptr ? 0 : groups->PendingCount();
  if (incomplete_ != nullptr) {
    incomplete_->Set(static_cast<double>(incomplete));
    waits_for_attempt_->Set(static_cast<double>(waiting));
  }
  pending += incomplete + waiting;
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
// suggests: to the active queue, when its backoff is over already. A group is also counted whenever
// it is queued again after an attempt.
void SchedulerMetrics::RefreshIncoming(const scheduler::Engine& engine) {
  const auto& events = engine.IncomingPods();
  const queue::GroupedQueue* grouped = GroupsOf(engine);
  incoming_before_.resize(events.size());
  for (size_t i = 0; i < events.size(); ++i) {
    const std::string& event = events[i].event;
    const queue::GroupMoves* moves = grouped == nullptr ? nullptr : MovesOf(*grouped, event);
    queue::GroupMoves* before = moves == nullptr ? nullptr : &GroupsBefore(event);
    for (size_t q = 0; q < queue::kQueueNames; ++q) {
      const auto to = static_cast<queue::QueueName>(q);
      const uint64_t pods = TakeNew(events[i].pods[q], incoming_before_[i][q]);
      const uint64_t members = moves == nullptr ? 0 : TakeNew(moves->pods[q], before->pods[q]);
      const uint64_t groups = moves == nullptr ? 0 : TakeNew(moves->groups[q], before->groups[q]);
      if (pods == 0) continue;
      incoming_.Of({IncomingName(to), event}).OwnAdd(static_cast<double>(pods));
      const bool counted = to == queue::QueueName::kActive || event == kAddition;
      CountEntities(to, event, kPodEntity, pods - members, counted);
      CountEntities(to, event, kGroupEntity, groups, counted || event == kFailure);
    }
  }
}

// `counted`: not only the queue is known to have such entities.
void SchedulerMetrics::CountEntities(queue::QueueName to, std::string_view event,
                                     std::string_view type, uint64_t count, bool counted) {
  if (count == 0) return;
  Gauge*& gauge = queued_[static_cast<size_t>(to)][type == kGroupEntity ? 1 : 0];
  if (gauge == nullptr) {
    gauge = families_.Gauges(Metric::kQueuedEntities).With({queue::NameOf(to), type});
  }
  if (!counted) return;
  incoming_entities_.Of({IncomingName(to), event, type}).OwnAdd(static_cast<double>(count));
}

queue::GroupMoves& SchedulerMetrics::GroupsBefore(std::string_view event) {
  const auto known = std::ranges::find(groups_before_, event, &queue::GroupMoves::event);
  if (known != groups_before_.end()) return *known;
  groups_before_.push_back({.event = std::string(event)});
  return groups_before_.back();
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
