#include "conformance/objects.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json_dom.h"
#include "cluster/objects/load.h"

namespace berth::conformance {
namespace {

template <class T>
Result<void> LoadList(simdjson::dom::element list, std::string_view name, cluster::Cluster& into) {
  size_t i = 0;
  for (const simdjson::dom::element item : list.get_array()) {
    auto object = api::FromDom<T>(item, fmt::format("objects.{}[{}]", name, i++));
    if (!object) return Fail(object.error());
    cluster::Load(into, api::Object(std::move(*object)));
  }
  return {};
}

// Custom resources, of kinds that plugins read.
Result<void> LoadCustom(simdjson::dom::element list, std::string_view name,
                        cluster::Cluster& into) {
  size_t i = 0;
  for (const simdjson::dom::element item : list.get_array()) {
    auto object = api::DecodeObject(simdjson::minify(item));
    if (!object) return Fail(object.error().In(fmt::format("objects.{}[{}]", name, i)));
    ++i;
    cluster::Load(into, std::move(*object));
  }
  return {};
}

using ListLoader = Result<void> (*)(simdjson::dom::element, std::string_view, cluster::Cluster&);

constexpr std::pair<std::string_view, ListLoader> kLists[] = {
    {"nodes", &LoadList<api::Node>},
    {"pods", &LoadList<api::Pod>},
    {"namespaces", &LoadList<api::Namespace>},
    {"services", &LoadList<api::Service>},
    {"replicasets", &LoadList<api::ReplicaSet>},
    {"statefulsets", &LoadList<api::StatefulSet>},
    {"replicationcontrollers", &LoadList<api::ReplicationController>},
    {"pvs", &LoadList<api::PersistentVolume>},
    {"pvcs", &LoadList<api::PersistentVolumeClaim>},
    {"storageclasses", &LoadList<api::StorageClass>},
    {"csinodes", &LoadList<api::CSINode>},
    {"csidrivers", &LoadList<api::CSIDriver>},
    {"csistoragecapacities", &LoadList<api::CSIStorageCapacity>},
    {"volumeattachments", &LoadList<api::VolumeAttachment>},
    {"pdbs", &LoadList<api::PodDisruptionBudget>},
    {"priorityclasses", &LoadList<api::PriorityClass>},
    {"resourceclaims", &LoadList<api::ResourceClaim>},
    {"resourceslices", &LoadList<api::ResourceSlice>},
    {"deviceclasses", &LoadList<api::DeviceClass>},
    {"podgroups", &LoadList<api::PodGroup>},
    {"custom", &LoadCustom},
};

}  // namespace

Result<void> LoadObjects(simdjson::dom::element objects, cluster::Cluster& into) {
  for (const auto& [name, load] : kLists) {
    simdjson::dom::element list;
    if (objects[name].get(list) != simdjson::SUCCESS || list.is_null()) continue;
    if (auto ok = load(list, name, into); !ok) return ok;
  }
  return {};
}

}  // namespace berth::conformance
