// Question: what is asked of a plan, by the command line and by the explain API alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "base/error.h"
#include "plan/model.h"
#include "plan/plan.h"
#include "plan/prices.h"

namespace berth::plan {

// More nodes than any cluster has.
inline constexpr int64_t kMostNodes = 100'000;

struct Question {
  // drain, outage, upgrade, shrink, grow, fit, consolidate or restore-spread
  std::string question;
  // Which nodes: one of these. None: all of them for consolidate, an error otherwise.
  std::vector<std::string> nodes;
  std::string selector;
  std::string pool;
  std::string zone;
  std::string topology;  // "KEY=VALUE"

  std::string like;                       // grow, fit: the node that new ones are like
  int64_t count = 0;                      // shrink, grow
  std::string surge = "10%";              // upgrade: number or percentage of nodes
  bool soft = false;                      // restore-spread: constraints with ScheduleAnyway too
  std::optional<int64_t> max_disruption;  // evictions; absent: any number
  bool lose_local_data = false;           // consolidate, restore-spread
  double eviction_cost = 0;               // consolidate
  int64_t seed = 0;

  static const api::TypeInfo& Type();
};

// Whether there is such a question.
bool IsQuestion(const std::string& word);

// The nodes that the question is about, by name.
Result<std::vector<std::string>> ChosenNodes(const Question& question, const Inventory& inventory);

// One node of every type: by instance type where nodes have that label, otherwise by what they
// offer and repel.
std::vector<std::string> NodeTypes(const Inventory& inventory);

// Makes the plan; the model is then as the plan leaves it. `go_on`: as in the options of searches.
// Errors say what in the question is wrong.
Result<Plan> Answer(Model& model, const Question& question, const PriceList& prices,
                    const std::function<bool(size_t trials)>& go_on);

}  // namespace berth::plan
