// Stage: carries out the events of a scenario on the model API.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"
#include "sim/scenario/clerk.h"
#include "sim/scenario/kubelet.h"
#include "sim/scenario/scenario.h"

namespace berth::sim {

class Stage {
 public:
  struct Hooks {
    std::function<void(const std::string&)> warn;
    // An error that ends the run.
    std::function<void(const Error&)> fail;
    std::function<void(Nanos down)> crash;
  };

  // All but `hooks` outlive it.
  Stage(EventLoop& loop, ModelApi& api, Clerk& clerk, const Kubelet& kubelet, Nanos end,
        uint64_t seed, Hooks hooks);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  Result<void> Do(const ScenarioEvent& event);
  void AddNodes(const NodeGroup& group);
  // Has a `delete` event named this pod ("namespace/name")?
  bool WasDeleted(const std::string& key) const { return deleted_.contains(key); }

 private:
  std::vector<std::string> Pick(const NodePick& pick, std::string_view path);
  // Changes every picked node.
  void ChangeNodes(const NodePick& pick, std::string_view path,
                   const std::function<void(api::Node&)>& change);
  Result<void> ApplyAll(const std::vector<api::Object>& objects);
  void Delete(const DeleteObjects& what, std::string_view path);
  void Scale(const ScaleWorkload& scale, std::string_view path);
  void Drain(const NodePick& pick, std::string_view path);
  void Taint(const TaintNodes& taint, std::string_view path);
  void Untaint(const TaintNodes& taint, std::string_view path);
  void Resize(const ResizeNodes& resize, std::string_view path);
  Result<void> Arrive(const PodArrivals& arrivals);
  Result<void> MakePod(const PodArrivals& arrivals);
  void ArriveNext(const PodArrivals& arrivals, Nanos until);

  EventLoop& loop_;
  ModelApi& api_;
  Clerk& clerk_;
  const Kubelet& kubelet_;
  Nanos end_;
  Chance chance_;
  Hooks hooks_;
  std::map<std::string, int64_t> next_node_;
  std::map<std::string, int64_t> next_pod_;
  int64_t arrived_ = 0;
  std::set<std::string> deleted_;
};

}  // namespace berth::sim
