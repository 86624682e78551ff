#include "plan/plan.h"

#include <utility>

#include <fmt/format.h>

namespace berth::plan {

using api::Describe;
using api::TypeInfo;

const TypeInfo& Step::Type() {
  static const TypeInfo type = Describe<Step>("Step")
                                   .Always(1, "namespace", &Step::namespace_)
                                   .Always(2, "name", &Step::name)
                                   .Field(3, "workload", &Step::workload)
                                   .Always(4, "outcome", &Step::outcome)
                                   .Field(5, "from", &Step::from)
                                   .Field(6, "to", &Step::to)
                                   .Field(7, "equalNodes", &Step::equal_nodes)
                                   .Field(8, "preemptedBy", &Step::preempted_by)
                                   .Field(9, "message", &Step::message)
                                   .Field(10, "equal", &Step::equal)
                                   .Build();
  return type;
}

const TypeInfo& NodeStep::Type() {
  static const TypeInfo type = Describe<NodeStep>("NodeStep")
                                   .Always(1, "name", &NodeStep::name)
                                   .Always(2, "change", &NodeStep::change)
                                   .Field(3, "pods", &NodeStep::pods)
                                   .Build();
  return type;
}

const TypeInfo& BudgetStep::Type() {
  static const TypeInfo type = Describe<BudgetStep>("BudgetStep")
                                   .Always(1, "namespace", &BudgetStep::namespace_)
                                   .Always(2, "name", &BudgetStep::name)
                                   .Always(3, "refused", &BudgetStep::refused)
                                   .Always(4, "healthy", &BudgetStep::healthy)
                                   .Always(5, "desired", &BudgetStep::desired)
                                   .Build();
  return type;
}

const TypeInfo& Plan::Type() {
  static const TypeInfo type = Describe<Plan>("Plan")
                                   .Always(1, "question", &Plan::question)
                                   .Always(2, "nodesBefore", &Plan::nodes_before)
                                   .Always(3, "nodesAfter", &Plan::nodes_after)
                                   .Always(4, "moves", &Plan::moves)
                                   .Always(5, "starts", &Plan::starts)
                                   .Always(6, "homeless", &Plan::homeless)
                                   .Always(7, "blocked", &Plan::blocked)
                                   .Always(8, "lost", &Plan::lost)
                                   .Always(9, "stays", &Plan::stays)
                                   .Always(10, "preempted", &Plan::preempted)
                                   .Always(11, "pods", &Plan::pods)
                                   .Always(12, "nodes", &Plan::nodes)
                                   .Field(13, "budgets", &Plan::budgets)
                                   .Field(14, "assumptions", &Plan::assumptions)
                                   .Field(15, "warnings", &Plan::warnings)
                                   .Field(16, "alternatives", &Plan::alternatives)
                                   .Field(17, "excessBefore", &Plan::excess_before)
                                   .Field(18, "excessAfter", &Plan::excess_after)
                                   .Field(19, "hourlyBefore", &Plan::hourly_before)
                                   .Field(20, "hourlyAfter", &Plan::hourly_after)
                                   .Build();
  return type;
}

Step StepOf(const Inventory& inventory, const cluster::Pod& pod) {
  Step step;
  step.namespace_ = pod.namespace_();
  step.name = pod.name;
  step.workload = inventory.Workload(pod);
  return step;
}

void AddStep(Plan& plan, Step step) {
  if (step.outcome == "Moves") ++plan.moves;
  if (step.outcome == "Starts") ++plan.starts;
  if (step.outcome == "Homeless") ++plan.homeless;
  if (step.outcome == "Blocked") ++plan.blocked;
  if (step.outcome == "Lost") ++plan.lost;
  if (!step.preempted_by.empty()) ++plan.preempted;
  plan.pods.push_back(std::move(step));
}

void NoteAssumptions(const Inventory& inventory, Plan* plan) {
  if (inventory.OwnersMissing() > 0) {
    plan->assumptions.push_back(fmt::format(
        "{} pods name a controller that is not in the input; it is assumed to exist and to replace "
        "them",
        inventory.OwnersMissing()));
  }
}

void NoteBudgets(const Budgets& budgets, Plan* plan) {
  for (const Budget& budget : budgets.All()) {
    if (budget.refused == 0) continue;
    plan->budgets.push_back({.namespace_ = budget.namespace_,
                             .name = budget.name,
                             .refused = budget.refused,
                             .healthy = budget.healthy,
                             .desired = budget.desired});
  }
}

}  // namespace berth::plan
