// Index: which objects an owner has, and which pods a node has, kept up to date from the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "apiserver/store/store.h"

namespace berth::apiserver {

class Index {
 public:
  explicit Index(const Catalog& catalog);

  // Wants to hear of every object there is, once, and then of every change.
  void OnChange(const Change& change);

  // The latest versions of one kind, in the order of their keys.
  std::vector<ObjectPtr> OwnedBy(std::string_view uid, uint32_t storage_id) const;
  // The pods `uid` controls that are active, and those of them that are ready: kept, not counted.
  struct Pods {
    int64_t active = 0;
    int64_t ready = 0;
  };
  Pods CountPods(std::string_view uid) const;
  // Pods bound to the node.
  std::vector<ObjectPtr> PodsOn(std::string_view node) const;
  // The resource an object owned by `uid` is of. REQUIRES: it came from OwnedBy.
  bool Exists(std::string_view uid) const { return alive_.contains(std::string(uid)); }

  struct Entry {
    uint32_t storage_id;
    ObjectPtr object;
  };
  // Of all kinds.
  std::vector<Entry> Dependents(std::string_view uid) const;
  bool HasDependents(std::string_view uid) const;

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
  // By uid. Those who ask get them by key, so that the order does not depend on hashes.
  using Group = boost::unordered_flat_map<std::string, Entry>;
  using Groups = boost::unordered_flat_map<std::string, Group>;

  void Add(uint32_t storage_id, const ObjectPtr& object);
  void Remove(uint32_t storage_id, const StoredObject& object);
  void Count(const StoredObject& pod, int64_t sign);
  static std::vector<Entry> Sorted(const Groups& groups, std::string_view name);

  uint32_t pods_;
  size_t node_field_ = 0;
  size_t phase_field_ = 0;
  Groups owned_;  // by the owner's uid
  Groups on_node_;
  boost::unordered_flat_map<std::string, Pods> counts_;     // by the controller's uid
  boost::unordered_flat_map<std::string, uint32_t> alive_;  // uids
};

}  // namespace berth::apiserver
