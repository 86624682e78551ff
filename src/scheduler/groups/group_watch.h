// GroupWatch: callbacks in the cycle of a pod group, so that an observer with a clock can time it
// and count. The core reads no clock.
//
// Does nothing unless overridden. All calls are made on the cycle's thread. The points of single
// pods are a framework::CycleWatch's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "framework/points/status.h"

namespace berth::scheduler {

// The extension points of groups.
enum class GroupPoint : uint8_t {
  kPlacementGenerate,
  kPlacementFeasible,
  kPlacementScore,
  kPlacementNormalize,  // of single plugins only
  kPodGroupPostFilter,
};
inline constexpr size_t kGroupPoints = 5;

// As in the label of kube-scheduler's metrics.
constexpr std::string_view NameOf(GroupPoint point) {
  constexpr std::string_view kNames[kGroupPoints] = {
      "PlacementGenerate", "PlacementFeasible", "PlacementScore",
      "PlacementScoreExtensionNormalize", "PodGroupPostFilter"};
  return kNames[static_cast<size_t>(point)];
}

class GroupWatch {
 public:
  virtual ~GroupWatch() = default;
  // All plugins of a point, with the status of the whole. Points do not nest, but the group may be
  // placed once more within PodGroupPostFilter.
  virtual void GroupPointBegan(GroupPoint) {}
  virtual void GroupPointEnded(GroupPoint, framework::Code) {}
  // One plugin, at the points where kube-scheduler times single plugins of groups.
  virtual void GroupPluginBegan(GroupPoint) {}
  virtual void GroupPluginEnded(GroupPoint, std::string_view /*plugin*/, framework::Code) {}
  // The pods have nodes, or too few have: PodGroupPostFilter may follow.
  virtual void GroupAlgorithmEnded() {}
  // With topology: how many placements there are; one is tried; it was not due to an error that it
  // failed, or it did not fail.
  virtual void PlacementsGenerated(size_t /*count*/) {}
  virtual void PlacementBegan() {}
  virtual void PlacementTried(bool /*feasible*/) {}
  // DefaultPreemption was called. `searched`: it looked for victims, rather than see at once that
  // it may not, or that earlier victims are still leaving.
  virtual void GroupPreemptionTried(framework::Code, bool /*searched*/) {}
};

}  // namespace berth::scheduler
