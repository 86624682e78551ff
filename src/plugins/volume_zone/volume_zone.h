// VolumeZone: a pod runs only where the zone and region labels of its volumes agree with the
// node's.
//
// Looks at the labels of volumes that are bound already; node affinity of volumes is
// VolumeBinding's.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/points/claim_aware.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::volume_zone {

inline constexpr std::string_view kName = "VolumeZone";
inline constexpr std::string_view kReason = "node(s) had no available volume zone";

class VolumeZone final : public framework::PreFilterPlugin,
                         public framework::FilterPlugin,
                         public framework::ClaimAwarePlugin,
                         public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t Concerns() const override { return cluster::kHasVolumes; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnVolumes; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  // The required labels.
  bool AppendClaims(const framework::CycleContext&, framework::PluginState*,
                    std::vector<int64_t>* out) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::volume_zone
