// NodeResourcesAllocatable (of scheduler-plugins): prefers nodes with the least, or the most,
// allocatable resources, whatever of them is in use.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "config/args/node_resources_allocatable_args.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::node_resources_allocatable {

inline constexpr std::string_view kName = config::NodeResourcesAllocatableArgs::kPlugin;

class NodeResourcesAllocatable final : public framework::ScorePlugin {
 public:
  // `cluster` gets a column for every resource that counts. REQUIRES: valid arguments.
  NodeResourcesAllocatable(const config::NodeResourcesAllocatableArgs& args,
                           cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }

  // The weighted mean of the allocatable amounts, negative in mode Least.
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;

 private:
  bool most_;
  std::vector<std::pair<cluster::ResourceId, int64_t>> weights_;
  int64_t sum_of_weights_ = 0;  // of all resources, those that no node can have too
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_resources_allocatable
