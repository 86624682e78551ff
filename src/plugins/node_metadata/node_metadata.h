// NodeMetadata (of scheduler-plugins): scores nodes by a number or a point in time in one of their
// labels or annotations.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/time.h"
#include "config/args/node_metadata_args.h"
#include "framework/points/device_claims.h"
#include "framework/runtime/profile.h"
#include "plugins/node_metadata/go_layout.h"

namespace berth::plugins::node_metadata {

inline constexpr std::string_view kName = config::NodeMetadataArgs::kPlugin;

class NodeMetadata final : public framework::ScorePlugin, public framework::TimeAwarePlugin {
 public:
  // `layout`: of timestamps; nothing: the values are numbers. REQUIRES: valid arguments.
  NodeMetadata(const config::NodeMetadataArgs& args, std::optional<GoLayout> layout,
               cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  void SetTime(const api::Time& now) override { now_ = now; }
  uint32_t DependsOn() const override {
    return layout_ ? uint32_t{framework::kOnEverything} : uint32_t{framework::kOnNodeObject};
  }

  // The number, or the age in seconds; negative where less is better. Nodes without one sort last.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  // The smallest becomes 1, the largest 100; all 1 when all are equal, 0 where there is none.
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  const std::string* ValueOf(const cluster::Cluster& cluster, cluster::NodeIndex node) const;
  int64_t RawScore(const std::string* value) const;

  const std::string key_;
  const bool is_label_;
  const bool negated_;
  const std::optional<GoLayout> layout_;
  const cluster::StringId label_;
  api::Time now_ = api::Time::FromUnixNano(0);
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_metadata
