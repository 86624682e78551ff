// Plan: the answer to "what happens if we drain, lose, add or give up these nodes?", as data for
// text, JSON and scripts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "plan/budgets.h"
#include "plan/inventory.h"

namespace berth::plan {

// One pod that a plan concerns, in the order in which things happen.
struct Step {
  std::string namespace_;
  std::string name;
  std::string workload;  // "Deployment shop/web"; empty: none
  // Moves: a replacement lands on `to`. Homeless: no node fits it. Blocked: it may not be evicted.
  // Lost: nothing replaces it. Starts: it was pending and lands on `to`.
  std::string outcome;
  std::string from;
  std::string to;
  int64_t equal_nodes = 0;         // nodes that would do as well as `to`, and `to`
  std::vector<std::string> equal;  // their names, where they were asked for
  std::string preempted_by;        // "namespace/name" of the pod that it had to make way for
  std::string message;             // why it is homeless or blocked

  static const api::TypeInfo& Type();
};

struct NodeStep {
  std::string name;
  std::string change;  // Freed, Kept (pods remain on it), Lost, Added
  int64_t pods = 0;    // that remain and matter: blocked, lost or without a place elsewhere

  static const api::TypeInfo& Type();
};

struct BudgetStep {
  std::string namespace_;
  std::string name;
  int64_t refused = 0;  // evictions
  int64_t healthy = 0;
  int64_t desired = 0;

  static const api::TypeInfo& Type();
};

struct Plan {
  std::string question;  // "drain", "outage", "shrink", "consolidate", "restore-spread", …
  int64_t nodes_before = 0;
  int64_t nodes_after = 0;
  int64_t moves = 0;
  int64_t starts = 0;  // pending pods that get a node
  int64_t homeless = 0;
  int64_t blocked = 0;
  int64_t lost = 0;
  int64_t stays = 0;          // of DaemonSets and static pods: go with their nodes
  int64_t preempted = 0;      // pods that had to make way, among the others
  int64_t excess_before = 0;  // restore-spread: pods beyond what spread constraints allow
  int64_t excess_after = 0;
  std::optional<double> hourly_before;  // what the nodes cost, if there are prices
  std::optional<double> hourly_after;
  std::vector<Step> pods;
  std::vector<NodeStep> nodes;
  std::vector<BudgetStep> budgets;       // that refused an eviction
  std::vector<std::string> assumptions;  // what the input does not say and the plan supposes
  std::vector<std::string> warnings;
  std::vector<std::string> alternatives;  // fit: what nodes of each type would take

  // Every pod that is evicted lands, and none is in the way.
  bool Works() const { return homeless == 0 && blocked == 0 && lost == 0; }

  static const api::TypeInfo& Type();
};

// A step about `pod`, without outcome.
Step StepOf(const Inventory& inventory, const cluster::Pod& pod);
// Appends the step and counts it.
void AddStep(Plan& plan, Step step);
// What every plan on this input supposes.
void NoteAssumptions(const Inventory& inventory, Plan* plan);
void NoteBudgets(const Budgets& budgets, Plan* plan);

}  // namespace berth::plan
