// TopologicalSort (of scheduler-plugins): pods of one AppGroup in the order that the group's status
// gives their workloads, all others by priority and time.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "config/args/network_aware_args.h"
#include "framework/runtime/profile.h"
#include "plugins/common/app_group.h"

namespace berth::plugins::topological_sort {

inline constexpr std::string_view kName = config::TopologicalSortArgs::kPlugin;

class TopologicalSort final : public framework::QueueSortPlugin {
 public:
  // REQUIRES: arguments with defaults.
  explicit TopologicalSort(const config::TopologicalSortArgs& args) : args_(args) {}

  std::string_view Name() const override { return kName; }
  // Of two pods of one workload each goes before the other, as in the original. A group that does
  // not exist orders nothing, where the original crashes.
  bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued, const cluster::Pod& b,
            int64_t b_queued) const override;

 private:
  const config::TopologicalSortArgs args_;
  mutable AppGroups groups_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::topological_sort
