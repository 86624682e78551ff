#include "cluster/objects/adopted_groups.h"

#include <algorithm>

#include "api/values.h"

namespace berth::cluster {
namespace {

const std::string* FirstOf(const std::vector<std::string>& keys, const api::StringMap& values) {
  for (const std::string& key : keys) {
    const std::string* value = api::FindValue(values, key);
    if (value != nullptr && !value->empty()) return value;
  }
  return nullptr;
}

}  // namespace

const AdoptedGroupKind* AdoptedGroups::Find(std::string_view api_version,
                                            std::string_view kind) const {
  const auto it = std::ranges::find_if(kinds_, [&](const AdoptedGroupKind& adopted) {
    return adopted.kind.kind == kind && adopted.kind.ApiVersion() == api_version;
  });
  return it == kinds_.end() ? nullptr : &*it;
}

std::string AdoptedGroups::NameOf(std::string_view api_version, std::string_view name) {
  std::string full(api_version.substr(0, api_version.find('/')));
  return full.append("/").append(name);
}

void AdoptedGroups::Join(api::Pod& pod) const {
  if (kinds_.empty()) return;
  if (!native_) pod.spec.scheduling_group = std::nullopt;
  if (pod.spec.scheduling_group) return;
  for (const AdoptedGroupKind& adopted : kinds_) {
    const std::string* name = FirstOf(adopted.pod_labels, pod.metadata.labels);
    if (name == nullptr) name = FirstOf(adopted.pod_annotations, pod.metadata.annotations);
    if (name == nullptr) continue;
    pod.spec.scheduling_group.emplace().pod_group_name = NameOf(adopted.kind.group, *name);
    return;
  }
}

std::optional<api::PodGroup> AdoptedGroups::Adopt(const api::UnknownObject& object,
                                                  const ObjectStore& objects) const {
  std::optional<api::PodGroup> group =
      Find(object.api_version, object.kind)->translate(object, objects);
  if (!group) return std::nullopt;
  group->metadata = object.metadata;
  group->metadata.name = NameOf(object.api_version, object.metadata.name);
  return group;
}

}  // namespace berth::cluster
