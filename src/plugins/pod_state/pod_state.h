// PodState (of scheduler-plugins): prefers nodes that pods are about to leave and avoids nodes that
// are promised to others. The score is the number of terminating pods minus that of nominated ones.
#pragma once

#include <memory>
#include <string_view>

#include "framework/runtime/profile.h"

namespace berth::plugins::pod_state {

inline constexpr std::string_view kName = "PodState";

// Nominations are not a part of the node, so results are never cached: DependsOn() is everything.
class PodState final : public framework::ScorePlugin {
 public:
  std::string_view Name() const override { return kName; }

  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet& feasible, framework::ScoreColumn&) const override;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::pod_state
