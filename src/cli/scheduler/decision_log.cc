#include "cli/scheduler/decision_log.h"

#include <algorithm>
#include <ctime>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "api/time.h"
#include "config/minor_rules.h"
#include "log/log.h"

namespace berth::cli::scheduler {
namespace {

using berth::scheduler::Change;
using berth::scheduler::Decision;
using berth::scheduler::Outcome;

constexpr log::Logger kPreemption{"PostFilter.DefaultPreemption"};
constexpr log::Logger kBinder{"Bind.DefaultBinder"};
constexpr log::Logger kUnhandled{"UnhandledError"};

// Pods may vanish while they are bound, and nobody says so.
constexpr size_t kMostDecided = 100'000;

int64_t CoarseNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

int64_t WallNs() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

// The local time by strftime's `format`, with milliseconds behind it.
std::string TimeText(const char* format, int64_t ns) {
  const std::time_t seconds = ns / 1'000'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, format, &parts);
  return fmt::format("{}.{:03d}", std::string_view(text, length), ns / 1'000'000 % 1000);
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

// kube-scheduler's name of a node's zone: with its region, and a byte 0 between them.
std::string ZoneOf(const api::Node& node) {
  const auto label = [&](std::string_view key) {
    const auto it = node.metadata.labels.find(key);
    return it == node.metadata.labels.end() ? std::string() : it->second;
  };
  const std::string region = label("topology.kubernetes.io/region");
  const std::string zone = label("topology.kubernetes.io/zone");
  if (region.empty() && zone.empty()) return "";
  return region + std::string(":\0:", 3) + zone;
}

// How urgently the pod is to be tried, as kube-scheduler numbers it: not now, after its backoff, at
// once.
int HintOf(queue::QueueName queue, const queue::QueuedPod& info) {
  if (queue == queue::QueueName::kUnschedulable) return 0;
  return queue == queue::QueueName::kActive && info.pending_plugins != 0 ? 2 : 1;
}

// {"NodeAffinity":{},…}: names are Go identifiers, nothing is to be escaped.
std::string NamesOf(queue::PluginMask mask, const framework::Profile& profile) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < profile.Plugins().size() && i < 64; ++i) {
    if ((mask >> i & 1) != 0) names.push_back(profile.Plugins()[i]->Name());
  }
  std::sort(names.begin(), names.end());
  std::string text = "{";
  for (const std::string_view name : names) {
    text += fmt::format("{}\"{}\":{{}}", text.size() > 1 ? "," : "", name);
  }
  return text + "}";
}

}  // namespace

DecisionLog::DecisionLog(server::SchedulerMetrics& metrics, int64_t (*now_ns)())
    : EngineObserver(metrics.wants()), metrics_(metrics) {
  wants().now_ns = now_ns != nullptr ? now_ns : &CoarseNs;
  wants().slow_cycle_ns = kSlowCycleNs;
  FollowVerbosity();
}

void DecisionLog::Follow(const config::Behaviour& behaviour) {
  pod_first_ = config::MinorRulesOf(behaviour).log_has_pod_of_cycle_first;
}

void DecisionLog::FollowVerbosity() {
  verbose_ = log::V(2);
  wants().cycles = wants().pods = wants().queues = wants().binds = verbose_;
}

// --- Objects and queues

void DecisionLog::NodeChanged(Change change, const api::Node& node) {
  if (!log::V(2)) return;
  const log::ObjectName name{"", node.metadata.name};
  switch (change) {
    case Change::kAdd:
      log::Info(3, "Add event for node", {{"node", name}});
      log::Info(2, "Added node to NodeTree", {{"node", name}, {"zone", ZoneOf(node)}});
      break;
    case Change::kUpdate:
      log::Info(4, "Update event for node", {{"node", name}});
      break;
    case Change::kDelete:
      log::Info(3, "Delete event for node", {{"node", name}});
      log::Info(2, "Removed node from NodeTree", {{"node", name}, {"zone", ZoneOf(node)}});
      break;
  }
}

void DecisionLog::PodChanged(Change change, const Pod& pod, bool assigned) {
  const int level = change == Change::kUpdate ? 4 : 3;
  if (!log::V(level)) return;
  constexpr std::string_view kMessages[3][2] = {
      {"Add event for unscheduled pod", "Add event for scheduled pod"},
      {"Update event for unscheduled pod", "Update event for scheduled pod"},
      {"Delete event for unscheduled pod", "Delete event for scheduled pod"}};
  log::Info(level, kMessages[static_cast<size_t>(change)][assigned ? 1 : 0],
            {{"pod", NameOf(pod)}});
}

void DecisionLog::QueueIncoming(const Pod& pod, queue::QueueName queue, std::string_view event,
                                const queue::QueuedPod& info, const framework::Profile& profile) {
  if (log::V(3)) LogMove(pod, queue, event, info, profile);
}

void DecisionLog::LogMove(const Pod& pod, queue::QueueName queue, std::string_view event,
                          const queue::QueuedPod& info, const framework::Profile& profile) {
  constexpr std::string_view kMoved = "Pod moved to an internal scheduling queue";
  const log::ObjectName name = NameOf(pod);
  const std::string_view to = QueueWord(queue);
  if (event == "ScheduleAttemptFailure") {
    const std::string plugins = NamesOf(info.unschedulable_plugins | info.pending_plugins, profile);
    log::Info(3, kMoved,
              {{"pod", name},
               {"event", event},
               {"queue", to},
               {"schedulingCycle", wants().cycles_begun},
               {"hint", HintOf(queue, info)},
               {"unschedulable plugins", log::Raw{plugins}}});
  } else if (info.gated) {
    log::Info(5, "Pod moved to an internal scheduling queue, because the pod is gated",
              {{"pod", name}, {"event", event}, {"queue", to}});
  } else if (event == "UnschedulablePodAdd" || event == "UnscheduledPodAdd" ||
             event == "BackoffComplete" || event == "PopFromBackoffQ") {
    log::Info(5, kMoved, {{"pod", name}, {"event", event}, {"queue", to}});
  } else if (event.starts_with("UnschedulablePod") || event.starts_with("TargetPod")) {
    log::Info(5, "Pod moved to an internal scheduling queue because the Pod is updated",
              {{"pod", name}, {"event", event}, {"queue", to}});
  } else {
    log::Info(4, kMoved,
              {{"pod", name}, {"event", event}, {"queue", to}, {"hint", HintOf(queue, info)}});
  }
}

void DecisionLog::Gated(const Pod& pod, std::string_view plugin, const framework::Status& status) {
  if (!log::V(4)) return;
  log::Info(4, "Status after running PreEnqueue plugin",
            {{"pod", NameOf(pod)}, {"plugin", plugin}, {"status", status.Message()}});
}

void DecisionLog::Skipped(const Pod& pod) {
  log::Info(3, "Skip schedule deleting pod", {{"pod", NameOf(pod)}});
}

// --- Cycles

berth::scheduler::CycleInterest DecisionLog::CycleBegan(const Pod& pod, std::string_view profile,
                                                        uint8_t profile_number) {
  berth::scheduler::CycleInterest interest;
  if (verbose_) interest = LogAttempt(pod);
  const berth::scheduler::CycleInterest timed = metrics_.CycleBegan(pod, profile, profile_number);
  interest.points = timed.points;
  interest.plugins = timed.plugins;
  return interest;
}

berth::scheduler::CycleInterest DecisionLog::CyclePassedOver(const Pod& pod) {
  return LogAttempt(pod);
}

berth::scheduler::CycleInterest DecisionLog::LogAttempt(const Pod& pod) const {
  if (log::V(3)) {
    if (log::V(4)) log::Info(4, "About to try and schedule pod", {{"pod", NameOf(pod)}});
    log::Info(3, "Attempting to schedule pod", {{"pod", NameOf(pod)}});
  }
  return {.decision = true, .scores = log::V(10)};
}

void DecisionLog::Decided(const Pod& pod, const Decision& decision, const framework::Cycle& cycle) {
  if (decision.outcome != Outcome::kScheduled) {
    const std::string& message = decision.diagnosis.pre_filter_message;
    if (message.empty()) return;
    log::Info(5, "Status after running PreFilter plugins for pod",
              {{"pod", NameOf(pod)}, {"status", message}});
    return;
  }
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

// The lines of kube-scheduler's trace: when it began, its steps with when they ended, how long it
// took.
void DecisionLog::SlowCycle(const Pod& pod, int64_t took_ns, bool watched) {
  constexpr int64_t kMs = 1'000'000;
  const uint64_t number = (std::hash<std::string>{}(pod.uid) + wants().cycles_begun) & 0x7fffffff;
  const std::string trace = fmt::format("Trace[{}]: ", number);
  const int64_t began_ns = WallNs() - took_ns;
  std::string text = fmt::format(
      "{}\"Scheduling\" namespace:{},name:{} ({}) (total time: {}ms):", trace, pod.namespace_(),
      pod.name, TimeText("%d-%b-%Y %H:%M:%S", began_ns), took_ns / kMs);
  // Each step of kube-scheduler's covers the points up to the one that ends it.
  int64_t step_ns = 0;
  int64_t ended_ns = began_ns;
  const std::vector<server::SchedulerMetrics::Step> none;
  for (const auto& step : watched ? metrics_.Steps() : none) {
    step_ns += step.took_ns;
    ended_ns += step.took_ns;
    const std::string_view name = StepOf(step.point);
    if (name.empty()) continue;
    text += fmt::format("\n{}---\"{}\" {}ms ({})", trace, name, step_ns / kMs,
                        TimeText("%H:%M:%S", ended_ns));
    step_ns = 0;
  }
  const std::string took = api::Duration{took_ns}.Format();
  text += fmt::format("\n{}[{}] [{}] END\n", trace, took, took);
  log::InfoLine(0, text);
  if (slow_cycles_ != nullptr) slow_cycles_->With({pod.namespace_()})->Add();
  metrics_.TimeNextCycle();
}

void DecisionLog::Attempted(const Pod& pod, Outcome outcome, std::string_view node,
                            std::string_view message) {
  metrics_.Attempted(pod, outcome, node, message);
  if (outcome == Outcome::kScheduled) return;
  if (!decided_.empty()) decided_.erase(pod.uid);
  if (outcome == Outcome::kError) {
    if (message.starts_with("running Bind plugin")) {
      log::Info(1, "Failed to bind pod", {{"pod", NameOf(pod)}});
    }
    log::Error(message, kUnhandled, "Error scheduling pod; retrying", {{"pod", NameOf(pod)}});
  } else if (message == "no nodes available to schedule pods") {
    log::Info(2, "Unable to schedule pod; no nodes are registered to the cluster; waiting",
              {{"pod", NameOf(pod)}});
  } else if (log::V(2)) {
    log::Info(2, "Unable to schedule pod; no fit; waiting",
              {{"pod", NameOf(pod)}, {"err", message}});
  }
}

// At Filter the error of the attempt says it all.
void DecisionLog::PluginFailed(const PodRef& pod, Point point, std::string_view plugin,
                               std::string_view node, std::string_view error) {
  metrics_.PluginFailed(pod, point, plugin, node, error);
  if (point == Point::kFilter) return;
  const log::Logger logger{log::V(4) ? framework::PointName(point) : ""};
  if (point == Point::kReserve || point == Point::kPermit) {
    log::Error(error, logger, "Plugin failed", {{"plugin", plugin}, {"pod", NameOf(pod)}});
  } else {
    log::Error(error, logger, point == Point::kBind ? "Plugin Failed" : "Plugin failed",
               {{"plugin", plugin}, {"pod", NameOf(pod)}, {"node", node}});
  }
}

// Which of its answers the preemption plugin has given is seen from the words behind its name.
void DecisionLog::PostFiltered(const Pod& pod, const framework::Status& status,
                               const framework::PostFilterResult& result) {
  if (status.code() == framework::Code::kError) {
    log::Error("", kUnhandled, "Status after running PostFilter plugins for pod",
               {{"pod", NameOf(pod)}, {"status", status.Message()}});
    return;
  }
  if (!log::V(2)) return;
  constexpr std::string_view kSaysPreemption = "preemption: ";
  constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";
  for (const std::string& reason : status.reasons()) {
    if (!reason.starts_with(kSaysPreemption)) continue;
    const std::string_view why = std::string_view(reason).substr(kSaysPreemption.size());
    if (why.starts_with("not eligible")) {
      log::Info(5, kPreemption, "Pod is not eligible for preemption",
                {{"pod", NameOf(pod)}, {"reason", why}});
    } else if (why.starts_with("0/")) {
      // "0/2 nodes are available: 2 Preemption is not helpful for scheduling.": no other reason
      if (why.ends_with(fmt::format(": {} {}.", why.substr(2, why.find(' ') - 2), kNotHelpful))) {
        log::Info(3, kPreemption, "Preemption will not help schedule pod on any node",
                  {{"pod", NameOf(pod)}});
      }
      log::Info(2, kPreemption,
                "No preemption candidate is found; preemption is not helpful for scheduling",
                {{"pod", NameOf(pod)}});
    }
  }
  if (result.nomination == framework::PostFilterResult::Nomination::kSet) {
    constexpr std::string_view kDetermined = "the target node for the preemption is determined";
    const log::Field node{"node", result.nominated_node};
    const log::Field preemptor{"pod", NameOf(pod)};
    if (pod_first_) {
      log::Info(2, kPreemption, kDetermined, {preemptor, node});
    } else {
      log::Info(2, kPreemption, kDetermined, {node, preemptor});
    }
  }
  if (log::V(5)) {
    const std::string message = status.Message();
    log::Info(5, "Status after running PostFilter plugins for pod",
              {{"pod", NameOf(pod)}, {"status", message}});
  }
}

void DecisionLog::FailureReported(const Pod& pod, Outcome outcome, bool nominated,
                                  std::string_view node) {
  if (!log::V(3)) return;
  constexpr std::string_view kMessage = "Updating pod condition and nominated node name";
  const std::string_view reason = outcome == Outcome::kError ? "SchedulerError" : "Unschedulable";
  if (!nominated) {
    log::Info(3, kMessage,
              {{"pod", NameOf(pod)},
               {"conditionType", "PodScheduled"},
               {"conditionStatus", "False"},
               {"conditionReason", reason}});
    return;
  }
  log::Info(3, kMessage,
            {{"pod", NameOf(pod)},
             {"conditionType", "PodScheduled"},
             {"conditionStatus", "False"},
             {"conditionReason", reason},
             {"nominatedNodeName", node},
             {"nominatingMode", 1}});
}

// --- Bindings and preemptions

void DecisionLog::PermitWaits(const PodRef& pod) {
  log::Info(4, "One or more plugins asked to wait and no plugin rejected pod",
            {{"pod", NameOf(pod)}});
  log::Info(4, "Pod waiting on permit", {{"pod", NameOf(pod)}});
}

void DecisionLog::PreemptionBegan(const PodRef& preemptor, size_t victims, std::string_view node) {
  log::Info(2, "Start the preemption asynchronously",
            {{"preemptor", NameOf(preemptor)}, {"node", node}, {"numVictims", victims}});
}

void DecisionLog::PreemptionEnded(const PodRef& preemptor, std::string_view node, bool success) {
  metrics_.PreemptionEnded(preemptor, node, success);
  log::Info(2, "Async Preemption finished completely",
            {{"preemptor", NameOf(preemptor)},
             {"node", node},
             {"result", success ? "success" : "error"}});
}

void DecisionLog::BindBegan(const PodRef& pod, std::string_view node) {
  if (!log::V(3)) return;
  log::Info(3, kBinder, "Attempting to bind pod to node",
            {{"pod", NameOf(pod)}, {"node", log::ObjectName{"", node}}});
}

void DecisionLog::Bound(const PodRef& pod, std::string_view node, const queue::QueuedPod& info,
                        const api::Time& now, bool watched) {
  if (!verbose_ && !watched && metrics_.CountedAsBefore(info, now)) return;
  CountAndLogBound(pod, node, info, now, watched);
}

void DecisionLog::CountAndLogBound(const PodRef& pod, std::string_view node,
                                   const queue::QueuedPod& info, const api::Time& now,
                                   bool watched) {
  metrics_.Bound(pod, node, info, now, watched);
  if (verbose_) LogBound(pod, node);
}

void DecisionLog::LogBound(const PodRef& pod, std::string_view node) {
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
