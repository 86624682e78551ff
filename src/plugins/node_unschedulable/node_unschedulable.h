// NodeUnschedulable: a cordoned node takes only pods that tolerate being there.
#pragma once

#include <memory>
#include <string_view>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::node_unschedulable {

inline constexpr std::string_view kName = "NodeUnschedulable";
inline constexpr std::string_view kReason = "node(s) were unschedulable";

// Does the pod tolerate node.kubernetes.io/unschedulable:NoSchedule?
bool ToleratesUnschedulable(const std::vector<api::Toleration>& tolerations);

class NodeUnschedulable final : public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override {
    return {};
  }
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back(kReason);
  }
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_unschedulable
