#include "plan/drain.h"

#include <algorithm>
#include <deque>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "plan/disruption.h"
#include "plan/gangs.h"

namespace berth::plan {
namespace {

using cluster::NodeIndex;
using cluster::PodId;

// A plan in the making.
class Run {
 public:
  Run(Inventory& inventory, Mover& mover, std::string question)
      : inventory_(inventory),
        cluster_(inventory.cluster()),
        mover_(mover),
        budgets_(cluster_),
        gangs_(inventory) {
    plan_.question = std::move(question);
    mover_.Restart();
    plan_.nodes_before = static_cast<int64_t>(cluster_.NodeCount());
  }

  void Drain(NodeIndex node) {
    int64_t left = 0;
    for (const PodId pod : EvictionOrder(cluster_, node)) left += Leave(pod) ? 0 : 1;
    plan_.nodes.push_back(
        {.name = cluster_.NodeName(node), .change = left == 0 ? "Freed" : "Kept", .pods = left});
  }

  // The node is gone: its pods are pending, those without a controller for good.
  void Lose(NodeIndex node, std::vector<PodId>* pending) {
    int64_t without = 0;
    for (const PodId id : EvictionOrder(cluster_, node)) {
      const PodFacts& facts = inventory_.Facts(cluster_.GetPod(id));
      if (facts.fate == Fate::kStays) {
        ++plan_.stays;
        continue;
      }
      if (facts.fate == Fate::kLost) {
        ++without;
        Lost(id);
        continue;
      }
      pending->push_back(id);
    }
    plan_.nodes.push_back({.name = cluster_.NodeName(node), .change = "Lost", .pods = without});
  }

  // Schedules what was evicted, and then what had to make way for it.
  void Settle(PodId pod, std::string from, std::string preempted_by = "") {
    std::deque<Waiting> waiting{{pod, std::move(from), std::move(preempted_by)}};
    while (!waiting.empty()) {
      const Waiting next = std::move(waiting.front());
      waiting.pop_front();
      SettleOne(next, &waiting);
    }
  }

  // Takes back what was said of gangs that are left with too few pods.
  void WithdrawGangs() { gangs_.Withdraw(mover_, pods_, &plan_); }

  Plan Finish(size_t nodes_gone) {
    plan_.nodes_after = plan_.nodes_before - static_cast<int64_t>(nodes_gone);
    NoteAssumptions(inventory_, &plan_);
    NoteBudgets(budgets_, &plan_);
    if (local_data_ > 0) {
      plan_.warnings.push_back(
          fmt::format("{} of the pods have emptyDir volumes, whose content is lost", local_data_));
    }
    return std::move(plan_);
  }

  size_t Freed() const {
    return static_cast<size_t>(
        std::count_if(plan_.nodes.begin(), plan_.nodes.end(),
                      [](const NodeStep& node) { return node.change == "Freed"; }));
  }

  Plan& plan() { return plan_; }

 private:
  struct Waiting {
    PodId pod;
    std::string from;
    std::string preempted_by;
  };

  // True: the pod has left, or goes with its node.
  bool Leave(PodId id) {
    const cluster::Pod& pod = cluster_.GetPod(id);
    const PodFacts& facts = inventory_.Facts(pod);
    if (facts.fate == Fate::kStays) {
      ++plan_.stays;
      return true;
    }
    std::string why;
    if (!facts.protected_by.empty()) {
      why = fmt::format("annotation {} forbids its eviction", facts.protected_by);
    } else if (facts.fate == Fate::kReplaced && gangs_.MayLeave(pod, &why)) {
      budgets_.Take(pod, &why);
    }
    if (!why.empty()) {
      Blocked(pod, std::move(why));
      return false;
    }
    if (facts.fate == Fate::kLost) {
      Lost(id);
      return false;
    }
    const std::string from = pod.node_name;
    local_data_ += facts.local_data ? 1 : 0;
    mover_.Evict(id);
    Settle(id, from);
    return true;
  }

  void SettleOne(const Waiting& next, std::deque<Waiting>* waiting) {
    const Landing landing = mover_.Place(next.pod, /*may_preempt=*/true, /*explain=*/true);
    const cluster::Pod& pod = cluster_.GetPod(next.pod);
    for (const PodId victim : landing.victims) MakeWay(victim, landing.node, pod, waiting);
    Step step = StepOf(inventory_, pod);
    step.from = next.from;
    step.preempted_by = next.preempted_by;
    step.equal_nodes = static_cast<int64_t>(landing.equal_nodes);
    step.equal = landing.equal;
    if (landing.node == cluster::kNoNode) {
      step.outcome = "Homeless";
      step.message = landing.message;
    } else {
      step.outcome = next.from.empty() ? "Starts" : "Moves";
      step.to = cluster_.NodeName(landing.node);
      if (next.preempted_by.empty() && !next.from.empty()) budgets_.Return(pod);
    }
    Add(pod, std::move(step));
  }

  void MakeWay(PodId victim, NodeIndex node, const cluster::Pod& by, std::deque<Waiting>* waiting) {
    const PodFacts& facts = inventory_.Facts(cluster_.GetPod(victim));
    const std::string from = node == cluster::kNoNode ? "" : cluster_.NodeName(node);
    if (facts.fate == Fate::kReplaced) {
      waiting->push_back({victim, from, by.Key()});
      return;
    }
    Step step = StepOf(inventory_, cluster_.GetPod(victim));
    step.outcome = "Lost";
    step.from = from;
    step.preempted_by = by.Key();
    step.message = "preempted, and no controller replaces it";
    Add(cluster_.GetPod(victim), std::move(step));
  }

  void Blocked(const cluster::Pod& pod, std::string why) {
    Step step = StepOf(inventory_, pod);
    step.outcome = "Blocked";
    step.from = pod.node_name;
    step.message = std::move(why);
    Add(pod, std::move(step));
  }

  void Lost(PodId id) {
    const cluster::Pod& pod = cluster_.GetPod(id);
    Step step = StepOf(inventory_, pod);
    step.outcome = "Lost";
    step.from = pod.node_name;
    step.message = "no controller replaces it";
    Add(pod, std::move(step));
  }

  void Add(const cluster::Pod& pod, Step step) {
    pods_.push_back(pod.id);
    AddStep(plan_, std::move(step));
  }

  Inventory& inventory_;
  cluster::Cluster& cluster_;
  Mover& mover_;
  Budgets budgets_;
  const Gangs gangs_;
  std::vector<PodId> pods_;  // of the steps of the plan
  Plan plan_;
  int64_t local_data_ = 0;
};

}  // namespace

std::vector<PodId> EvictionOrder(const cluster::Cluster& cluster, NodeIndex node) {
  std::vector<PodId> pods = cluster.Record(node).pods;
  std::erase_if(pods, [&](PodId id) { return cluster.GetPod(id).terminating; });
  std::sort(pods.begin(), pods.end(), [&](PodId a, PodId b) {
    const cluster::Pod& x = cluster.GetPod(a);
    const cluster::Pod& y = cluster.GetPod(b);
    return std::tuple(-int64_t{x.shape->priority}, x.namespace_(), x.name) <
           std::tuple(-int64_t{y.shape->priority}, y.namespace_(), y.name);
  });
  return pods;
}

Plan TryDrain(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes) {
  Run run(inventory, mover, "drain");
  for (const std::string& node : nodes) run.Drain(inventory.cluster().FindNode(node));
  return run.Finish(run.Freed());
}

Plan PlanDrain(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes) {
  for (const std::string& node : nodes) inventory.SetCordoned(node, true);
  Plan plan = TryDrain(inventory, mover, nodes);
  mover.Keep();
  return plan;
}

Plan PlanOutage(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes) {
  cluster::Cluster& cluster = inventory.cluster();
  Run run(inventory, mover, "outage");
  std::vector<PodId> pending;
  for (const std::string& node : nodes) run.Lose(cluster.FindNode(node), &pending);
  for (const std::string& node : nodes) inventory.RemoveNode(node);
  std::stable_sort(pending.begin(), pending.end(), [&](PodId a, PodId b) {
    return cluster.GetPod(a).shape->priority > cluster.GetPod(b).shape->priority;
  });
  std::vector<std::string> from;
  for (const PodId pod : pending) {
    from.push_back(cluster.GetPod(pod).node_name);
    mover.Evict(pod);
  }
  for (size_t i = 0; i < pending.size(); ++i) run.Settle(pending[i], std::move(from[i]));
  run.WithdrawGangs();
  mover.Keep();
  return run.Finish(nodes.size());
}

Plan PlanShrink(Inventory& inventory, Mover& mover, const std::vector<std::string>& candidates,
                size_t count) {
  std::vector<std::pair<int64_t, std::string>> order;
  DisruptionCost cost(inventory);
  for (const std::string& name : candidates) {
    order.emplace_back(cost.Of(inventory.cluster().FindNode(name)), name);
  }
  std::sort(order.begin(), order.end());
  order.resize(std::min(count, order.size()));
  std::vector<std::string> nodes;
  for (const auto& [disruption, name] : order) nodes.push_back(name);
  Plan plan = PlanDrain(inventory, mover, nodes);
  plan.question = "shrink";
  return plan;
}

}  // namespace berth::plan
