// Index: which objects an owner has, and which pods a node has, kept up to date from the store.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "apiserver/store/store.h"

namespace berth::apiserver {

class Index {
 public:
  // Learns what the store has; afterwards it wants to hear of every change.
  Index(const Catalog& catalog, const Store& store);

  void OnChange(const Change& change);

  // The latest versions, in the order of their keys.
  std::vector<ObjectPtr> OwnedBy(std::string_view uid) const;
  // Of one kind alone.
  std::vector<ObjectPtr> OwnedBy(std::string_view uid, uint32_t storage_id) const;
  // Pods bound to the node.
  std::vector<ObjectPtr> PodsOn(std::string_view node) const;
  // The resource an object owned by `uid` is of. REQUIRES: it came from OwnedBy.
  bool Exists(std::string_view uid) const { return alive_.contains(std::string(uid)); }

  struct Entry {
    uint32_t storage_id;
    ObjectPtr object;
  };
  std::vector<Entry> Dependents(std::string_view uid) const;

  // Field values of a pod by their place in Resource::selectable.
  const std::string& NodeOf(const StoredObject& pod) const { return pod.fields[node_field_]; }
  const std::string& PhaseOf(const StoredObject& pod) const { return pod.fields[phase_field_]; }
  bool Finished(const StoredObject& pod) const {
    const std::string& phase = PhaseOf(pod);
    return phase == "Succeeded" || phase == "Failed";
  }
  // Neither finished nor being deleted.
  bool Active(const StoredObject& pod) const { return !pod.deleting && !Finished(pod); }

 private:
  void Add(uint32_t storage_id, const ObjectPtr& object);
  void Remove(uint32_t storage_id, const StoredObject& object);

  // By key, so that the order does not depend on hashes.
  using Owned = std::map<std::pair<uint32_t, std::string>, ObjectPtr>;
  using Pods = std::map<std::string, ObjectPtr>;

  uint32_t pods_;
  size_t node_field_ = 0;
  size_t phase_field_ = 0;
  boost::unordered_flat_map<std::string, Owned> owned_;  // by the owner's uid
  boost::unordered_flat_map<std::string, Pods> on_node_;
  boost::unordered_flat_map<std::string, uint32_t> alive_;  // uids
};

}  // namespace berth::apiserver
