#include "server/metrics/pod_resources.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/rules/pod_requests.h"
#include "server/metrics/registry.h"

namespace berth::server {
namespace {

std::string_view UnitOf(std::string_view resource) {
  if (resource == "cpu") return "cores";
  if (resource == "memory" || resource == "storage" || resource == "ephemeral-storage") {
    return "bytes";
  }
  if (resource.starts_with("hugepages-")) return "bytes";
  if (resource.starts_with("attachable-volumes-")) return "integer";
  return "";
}

std::vector<ResourceUse> UsesOf(const api::ResourceList& list) {
  std::vector<ResourceUse> uses;
  for (const auto& [name, quantity] : list) {
    if (quantity.IsZero()) continue;
    ResourceUse use;
    AppendLabel(use.labels, "resource", name);
    use.unit = UnitOf(name);
    use.amount = quantity.AsApproxDouble();
    uses.push_back(std::move(use));
  }
  return uses;
}

// Labels of one sample: namespace, node, pod, priority, resource, scheduler, unit.
void AppendUse(std::string& out, std::string_view metric, const PodResourceUse& pod,
               const ResourceUse& use, std::string& labels) {
  const ShapeUse& shape = *pod.shape;
  labels.clear();
  AppendLabel(labels, "namespace", shape.namespace_);
  labels += ',';
  AppendLabel(labels, "node", pod.node);
  labels += ',';
  AppendLabel(labels, "pod", pod.name);
  labels += ',';
  AppendLabel(labels, "priority", shape.priority);
  labels += ',';
  labels += use.labels;
  labels += ',';
  AppendLabel(labels, "scheduler", shape.scheduler_name);
  labels += ',';
  AppendLabel(labels, "unit", use.unit);
  AppendSample(out, metric, "", labels, use.amount);
}

constexpr std::string_view kHelpRest =
    " on the cluster, broken down by pod. This shows the resource usage the scheduler and kubelet "
    "expect per pod for resources along with the unit for the resource if any.";

}  // namespace

ShapeUse UseOf(const api::Pod& pod) {
  ShapeUse shape;
  shape.namespace_ = pod.metadata.namespace_;
  if (pod.spec.priority) shape.priority = std::to_string(*pod.spec.priority);
  shape.scheduler_name = pod.spec.scheduler_name;
  shape.requests = UsesOf(api::PodRequests(pod));
  shape.limits = UsesOf(api::PodLimits(pod));
  return shape;
}

std::shared_ptr<const std::vector<PodResourceUse>> CollectPodResources(
    const cluster::Cluster& cluster, const kube::OtherPods& others) {
  auto pods = std::make_shared<std::vector<PodResourceUse>>();
  boost::unordered_flat_map<const cluster::PodShape*, std::shared_ptr<const ShapeUse>> shapes;
  pods->reserve(cluster.PodCountTotal());
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::Pod& pod = cluster.GetPod(id);
    std::shared_ptr<const ShapeUse>& use = shapes[pod.shape];
    if (!use) {
      ShapeUse made = UseOf(pod.shape->source);
      made.namespace_ = pod.shape->namespace_;
      use = std::make_shared<const ShapeUse>(std::move(made));
    }
    // A pod we have placed has its node only once the API server says so.
    pods->push_back({pod.name, pod.assumed ? std::string() : pod.node_name, use});
  }
  for (const auto& [uid, other] : others.ByUid()) {
    auto use = std::make_shared<ShapeUse>();
    use->namespace_ = other.namespace_;
    if (other.priority) use->priority = std::to_string(*other.priority);
    use->scheduler_name = other.scheduler_name;
    use->requests = UsesOf(other.requests);
    use->limits = UsesOf(other.limits);
    pods->push_back({other.name, "", std::move(use)});
  }
  return pods;
}

std::string WritePodResources(const std::vector<PodResourceUse>& pods) {
  std::vector<const PodResourceUse*> sorted;
  sorted.reserve(pods.size());
  for (const PodResourceUse& pod : pods) sorted.push_back(&pod);
  std::sort(sorted.begin(), sorted.end(), [](const PodResourceUse* a, const PodResourceUse* b) {
    return std::tie(a->shape->namespace_, a->node, a->name) <
           std::tie(b->shape->namespace_, b->node, b->name);
  });
  std::string out;
  std::string labels;
  const auto write = [&](std::string_view metric, std::string_view help,
                         std::vector<ResourceUse> ShapeUse::*uses) {
    const bool any = std::any_of(sorted.begin(), sorted.end(), [&](const PodResourceUse* pod) {
      return !((*pod->shape).*uses).empty();
    });
    if (!any) return;
    AppendHead(out, metric,
               AnnotatedHelp(Stability::kStable, std::string(help) + std::string(kHelpRest)),
               "gauge");
    for (const PodResourceUse* pod : sorted) {
      for (const ResourceUse& use : (*pod->shape).*uses) AppendUse(out, metric, *pod, use, labels);
    }
  };
  write("kube_pod_resource_limit", "Resources limit for workloads", &ShapeUse::limits);
  write("kube_pod_resource_request", "Resources requested by workloads", &ShapeUse::requests);
  return out;
}

}  // namespace berth::server
