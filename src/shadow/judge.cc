#include "shadow/judge.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "framework/runtime/diagnosis.h"
#include "framework/runtime/num_feasible_nodes.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::shadow {
namespace {

using cluster::NodeIndex;
using framework::NodeSet;
using plugins::default_preemption::DefaultPreemption;

constexpr int32_t kAllNodes = 100;  // percent

DefaultPreemption* FindPreemption(const framework::Profile& profile) {
  for (const auto& [plugin, index] : profile.post_filter) {
    if (auto* found = dynamic_cast<DefaultPreemption*>(plugin)) return found;
  }
  return nullptr;
}

// kube-scheduler takes pods that have not started as started now, each time it compares two of
// them. Which of them it spares is chance, and so is how many have to go.
bool VictimsHaveNoOrder(const cluster::Cluster& cluster, const cluster::Pod& preemptor,
                        std::string_view node) {
  const NodeIndex n = cluster.FindNode(node);
  if (n == cluster::kNoNode) return false;
  const auto& pods = cluster.Record(n).pods;
  return std::count_if(pods.begin(), pods.end(), [&](cluster::PodId id) {
           const cluster::Pod& pod = cluster.GetPod(id);
           return pod.start_time.IsZero() && pod.shape->priority < preemptor.shape->priority;
         }) > 1;
}

// For each score plugin the weights under which no feasible node has a higher total than `node`.
std::vector<WeightRange> RangesOf(const framework::Cycle& cycle, const NodeSet& feasible,
                                  NodeIndex node) {
  std::vector<WeightRange> ranges;
  const auto& scores = cycle.profile().score;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (cycle.ScoreSkipped(i)) continue;
    WeightRange range{.plugin = std::string(scores[i].plugin->Name()),
                      .ours = scores[i].weight,
                      .first = 0,
                      .last = kMostWeight};
    feasible.ForEach([&](NodeIndex n) {
      Narrow(cycle.TotalScore(node) - cycle.TotalScore(n),
             cycle.NormalizedScore(i, node) - cycle.NormalizedScore(i, n), &range);
    });
    ranges.push_back(std::move(range));
  }
  return ranges;
}

std::vector<PluginGap> GapsOf(const framework::Cycle& cycle, NodeIndex ours, NodeIndex theirs) {
  std::vector<PluginGap> gaps;
  const auto& scores = cycle.profile().score;
  for (size_t i = 0; i < scores.size(); ++i) {
    if (cycle.ScoreSkipped(i)) continue;
    const int64_t weight = scores[i].weight;
    PluginGap gap{.plugin = std::string(scores[i].plugin->Name()),
                  .weight = weight,
                  .ours = cycle.NormalizedScore(i, ours) * weight,
                  .theirs = cycle.NormalizedScore(i, theirs) * weight};
    if (gap.ours != gap.theirs) gaps.push_back(std::move(gap));
  }
  std::stable_sort(gaps.begin(), gaps.end(), [](const PluginGap& a, const PluginGap& b) {
    return std::abs(a.ours - a.theirs) > std::abs(b.ours - b.theirs);
  });
  return gaps;
}

}  // namespace

const api::TypeInfo& PluginGap::Type() {
  static const api::TypeInfo type = api::Describe<PluginGap>("PluginGap")
                                        .Always(1, "plugin", &PluginGap::plugin)
                                        .Always(2, "weight", &PluginGap::weight)
                                        .Always(3, "ours", &PluginGap::ours)
                                        .Always(4, "theirs", &PluginGap::theirs)
                                        .Build();
  return type;
}

Result<std::unique_ptr<Judge>> Judge::Make(config::KubeSchedulerConfiguration config,
                                           const config::Behaviour& behaviour,
                                           cluster::Cluster& cluster,
                                           std::span<const scheduler::ExtraPlugin> extra) {
  config::ResolveOptions options;
  options.behaviour = behaviour;
  options.out_of_tree = scheduler::OutOfTree(extra);
  const auto resolved = config::Resolve(config, options);
  if (!resolved) return Fail(resolved.error());
  std::unique_ptr<Judge> judge(new Judge(cluster));
  for (const config::ResolvedProfile& profile : resolved->profiles) {
    judge->percentages_[profile.scheduler_name] = profile.percentage_of_nodes_to_score;
  }
  config.percentage_of_nodes_to_score = kAllNodes;
  for (auto& profile : config.profiles) profile.percentage_of_nodes_to_score = kAllNodes;
  auto profiles =
      scheduler::ProfileSet::Make(config, behaviour, cluster, nullptr, /*seed=*/0, extra);
  if (!profiles) return Fail(profiles.error());
  judge->profiles_ = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
  return judge;
}

bool Judge::Serves(std::string_view scheduler_name) {
  return profiles_->CycleFor(scheduler_name) != nullptr;
}

framework::Cycle& Judge::Decide(const cluster::Pod& pod) {
  framework::Cycle& cycle = *profiles_->CycleFor(pod.shape->source.spec.scheduler_name);
  algorithm_.Schedule(cycle, cluster_, pod, &decision_, /*score_always=*/true);
  return cycle;
}

bool Judge::Fits(cluster::PodId id, std::string_view node) {
  const NodeIndex n = cluster_.FindNode(node);
  if (n == cluster::kNoNode) return false;
  Decide(cluster_.GetPod(id));
  return decision_.outcome == scheduler::Outcome::kScheduled && decision_.feasible.Contains(n);
}

Finding Judge::OfBinding(cluster::PodId id, std::string_view node) {
  Finding finding;
  const cluster::Pod& pod = cluster_.GetPod(id);
  framework::Cycle& cycle = Decide(pod);
  const NodeIndex n = cluster_.FindNode(node);
  if (decision_.outcome != scheduler::Outcome::kScheduled) {
    finding.outcome = Outcome::kWeWait;
    finding.reason = decision_.error.empty()
                         ? framework::FitErrorMessage(cycle, decision_.diagnosis)
                         : decision_.error;
    const std::string all = finding.reason;
    if (n != cluster::kNoNode && decision_.error.empty()) Rejected(cycle, n, &finding);
    finding.reason = all;
    return finding;
  }
  finding.better = decision_.node;
  finding.node = cluster_.NodeName(decision_.node);
  if (n == cluster::kNoNode) {
    finding.outcome = Outcome::kInfeasible;
    finding.reason = fmt::format("node {} is not known", node);
  } else if (!decision_.feasible.Contains(n)) {
    finding.outcome = Outcome::kInfeasible;
    Rejected(cycle, n, &finding);
  } else {
    Compare(cycle, n, &finding);
    if (finding.outcome == Outcome::kScoreGap && tries_samples_ && SampleExplains(cycle, pod, n)) {
      finding.outcome = Outcome::kSampled;
    }
  }
  return finding;
}

// Why the node is not feasible.
void Judge::Rejected(framework::Cycle& cycle, NodeIndex node, Finding* finding) {
  if (decision_.nominated_first) {
    finding->reason = fmt::format("the pod fits the node that it is nominated to, {}",
                                  cluster_.NodeName(decision_.node));
    return;
  }
  if (!decision_.diagnosis.rejected.Contains(node)) {
    const framework::Status& absent = decision_.diagnosis.absent;
    finding->plugin = absent.plugin();
    if (finding->plugin.empty() && !cycle.restricting_plugins().empty()) {
      finding->plugin = cycle.profile().At(cycle.restricting_plugins().front()).Name();
    }
    finding->reason = absent.Message();
    return;
  }
  const framework::Verdict& verdict = cycle.verdicts()[node];
  if (verdict.plugin != framework::kNoPlugin) {
    finding->plugin = cycle.profile().At(verdict.plugin).Name();
  }
  finding->reason = fmt::format("{}", fmt::join(cycle.Reasons(verdict), ", "));
}

void Judge::Compare(framework::Cycle& cycle, NodeIndex node, Finding* finding) {
  finding->ours = decision_.total;
  finding->theirs = cycle.TotalScore(node);
  if (decision_.node == node) {
    finding->outcome = Outcome::kSame;
  } else if (decision_.best.Contains(node)) {
    finding->outcome = Outcome::kTie;
  } else {
    finding->outcome = Outcome::kScoreGap;
    finding->gaps = GapsOf(cycle, decision_.node, node);
    finding->ranges = RangesOf(cycle, decision_.feasible, node);
  }
}

// kube-scheduler takes the first feasible nodes of its order, from where its last search ended.
// That start is not known, so every run of nodes with the chosen one in it is tried.
bool Judge::SampleExplains(framework::Cycle& cycle, const cluster::Pod& pod, NodeIndex node) {
  const framework::PreFilterResult& restriction = cycle.restriction();
  const size_t candidates = restriction.all_nodes ? cluster_.NodeCount() : restriction.nodes.size();
  const int32_t percentage = percentages_.find(cycle.profile().Name())->second;
  const int32_t wanted =
      framework::NumFeasibleNodesToFind(percentage, static_cast<int32_t>(candidates));
  if (wanted <= 0 || decision_.feasible_count <= static_cast<size_t>(wanted)) return false;
  std::vector<NodeIndex> feasible;
  const auto collect = [&](NodeIndex n) {
    if (decision_.feasible.Contains(n)) feasible.push_back(n);
  };
  if (restriction.all_nodes) {
    for (const NodeIndex n : cluster_.NodeOrder()) collect(n);
  } else {
    for (const NodeIndex n : restriction.nodes) collect(n);
  }
  const auto size = static_cast<size_t>(wanted);
  const auto at =
      static_cast<size_t>(std::find(feasible.begin(), feasible.end(), node) - feasible.begin());
  NodeSet sample(cluster_.Rows());
  for (size_t back = 0; back < size; ++back) {
    const size_t first = (at + feasible.size() - back) % feasible.size();
    sample.Clear();
    for (size_t i = 0; i < size; ++i) sample.Insert(feasible[(first + i) % feasible.size()]);
    algorithm_.Schedule(cycle, cluster_, pod, &sampled_, /*score_always=*/true, &sample);
    if (sampled_.outcome == scheduler::Outcome::kScheduled && sampled_.best.Contains(node)) {
      return true;
    }
  }
  return false;
}

Finding Judge::OfWaiting(cluster::PodId id, std::string_view nominated, bool compare_preemption) {
  Finding finding;
  framework::Cycle& cycle = Decide(cluster_.GetPod(id));
  if (decision_.outcome == scheduler::Outcome::kScheduled) {
    finding.outcome = Outcome::kTheyWait;
    finding.node = cluster_.NodeName(decision_.node);
    finding.better = decision_.node;
  } else if (decision_.outcome == scheduler::Outcome::kUnschedulable) {
    finding.reason = framework::FitErrorMessage(cycle, decision_.diagnosis);
    if (compare_preemption) ComparePreemption(cycle, nominated, &finding);
  } else {
    finding.reason = decision_.error;
  }
  return finding;
}

void Judge::ComparePreemption(framework::Cycle& cycle, std::string_view nominated,
                              Finding* finding) {
  DefaultPreemption* plugin = FindPreemption(cycle.profile());
  DefaultPreemption::Report report;
  if (plugin != nullptr && decision_.pre_filter.Ok() &&
      DefaultPreemption::NotEligible(cycle, cluster_, decision_.diagnosis).empty()) {
    report = plugin->Evaluate(cycle, cluster_, decision_.diagnosis);
  }
  if (report.candidates.empty()) {
    if (nominated.empty()) return;
    finding->outcome = Outcome::kPreemption;
    finding->reason = "no pods can be preempted for this pod; " + finding->reason;
    return;
  }
  const auto is_nominated = [&](size_t i) {
    return cluster_.NodeName(report.candidates[i].node) == nominated;
  };
  const bool best = std::any_of(report.best.begin(), report.best.end(), is_nominated);
  finding->node = cluster_.NodeName(report.candidates[report.best.front()].node);
  if (best) {
    finding->outcome = is_nominated(report.best.front()) ? Outcome::kSame : Outcome::kTie;
    return;
  }
  bool candidate = false;
  for (size_t i = 0; i < report.candidates.size(); ++i) candidate |= is_nominated(i);
  const cluster::Pod& pod = cycle.context().pod;
  if (candidate && (VictimsHaveNoOrder(cluster_, pod, finding->node) ||
                    VictimsHaveNoOrder(cluster_, pod, nominated))) {
    finding->outcome = Outcome::kTie;
    return;
  }
  // A dry run ends when a tenth of the nodes, and a hundred, are candidates.
  const bool sampled = candidate && report.candidates.size() > framework::kMinFeasibleNodesToFind;
  finding->outcome = sampled ? Outcome::kSampled : Outcome::kPreemption;
  finding->reason = candidate           ? "preempting there does more harm"
                    : nominated.empty() ? "pods can be preempted for this pod"
                                        : "preempting there does not help";
}

}  // namespace berth::shadow
