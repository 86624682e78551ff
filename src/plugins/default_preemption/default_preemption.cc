#include "plugins/default_preemption/default_preemption.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "framework/runtime/diagnosis.h"
#include "plugins/default_preemption/group_preemption.h"

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
void PotentialNodes(const Cycle& cycle, const Cluster& cluster,
                    const framework::Diagnosis& diagnosis, std::vector<NodeIndex>* nodes) {
  nodes->clear();
  // Often all nodes are refused alike.
  size_t counted = 0;
  size_t helpful = 0;
  for (const auto& [verdict, count] : diagnosis.counted) {
    counted += count;
    if (verdict.code == Code::kUnschedulable) helpful += count;
  }
  const auto order = cluster.NodeOrder();
  if (counted == order.size() && helpful == 0) return;
  if (counted == order.size() && helpful == counted) {
    nodes->assign(order.begin(), order.end());
    return;
  }
  for (const NodeIndex n : order) {
    if (CodeOf(cycle, diagnosis, n) == Code::kUnschedulable) nodes->push_back(n);
  }
}

// How many nodes are no candidates for which reason. Text is made once per distinct verdict, when
// it is wanted.
class Refusals {
 public:
  explicit Refusals(const Cycle& cycle) : cycle_(cycle) {}

  void Add(const NoCandidate& why) {
    if (why.no_victims) {
      ++no_victims_;
      return;
    }
    const uint64_t key = why.verdict.Packed();
    if (last_ == nullptr || last_->first.Packed() != key) {
      last_ = &distinct_[key];
      last_->first = why.verdict;
    }
    ++last_->second;
  }

  // Distinct ones, in order.
  std::vector<std::string> Errors() const {
    std::set<std::string> errors;
    for (const auto& [key, entry] : distinct_) {
      if (entry.first.code != Code::kError) continue;
      errors.insert(fmt::format("{}", fmt::join(cycle_.Reasons(entry.first), ", ")));
    }
    return {errors.begin(), errors.end()};
  }

  // "0/N nodes are available: …"
  std::string Message(size_t all_nodes) const {
    std::map<std::string, size_t> counts;
    size_t total = no_victims_;
    if (no_victims_ > 0) counts[std::string(kNoVictims)] = no_victims_;
    for (const auto& [key, entry] : distinct_) {
      for (const std::string& reason : cycle_.Reasons(entry.first)) counts[reason] += entry.second;
      total += entry.second;
    }
    if (total < all_nodes) counts[std::string(kNotHelpful)] += all_nodes - total;
    std::vector<std::string> parts;
    for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
    std::sort(parts.begin(), parts.end());
    return fmt::format("0/{} nodes are available: {}.", all_nodes, fmt::join(parts, ", "));
  }

 private:
  using Entry = std::pair<framework::Verdict, size_t>;
  const Cycle& cycle_;
  size_t no_victims_ = 0;
  std::map<uint64_t, Entry> distinct_;
  Entry* last_ = nullptr;  // neighbours are often refused alike
};

Status ToStatus(const Cycle& cycle, const NoCandidate& why) {
  if (why.no_victims) return Status::Unresolvable(std::string(kNoVictims));
  Status status(why.verdict.code, cycle.Reasons(why.verdict));
  if (why.verdict.plugin != framework::kNoPlugin) {
    status.set_plugin(cycle.profile().At(why.verdict.plugin).Name());
  }
  return status;
}

// Several errors as kube-scheduler prints them together.
std::string JoinedErrors(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  return fmt::format("[{}]", fmt::join(errors, ", "));
}

}  // namespace

std::vector<size_t> LeastHarmful(const Cluster& cluster, const std::vector<Candidate>& candidates) {
  std::vector<size_t> best;
  Harm least;
  for (size_t i = 0; i < candidates.size(); ++i) {
    const Harm harm = HarmOf(cluster, candidates[i]);
    if (best.empty() || harm < least) {
      best.clear();
      least = harm;
    }
    if (harm == least) best.push_back(i);
  }
  return best;
}

std::string DefaultPreemption::NotEligible(const Cycle& cycle, const Cluster& cluster,
                                           const framework::Diagnosis& diagnosis) {
  const UnitRules rules(cycle.profile().GetBehaviour());
  const cluster::Pod& pod = cycle.context().pod;
  if (pod.shape->never_preempts) return "not eligible due to preemptionPolicy=Never.";
  if (pod.nominated_node_name.empty()) return "";
  const NodeIndex n = cluster.FindNode(pod.nominated_node_name);
  const Code code = n == cluster::kNoNode ? diagnosis.absent.code() : CodeOf(cycle, diagnosis, n);
  if (code == Code::kUnschedulableAndUnresolvable || n == cluster::kNoNode) return "";
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& other = cluster.GetPod(id);
    if (other.terminating && other.preempted &&
        VictimPriority(cluster, other, rules) < pod.shape->priority) {
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
  DryRun dry_run(cycle, cluster, budgets_, units_);
  PotentialNodes(cycle, cluster, diagnosis, &nodes_);
  for (const NodeIndex n : nodes_) {
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
  Status status = Find(cycle, cluster, diagnosis, result);
  if (!status.Ok()) return status;
  // As PickCandidate does, from what is known of each already.
  least_.clear();
  for (const Finding* finding : found_) {
    if (!least_.empty() && finding->harm > least_.front()->harm) continue;
    if (!least_.empty() && finding->harm < least_.front()->harm) least_.clear();
    least_.push_back(finding);
  }
  return Propose(cluster, least_[random_.Below(least_.size())]->candidate, result);
}

Status DefaultPreemption::FindCandidates(Cycle& cycle, Cluster& cluster,
                                         const framework::Diagnosis& diagnosis,
                                         std::vector<Candidate>* candidates,
                                         framework::PostFilterResult* result) {
  Status status = Find(cycle, cluster, diagnosis, result);
  for (const Finding* finding : found_) candidates->push_back(finding->candidate);
  return status;
}

// Candidates are in found_ until the next call.
Status DefaultPreemption::Find(Cycle& cycle, Cluster& cluster,
                               const framework::Diagnosis& diagnosis,
                               framework::PostFilterResult* result) {
  found_.clear();
  if (const std::string why = NotEligible(cycle, cluster, diagnosis); !why.empty()) {
    return Status::Unschedulable("preemption: " + why);
  }
  PotentialNodes(cycle, cluster, diagnosis, &nodes_);
  Refusals refusals(cycle);
  if (!nodes_.empty()) {
    budgets_.Refresh(cluster);
    const size_t wanted = CandidatesWanted(nodes_.size());
    const size_t offset = random_.Below(nodes_.size());
    KnownVictims::Search search(known_, cycle, cluster, budgets_, units_);
    bool harmless = false;  // some candidate breaks no budget
    for (size_t i = 0; i < nodes_.size() && !(harmless && found_.size() >= wanted); ++i) {
      const size_t at = offset + i;
      const Finding& finding = search.LookAt(nodes_[at < nodes_.size() ? at : at - nodes_.size()]);
      if (finding.is_candidate) {
        harmless = harmless || finding.candidate.pdb_violations == 0;
        found_.push_back(&finding);
      } else {
        refusals.Add(finding.why);
      }
    }
  }
  if (!found_.empty()) return {};
  if (const auto errors = refusals.Errors(); !errors.empty()) {
    return Status::Error("preemption: " + JoinedErrors(errors));
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
  return Propose(cluster, candidates[best[random_.Below(best.size())]], result);
}

Status DefaultPreemption::Propose(const Cluster& cluster, const Candidate& chosen,
                                  framework::PostFilterResult* result) const {
  result->nomination = framework::PostFilterResult::Nomination::kSet;
  result->nominated_node = cluster.NodeName(chosen.node);
  result->victims = chosen.victims;
  if (!has_message_) return {};
  return Status(Code::kSuccess, {FoundMessage(result->nominated_node, chosen.victims.size())});
}

Status DefaultPreemption::PodGroupPostFilter(Cycle& cycle, Cluster& cluster,
                                             const framework::PodGroupInfo& info,
                                             framework::PodGroupTrial& trial,
                                             framework::PodGroupPostFilterResult* result) {
  budgets_.Refresh(cluster);
  GroupPreemption preemption(cycle, cluster, budgets_, units_, group_policy_);
  const Status status = preemption.Run(info, trial, result);
  if (status.Message().empty()) return status;
  return {status.code(), "pod group preemption: " + status.Message()};
}

std::string FoundMessage(std::string_view node, size_t victims) {
  return fmt::format(
      "preemption: found a potential placement for pod on node {}, preempting {} victims", node,
      victims);
}

Status DefaultPreemption::ReviewFailed(std::string_view why) const {
  return Status::Error("preemption: " + std::string(why));
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::DefaultPreemptionArgs>(&args);
  return std::make_unique<DefaultPreemption>(own ? *own : config::DefaultPreemptionArgs(),
                                             handle.seed, handle.behaviour);
}

}  // namespace berth::plugins::default_preemption
