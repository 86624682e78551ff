#include "plugins/default_preemption/default_preemption.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "framework/diagnosis.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using framework::Code;
using framework::Cycle;
using framework::Status;

constexpr std::string_view kNoVictims = "No preemption victims found for incoming pod";
constexpr std::string_view kNotHelpful = "Preemption is not helpful for scheduling";

// The code kube-scheduler would give for a node, explicit or not.
Code CodeOf(const Cycle& cycle, const framework::Diagnosis& diagnosis, NodeIndex n) {
  return diagnosis.rejected.Contains(n) ? cycle.verdicts()[n].code : diagnosis.absent.code();
}

// Nodes where removing pods may help, in kube-scheduler's order.
std::vector<NodeIndex> PotentialNodes(const Cycle& cycle, const Cluster& cluster,
                                      const framework::Diagnosis& diagnosis) {
  std::vector<NodeIndex> nodes;
  for (const NodeIndex n : cluster.NodeOrder()) {
    if (CodeOf(cycle, diagnosis, n) == Code::kUnschedulable) nodes.push_back(n);
  }
  return nodes;
}

// How many nodes are no candidates for which reason. Text is made once per distinct verdict.
class Refusals {
 public:
  explicit Refusals(const Cycle& cycle) : cycle_(cycle) {}

  void Add(const NoCandidate& why) {
    ++total_;
    if (why.no_victims) {
      ++counts_[std::string(kNoVictims)];
      return;
    }
    auto& reasons = texts_[why.verdict.Packed()];
    if (reasons.empty()) reasons = cycle_.Reasons(why.verdict);
    for (const std::string& reason : reasons) ++counts_[reason];
    if (why.verdict.code == Code::kError)
      errors_.push_back(fmt::format("{}", fmt::join(reasons, ", ")));
  }

  const std::vector<std::string>& Errors() const { return errors_; }

  // "0/N nodes are available: …"
  std::string Message(size_t all_nodes) {
    if (total_ < all_nodes) counts_[std::string(kNotHelpful)] += all_nodes - total_;
    std::vector<std::string> parts;
    for (const auto& [reason, count] : counts_)
      parts.push_back(fmt::format("{} {}", count, reason));
    std::sort(parts.begin(), parts.end());
    return fmt::format("0/{} nodes are available: {}.", all_nodes, fmt::join(parts, ", "));
  }

 private:
  const Cycle& cycle_;
  size_t total_ = 0;
  std::map<uint64_t, std::vector<std::string>> texts_;
  std::map<std::string, size_t> counts_;
  std::vector<std::string> errors_;
};

Status ToStatus(const Cycle& cycle, const NoCandidate& why) {
  if (why.no_victims) return Status::Unresolvable(std::string(kNoVictims));
  Status status(why.verdict.code, cycle.Reasons(why.verdict));
  if (why.verdict.plugin != framework::kNoPlugin) {
    status.set_plugin(cycle.profile().At(why.verdict.plugin).Name());
  }
  return status;
}

// When the most important victims of a candidate started, the earliest of them. Not started: now.
int64_t EarliestStart(const Cluster& cluster, const Candidate& candidate) {
  const int32_t highest = cluster.GetPod(candidate.victims.front()).shape->priority;
  int64_t earliest = std::numeric_limits<int64_t>::max();
  for (const cluster::PodId id : candidate.victims) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.shape->priority != highest || pod.start_time.IsZero()) continue;
    earliest = std::min(earliest, pod.start_time.UnixNano());
  }
  return earliest;
}

// Several errors as kube-scheduler prints them together, duplicates dropped.
std::string JoinedErrors(std::vector<std::string> errors) {
  std::sort(errors.begin(), errors.end());
  errors.erase(std::unique(errors.begin(), errors.end()), errors.end());
  if (errors.size() == 1) return errors.front();
  return fmt::format("[{}]", fmt::join(errors, ", "));
}

}  // namespace

std::vector<size_t> LeastHarmful(const Cluster& cluster, const std::vector<Candidate>& candidates) {
  using Measure = std::function<int64_t(const Candidate&)>;  // higher is better
  const Measure measures[] = {
      [](const Candidate& c) { return -c.pdb_violations; },
      [&](const Candidate& c) {
        return -int64_t{cluster.GetPod(c.victims.front()).shape->priority};
      },
      [&](const Candidate& c) {
        // Shifted so that every victim counts, those of negative priority too.
        int64_t sum = 0;
        for (const cluster::PodId id : c.victims) {
          sum += int64_t{cluster.GetPod(id).shape->priority} + (int64_t{1} << 31);
        }
        return -sum;
      },
      [](const Candidate& c) { return -static_cast<int64_t>(c.victims.size()); },
      [&](const Candidate& c) { return EarliestStart(cluster, c); },
  };
  std::vector<size_t> best(candidates.size());
  for (size_t i = 0; i < best.size(); ++i) best[i] = i;
  for (const Measure& measure : measures) {
    if (best.size() <= 1) break;
    int64_t highest = std::numeric_limits<int64_t>::min();
    std::vector<size_t> kept;
    for (const size_t i : best) {
      const int64_t value = measure(candidates[i]);
      if (value > highest) {
        highest = value;
        kept.clear();
      }
      if (value == highest) kept.push_back(i);
    }
    best = std::move(kept);
  }
  return best;
}

std::string DefaultPreemption::NotEligible(const Cycle& cycle, const Cluster& cluster,
                                           const framework::Diagnosis& diagnosis) {
  const cluster::Pod& pod = cycle.context().pod;
  if (pod.shape->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node_name.empty()) return "";
  const NodeIndex n = cluster.FindNode(pod.nominated_node_name);
  const Code code = n == cluster::kNoNode ? diagnosis.absent.code() : CodeOf(cycle, diagnosis, n);
  if (code == Code::kUnschedulableAndUnresolvable || n == cluster::kNoNode) return "";
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& other = cluster.GetPod(id);
    if (other.shape->priority < pod.shape->priority && other.terminating && other.preempted) {
      return "not eligible due to a terminating pod on the nominated node.";
    }
  }
  return "";
}

size_t DefaultPreemption::CandidatesWanted(size_t nodes) const {
  const auto share = nodes * static_cast<size_t>(args_.min_candidate_nodes_percentage) / 100;
  const auto least = static_cast<size_t>(args_.min_candidate_nodes_absolute);
  return std::min(nodes, std::max(share, least));
}

DefaultPreemption::Report DefaultPreemption::Evaluate(Cycle& cycle, Cluster& cluster,
                                                      const framework::Diagnosis& diagnosis) {
  Report report;
  if (!NotEligible(cycle, cluster, diagnosis).empty()) return report;
  budgets_.Refresh(cluster);
  DryRun dry_run(cycle, cluster, budgets_);
  for (const NodeIndex n : PotentialNodes(cycle, cluster, diagnosis)) {
    Candidate candidate;
    NoCandidate why;
    if (dry_run.SelectVictims(n, &candidate, &why)) {
      report.candidates.push_back(std::move(candidate));
    } else {
      report.not_candidates.emplace_back(n, ToStatus(cycle, why));
    }
  }
  if (!report.candidates.empty()) report.best = LeastHarmful(cluster, report.candidates);
  return report;
}

Status DefaultPreemption::PostFilter(Cycle& cycle, Cluster& cluster,
                                     const framework::Diagnosis& diagnosis,
                                     framework::PostFilterResult* result) {
  std::vector<Candidate> candidates;
  Status status = FindCandidates(cycle, cluster, diagnosis, &candidates, result);
  return status.Ok() ? PickCandidate(cluster, candidates, result) : status;
}

Status DefaultPreemption::FindCandidates(Cycle& cycle, Cluster& cluster,
                                         const framework::Diagnosis& diagnosis,
                                         std::vector<Candidate>* candidates,
                                         framework::PostFilterResult* result) {
  if (const std::string why = NotEligible(cycle, cluster, diagnosis); !why.empty()) {
    return Status::Unschedulable("preemption: " + why);
  }
  const std::vector<NodeIndex> nodes = PotentialNodes(cycle, cluster, diagnosis);
  Refusals refusals(cycle);
  if (!nodes.empty()) {
    budgets_.Refresh(cluster);
    const size_t wanted = CandidatesWanted(nodes.size());
    const size_t offset = random_.Below(nodes.size());
    DryRun dry_run(cycle, cluster, budgets_);
    bool harmless = false;  // some candidate breaks no budget
    for (size_t i = 0; i < nodes.size() && !(harmless && candidates->size() >= wanted); ++i) {
      Candidate candidate;
      NoCandidate why;
      if (dry_run.SelectVictims(nodes[(offset + i) % nodes.size()], &candidate, &why)) {
        harmless = harmless || candidate.pdb_violations == 0;
        candidates->push_back(std::move(candidate));
      } else {
        refusals.Add(why);
      }
    }
  }
  if (!candidates->empty()) return {};
  if (!refusals.Errors().empty()) {
    return Status::Error("preemption: " + JoinedErrors(refusals.Errors()));
  }
  result->nomination = framework::PostFilterResult::Nomination::kClear;
  return Status::Unschedulable("preemption: " + refusals.Message(diagnosis.num_all_nodes));
}

Status DefaultPreemption::PickCandidate(const Cluster& cluster,
                                        const std::vector<Candidate>& candidates,
                                        framework::PostFilterResult* result) {
  if (candidates.empty()) {
    return Status::Unschedulable("preemption: no candidate node for preemption");
  }
  const std::vector<size_t> best = LeastHarmful(cluster, candidates);
  const Candidate& chosen = candidates[best[random_.Below(best.size())]];
  result->nomination = framework::PostFilterResult::Nomination::kSet;
  result->nominated_node = cluster.NodeName(chosen.node);
  result->victims = chosen.victims;
  return {};
}

Status DefaultPreemption::ReviewFailed(std::string_view why) const {
  return Status::Error("preemption: " + std::string(why));
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::DefaultPreemptionArgs>(&args);
  return std::make_unique<DefaultPreemption>(own ? *own : config::DefaultPreemptionArgs(),
                                             handle.seed);
}

}  // namespace berth::plugins::default_preemption
