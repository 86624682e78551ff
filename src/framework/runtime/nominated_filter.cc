#include "framework/runtime/nominated_filter.h"

#include <vector>

#include "cluster/transaction.h"

namespace berth::framework {
namespace {

using cluster::Cluster;
using cluster::Pod;
using cluster::PodId;

// Does this nominated pod take precedence over the cycle's pod?
bool CountsAsThere(const Pod& nominated, const Pod& pod) {
  return nominated.node == cluster::kNoNode && nominated.id != pod.id &&
         nominated.shape->priority >= pod.shape->priority;
}

}  // namespace

bool FitsBesideNominated(Cycle& cycle, Cluster& cluster, NodeIndex n,
                         const std::vector<PodId>& nominated) {
  const Pod& pod = cycle.context().pod;
  std::vector<PodId> there;
  for (const PodId id : nominated) {
    if (CountsAsThere(cluster.GetPod(id), pod)) there.push_back(id);
  }
  if (there.empty()) return true;
  cluster::Transaction trial(cluster);
  Status status;
  size_t added = 0;
  for (; added < there.size() && status.Ok(); ++added) {
    cluster.Place(there[added], n, /*assumed=*/true);
    status = cycle.AddPod(cluster.GetPod(there[added]), n);
  }
  bool fits = status.Ok() && cycle.FilterOne(n);
  if (!status.Ok()) cycle.RejectWithError(status, n);
  trial.Rollback();
  while (added > 0) {
    const Status undone = cycle.RemovePod(cluster.GetPod(there[--added]), n);
    if (!undone.Ok()) {
      cycle.RejectWithError(undone, n);
      fits = false;
    }
  }
  return fits;
}

bool FeasibleWithNominated(Cycle& cycle, Cluster& cluster, NodeIndex n) {
  const auto& nominations = cluster.Nominated();
  if (!nominations.Empty()) {
    const auto* pods = nominations.On(cluster.Record(n).name);
    if (pods != nullptr && !FitsBesideNominated(cycle, cluster, n, *pods)) return false;
  }
  return cycle.FilterOne(n);
}

void FilterWithNominated(Cycle& cycle, Cluster& cluster, NodeSet& nodes, size_t first_word,
                         size_t end_word) {
  const auto& nominations = cluster.Nominated();
  if (!nominations.Empty()) {
    nominations.ForEachNode([&](cluster::StringId name, const std::vector<PodId>& pods) {
      const NodeIndex n = cluster.FindNode(cluster.Strings().Text(name));
      if (n == cluster::kNoNode || !nodes.Contains(n)) return;
      const size_t word = n / NodeSet::kWordBits;
      if (word < first_word || word >= end_word) return;
      if (!FitsBesideNominated(cycle, cluster, n, pods)) nodes.Erase(n);
    });
  }
  if (first_word == 0 && end_word == nodes.Words().size()) {
    cycle.RunFilter(nodes);
  } else {
    cycle.RunFilter(nodes, first_word, end_word);
  }
}

}  // namespace berth::framework
