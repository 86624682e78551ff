// NodePorts: a host port can be taken once per node and address.
#pragma once

#include <memory>
#include <string_view>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::node_ports {

inline constexpr std::string_view kName = "NodePorts";
inline constexpr std::string_view kReason =
    "node(s) didn't have free ports for the requested pod ports";

class NodePorts final : public framework::PreFilterPlugin,
                        public framework::FilterPlugin,
                        public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t Concerns() const override { return cluster::kHasHostPorts; }
  uint32_t DependsOn() const override { return framework::kOnNodePods; }
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

}  // namespace berth::plugins::node_ports
