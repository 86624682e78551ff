#include "apiserver/sim/index.h"

#include <algorithm>

namespace berth::apiserver {

Index::Index(const Catalog& catalog, const Store& store) : pods_(catalog.Core("pods").storage_id) {
  const auto& fields = catalog.Core("pods").selectable;
  const auto place = [&](std::string_view name) {
    return static_cast<size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
  };
  node_field_ = place("spec.nodeName");
  phase_field_ = place("status.phase");
  for (uint32_t id = 0; id < catalog.Size(); ++id) {
    if (catalog.At(id).storage_id != id) continue;
    for (const auto& [key, object] : store.All(id)) Add(id, object);
  }
}

void Index::Add(uint32_t storage_id, const ObjectPtr& object) {
  const std::string key = ObjectKey(object->namespace_, object->name);
  for (const std::string& owner : object->owners) owned_[owner][{storage_id, key}] = object;
  if (storage_id == pods_ && !NodeOf(*object).empty()) on_node_[NodeOf(*object)][key] = object;
  alive_[object->uid] = storage_id;
}

void Index::Remove(uint32_t storage_id, const StoredObject& object) {
  const std::string key = ObjectKey(object.namespace_, object.name);
  for (const std::string& owner : object.owners) {
    const auto it = owned_.find(owner);
    if (it == owned_.end()) continue;
    it->second.erase({storage_id, key});
    if (it->second.empty()) owned_.erase(it);
  }
  if (storage_id == pods_ && !NodeOf(object).empty()) {
    const auto it = on_node_.find(NodeOf(object));
    if (it != on_node_.end()) {
      it->second.erase(key);
      if (it->second.empty()) on_node_.erase(it);
    }
  }
}

void Index::OnChange(const Change& change) {
  if (change.previous &&
      (change.type == ChangeType::kDeleted || change.previous->owners != change.object->owners)) {
    Remove(change.storage_id, *change.previous);
  }
  if (change.type == ChangeType::kDeleted) {
    alive_.erase(change.object->uid);
  } else {
    Add(change.storage_id, change.object);
  }
}

std::vector<ObjectPtr> Index::OwnedBy(std::string_view uid) const {
  std::vector<ObjectPtr> objects;
  const auto it = owned_.find(std::string(uid));
  if (it == owned_.end()) return objects;
  for (const auto& [key, object] : it->second) objects.push_back(object);
  return objects;
}

std::vector<ObjectPtr> Index::OwnedBy(std::string_view uid, uint32_t storage_id) const {
  std::vector<ObjectPtr> objects;
  const auto it = owned_.find(std::string(uid));
  if (it == owned_.end()) return objects;
  objects.reserve(it->second.size());
  for (const auto& [key, object] : it->second) {
    if (key.first == storage_id) objects.push_back(object);
  }
  return objects;
}

std::vector<Index::Entry> Index::Dependents(std::string_view uid) const {
  std::vector<Entry> entries;
  const auto it = owned_.find(std::string(uid));
  if (it == owned_.end()) return entries;
  for (const auto& [key, object] : it->second) entries.push_back({key.first, object});
  return entries;
}

std::vector<ObjectPtr> Index::PodsOn(std::string_view node) const {
  std::vector<ObjectPtr> pods;
  const auto it = on_node_.find(std::string(node));
  if (it == on_node_.end()) return pods;
  for (const auto& [key, pod] : it->second) pods.push_back(pod);
  return pods;
}

}  // namespace berth::apiserver
