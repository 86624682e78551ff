// ImageLocality: prefers nodes that already hold the pod's images, the more so the larger and the
// wider spread they are.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "framework/runtime/profile.h"

namespace berth::plugins::image_locality {

inline constexpr std::string_view kName = "ImageLocality";

// Score of a node whose images add up to `sum`, for a pod with `containers` containers.
int64_t ScoreOf(int64_t sum, int64_t containers);

class ImageLocality final : public framework::ScorePlugin, public framework::ClassAwarePlugin {
 public:
  // Whether images that are volumes count for the score, and for the highest one.
  explicit ImageLocality(bool volumes_score = false, bool volumes_raise_limit = false)
      : volumes_score_(volumes_score), volumes_raise_limit_(volumes_raise_limit) {}

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodeCount; }
  std::unique_ptr<framework::PluginState> NewState() const override;

  std::optional<int64_t> UniformScore(const framework::CycleContext&, framework::PluginState*,
                                      const framework::NodeSet& feasible) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;

 private:
  struct State;

  void Prepare(const framework::CycleContext& c, State& state) const;
  int64_t ImageCount(const framework::CycleContext& c) const;
  int64_t ScoreOne(const framework::CycleContext& c, const framework::PluginState* state,
                   cluster::NodeIndex n) const;

  const bool volumes_score_;
  const bool volumes_raise_limit_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::image_locality
