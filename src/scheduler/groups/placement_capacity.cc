#include "scheduler/groups/placement_capacity.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/wrap.h"
#include "framework/points/label_aware.h"
#include "framework/points/node_capacity.h"

namespace berth::scheduler {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using framework::NodeSet;

// Plugins that look at what a placement gets, and not at which nodes.
bool ScoresCountOnly(const framework::Profile& profile) {
  constexpr std::array<std::string_view, 2> kKnown = {"NodeResourcesFit", "PodGroupPodsCount"};
  return std::ranges::all_of(profile.placement_score, [&](const auto& served) {
    return std::ranges::find(kKnown, served.plugin->Name()) != kKnown.end();
  });
}

// The plugin that grows with the number of pods, and says nothing else.
bool GangsCountOnly(const framework::Profile& profile) {
  return std::ranges::all_of(profile.placement_feasible, [](const auto& served) {
    return served.plugin->Name() == "GangScheduling";
  });
}

// How a filter takes part: it does not, it says the same of a node however many pods of the group
// it has, or it counts.
enum class Part : uint8_t { kNone, kNodeOnly, kCounts, kOther };

Part PartOf(const framework::Cycle& cycle, const framework::FilterPlugin& plugin, uint8_t index) {
  if (cycle.FilterSkipped(index)) return Part::kNone;
  constexpr uint32_t kNodeAlone = framework::kOnNodeObject | framework::kOnPodLabels;
  if ((plugin.DependsOn() & ~kNodeAlone) == 0) return Part::kNodeOnly;
  return dynamic_cast<const framework::NodeCapacityPlugin*>(&plugin) != nullptr ? Part::kCounts
                                                                                : Part::kOther;
}

// A plugin that is asked elsewhere too is one whose filter is known not to mind.
bool FilterAllows(const framework::Cycle& cycle, uint8_t index, bool must_skip) {
  for (const auto& [plugin, at] : cycle.profile().filter) {
    if (at != index) continue;
    const Part part = PartOf(cycle, *plugin, at);
    return must_skip ? part == Part::kNone : part != Part::kOther;
  }
  return false;
}

bool PluginsAllow(const framework::Cycle& cycle) {
  const framework::Profile& profile = cycle.profile();
  return std::ranges::all_of(profile.filter,
                             [&](const auto& served) {
                               return PartOf(cycle, *served.plugin, served.index) != Part::kOther;
                             }) &&
         std::ranges::all_of(
             profile.pre_filter,
             [&](const auto& served) { return FilterAllows(cycle, served.index, false); }) &&
         std::ranges::all_of(profile.reserve, [&](const auto& served) {
           return FilterAllows(cycle, served.index, true);
         });
}

}  // namespace

std::optional<PlacementCapacity> PlacementCapacity::Of(framework::Cycle& cycle,
                                                       cluster::Cluster& cluster,
                                                       const framework::PodGroupInfo& info) {
  if (!cluster.Nominated().Empty() || !ScoresCountOnly(cycle.profile()) ||
      !GangsCountOnly(cycle.profile())) {
    return std::nullopt;
  }
  PlacementCapacity capacity;
  capacity.pods_ = static_cast<int64_t>(info.unscheduled.size());
  for (const PodId id : info.unscheduled) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (!pod.nominated_node_name.empty()) return std::nullopt;
    auto kind = std::ranges::find(capacity.kinds_, pod.shape, [&](const Kind& known) {
      return cluster.GetPod(known.first).shape;
    });
    if (kind == capacity.kinds_.end()) {
      if (capacity.kinds_.size() == kMaxKinds) return std::nullopt;
      kind = capacity.kinds_.insert(kind, {.first = id, .pods = 0, .more = {}});
    }
    ++kind->pods;
  }
  capacity.slots_.assign(cluster.Rows(), 0);
  cluster.Nodes().ForEach([&](NodeIndex n) {
    capacity.slots_[n] =
        std::max<int64_t>(0, WrapSub(cluster.AllowedPods()[n], cluster.PodCount()[n]));
  });
  for (Kind& kind : capacity.kinds_) {
    if (!capacity.Count(cycle, cluster, kind)) return std::nullopt;
  }
  return capacity;
}

// False: some plugin does not allow to count.
bool PlacementCapacity::Count(framework::Cycle& cycle, cluster::Cluster& cluster, Kind& kind) {
  cycle.Begin(cluster, cluster.GetPod(kind.first));
  const bool goes_on = cycle.RunPreFilter().Ok() && cycle.restriction().all_nodes;
  if (!goes_on || !PluginsAllow(cycle)) return false;
  struct Counter {
    const framework::NodeCapacityPlugin* plugin;
    const framework::PluginState* state;
  };
  std::vector<Counter> counters;
  for (const auto& [plugin, index] : cycle.profile().filter) {
    if (PartOf(cycle, *plugin, index) != Part::kCounts) continue;
    counters.push_back(
        {dynamic_cast<const framework::NodeCapacityPlugin*>(plugin), cycle.state(index)});
  }
  if (counters.empty()) return false;
  NodeSet fits = cluster.Nodes();
  cycle.RunFilter(fits);
  kind.more.assign(cluster.Rows(), 0);
  bool all_say = true;
  fits.ForEach([&](NodeIndex n) {
    int64_t more = pods_;
    for (const Counter& counter : counters) {
      const int64_t own = counter.plugin->MorePods(cycle.context(), counter.state, n);
      all_say = all_say && own > 0;  // it has let one pass
      more = std::min(more, own);
    }
    kind.more[n] = more;
  });
  return all_say;
}

PlacementCapacity::Range PlacementCapacity::Places(const NodeSet& nodes) const {
  std::vector<int64_t> of_kind(kinds_.size(), 0);
  int64_t of_largest = 0;  // pods that ask for the most of everything
  int64_t of_any = 0;
  nodes.ForEach([&](NodeIndex n) {
    int64_t fewest = pods_;
    int64_t sum = 0;
    for (size_t k = 0; k < kinds_.size(); ++k) {
      const int64_t more = kinds_[k].more[n];
      fewest = std::min(fewest, more);
      sum += more;
      of_kind[k] = std::min(kinds_[k].pods, of_kind[k] + more);
    }
    of_largest = std::min(pods_, of_largest + fewest);
    of_any = std::min(pods_, of_any + std::min(slots_[n], sum));
  });
  int64_t alone = 0;
  for (const int64_t pods : of_kind) alone += pods;
  const bool equal = kinds_.size() == 1;
  const bool all = of_largest == pods_;
  return {.least = equal || all ? of_largest : 0, .most = std::min(alone, of_any)};
}

}  // namespace berth::scheduler
