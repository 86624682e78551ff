#include "explain/cluster_copy.h"

#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace berth::explain {
namespace {

ClusterCopy::Pod CopyPod(const cluster::Pod& pod, uint32_t shape) {
  return {.shape = shape,
          .name = pod.name,
          .uid = pod.uid,
          .node_name = pod.node_name,
          .nominated_node_name = pod.nominated_node_name,
          .creation_timestamp = pod.creation_timestamp,
          .start_time = pod.start_time,
          .terminating = pod.terminating,
          .preempted = pod.preempted,
          .scheduled_at = pod.scheduled_at,
          .claims = pod.resource_claim_statuses};
}

api::Pod Assemble(const api::Pod& shape, const ClusterCopy::Pod& pod) {
  api::Pod object = shape;
  object.metadata.name = pod.name;
  object.metadata.uid = pod.uid;
  object.metadata.creation_timestamp = pod.creation_timestamp;
  object.metadata.deletion_timestamp.reset();
  if (pod.terminating) object.metadata.deletion_timestamp = pod.creation_timestamp;
  object.spec.node_name = pod.node_name;
  object.status.nominated_node_name = pod.nominated_node_name;
  object.status.start_time.reset();
  if (!pod.start_time.IsZero()) object.status.start_time = pod.start_time;
  object.status.resource_claim_statuses = pod.claims;
  if (pod.scheduled_at) {
    api::PodCondition condition;
    condition.type = "PodScheduled";
    condition.status = "True";
    condition.last_transition_time = *pod.scheduled_at;
    object.status.conditions.push_back(std::move(condition));
  }
  if (pod.preempted) {
    api::PodCondition condition;
    condition.type = "DisruptionTarget";
    condition.status = "True";
    condition.reason = "PreemptionByScheduler";
    object.status.conditions.push_back(std::move(condition));
  }
  return object;
}

}  // namespace

ClusterCopy CopyCluster(const scheduler::Source& source) {
  const cluster::Cluster& cluster = *source.cluster;
  ClusterCopy copy;
  copy.objects = cluster.Objects();
  cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
    const auto it = source.nodes->find(cluster.NodeName(n));
    if (it != source.nodes->end()) copy.nodes.push_back(it->second);
    if (const auto* metrics = cluster.Metrics(n)) {
      copy.metrics.emplace_back(cluster.NodeName(n), *metrics);
    }
  });
  boost::unordered_flat_map<const cluster::PodShape*, uint32_t> shapes;
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    const auto [it, inserted] =
        shapes.try_emplace(pod.shape, static_cast<uint32_t>(copy.shapes.size()));
    if (inserted) copy.shapes.push_back(pod.shape->source);
    copy.pods.push_back(CopyPod(pod, it->second));
  }
  return copy;
}

api::Pod ToObject(const ClusterCopy& copy, const ClusterCopy::Pod& pod) {
  return Assemble(copy.shapes[pod.shape], pod);
}

api::Pod ToObject(const cluster::Pod& pod) { return Assemble(pod.shape->source, CopyPod(pod, 0)); }

void LoadCopy(const ClusterCopy& copy, cluster::Cluster* cluster) {
  cluster->MutableObjects() = copy.objects;
  for (const auto& node : copy.nodes) cluster->SetNode(*node);
  for (const auto& [node, metrics] : copy.metrics) cluster->SetMetrics(node, metrics);
  for (const ClusterCopy::Pod& pod : copy.pods) {
    const cluster::PodId id = cluster->AddPod(ToObject(copy, pod));
    if (pod.node_name.empty() && !pod.nominated_node_name.empty()) {
      cluster->MutableNominations().Set(id, cluster->Strings().Intern(pod.nominated_node_name));
    }
  }
}

}  // namespace berth::explain
