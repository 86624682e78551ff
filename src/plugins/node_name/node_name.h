// NodeName: a pod that names its node may run only there.
#pragma once

#include <memory>
#include <string_view>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::node_name {

inline constexpr std::string_view kName = "NodeName";
inline constexpr std::string_view kReason = "node(s) didn't match the requested node name";

class NodeName final : public framework::PreFilterPlugin,
                       public framework::FilterPlugin,
                       public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back(kReason);
  }
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_name
