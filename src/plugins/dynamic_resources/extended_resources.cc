#include "plugins/dynamic_resources/extended_resources.h"

#include <algorithm>
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

void AddRequests(const api::PodSpec& spec, const std::string& resource,
                 const std::string& device_class, api::ResourceClaim* claim) {
  const std::vector<const api::Container*> containers = ContainersOf(spec);
  for (size_t i = 0; i < containers.size(); ++i) {
    const auto& requests = containers[i]->resources.requests;
    const auto it = requests.find(resource);
    int64_t count = 0;
    if (it == requests.end() || !it->second.AsInt64(&count) || count == 0) continue;
    api::DeviceRequest& request = claim->spec.devices.requests.emplace_back();
    request.name = RequestName(i, *containers[i], resource);
    request.exactly.emplace();
    request.exactly->device_class_name = device_class;
    request.exactly->allocation_mode = "ExactCount";
    request.exactly->count = count;
  }
}

}  // namespace

ExtendedResources ExtendedResourcesOf(const cluster::Cluster& cluster, const cluster::Pod& pod) {
  ExtendedResources resources;
  for (const auto& [id, amount] : pod.shape->fit.scalars) {
    const std::string& name = cluster.Resources().Name(id);
    if (amount == 0 || !api::IsExtendedResource(name)) continue;
    const bool of_devices = FindClassOfResource(cluster.Objects(), name) != nullptr;
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

std::shared_ptr<const api::ResourceClaim> MakeExtendedClaim(const cluster::Cluster& cluster,
                                                            const cluster::Pod& pod,
                                                            const ExtendedResources& resources) {
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
  owner.block_owner_deletion = true;
  std::vector<std::string> names;
  for (const cluster::ResourceId id : resources.of_devices) {
    names.push_back(cluster.Resources().Name(id));
  }
  std::sort(names.begin(), names.end());
  for (const std::string& name : names) {
    const api::DeviceClass* device_class = FindClassOfResource(cluster.Objects(), name);
    AddRequests(pod.shape->source.spec, name, device_class->metadata.name, claim.get());
  }
  return claim;
}

std::vector<api::ContainerExtendedResourceRequest> RequestMappings(const api::ResourceClaim& claim,
                                                                   const api::PodSpec& spec) {
  std::vector<api::ContainerExtendedResourceRequest> mappings;
  const auto& requests = claim.spec.devices.requests;
  const std::vector<const api::Container*> containers = ContainersOf(spec);
  for (size_t i = 0; i < containers.size(); ++i) {
    for (const auto& [resource, amount] : containers[i]->resources.requests) {
      const std::string name = RequestName(i, *containers[i], resource);
      const bool known = std::any_of(requests.begin(), requests.end(),
                                     [&](const auto& request) { return request.name == name; });
      if (known) mappings.push_back({containers[i]->name, resource, name});
    }
  }
  return mappings;
}

}  // namespace berth::plugins::dynamic_resources
