#include "explain/workload.h"

#include <algorithm>
#include <utility>

#include "explain/cluster_copy.h"

namespace berth::explain {
namespace {

const api::OwnerReference* OwnerOf(const cluster::Pod& pod) {
  const auto& owners = pod.shape->source.metadata.owner_references;
  const auto it = std::find_if(owners.begin(), owners.end(),
                               [](const auto& owner) { return owner.controller.value_or(false); });
  if (it != owners.end()) return &*it;
  return owners.empty() ? nullptr : &owners.front();
}

bool SameOwner(const cluster::Pod& a, const cluster::Pod& b) {
  const api::OwnerReference* mine = OwnerOf(a);
  const api::OwnerReference* theirs = OwnerOf(b);
  return mine != nullptr && theirs != nullptr && a.namespace_() == b.namespace_() &&
         mine->kind == theirs->kind && mine->name == theirs->name;
}

// A Deployment names its ReplicaSets NAME-HASH and labels their pods with the hash.
void NameController(const cluster::Pod& pod, Workload* workload) {
  const api::OwnerReference* owner = OwnerOf(pod);
  if (owner == nullptr) return;
  workload->kind = owner->kind;
  workload->name = owner->name;
  if (owner->kind != "ReplicaSet") return;
  const std::string* hash = api::FindValue(pod.shape->source.metadata.labels, "pod-template-hash");
  if (hash == nullptr || !owner->name.ends_with("-" + *hash)) return;
  workload->kind = "Deployment";
  workload->name.resize(owner->name.size() - hash->size() - 1);
}

}  // namespace

std::string ControllerOf(const cluster::Pod& pod) {
  Workload workload;
  NameController(pod, &workload);
  return workload.kind.empty() ? "" : workload.kind + "/" + workload.name;
}

Workload WorkloadOf(const cluster::Cluster& cluster, cluster::PodId id) {
  const cluster::Pod& pod = cluster.GetPod(id);
  Workload workload;
  NameController(pod, &workload);
  workload.members.push_back({id, ToObject(pod), pod.node != cluster::kNoNode});
  std::vector<cluster::PodId> placed;
  for (cluster::PodId other = 0; other < cluster.PodIdLimit(); ++other) {
    if (other == id || !cluster.PodExists(other)) continue;
    const cluster::Pod& candidate = cluster.GetPod(other);
    if (candidate.shape->kind != pod.shape->kind || candidate.terminating) continue;
    if (!SameOwner(candidate, pod)) continue;
    if (candidate.node != cluster::kNoNode) {
      placed.push_back(other);
    } else if (candidate.node_name.empty() && workload.members.size() < kMaxMembers) {
      workload.members.push_back({other, ToObject(candidate), false});
    }
  }
  workload.pending = workload.members.size();
  for (const cluster::PodId other : placed) {
    if (workload.members.size() == kMaxMembers) break;
    workload.members.push_back({other, ToObject(cluster.GetPod(other)), true});
  }
  for (Workload::Member& member : workload.members) {
    member.pod.status.nominated_node_name.clear();
  }
  return workload;
}

}  // namespace berth::explain
