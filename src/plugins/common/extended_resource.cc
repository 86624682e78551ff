#include "plugins/common/extended_resource.h"

#include <algorithm>

namespace berth::plugins {
namespace {

// What a class that says nothing is asked for by. kube-scheduler does not count such names among
// the extended resources, so no pod gets a device by them.
constexpr std::string_view kClassPrefix = "deviceclass.resource.kubernetes.io/";

bool StandsFor(const api::DeviceClass& device_class, std::string_view resource) {
  if (device_class.spec.extended_resource_name) {
    return *device_class.spec.extended_resource_name == resource;
  }
  return resource.starts_with(kClassPrefix) &&
         resource.substr(kClassPrefix.size()) == device_class.metadata.name;
}

}  // namespace

const api::DeviceClass* FindClassOfResource(const cluster::ObjectStore& objects,
                                            std::string_view resource) {
  const api::DeviceClass* found = nullptr;
  objects.device_classes.ForEach([&](const api::DeviceClass& candidate) {
    if (!StandsFor(candidate, resource)) return;
    if (found == nullptr || candidate.metadata.name < found->metadata.name) found = &candidate;
  });
  return found;
}

bool NodeHas(const cluster::Cluster& cluster, cluster::NodeIndex node, cluster::ResourceId id) {
  const auto& amounts = cluster.Record(node).scalar_allocatable;
  return std::any_of(amounts.begin(), amounts.end(),
                     [&](const auto& amount) { return amount.first == id; });
}

}  // namespace berth::plugins
