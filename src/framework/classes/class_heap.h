// ClassHeap: the choice among the best nodes of a class as kube-scheduler makes it from 1.35 on
// (framework/runtime/heap_choice.h), without a list of feasible nodes.
//
// Which nodes fit is kept with the class by position in the node order. Where the filters of
// topology domains left out some, their rows are taken off a copy.
#pragma once

#include <cstddef>
#include <vector>

#include "cluster/cluster.h"
#include "framework/classes/class_answer.h"
#include "framework/runtime/node_positions.h"
#include "framework/runtime/ranked_set.h"

namespace berth::framework {

class ClassHeap {
 public:
  // `start`: where a search of the candidates would begin. REQUIRES: answer.best_count > 0.
  cluster::NodeIndex Choose(const ClassAnswer& answer, const cluster::Cluster& cluster,
                            size_t start);

 private:
  cluster::NodeIndex ChooseWithin(const ClassAnswer& answer, size_t start);
  const RankedSet& Feasible(const ClassAnswer& answer);
  void CollectRefused(const ClassAnswer& answer);

  NodePositions positions_;
  // Scratch.
  RankedSet fits_;
  std::vector<const PodClass::Cell*> refused_;  // cells that did not pass the filters of domains
  std::vector<cluster::NodeIndex> candidates_;
};

}  // namespace berth::framework
