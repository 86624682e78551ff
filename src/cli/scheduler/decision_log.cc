#include "cli/scheduler/decision_log.h"

#include <ctime>

#include <fmt/format.h>

#include "log/log.h"

namespace berth::cli::scheduler {
namespace {

using berth::scheduler::Decision;
using berth::scheduler::Outcome;

// Pods may vanish while they are bound, and nobody says so.
constexpr size_t kMostDecided = 100'000;

int64_t CoarseNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

log::ObjectName NameOf(const cluster::Pod& pod) { return {pod.namespace_(), pod.name}; }
log::ObjectName NameOf(const berth::scheduler::PodRef& pod) { return {pod.namespace_, pod.name}; }

// kube-scheduler's names in the log, which are not those of the metrics.
std::string_view QueueWord(queue::QueueName queue) {
  switch (queue) {
    case queue::QueueName::kActive:
      return "Active";
    case queue::QueueName::kBackoff:
      return "Backoff";
    case queue::QueueName::kUnschedulable:
    case queue::QueueName::kGated:
      break;
  }
  return "Unschedulable";
}

// kube-scheduler's step of the cycle that ends with this point; empty: none does.
std::string_view StepOf(framework::Point point) {
  switch (point) {
    case framework::Point::kFilter:
      return "Computing predicates done";
    case framework::Point::kScore:
      return "Prioritizing done";
    default:
      return "";
  }
}

}  // namespace

DecisionLog::DecisionLog(server::SchedulerMetrics& metrics, int64_t (*now_ns)())
    : metrics_(metrics), now_ns_(now_ns != nullptr ? now_ns : &CoarseNs) {}

void DecisionLog::QueueIncoming(const Pod& pod, queue::QueueName queue, std::string_view event) {
  metrics_.QueueIncoming(pod, queue, event);
  if (!log::V(3)) return;
  const bool added = event == "UnschedulablePodAdd";
  if (added) log::Info(3, "Add event for unscheduled pod", {{"pod", NameOf(pod)}});
  const bool timed = event == "BackoffComplete" || event == "PopFromBackoffQ";
  const int level = event == "ScheduleAttemptFailure" ? 3 : added || timed ? 5 : 4;
  if (!log::V(level)) return;
  log::Info(level, "Pod moved to an internal scheduling queue",
            {{"pod", NameOf(pod)}, {"event", event}, {"queue", QueueWord(queue)}});
}

berth::scheduler::CycleInterest DecisionLog::CycleBegan(const Pod& pod, std::string_view profile,
                                                        uint8_t profile_number) {
  verbose_ = log::V(2);
  if (verbose_ && log::V(3)) {
    if (log::V(4)) log::Info(4, "About to try and schedule pod", {{"pod", NameOf(pod)}});
    log::Info(3, "Attempting to schedule pod", {{"pod", NameOf(pod)}});
  }
  berth::scheduler::CycleInterest interest = metrics_.CycleBegan(pod, profile, profile_number);
  interest.decision = true;
  interest.scores = verbose_ && log::V(10);
  began_ns_ = now_ns_();
  return interest;
}

void DecisionLog::Decided(const Pod& pod, const Decision& decision, const framework::Cycle& cycle) {
  const int64_t took = now_ns_() - began_ns_;
  if (took >= kSlowCycleNs) LogSlow(pod, took);
  if (!verbose_ || decision.outcome != Outcome::kScheduled) return;
  if (decided_.size() >= kMostDecided) decided_.clear();
  decided_[pod.uid] = {decision.evaluated_nodes, decision.feasible_count};
  if (decision.scored && log::V(10)) LogScores(pod, decision, cycle);
}

void DecisionLog::LogScores(const Pod& pod, const Decision& decision,
                            const framework::Cycle& cycle) const {
  const auto& plugins = cycle.profile().score;
  const cluster::Cluster& cluster = cycle.context().cluster;
  decision.feasible.ForEach([&](cluster::NodeIndex n) {
    for (size_t i = 0; i < plugins.size(); ++i) {
      const int64_t score = cycle.ScoreSkipped(i) ? 0 : cycle.NormalizedScore(i, n);
      log::Info(10, "Plugin scored node for pod",
                {{"pod", NameOf(pod)},
                 {"plugin", plugins[i].plugin->Name()},
                 {"node", cluster.NodeName(n)},
                 {"score", score * plugins[i].weight}});
    }
  });
  decision.feasible.ForEach([&](cluster::NodeIndex n) {
    log::Info(
        10, "Calculated node's final score for pod",
        {{"pod", NameOf(pod)}, {"node", cluster.NodeName(n)}, {"score", cycle.TotalScore(n)}});
  });
}

void DecisionLog::LogSlow(const Pod& pod, int64_t took_ns) {
  constexpr double kMs = 1e-6;
  std::string text =
      fmt::format("Trace[{}]: \"Scheduling\" namespace:{},name:{} (total time: {}ms):", pod.uid,
                  pod.namespace_(), pod.name, took_ns / 1'000'000);
  // Each step of kube-scheduler's covers the points up to the one that ends it.
  int64_t step_ns = 0;
  for (const auto& step : metrics_.Steps()) {
    step_ns += step.took_ns;
    const std::string_view name = StepOf(step.point);
    if (name.empty()) continue;
    text += fmt::format("\nTrace[{}]: ---\"{}\" {:.0f}ms", pod.uid, name,
                        static_cast<double>(step_ns) * kMs);
    step_ns = 0;
  }
  text += fmt::format("\nTrace[{}]: [{}ms] END", pod.uid, took_ns / 1'000'000);
  log::InfoLine(0, text);
  metrics_.TimeNextCycle();
}

void DecisionLog::Attempted(const Pod& pod, Outcome outcome, std::string_view node,
                            std::string_view message) {
  metrics_.Attempted(pod, outcome, node, message);
  if (outcome == Outcome::kScheduled) return;
  if (!decided_.empty()) decided_.erase(pod.uid);
  if (outcome == Outcome::kError) {
    log::Error(message, "Error scheduling pod; retrying",
               {{"logger", "UnhandledError"}, {"pod", NameOf(pod)}});
  } else if (message == "no nodes available to schedule pods") {
    log::Info(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
              {{"pod", NameOf(pod)}});
  } else if (log::V(2)) {
    log::Info(2, "Unable to schedule pod; no fit; waiting",
              {{"pod", NameOf(pod)}, {"err", message}});
  }
}

void DecisionLog::BindBegan(const PodRef& pod, std::string_view node) {
  if (!log::V(3)) return;
  log::Info(3, "Attempting to bind pod to node", {{"pod", NameOf(pod)}, {"node", node}});
}

void DecisionLog::Bound(const PodRef& pod, std::string_view node, const queue::QueuedPod& info,
                        const api::Time& now) {
  metrics_.Bound(pod, node, info, now);
  if (!log::V(2)) return;
  const auto found = decided_.find(pod.uid);
  const Nodes nodes = found == decided_.end() ? Nodes{} : found->second;
  if (found != decided_.end()) decided_.erase(found);
  log::Info(2, "Successfully bound pod to node",
            {{"pod", NameOf(pod)},
             {"node", node},
             {"evaluatedNodes", nodes.evaluated},
             {"feasibleNodes", nodes.feasible}});
}

void DecisionLog::VictimPreempted(const PodRef& preemptor, const PodRef& victim,
                                  std::string_view node) {
  metrics_.VictimPreempted(preemptor, victim, node);
  if (!log::V(2)) return;
  log::Info(2, "Preemptor Pod preempted victim Pod",
            {{"preemptor", NameOf(preemptor)}, {"victim", NameOf(victim)}, {"node", node}});
}

}  // namespace berth::cli::scheduler
