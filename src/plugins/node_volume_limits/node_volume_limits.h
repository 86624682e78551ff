// NodeVolumeLimits: a node holds only so many volumes of a CSI driver.
//
// Counted are the volumes of the node's pods and its attachments, each volume once.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/points/claim_aware.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/node_volume_limits/volume_usage.h"

namespace berth::plugins::node_volume_limits {

inline constexpr std::string_view kName = "NodeVolumeLimits";
inline constexpr std::string_view kReason = "node(s) exceed max volume count";

class NodeVolumeLimits final : public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::ClaimAwarePlugin,
                               public framework::EnqueueExtensions {
 public:
  explicit NodeVolumeLimits(const config::Behaviour& behaviour = {})
      : behaviour_(behaviour), usage_(behaviour.csi_migration_is_on) {}

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t Concerns() const override { return cluster::kHasVolumes; }
  uint32_t DependsOn() const override { return framework::kOnNodePods | framework::kOnVolumes; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  // Drivers and how many volumes of each: the volumes themselves only where a node has them.
  bool AppendClaims(const framework::CycleContext&, framework::PluginState*,
                    std::vector<int64_t>* out) const override;
  const cluster::RowLog* ChangedRows() const override { return &usage_.Changes(); }
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

 private:
  // Whether nodes must have the driver installed.
  bool MustBeInstalled(const cluster::Cluster& cluster, const std::string& driver) const;

  const config::Behaviour behaviour_;
  // Derived from the cluster and brought up to date at the start of a cycle.
  mutable VolumeUsage usage_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_volume_limits
