// PodLabelIndex: the pods that have a label, by its value, for label keys that plugins name.
//
// Owned by Cluster, which adds and removes pods as they come and go, pending or placed.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/string_hash.h"
#include "cluster/ids.h"
#include "cluster/pods/pod.h"

namespace berth::cluster {

class PodLabelIndex {
 public:
  // True when the key is new.
  bool Track(const std::string& key) { return keys_.try_emplace(key).second; }

  // The pods of all namespaces whose label `key` has this value, in no particular order. Empty
  // also when nobody named the key.
  std::span<const PodId> Of(std::string_view key, std::string_view value) const;

  // REQUIRES for Remove: the pod was added as it is now.
  void Add(const Pod& pod);
  void Remove(const Pod& pod);

 private:
  std::map<std::string, ByString<std::vector<PodId>>, std::less<>> keys_;
};

}  // namespace berth::cluster
