// Nominations: pending pods that preemption has promised a node to, by node name.
//
// A node may be named that does not exist (any more); nobody is looking at it then.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/ids.h"
#include "cluster/table/dictionary.h"

namespace berth::cluster {

class Nominations {
 public:
  // Replaces an earlier nomination of the pod.
  void Set(PodId pod, StringId node) {
    Clear(pod);
    node_of_.emplace(pod, node);
    pods_of_[node].push_back(pod);
  }
  void Clear(PodId pod) {
    const auto it = node_of_.find(pod);
    if (it == node_of_.end()) return;
    auto& pods = pods_of_[it->second];
    std::erase(pods, pod);
    if (pods.empty()) pods_of_.erase(it->second);
    node_of_.erase(it);
  }

  bool Empty() const { return node_of_.empty(); }
  // Pods nominated to `node`, in order of nomination; null when there are none.
  const std::vector<PodId>* On(StringId node) const {
    const auto it = pods_of_.find(node);
    return it == pods_of_.end() ? nullptr : &it->second;
  }
  // kNoString when the pod is not nominated.
  StringId NodeOf(PodId pod) const {
    const auto it = node_of_.find(pod);
    return it == node_of_.end() ? kNoString : it->second;
  }
  // Calls f(StringId node, const std::vector<PodId>&) for every node somebody is nominated to, in
  // no order.
  template <class F>
  void ForEachNode(F&& f) const {
    for (const auto& [node, pods] : pods_of_) f(node, pods);
  }

 private:
  boost::unordered_flat_map<PodId, StringId> node_of_;
  boost::unordered_flat_map<StringId, std::vector<PodId>> pods_of_;
};

}  // namespace berth::cluster
