// DisruptionCost: how much it disturbs to evict the pods of a node.
//
//   each pod that is evicted            10
//   its pod-deletion-cost               as it is, from -9 to 1000
//   a priority above 0                  10
//   its age, against the newest pod      1 per day, at most 5
//   a PodDisruptionBudget that covers it  5
//
// Pods that may not be evicted or that nothing replaces weigh more than any number of others.
#pragma once

#include <cstdint>

#include "plan/budgets.h"
#include "plan/gangs.h"
#include "plan/inventory.h"

namespace berth::plan {

class DisruptionCost {
 public:
  // `lose_local_data`: local storage does not keep a pod from being evicted.
  explicit DisruptionCost(const Inventory& inventory, bool lose_local_data = false);

  int64_t Of(cluster::NodeIndex node);
  // Whether nothing on the node, and no annotation of it, forbids by itself that it goes.
  bool MayGo(cluster::NodeIndex node);

 private:
  int64_t OfPod(const cluster::Pod& pod);

  const Inventory& inventory_;
  const bool lose_local_data_;
  Budgets budgets_;
  const Gangs gangs_;
  int64_t newest_ns_ = 0;  // creation of the newest pod, Unix
};

}  // namespace berth::plan
