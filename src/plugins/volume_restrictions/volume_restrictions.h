// VolumeRestrictions: disks that pods on one node cannot share, and claims that only one pod of the
// cluster may use (ReadWriteOncePod).
#pragma once

#include <memory>
#include <string_view>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::volume_restrictions {

inline constexpr std::string_view kName = "VolumeRestrictions";
inline constexpr std::string_view kDiskConflict = "node(s) had no available disk";
inline constexpr std::string_view kClaimConflict =
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod";

// Can `volume` not be on a node where `other` is? Only disks named in the pod itself conflict.
bool Conflicts(const api::Volume& volume, const api::Volume& other);

class VolumeRestrictions final : public framework::PreFilterPlugin,
                                 public framework::FilterPlugin,
                                 public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t Concerns() const override { return cluster::kHasVolumes; }
  uint32_t DependsOn() const override {
    return framework::kOnNodePods | framework::kOnDomainPods | framework::kOnVolumes;
  }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  bool HasExtensions() const override { return true; }
  framework::Status AddPod(const framework::CycleContext&, framework::PluginState*,
                           const cluster::Pod&, framework::NodeIndex) const override;
  framework::Status RemovePod(const framework::CycleContext&, framework::PluginState*,
                              const cluster::Pod&, framework::NodeIndex) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::volume_restrictions
