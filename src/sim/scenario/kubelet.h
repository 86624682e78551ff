// Kubelet: the lifecycle of pods that have a node.
//
// Pods start after a delay, run for the lifetime of their annotation berth.dev/lifetime (forever
// without it), and are removed a second after they succeeded. Taints with the effect NoExecute
// evict the pods that do not tolerate them; the pods of a deleted node are deleted soon after it.
// One object serves all nodes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "api/object.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"
#include "sim/scenario/spread.h"

namespace berth::sim {

class Kubelet {
 public:
  // `loop` and `api` outlive it.
  Kubelet(EventLoop& loop, ModelApi& api, const Spread& startup, uint64_t seed);
  Kubelet(const Kubelet&) = delete;
  Kubelet& operator=(const Kubelet&) = delete;

  // The keys of the pods on a node.
  const std::set<std::string>& PodsOn(const std::string& node) const;
  int64_t Finished() const { return finished_; }

 private:
  void OnChange(const ApiChange& change);
  void OnPod(const ApiChange& change, const api::Pod& pod);
  void OnNode(const ApiChange& change, const api::Node& node);
  void Start(const std::string& key, const std::string& uid);
  void Run(const api::Pod& pod);
  void Finish(const std::string& key, const std::string& uid);
  // Evicts pods according to the taints of the node; all pods on it, or the one of `key`.
  void Evict(const std::string& node, const std::string& only = {});
  void Collect(const std::string& node);
  const api::Pod* Alive(const std::string& key, const std::string& uid) const;
  void Delete(const std::string& key, const std::string& uid);

  EventLoop& loop_;
  ModelApi& api_;
  Spread startup_;
  Chance chance_;
  std::map<std::string, std::set<std::string>> pods_on_;
  int64_t finished_ = 0;
};

}  // namespace berth::sim
