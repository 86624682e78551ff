#include "explain/explainer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "scheduler/attempt.h"

namespace berth::explain {
namespace {

using cluster::NodeIndex;
using framework::Cycle;

constexpr size_t kExamples = 5;
constexpr size_t kTieNames = 20;
constexpr size_t kMoves = 10;

api::MicroTime Micro(int64_t ns) { return api::MicroTime::FromUnixNano(ns); }

std::optional<api::MicroTime> Micro(const api::Time& time) {
  if (time.IsZero()) return std::nullopt;
  return Micro(time.UnixNano());
}

std::vector<std::string> NamesOf(const framework::Profile& profile, queue::PluginMask mask) {
  std::vector<std::string> names;
  for (size_t i = 0; i < profile.Plugins().size() && i < 64; ++i) {
    if ((mask >> i & 1) != 0) names.emplace_back(profile.Plugins()[i]->Name());
  }
  return names;
}

// Refusals by plugin, in words, with some nodes each.
class Refusals {
 public:
  Refusals(const cluster::Cluster& cluster, const Search& search) {
    search.diagnosis().rejected.ForEach([&](NodeIndex n) {
      const framework::Verdict& verdict = search.cycle().verdicts()[n];
      auto& words = words_[verdict.Packed()];
      if (words.empty()) words = search.cycle().Reasons(verdict);
      auto& of_plugin = by_plugin_[verdict.plugin];
      ++of_plugin.nodes;
      for (const std::string& reason : words) {
        Rejection& rejection =
            of_plugin.reasons[{reason, std::string(framework::CodeName(verdict.code))}];
        ++rejection.nodes;
        if (rejection.examples.size() < kExamples) {
          rejection.examples.push_back(cluster.NodeName(n));
        }
      }
    });
  }

  // Nodes the plugin refused; `reasons` gets why.
  int64_t Of(uint8_t plugin, std::string_view name, std::vector<Rejection>* reasons) {
    const auto it = by_plugin_.find(plugin);
    if (it == by_plugin_.end()) return 0;
    for (auto& [words, rejection] : it->second.reasons) {
      rejection.plugin = name;
      rejection.reason = words.first;
      rejection.code = words.second;
      reasons->push_back(std::move(rejection));
    }
    std::stable_sort(reasons->begin(), reasons->end(),
                     [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
    return it->second.nodes;
  }

 private:
  struct OfPlugin {
    int64_t nodes = 0;
    std::map<std::pair<std::string, std::string>, Rejection> reasons;
  };
  std::map<uint64_t, std::vector<std::string>> words_;
  std::map<uint8_t, OfPlugin> by_plugin_;
};

// The step of plugins that looked at no node: they refused the pod, or named the nodes to look at.
std::optional<FunnelStep> PreFilterStep(const Search& search, int64_t nodes) {
  const framework::Status& status = search.pre_filter();
  const framework::PreFilterResult& restriction = search.cycle().restriction();
  if (!status.Ok()) {
    FunnelStep step{std::string(status.plugin()), "PreFilter", nodes, 0, false, {}};
    step.reasons.push_back({step.plugin,
                            status.Message(),
                            std::string(framework::CodeName(status.code())),
                            nodes,
                            {}});
    return step;
  }
  if (restriction.all_nodes) return std::nullopt;
  const auto left = static_cast<int64_t>(restriction.nodes.size());
  FunnelStep step{fmt::format("{}", fmt::join(search.diagnosis().unschedulable_plugins, ", ")),
                  "PreFilter",
                  nodes,
                  left,
                  false,
                  {}};
  if (left < nodes) {
    step.reasons.push_back({step.plugin,
                            search.diagnosis().absent.Message(),
                            std::string(framework::CodeName(search.diagnosis().absent.code())),
                            nodes - left,
                            {}});
  }
  return step;
}

Funnel MakeFunnel(const cluster::Cluster& cluster, const Search& search) {
  Funnel funnel;
  funnel.nodes = static_cast<int64_t>(cluster.NodeCount());
  funnel.feasible = static_cast<int64_t>(search.feasible_count());
  if (cluster.NodeCount() == 0) return funnel;
  int64_t left = funnel.nodes;
  if (auto step = PreFilterStep(search, left)) {
    left = step->after;
    funnel.steps.push_back(std::move(*step));
  }
  if (!search.pre_filter().Ok()) return funnel;
  Refusals refusals(cluster, search);
  const auto add = [&](uint8_t index, std::string_view name, bool skipped) {
    FunnelStep step{std::string(name), "Filter", left, left, skipped, {}};
    step.after -= refusals.Of(index, name, &step.reasons);
    left = step.after;
    funnel.steps.push_back(std::move(step));
  };
  for (const auto& [plugin, index] : search.profile().filter) {
    add(index, plugin->Name(), search.cycle().FilterSkipped(index));
  }
  if (left != funnel.feasible) add(framework::kNoPlugin, "", false);
  return funnel;
}

NodeScore ScoreOf(const cluster::Cluster& cluster, const Search& search, NodeIndex n) {
  const Cycle& cycle = search.cycle();
  NodeScore score;
  score.node = cluster.NodeName(n);
  score.total = search.profile().score.empty() ? 0 : cycle.TotalScore(n);
  const auto& plugins = search.profile().score;
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (cycle.ScoreSkipped(i)) continue;
    const int64_t normalized = cycle.NormalizedScore(i, n);
    score.scores.push_back({std::string(plugins[i].plugin->Name()), cycle.RawScore(i, n),
                            normalized, plugins[i].weight, normalized * plugins[i].weight});
  }
  return score;
}

// Feasible nodes by total, the best first; of equals `first` before all others.
std::vector<std::pair<int64_t, NodeIndex>> Ranking(const Search& search, NodeIndex first) {
  std::vector<std::pair<int64_t, NodeIndex>> ranking;
  const bool totals = search.scored() && !search.profile().score.empty();
  search.feasible().ForEach(
      [&](NodeIndex n) { ranking.emplace_back(totals ? search.cycle().TotalScore(n) : 0, n); });
  std::sort(ranking.begin(), ranking.end(), [&](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    return std::tuple(a.second != first, a.second) < std::tuple(b.second != first, b.second);
  });
  return ranking;
}

std::string RunnerUpText(const RunnerUp& runner_up, size_t equals) {
  if (runner_up.behind == 0) {
    return fmt::format("{} scored the same; the choice among {} equal nodes is by lot",
                       runner_up.node, equals);
  }
  std::vector<std::string> parts;
  for (const ScoreDifference& difference : runner_up.differences) {
    if (parts.size() == 3 || difference.difference == 0) break;
    parts.push_back(fmt::format("{} {:+}", difference.plugin, -difference.difference));
  }
  return fmt::format("{} is {} {} {}: {}", runner_up.node, std::abs(runner_up.behind),
                     std::abs(runner_up.behind) == 1 ? "point" : "points",
                     runner_up.behind > 0 ? "behind" : "ahead now", fmt::join(parts, ", "));
}

RunnerUp CompareNodes(const NodeScore& chosen, const NodeScore& other, size_t equals) {
  RunnerUp runner_up;
  runner_up.node = other.node;
  runner_up.total = other.total;
  runner_up.behind = chosen.total - other.total;
  for (size_t i = 0; i < chosen.scores.size() && i < other.scores.size(); ++i) {
    const int64_t mine = chosen.scores[i].weighted;
    const int64_t its = other.scores[i].weighted;
    runner_up.differences.push_back({chosen.scores[i].plugin, mine, its, mine - its});
  }
  std::stable_sort(
      runner_up.differences.begin(), runner_up.differences.end(),
      [](const auto& a, const auto& b) { return std::abs(a.difference) > std::abs(b.difference); });
  runner_up.text = RunnerUpText(runner_up, equals);
  return runner_up;
}

// The nodes it could be on, and why it is on that one.
void AddRanking(const cluster::Cluster& cluster, const Search& search, NodeIndex chosen, size_t top,
                DecisionView* view) {
  const auto ranking = Ranking(search, chosen);
  if (ranking.empty()) return;
  if (chosen == cluster::kNoNode || !search.feasible().Contains(chosen)) {
    chosen = ranking.front().second;
  }
  size_t equals = 0;
  while (equals < ranking.size() && ranking[equals].first == ranking.front().first) ++equals;
  int64_t rank = 1;
  std::optional<NodeScore> best_other;
  for (size_t i = 0; i < ranking.size(); ++i) {
    if (i > 0 && ranking[i].first != ranking[i - 1].first) rank = static_cast<int64_t>(i) + 1;
    const NodeIndex n = ranking[i].second;
    const bool shown = view->top_nodes.size() < top || n == chosen;
    if (!shown && best_other) continue;
    NodeScore score = ScoreOf(cluster, search, n);
    score.rank = rank;
    score.chosen = n == chosen;
    if (!score.chosen && !best_other) best_other = score;
    if (shown) view->top_nodes.push_back(std::move(score));
  }
  const auto mine = std::find_if(view->top_nodes.begin(), view->top_nodes.end(),
                                 [](const NodeScore& score) { return score.chosen; });
  if (best_other && search.scored()) {
    view->runner_up = CompareNodes(*mine, *best_other, equals);
  }
  if (equals > 1) {
    Tie& tie = view->tie.emplace();
    tie.total = ranking.front().first;
    tie.count = static_cast<int64_t>(equals);
    for (size_t i = 0; i < equals && i < kTieNames; ++i) {
      tie.nodes.push_back(cluster.NodeName(ranking[i].second));
    }
  }
}

NodeVerdict VerdictOf(const cluster::Cluster& cluster, const Search& search, NodeIndex n,
                      NodeIndex chosen) {
  NodeVerdict verdict;
  verdict.node = cluster.NodeName(n);
  verdict.fits = search.feasible().Contains(n);
  if (verdict.fits) {
    if (!search.scored()) return verdict;
    verdict.score = ScoreOf(cluster, search, n);
    verdict.score->chosen = n == chosen;
    verdict.score->rank = 1;
    const int64_t total = verdict.score->total;
    for (const auto& [other, node] : Ranking(search, chosen)) verdict.score->rank += other > total;
    return verdict;
  }
  if (search.diagnosis().rejected.Contains(n)) {
    const framework::Verdict& given = search.cycle().verdicts()[n];
    if (given.plugin != framework::kNoPlugin) {
      verdict.plugin = search.profile().At(given.plugin).Name();
    }
    verdict.code = framework::CodeName(given.code);
    verdict.reasons = search.cycle().Reasons(given);
    return verdict;
  }
  const framework::Status& absent = search.diagnosis().absent;
  verdict.plugin = absent.plugin();
  verdict.code = framework::CodeName(absent.code());
  verdict.reasons = absent.reasons();
  return verdict;
}

// By name, to a nanosecond, or a microsecond from one millisecond on.
ByName<double> DurationsOf(const scheduler::PointTimes& times) {
  ByName<double> durations;
  for (size_t i = 0; i < framework::kPoints && !times.Empty(); ++i) {
    const auto point = static_cast<framework::Point>(i);
    if (!times.Has(point)) continue;
    const double ms = times.Ms(point);
    const double unit = ms < 1 ? 1e6 : 1e3;
    durations[std::string(framework::PointName(point))] = std::round(ms * unit) / unit;
  }
  return durations;
}

PresentOutcome PresentOf(const Search& search, const DecisionView& view) {
  PresentOutcome present;
  if (!search.error().empty()) {
    present.outcome = OutcomeName(scheduler::Outcome::kError);
    present.message = search.error();
  } else if (search.feasible_count() == 0) {
    present.outcome = OutcomeName(scheduler::Outcome::kUnschedulable);
    present.message = search.Message();
  } else {
    present.outcome = OutcomeName(scheduler::Outcome::kScheduled);
    present.node = view.top_nodes.empty() ? "" : view.top_nodes.front().node;
    present.message = fmt::format("fits on {} nodes", search.feasible_count());
  }
  return present;
}

}  // namespace

std::string_view OutcomeName(scheduler::Outcome outcome) {
  switch (outcome) {
    case scheduler::Outcome::kScheduled:
      return "Scheduled";
    case scheduler::Outcome::kUnschedulable:
      return "Unschedulable";
    case scheduler::Outcome::kError:
      return "Error";
  }
  return "";
}

std::vector<Rejection> ToRejections(const std::vector<framework::ReasonCount>& reasons) {
  std::map<std::tuple<std::string_view, std::string_view, framework::Code>, int64_t> nodes;
  for (const framework::ReasonCount& count : reasons) {
    nodes[{count.plugin, count.reason, count.code}] += static_cast<int64_t>(count.nodes);
  }
  std::vector<Rejection> rejections;
  for (const auto& [key, count] : nodes) {
    rejections.push_back({std::string(std::get<0>(key)),
                          std::string(std::get<1>(key)),
                          std::string(framework::CodeName(std::get<2>(key))),
                          count,
                          {}});
  }
  std::stable_sort(rejections.begin(), rejections.end(),
                   [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return rejections;
}

DecisionSummary Summarize(const scheduler::Source& source,
                          const scheduler::AttemptRecord& attempt) {
  DecisionSummary summary;
  summary.id = static_cast<int64_t>(attempt.id);
  summary.time = Micro(attempt.time_ns);
  const scheduler::AttemptNames names = source.log->NamesOf(attempt);
  summary.namespace_ = names.namespace_;
  summary.name = names.name;
  summary.uid = names.uid;
  if (attempt.profile < source.profiles.size()) {
    summary.profile = source.profiles[attempt.profile]->Name();
  }
  summary.attempt = attempt.number;
  summary.outcome = OutcomeName(attempt.outcome);
  if (attempt.node != cluster::kNoString) {
    summary.node = source.cluster->Strings().Text(attempt.node);
  }
  summary.score = attempt.scored ? attempt.total : 0;
  summary.nodes = attempt.nodes;
  summary.evaluated = attempt.evaluated;
  summary.feasible = attempt.feasible;
  summary.equal = attempt.equal;
  if (attempt.failed) {
    summary.message = attempt.failed->message;
    summary.rejections = ToRejections(attempt.failed->reasons);
    summary.nominated_node = attempt.failed->nominated_node;
    summary.victims = attempt.failed->victims;
  }
  return summary;
}

QueuePlace PlaceOf(const scheduler::Source& source, cluster::PodId id) {
  QueuePlace place;
  const cluster::Pod& pod = source.cluster->GetPod(id);
  const framework::Profile* profile = source.ProfileFor(pod.shape->source.spec.scheduler_name);
  if (source.where) place.where = source.where(pod.uid);
  if (place.where.empty()) place.where = pod.node == cluster::kNoNode ? "pending" : "assigned";
  if (source.queue != nullptr) {
    if (const queue::QueuedPod* info = source.queue->Find(id)) {
      place.attempts = info->attempts;
      place.queued_at = Micro(info->timestamp);
      if (info->initial_attempt) place.first_attempt = Micro(*info->initial_attempt);
      if (profile != nullptr) {
        place.waits_for = NamesOf(*profile, info->unschedulable_plugins | info->pending_plugins);
        if (info->gated && info->gating_plugin < profile->Plugins().size()) {
          place.gated_by = profile->At(info->gating_plugin).Name();
        }
      }
    }
    if (const auto until = source.queue->BackoffUntil(id)) place.backoff_until = Micro(*until);
  }
  if (source.log == nullptr) return place;
  const std::vector<scheduler::QueueMoveRecord> moves = source.log->MovesOf(id, kMoves);
  for (size_t i = 0; i < moves.size(); ++i) {
    QueueMove move;
    move.time = Micro(moves[i].time_ns);
    move.to = queue::NameOf(moves[i].to);
    move.event = source.log->EventName(moves[i].event);
    if (!moves[i].first) {
      // From active it goes on only by being tried.
      const bool tried = i + 1 < moves.size() && moves[i + 1].to == queue::QueueName::kActive;
      if (i + 1 < moves.size()) {
        move.from = tried ? "in-flight" : std::string(queue::NameOf(moves[i + 1].to));
      }
    }
    if (profile != nullptr) {
      for (auto& name : NamesOf(*profile, moves[i].helped)) move.hints.push_back({name, "Queue"});
      for (auto& name : NamesOf(*profile, moves[i].skipped)) move.hints.push_back({name, "Skip"});
    }
    place.history.push_back(std::move(move));
  }
  return place;
}

framework::Status GateOf(const scheduler::Source& source, const framework::Profile& profile,
                         cluster::PodId id) {
  return scheduler::RunPreEnqueue(profile, *source.cluster, source.cluster->GetPod(id)).status;
}

Result<DecisionView> Explain(const scheduler::Source& source, cluster::PodId id,
                             const ExplainOptions& options) {
  cluster::Cluster& cluster = *source.cluster;
  const std::string& scheduler = cluster.GetPod(id).shape->source.spec.scheduler_name;
  const framework::Profile* profile = source.ProfileFor(scheduler);
  if (profile == nullptr) {
    return Fail(fmt::format("pod {} belongs to scheduler \"{}\", which is not this one",
                            cluster.GetPod(id).Key(), scheduler));
  }
  NodeIndex asked = cluster::kNoNode;
  if (!options.node.empty()) {
    asked = cluster.FindNode(options.node);
    if (asked == cluster::kNoNode) return Fail(fmt::format("no node {}", options.node));
  }
  DecisionView view;
  view.recomputed = true;
  if (source.log != nullptr) {
    if (const scheduler::AttemptRecord* attempt =
            source.log->FindLast(id, cluster.GetPod(id).uid)) {
      view.record = Summarize(source, *attempt);
      const cluster::Pod& pod = cluster.GetPod(id);  // its name may have been overwritten
      view.record->namespace_ = pod.namespace_();
      view.record->name = pod.name;
      view.record->uid = pod.uid;
      view.recomputed = attempt->changes != source.changes;
      view.durations_ms = DurationsOf(attempt->times);
    }
  }
  view.queue = PlaceOf(source, id);
  if (view.record && view.queue.attempts == 0) view.queue.attempts = view.record->attempt;
  const framework::Status gate = GateOf(source, *profile, id);
  const Displaced displaced(cluster, id);
  const NodeIndex node =
      options.chosen.empty() ? displaced.node() : cluster.FindNode(options.chosen);
  if (node != cluster::kNoNode) view.pod_node = cluster.NodeName(node);
  Search search(cluster, *profile);
  search.Run(displaced.pod(), /*score=*/true);
  view.funnel = MakeFunnel(cluster, search);
  AddRanking(cluster, search, node, options.top, &view);
  if (asked != cluster::kNoNode) view.node = VerdictOf(cluster, search, asked, node);
  PresentOutcome present = PresentOf(search, view);
  if (!gate.Ok() && node == cluster::kNoNode) {
    present = {"Gated", "", gate.Message()};
    if (view.queue.gated_by.empty()) view.queue.gated_by = gate.plugin();
  }
  if (node == cluster::kNoNode && (!view.record || view.record->outcome != present.outcome)) {
    view.present = std::move(present);
  }
  if (search.feasible_count() == 0 && search.error().empty() && node == cluster::kNoNode) {
    PreemptionView preemption = ViewPreemption(search, cluster);
    if (!preemption.message.empty()) view.preemption = std::move(preemption);
  }
  return view;
}

}  // namespace berth::explain
