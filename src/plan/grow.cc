#include "plan/grow.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "plan/drain.h"
#include "plan/gangs.h"

namespace berth::plan {
namespace {

using cluster::PodId;

Plan Begin(const Inventory& inventory, Mover& mover, std::string question) {
  Plan plan;
  plan.question = std::move(question);
  plan.nodes_before = static_cast<int64_t>(inventory.cluster().NodeCount());
  mover.Restart();
  return plan;
}

Plan End(const Inventory& inventory, Mover& mover, Plan plan) {
  mover.Keep();
  plan.nodes_after = static_cast<int64_t>(inventory.cluster().NodeCount());
  return plan;
}

void AddNode(Inventory& inventory, const api::Node& model, Plan* plan) {
  plan->nodes.push_back({.name = inventory.AddNodeLike(model), .change = "Added", .pods = 0});
}

// Pods without a node, also after an earlier plan on the same inventory.
std::vector<PodId> Pending(const Inventory& inventory) {
  std::vector<PodId> pending = inventory.world().Pending();
  std::erase_if(pending,
                [&](PodId id) { return inventory.cluster().GetPod(id).node != cluster::kNoNode; });
  return pending;
}

void Note(const Inventory& inventory, const Landing& landing, PodId id, Plan* plan) {
  Step step = StepOf(inventory, inventory.cluster().GetPod(id));
  step.equal_nodes = static_cast<int64_t>(landing.equal_nodes);
  if (landing.node == cluster::kNoNode) {
    step.outcome = "Homeless";
    step.message = landing.message;
  } else {
    step.outcome = "Starts";
    step.to = inventory.cluster().NodeName(landing.node);
  }
  AddStep(*plan, std::move(step));
}

// Takes over what a part of the plan found.
void Append(Plan part, Plan* plan) {
  for (Step& step : part.pods) AddStep(*plan, std::move(step));
  std::move(part.nodes.begin(), part.nodes.end(), std::back_inserter(plan->nodes));
  std::move(part.budgets.begin(), part.budgets.end(), std::back_inserter(plan->budgets));
  for (std::string& warning : part.warnings) plan->warnings.push_back(std::move(warning));
  plan->stays += part.stays;
}

}  // namespace

Plan PlanGrow(Inventory& inventory, Mover& mover, const api::Node& model, size_t count) {
  Plan plan = Begin(inventory, mover, "grow");
  for (size_t i = 0; i < count; ++i) AddNode(inventory, model, &plan);
  const std::vector<PodId> pending = Pending(inventory);
  for (const PodId pod : pending) {
    Note(inventory, mover.Place(pod, /*may_preempt=*/false, /*explain=*/true), pod, &plan);
  }
  Gangs(inventory).Withdraw(mover, pending, &plan);
  return End(inventory, mover, std::move(plan));
}

Plan PlanFit(Inventory& inventory, Mover& mover, const api::Node& model, size_t limit) {
  const api::Node like = model;  // the inventory's own may move when nodes are added
  Plan plan = Begin(inventory, mover, "fit");
  const std::vector<PodId> pending = Pending(inventory);
  for (const PodId pod : pending) {
    Landing landing = mover.Place(pod, /*may_preempt=*/false, /*explain=*/true);
    if (landing.node == cluster::kNoNode && plan.nodes.size() < limit) {
      AddNode(inventory, like, &plan);
      landing = mover.Place(pod, /*may_preempt=*/false, /*explain=*/true);
      if (landing.node == cluster::kNoNode) {
        inventory.RemoveNode(plan.nodes.back().name);
        plan.nodes.pop_back();
      }
    }
    Note(inventory, landing, pod, &plan);
  }
  Gangs(inventory).Withdraw(mover, pending, &plan);
  return End(inventory, mover, std::move(plan));
}

Plan PlanUpgrade(Inventory& inventory, Mover& mover, const std::vector<std::string>& nodes,
                 size_t surge) {
  Plan plan = Begin(inventory, mover, "upgrade");
  for (size_t at = 0; at < nodes.size(); at += surge) {
    const size_t end = std::min(nodes.size(), at + surge);
    const std::vector<std::string> wave(nodes.begin() + static_cast<std::ptrdiff_t>(at),
                                        nodes.begin() + static_cast<std::ptrdiff_t>(end));
    for (const std::string& node : wave) {
      const api::Node model = *inventory.FindNode(node);
      AddNode(inventory, model, &plan);
    }
    Plan drained = PlanDrain(inventory, mover, wave);
    for (const NodeStep& step : drained.nodes) {
      if (step.change == "Freed") inventory.RemoveNode(step.name);
    }
    Append(std::move(drained), &plan);
  }
  NoteAssumptions(inventory, &plan);
  return End(inventory, mover, std::move(plan));
}

}  // namespace berth::plan
