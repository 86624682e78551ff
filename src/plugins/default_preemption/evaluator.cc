#include "plugins/default_preemption/evaluator.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "cluster/transaction.h"
#include "framework/runtime/nominated_filter.h"
#include "plugins/default_preemption/default_preemption.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::Cluster;
using cluster::NodeIndex;
using cluster::PodId;
using framework::Code;
using framework::Cycle;
using framework::Status;

Code CodeOf(const Cycle& cycle, const framework::Diagnosis& diagnosis, NodeIndex n) {
  return diagnosis.rejected.Contains(n) ? cycle.verdicts()[n].code : diagnosis.absent.code();
}

// Each pod is a unit of its own: the originals know no pod groups.
std::vector<DisruptionUnit> UnitsOf(const Cluster& cluster, const std::vector<PodId>& pods) {
  std::vector<DisruptionUnit> units;
  for (const PodId id : pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    units.push_back({pod.shape->priority, false, pod.start_time, {id}});
  }
  return units;
}

// One node without its potential victims.
class Trial {
 public:
  Trial(Cycle& cycle, Cluster& cluster, const DisruptionBudgets& budgets, VictimPolicy& policy,
        NodeIndex node)
      : cycle_(cycle), cluster_(cluster), budgets_(budgets), policy_(policy), node_(node) {}

  // Fills `candidate`, or returns why the node is none. The cluster and the cycle are as before.
  Status Run(Candidate* candidate) {
    if (Status status = policy_.PotentialVictims(cycle_, cluster_, node_, &potential_);
        !status.Ok()) {
      return status;
    }
    if (potential_.empty()) return NoVictims(cycle_, cluster_, node_);
    cluster::Transaction trial(cluster_);
    const framework::Verdict before = cycle_.verdicts()[node_];
    Status status = Select(candidate);
    trial.Rollback();
    for (; !removed_.empty(); removed_.pop_back()) {
      (void)cycle_.AddPod(cluster_.GetPod(removed_.back()), node_);
    }
    cycle_.mutable_verdicts()[node_] = before;
    return status;
  }

 private:
  Status Select(Candidate* candidate) {
    for (const PodId id : potential_) {
      if (Status status = Remove(id); !status.Ok()) return AsError(status);
    }
    if (!framework::FeasibleWithNominated(cycle_, cluster_, node_)) return VerdictStatus();
    if (Status status = policy_.Allows(cycle_); !status.Ok()) return status;
    policy_.Sort(cluster_, potential_);
    std::vector<DisruptionBudgets::Violation> violating;
    std::vector<DisruptionUnit> others;
    budgets_.Split(cluster_, UnitsOf(cluster_, potential_), &violating, &others);
    candidate->node = node_;
    for (const auto& [unit, pods] : violating) {
      bool fits = true;
      Status status = Reprieve(unit.pods.front(), candidate, &fits);
      if (!status.Ok()) return AsError(status);
      candidate->pdb_violations += fits ? 0 : 1;
    }
    for (const DisruptionUnit& unit : others) {
      bool fits = true;
      Status status = Reprieve(unit.pods.front(), candidate, &fits);
      if (!status.Ok()) return AsError(status);
    }
    if (!violating.empty() && !others.empty()) SortByImportance(cluster_, candidate->victims);
    if (!candidate->victims.empty()) return {};
    return Status::Error(
        fmt::format("expected at least one victim pod on node \"{}\"", cluster_.NodeName(node_)));
  }

  Status Remove(PodId id) {
    removed_.push_back(id);
    cluster_.Unplace(id);
    return cycle_.RemovePod(cluster_.GetPod(id), node_);
  }

  // Puts `id` back, and off again if it must go. `fits`: the filters pass while it is there.
  Status Reprieve(PodId id, Candidate* candidate, bool* fits) {
    cluster_.Place(id, node_, /*assumed=*/false);
    removed_.erase(std::find(removed_.begin(), removed_.end(), id));
    Status status = cycle_.AddPod(cluster_.GetPod(id), node_);
    if (!status.Ok()) return status;
    *fits = framework::FeasibleWithNominated(cycle_, cluster_, node_);
    if (!*fits) {
      status = Remove(id);
      if (!status.Ok()) return status;
      candidate->victims.push_back(id);
    }
    if (!policy_.MustGo(cycle_)) return {};
    if (!*fits) {
      // The original takes it off the node a second time.
      return Status::Error(fmt::format("no corresponding pod {} in pods of node {}",
                                       cluster_.GetPod(id).name, cluster_.NodeName(node_)));
    }
    candidate->victims.push_back(id);
    return Remove(id);
  }

  static Status AsError(const Status& status) { return Status::Error(status.Message()); }

  Status VerdictStatus() const {
    const framework::Verdict verdict = cycle_.verdicts()[node_];
    return {verdict.code, cycle_.Reasons(verdict)};
  }

  Cycle& cycle_;
  Cluster& cluster_;
  const DisruptionBudgets& budgets_;
  VictimPolicy& policy_;
  const NodeIndex node_;
  std::vector<PodId> potential_;
  std::vector<PodId> removed_;
};

// Why nodes are no candidates.
class Reasons {
 public:
  void Add(const Status& status) {
    ++nodes_;
    for (const std::string& reason : status.reasons()) ++counts_[reason];
    if (status.code() != Code::kError) return;
    std::string message = status.Message();
    if (std::find(errors_.begin(), errors_.end(), message) == errors_.end()) {
      errors_.push_back(std::move(message));
    }
  }

  // Empty when there was none.
  std::string Errors() const {
    if (errors_.size() <= 1) return errors_.empty() ? std::string() : errors_.front();
    return fmt::format("[{}]", fmt::join(errors_, ", "));
  }

  // "0/N nodes are available: …"
  std::string Message(size_t all_nodes) const {
    std::vector<std::string> parts;
    auto counts = counts_;
    if (nodes_ < all_nodes) {
      counts["Preemption is not helpful for scheduling"] += all_nodes - nodes_;
    }
    for (const auto& [reason, count] : counts) parts.push_back(fmt::format("{} {}", count, reason));
    std::sort(parts.begin(), parts.end());
    return fmt::format("0/{} nodes are available: {}.", all_nodes, fmt::join(parts, ", "));
  }

 private:
  size_t nodes_ = 0;
  std::map<std::string, size_t> counts_;
  std::vector<std::string> errors_;
};

}  // namespace

void SortByImportance(const Cluster& cluster, std::vector<PodId>& pods) {
  std::vector<DisruptionUnit> units = UnitsOf(cluster, pods);
  SortByImportance(units, UnitRules());
  for (size_t i = 0; i < pods.size(); ++i) pods[i] = units[i].pods.front();
}

void VictimPolicy::Sort(const Cluster& cluster, std::vector<PodId>& pods) const {
  SortByImportance(cluster, pods);
}

std::vector<NodeIndex> Evaluator::PotentialNodes(const Cycle& cycle, const Cluster& cluster,
                                                 const framework::Diagnosis& diagnosis) {
  std::vector<NodeIndex> nodes;
  for (const NodeIndex n : cluster.NodeOrder()) {
    if (CodeOf(cycle, diagnosis, n) == Code::kUnschedulable) nodes.push_back(n);
  }
  return nodes;
}

Status Evaluator::Find(Cycle& cycle, Cluster& cluster, const framework::Diagnosis& diagnosis,
                       const std::vector<NodeIndex>& nodes, Range range, VictimPolicy& policy,
                       std::vector<Candidate>* candidates, framework::PostFilterResult* result) {
  Reasons reasons;
  budgets_.Refresh(cluster);
  bool harmless = false;  // some candidate breaks no budget
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (harmless && candidates->size() >= range.wanted) break;
    const NodeIndex node = nodes[(range.offset + i) % nodes.size()];
    Candidate candidate;
    const Status status = Trial(cycle, cluster, budgets_, policy, node).Run(&candidate);
    if (status.Ok()) {
      harmless = harmless || candidate.pdb_violations == 0;
      candidates->push_back(std::move(candidate));
    } else {
      reasons.Add(status);
    }
  }
  if (!candidates->empty()) return {};
  if (std::string errors = reasons.Errors(); !errors.empty()) return Status::Error(errors);
  result->nomination = framework::PostFilterResult::Nomination::kClear;
  return Status::Unschedulable(reasons.Message(diagnosis.num_all_nodes));
}

Code CodeOfNominated(const Cycle& cycle, const Cluster& cluster,
                     const framework::Diagnosis& diagnosis) {
  const NodeIndex n = cluster.FindNode(cycle.context().pod.nominated_node_name);
  return n == cluster::kNoNode ? diagnosis.absent.code() : CodeOf(cycle, diagnosis, n);
}

Status NoVictims(const Cycle& cycle, const Cluster& cluster, NodeIndex node) {
  return Status::Unresolvable(fmt::format("No victims found on node {} for preemptor pod {}",
                                          cluster.NodeName(node), cycle.context().pod.name));
}

Status Pick(const Cluster& cluster, const std::vector<Candidate>& candidates,
            size_t (*draw)(void*, size_t), void* context, framework::PostFilterResult* result) {
  if (candidates.empty()) return Status::Unschedulable("no candidate node for preemption");
  const std::vector<size_t> best = LeastHarmful(cluster, candidates);
  const Candidate& chosen = candidates[best[draw(context, best.size())]];
  result->nomination = framework::PostFilterResult::Nomination::kSet;
  result->nominated_node = cluster.NodeName(chosen.node);
  result->victims = chosen.victims;
  return {};
}

}  // namespace berth::plugins::default_preemption
