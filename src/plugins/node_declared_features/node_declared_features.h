// NodeDeclaredFeatures: a pod that needs features of the kubelet runs only where the node declares
// them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::node_declared_features {

inline constexpr std::string_view kName = "NodeDeclaredFeatures";
inline constexpr std::string_view kReason = "node(s) didn't match Pod's required features";

// The features a pod needs, sorted: they follow from its spec.
std::vector<std::string_view> RequiredFeatures(const api::PodSpec& spec,
                                               const config::Behaviour& behaviour);

class NodeDeclaredFeatures final : public framework::PreFilterPlugin,
                                   public framework::FilterPlugin,
                                   public framework::EnqueueExtensions {
 public:
  explicit NodeDeclaredFeatures(const config::Behaviour& behaviour) : behaviour_(behaviour) {}

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }
  std::unique_ptr<framework::PluginState> NewState() const override;

  // Skip for a pod that needs none.
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

 private:
  struct State;

  Result<framework::Hint> AfterPodUpdate(const cluster::Pod& pod, const queue::Event& event) const;

  const config::Behaviour behaviour_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_declared_features
