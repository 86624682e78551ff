#include "plugins/common/extended_resource.h"

#include <algorithm>

#include "api/rules/resource_name.h"

namespace berth::plugins {
namespace {

// What a class without a name of its own is requested by. kube-scheduler 1.34 does not count such
// names among the extended resources, so no pod gets a device by them there.
constexpr std::string_view kClassPrefix = "deviceclass.resource.kubernetes.io/";

bool Declares(const api::DeviceClass& device_class, std::string_view resource) {
  return device_class.spec.extended_resource_name &&
         *device_class.spec.extended_resource_name == resource;
}

// Is `a` the one to take of two classes that declare the same name?
bool Precedes(const config::DraFeatures& features, const api::DeviceClass& a,
              const api::DeviceClass& b) {
  const api::Time& made_a = a.metadata.creation_timestamp;
  const api::Time& made_b = b.metadata.creation_timestamp;
  if (features.resources_by_class && made_a != made_b) return made_b < made_a;
  return a.metadata.name < b.metadata.name;
}

const api::DeviceClass* FindDeclaring(const config::DraFeatures& features,
                                      const cluster::ObjectStore& objects,
                                      std::string_view resource) {
  const api::DeviceClass* found = nullptr;
  objects.device_classes.ForEach([&](const api::DeviceClass& candidate) {
    if (!Declares(candidate, resource)) return;
    if (found == nullptr || Precedes(features, candidate, *found)) found = &candidate;
  });
  return found;
}

}  // namespace

bool IsDeviceResource(const config::DraFeatures& features, std::string_view resource) {
  return api::IsExtendedResource(resource) ||
         (features.resources_by_class && resource.starts_with(kClassPrefix));
}

const api::DeviceClass* FindClassOfResource(const config::DraFeatures& features,
                                            const cluster::ObjectStore& objects,
                                            std::string_view resource) {
  if (!resource.starts_with(kClassPrefix)) return FindDeclaring(features, objects, resource);
  const auto* named = objects.device_classes.Find(resource.substr(kClassPrefix.size()));
  if (named == nullptr || !named->spec.extended_resource_name) return named;
  return features.resources_by_class ? named : nullptr;
}

bool NodeHas(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::ResourceId id) {
  const auto& amounts = cluster.Record(node).scalar_allocatable;
  return std::any_of(amounts.begin(), amounts.end(),
                     [&](const auto& amount) { return amount.first == id; });
}

bool NodeProvides(const config::DraFeatures& features, const cluster::Cluster& cluster,
                  cluster::NodeIndex node, cluster::ResourceId id) {
  if (!features.resources_by_class) return NodeHas(cluster, node, id);
  const cluster::ResourceColumn* column = cluster.Resource(id);
  return column != nullptr && column->allocatable[node] > 0;
}

}  // namespace berth::plugins
