// Nominations: pending pods that preemption has promised a node to, by node name.
//
// A node may be named that does not exist (any more); nobody is looking at it then.
#pragma once

#include <algorithm>
#include <cstdint>
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
  // One entry of an undo log.
  struct Change {
    PodId pod;
    StringId node;
    uint32_t position;  // in the list of the node
    bool set;           // false: cleared
  };

  // Replaces an earlier nomination of the pod.
  void Set(PodId pod, StringId node) {
    Clear(pod);
    node_of_.emplace(pod, node);
    auto& pods = pods_of_[node];
    if (log_ != nullptr) log_->push_back({pod, node, static_cast<uint32_t>(pods.size()), true});
    pods.push_back(pod);
  }
  void Clear(PodId pod) {
    const auto it = node_of_.find(pod);
    if (it == node_of_.end()) return;
    const StringId node = it->second;
    node_of_.erase(it);
    auto& pods = pods_of_[node];
    const auto at = std::find(pods.begin(), pods.end(), pod);
    if (log_ != nullptr) {
      log_->push_back({pod, node, static_cast<uint32_t>(at - pods.begin()), false});
    }
    pods.erase(at);
    if (pods.empty()) pods_of_.erase(node);
  }

  // Changes are appended to `log` from now on. Null: to none.
  void set_log(std::vector<Change>* log) { log_ = log; }
  // Takes back the last change that is not taken back yet.
  void Undo(const Change& change) {
    auto& pods = pods_of_[change.node];
    if (change.set) {
      node_of_.erase(change.pod);
      pods.pop_back();
      if (pods.empty()) pods_of_.erase(change.node);
    } else {
      node_of_.emplace(change.pod, change.node);
      pods.insert(pods.begin() + change.position, change.pod);
    }
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
  std::vector<Change>* log_ = nullptr;
};

}  // namespace berth::cluster
