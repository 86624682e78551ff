// Filtering with nominated pods: a node is feasible only if the pod fits both with the pods of
// equal or higher priority that are nominated to the node, and without them (they may go elsewhere,
// and the pod may depend on them).
#pragma once

#include <cstddef>
#include <vector>

#include "framework/runtime/cycle.h"

namespace berth::framework {

// Rejects from `nodes`, within the words [first_word, end_word), every node that is not feasible
// for the cycle's pod. Nominated pods are placed on their nodes temporarily; `cluster` is unchanged
// when it returns.
void FilterWithNominated(Cycle& cycle, cluster::Cluster& cluster, NodeSet& nodes, size_t first_word,
                         size_t end_word);
inline void FilterWithNominated(Cycle& cycle, cluster::Cluster& cluster, NodeSet& nodes) {
  FilterWithNominated(cycle, cluster, nodes, 0, nodes.Words().size());
}

// Does the pod fit on `n` with those of `nominated` that take precedence? True also when there are
// none. False: the cycle has the verdict.
bool FitsBesideNominated(Cycle& cycle, cluster::Cluster& cluster, NodeIndex n,
                         const std::vector<cluster::PodId>& nominated);

// The same as FilterWithNominated for one node. False: the cycle has the verdict.
bool FeasibleWithNominated(Cycle& cycle, cluster::Cluster& cluster, NodeIndex n);

}  // namespace berth::framework
