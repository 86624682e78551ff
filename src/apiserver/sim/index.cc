#include "apiserver/sim/index.h"

#include <algorithm>
#include <tuple>

namespace berth::apiserver {

Index::Index(const Catalog& catalog) : pods_(catalog.Core("pods").storage_id) {
  const auto& fields = catalog.Core("pods").selectable;
  const auto place = [&](std::string_view name) {
    return static_cast<size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
  };
  node_field_ = place("spec.nodeName");
  phase_field_ = place("status.phase");
}

void Index::Count(const StoredObject& pod, int64_t sign) {
  if (pod.controller.empty() || !Active(pod)) return;
  Pods& count = counts_[pod.controller];
  count.active += sign;
  count.ready += pod.ready ? sign : 0;
  if (count.active == 0) counts_.erase(pod.controller);
}

void Index::Add(uint32_t storage_id, const ObjectPtr& object) {
  for (const std::string& owner : object->owners) {
    owned_[owner].insert_or_assign(object->uid, Entry{storage_id, object});
  }
  if (storage_id == pods_) {
    Count(*object, 1);
    if (!NodeOf(*object).empty()) {
      on_node_[NodeOf(*object)].insert_or_assign(object->uid, Entry{storage_id, object});
    }
  }
}

void Index::Remove(uint32_t storage_id, const StoredObject& object) {
  const auto drop = [&](Groups& groups, const std::string& name) {
    const auto it = groups.find(name);
    if (it == groups.end()) return;
    it->second.erase(object.uid);
    if (it->second.empty()) groups.erase(it);
  };
  for (const std::string& owner : object.owners) drop(owned_, owner);
  if (storage_id == pods_) {
    Count(object, -1);
    if (!NodeOf(object).empty()) drop(on_node_, NodeOf(object));
  }
}

void Index::OnChange(const Change& change) {
  if (change.type == ChangeType::kDeleted) {
    Remove(change.storage_id, *change.previous);
    alive_.erase(change.object->uid);
    return;
  }
  if (change.previous) {
    // Where the object stays its entry is only replaced.
    if (change.previous->owners != change.object->owners) {
      Remove(change.storage_id, *change.previous);
    } else if (change.storage_id == pods_) {
      Count(*change.previous, -1);
    }
  }
  Add(change.storage_id, change.object);
  if (!change.previous) alive_[change.object->uid] = change.storage_id;
}

std::vector<Index::Entry> Index::Sorted(const Groups& groups, std::string_view name) {
  std::vector<Entry> entries;
  const auto it = groups.find(std::string(name));
  if (it == groups.end()) return entries;
  entries.reserve(it->second.size());
  for (const auto& [uid, entry] : it->second) entries.push_back(entry);
  const auto key = [](const Entry& entry) {
    const StoredObject& object = *entry.object;
    return std::tie(entry.storage_id, object.namespace_, object.name);
  };
  std::sort(entries.begin(), entries.end(),
            [&](const Entry& a, const Entry& b) { return key(a) < key(b); });
  return entries;
}

std::vector<ObjectPtr> Index::OwnedBy(std::string_view uid, uint32_t storage_id) const {
  std::vector<ObjectPtr> objects;
  for (Entry& entry : Sorted(owned_, uid)) {
    if (entry.storage_id == storage_id) objects.push_back(std::move(entry.object));
  }
  return objects;
}

Index::Pods Index::CountPods(std::string_view uid) const {
  const auto it = counts_.find(std::string(uid));
  return it == counts_.end() ? Pods{} : it->second;
}

bool Index::HasDependents(std::string_view uid) const { return owned_.contains(std::string(uid)); }

std::vector<Index::Entry> Index::Dependents(std::string_view uid) const {
  return Sorted(owned_, uid);
}

std::vector<ObjectPtr> Index::PodsOn(std::string_view node) const {
  std::vector<ObjectPtr> pods;
  for (Entry& entry : Sorted(on_node_, node)) pods.push_back(std::move(entry.object));
  return pods;
}

}  // namespace berth::apiserver
