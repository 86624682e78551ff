// AdoptedPods: pods whose bindings a new leader has adopted, until its own watch shows them.
//
// A watch that lags shows such a pod as it was before its binding. The engine must not see that: it
// would take the pod for pending and its capacity for free.
#pragma once

#include <string>
#include <variant>

#include "api/object.h"
#include "base/string_hash.h"

namespace berth::kube {

class AdoptedPods {
 public:
  bool Empty() const { return nodes_.empty(); }
  void Add(const api::Pod& pod) {
    if (!pod.spec.node_name.empty()) nodes_[pod.metadata.uid] = pod.spec.node_name;
  }
  void Remove(const api::Pod& pod) { nodes_.erase(pod.metadata.uid); }
  // As a watch or a list gives it; a version from before the binding gets its node.
  void Correct(api::Object& object) {
    auto* pod = std::get_if<api::Pod>(&object);
    if (pod == nullptr) return;
    const auto known = nodes_.find(pod->metadata.uid);
    if (known == nodes_.end()) return;
    if (pod->spec.node_name.empty()) {
      pod->spec.node_name = known->second;
    } else {
      nodes_.erase(known);
    }
  }

 private:
  ByString<std::string> nodes_;  // by uid
};

}  // namespace berth::kube
