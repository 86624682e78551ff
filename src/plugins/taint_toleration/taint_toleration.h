// TaintToleration: untolerated NoSchedule and NoExecute taints forbid a node, untolerated
// PreferNoSchedule taints make it less wanted. Tolerations are checked once per distinct set of
// taints.
#pragma once

#include <memory>
#include <string_view>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::taint_toleration {

inline constexpr std::string_view kName = "TaintToleration";
inline constexpr std::string_view kReason = "node(s) had untolerated taint(s)";

class TaintToleration final : public framework::PreFilterPlugin,
                              public framework::FilterPlugin,
                              public framework::PreScorePlugin,
                              public framework::ScorePlugin,
                              public framework::EnqueueExtensions {
 public:
  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override {
    return {};
  }
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override {
    return {};
  }
  std::optional<int64_t> UniformScore(const framework::CycleContext&, framework::PluginState*,
                                      const framework::NodeSet& feasible) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet& feasible, framework::ScoreColumn&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back(kReason);
  }

 private:
  // What a pod's tolerations make of each taint set.
  struct Answers {
    std::vector<uint8_t> forbids;      // by taint set
    std::vector<int64_t> untolerated;  // PreferNoSchedule taints not tolerated, by taint set
  };
  struct State;

  mutable cluster::PerShape<Answers> answers_;  // touched only in BeginCycle
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::taint_toleration
