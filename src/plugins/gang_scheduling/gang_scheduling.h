// GangScheduling: the pods of a group start together or not at all.
//
// A pod waits in PreEnqueue until its group exists and, for a gang, minCount pods are known. While
// a group is being placed the plugin says whether minCount can still be reached. In Permit the
// first pods of a gang wait for the minCount-th.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/points/pod_group.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::gang_scheduling {

inline constexpr std::string_view kName = "GangScheduling";

class GangScheduling final : public framework::PreEnqueuePlugin,
                             public framework::PlacementFeasiblePlugin,
                             public framework::PermitPlugin,
                             public framework::EnqueueExtensions {
 public:
  // `pods` may be null: then nobody waits in Permit for others.
  explicit GangScheduling(framework::PodControl* pods) : pods_(pods) {}

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

  framework::Status PreEnqueue(const cluster::Cluster&, const cluster::Pod& pod) const override;
  framework::Status PlacementFeasible(const framework::PodGroupInfo&,
                                      const framework::PlacementProgress&) const override;
  framework::Status Permit(const framework::CycleContext&, framework::PluginState*,
                           cluster::NodeIndex node, int64_t* timeout_ns) override;

 private:
  void AllowAssumed(const cluster::Cluster& cluster, const api::PodGroup& group) const;

  framework::PodControl* pods_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::gang_scheduling
