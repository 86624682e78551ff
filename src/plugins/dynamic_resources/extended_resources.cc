#include "plugins/dynamic_resources/extended_resources.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "api/rules/resource_name.h"
#include "plugins/common/extended_resource.h"

namespace berth::plugins::dynamic_resources {
namespace {

// Init containers first.
std::vector<const api::Container*> ContainersOf(const api::PodSpec& spec) {
  std::vector<const api::Container*> containers;
  for (const auto* list : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *list) containers.push_back(&container);
  }
  return containers;
}

// Named after the places of the container, and of the resource among all it asks for by name.
std::string RequestName(size_t container, const api::Container& spec, std::string_view resource) {
  size_t before = 0;
  for (const auto& [name, amount] : spec.resources.requests) before += name < resource;
  return "container-" + std::to_string(container) + "-request-" + std::to_string(before);
}

using Mapping = api::ContainerExtendedResourceRequest;

// The requests for one resource, and who uses them.
struct Requests {
  std::vector<api::DeviceRequest> list;
  std::vector<Mapping> mappings;
};

// The number of devices a container requests; 0: none, or no number.
int64_t CountOf(const api::Container& container, const std::string& resource) {
  const auto& requests = container.resources.requests;
  const auto it = requests.find(resource);
  int64_t count = 0;
  return it != requests.end() && it->second.AsInt64(&count) ? count : 0;
}

api::DeviceRequest MakeRequest(std::string name, const std::string& device_class, int64_t count) {
  api::DeviceRequest request;
  request.name = std::move(name);
  request.exactly.emplace();
  request.exactly->device_class_name = device_class;
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = count;
  return request;
}

bool EndsBeforeOthers(const api::PodSpec& spec, size_t container) {
  if (container >= spec.init_containers.size()) return false;
  const auto& policy = spec.init_containers[container].restart_policy;
  return !policy || *policy != "Always";
}

// Containers that run till the end have a request each.
std::vector<std::optional<api::DeviceRequest>> LastingRequests(const api::PodSpec& spec,
                                                               const std::string& resource,
                                                               const std::string& device_class,
                                                               bool all_last,
                                                               std::vector<Mapping>* mappings) {
  const std::vector<const api::Container*> containers = ContainersOf(spec);
  std::vector<std::optional<api::DeviceRequest>> requests(containers.size());
  for (size_t i = 0; i < containers.size(); ++i) {
    const int64_t count = CountOf(*containers[i], resource);
    if (count == 0 || (!all_last && EndsBeforeOthers(spec, i))) continue;
    requests[i] = MakeRequest(RequestName(i, *containers[i], resource), device_class, count);
    mappings->push_back({containers[i]->name, resource, requests[i]->name});
  }
  return requests;
}

// What an init container that ends needs beyond the requests of later containers.
std::optional<api::DeviceRequest> BriefRequest(
    size_t i, const api::Container& container, const std::string& resource,
    const std::string& device_class, const std::vector<std::optional<api::DeviceRequest>>& lasting,
    std::vector<Mapping>* mappings) {
  const int64_t count = CountOf(container, resource);
  if (count == 0) return std::nullopt;
  int64_t reused = 0;
  for (size_t later = i; later < lasting.size(); ++later) {
    if (!lasting[later]) continue;
    reused += lasting[later]->exactly->count;
    mappings->push_back({container.name, resource, lasting[later]->name});
    if (reused >= count) return std::nullopt;
  }
  std::string name = RequestName(i, container, resource);
  mappings->push_back({container.name, resource, name});
  return MakeRequest(std::move(name), device_class, count - reused);
}

Requests RequestsFor(const config::DraFeatures& features, const api::PodSpec& spec,
                     const std::string& resource, const std::string& device_class) {
  Requests requests;
  const auto lasting = LastingRequests(spec, resource, device_class, !features.resources_by_class,
                                       &requests.mappings);
  std::optional<api::DeviceRequest> largest;
  std::vector<std::string> brief;  // the names of requests that the largest one stands for
  std::vector<Mapping> mappings;
  const std::vector<const api::Container*> containers = ContainersOf(spec);
  for (size_t i = 0; i < containers.size(); ++i) {
    if (!features.resources_by_class || !EndsBeforeOthers(spec, i)) continue;
    auto request = BriefRequest(i, *containers[i], resource, device_class, lasting, &mappings);
    if (!request) continue;
    brief.push_back(request->name);
    if (!largest || largest->exactly->count < request->exactly->count) largest = request;
  }
  for (Mapping& mapping : mappings) {
    const bool stood_for = std::ranges::find(brief, mapping.request_name) != brief.end();
    if (stood_for) mapping.request_name = largest->name;
    requests.mappings.push_back(std::move(mapping));
  }
  if (largest) requests.list.push_back(std::move(*largest));
  for (const auto& request : lasting) {
    if (request) requests.list.push_back(*request);
  }
  return requests;
}

}  // namespace

ExtendedResources ExtendedResourcesOf(const config::DraFeatures& features,
                                      const cluster::Cluster& cluster, const cluster::Pod& pod) {
  ExtendedResources resources;
  for (const auto& [id, amount] : pod.shape->fit.scalars) {
    const std::string& name = cluster.Resources().Name(id);
    if (amount == 0 || !IsDeviceResource(features, name)) continue;
    const bool of_devices = FindClassOfResource(features, cluster.Objects(), name) != nullptr;
    (of_devices ? resources.of_devices : resources.of_nodes).push_back(id);
  }
  if (resources.of_devices.empty()) resources.of_nodes.clear();
  return resources;
}

const api::ResourceClaim* FindExtendedClaim(const cluster::ObjectStore& objects,
                                            const cluster::Pod& pod) {
  const api::ResourceClaim* found = nullptr;
  objects.resource_claims.ForEach([&](const api::ResourceClaim& claim) {
    if (found != nullptr || claim.metadata.owner_references.empty()) return;
    const auto& annotations = claim.metadata.annotations;
    const auto it = annotations.find(kExtendedClaimAnnotation);
    if (it == annotations.end() || it->second != "true") return;
    for (const api::OwnerReference& owner : claim.metadata.owner_references) {
      if (owner.name == pod.name && owner.controller.value_or(false) && owner.uid == pod.uid) {
        found = &claim;
      }
    }
  });
  return found;
}

std::shared_ptr<const api::ResourceClaim> MakeExtendedClaim(
    const config::DraFeatures& features, const cluster::Cluster& cluster, const cluster::Pod& pod,
    const std::vector<cluster::ResourceId>& resources) {
  auto claim = std::make_shared<api::ResourceClaim>();
  claim->metadata.name = kExtendedClaimName;
  claim->metadata.uid = pod.uid;  // until it has its own: no two are the same
  claim->metadata.generate_name = pod.name + "-extended-resources-";
  claim->metadata.namespace_ = pod.namespace_();
  claim->metadata.annotations[std::string(kExtendedClaimAnnotation)] = "true";
  api::OwnerReference& owner = claim->metadata.owner_references.emplace_back();
  owner.api_version = "v1";
  owner.kind = "Pod";
  owner.name = pod.name;
  owner.uid = pod.uid;
  owner.controller = true;
  if (!features.resources_by_class) owner.block_owner_deletion = true;
  std::vector<std::string> names;
  for (const cluster::ResourceId id : resources) names.push_back(cluster.Resources().Name(id));
  std::sort(names.begin(), names.end());
  auto& requests = claim->spec.devices.requests;
  for (const std::string& name : names) {
    const auto* device_class = FindClassOfResource(features, cluster.Objects(), name);
    auto made =
        RequestsFor(features, pod.shape->source.spec, name, device_class->metadata.name).list;
    std::ranges::move(made, std::back_inserter(requests));
  }
  if (features.resources_by_class) std::ranges::sort(requests, {}, &api::DeviceRequest::name);
  return claim;
}

std::vector<Mapping> RequestMappings(const config::DraFeatures& features,
                                     const api::ResourceClaim& claim, const api::PodSpec& spec) {
  std::set<std::string> resources;
  for (const api::Container* container : ContainersOf(spec)) {
    for (const auto& [resource, amount] : container->resources.requests) resources.insert(resource);
  }
  std::vector<Mapping> mappings;
  for (const std::string& resource : resources) {
    Requests requests = RequestsFor(features, spec, resource, "");
    const bool of_claim = std::ranges::any_of(claim.spec.devices.requests, [&](const auto& known) {
      return std::ranges::find(requests.list, known.name, &api::DeviceRequest::name) !=
             requests.list.end();
    });
    if (of_claim) std::ranges::move(requests.mappings, std::back_inserter(mappings));
  }
  if (features.resources_by_class) return mappings;
  const auto place = [&](const Mapping& mapping) {
    const auto containers = ContainersOf(spec);
    return std::ranges::find(containers, mapping.container_name, &api::Container::name) -
           containers.begin();
  };
  std::ranges::stable_sort(mappings, {}, place);
  return mappings;
}

}  // namespace berth::plugins::dynamic_resources
