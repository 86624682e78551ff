#include "plugins/node_resources/fit.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "api/rules/resource_name.h"
#include "base/vectorize.h"
#include "base/wrap.h"
#include "plugins/common/extended_resource.h"

namespace berth::plugins::node_resources {
namespace {

using cluster::NodeIndex;
using framework::Code;

// A verdict's reason and detail together are 48 bits: one for "Too many pods", then one per
// resource asked for. A pod that asks for more kinds than that has its reasons worked out again
// when someone reads them.
constexpr size_t kReasonBits = 48;
constexpr uint16_t kRecompute = 0xffff;

constexpr size_t kLanes = framework::NodeSet::kWordBits;
// Differences of three amounts below this cannot overflow.
constexpr uint64_t kSafe = uint64_t{1} << 61;

// Is there enough of one resource on all 64 nodes? A quick look that answers for most words; false
// may also mean that amounts are too large for it.
BERTH_VECTORIZED bool AllHave(const int64_t* allocatable, const int64_t* requested,
                              int64_t amount) {
  uint64_t seen = static_cast<uint64_t>(amount);
  int64_t lacking = 0;
  for (size_t i = 0; i < kLanes; ++i) {
    const auto a = static_cast<uint64_t>(allocatable[i]);
    const auto r = static_cast<uint64_t>(requested[i]);
    seen |= a | r;
    lacking |= static_cast<int64_t>(a - r - static_cast<uint64_t>(amount));
  }
  return seen < kSafe && lacking >= 0;
}

// The nodes that have not enough, one bit each.
uint64_t Lacking(const int64_t* allocatable, const int64_t* requested, int64_t amount) {
  if (AllHave(allocatable, requested, amount)) return 0;
  uint64_t lacking = 0;
  for (size_t i = 0; i < kLanes; ++i) {
    lacking |= uint64_t{amount > WrapSub(allocatable[i], requested[i])} << i;
  }
  return lacking;
}

bool HasExtendedResource(const cluster::Cluster& cluster, const cluster::Amounts& amounts) {
  return std::any_of(amounts.scalars.begin(), amounts.scalars.end(), [&](const auto& scalar) {
    return scalar.second != 0 && api::IsExtendedResource(cluster.Resources().Name(scalar.first));
  });
}

}  // namespace

struct Fit::State : framework::PluginState {
  // Resources the pod asks for, in the order reasons are given.
  struct Need {
    cluster::ResourceId id;
    const int64_t* allocatable;
    const int64_t* requested;
    int64_t amount;
    bool of_devices = false;  // a node that does not provide it may have devices for it
  };
  const config::DraFeatures* features = nullptr;
  std::vector<Need> needs;
  std::vector<ScoredResource> scored;
  std::vector<DeviceTotals::Columns> of_devices;  // what some of `scored` refer to

  bool TooManyPods(const cluster::Cluster& cluster, NodeIndex n) const {
    return cluster.PodCount()[n] + 1 > cluster.AllowedPods()[n];
  }
  bool Lacks(const cluster::Cluster& cluster, const Need& need, NodeIndex n) const {
    return need.amount > WrapSub(need.allocatable[n], need.requested[n]) &&
           (!need.of_devices || NodeProvides(*features, cluster, n, need.id));
  }
  bool Fails(const cluster::Cluster& cluster, NodeIndex n) const {
    return TooManyPods(cluster, n) ||
           std::any_of(needs.begin(), needs.end(),
                       [&](const Need& need) { return Lacks(cluster, need, n); });
  }
  // The verdict on a node that fails.
  void Reject(const cluster::Cluster& cluster, NodeIndex n, framework::FilterBatch& batch) const;
};

void Fit::State::Reject(const cluster::Cluster& cluster, NodeIndex n,
                        framework::FilterBatch& batch) const {
  uint64_t bits = TooManyPods(cluster, n) ? 1 : 0;
  Code code = Code::kUnschedulable;
  for (size_t i = 0; i < needs.size(); ++i) {
    if (!Lacks(cluster, needs[i], n)) continue;
    if (i + 1 < kReasonBits) bits |= uint64_t{1} << (i + 1);
    // Not even an empty node would do.
    if (needs[i].amount > needs[i].allocatable[n]) code = Code::kUnschedulableAndUnresolvable;
  }
  if (needs.size() + 1 >= kReasonBits) {
    batch.Reject(n, code, n, kRecompute);
  } else {
    batch.Reject(n, code, static_cast<uint32_t>(bits), static_cast<uint16_t>(bits >> 32));
  }
}

Fit::Fit(const config::NodeResourcesFitArgs& args, const cluster::Cluster& cluster,
         const config::DraFeatures& features)
    : features_(features),
      ignored_resources_(args.ignored_resources),
      ignored_groups_(args.ignored_resource_groups),
      devices_(features) {
  if (!args.scoring_strategy) {
    scored_ = {{cluster::kCpu, 1}, {cluster::kMemory, 1}};
    return;
  }
  const config::ScoringStrategy& strategy = *args.scoring_strategy;
  scored_ = ResolveSpecs(cluster, strategy.resources);
  if (strategy.type == "MostAllocated") {
    strategy_ = Strategy::kMostAllocated;
  } else if (strategy.type == "RequestedToCapacityRatio") {
    strategy_ = Strategy::kRequestedToCapacityRatio;
    utilization_scores_ = MakeUtilizationScores(strategy.requested_to_capacity_ratio->shape);
  }
}

std::unique_ptr<framework::PluginState> Fit::NewState() const {
  auto state = std::make_unique<State>();
  state->features = &features_;
  return state;
}

// Only extended resources can be ignored.
bool Fit::IsIgnored(const std::string& resource) const {
  if (ignored_resources_.empty() && ignored_groups_.empty()) return false;
  if (!api::IsExtendedResource(resource)) return false;
  const auto has = [](const std::vector<std::string>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  const std::string_view group = std::string_view(resource).substr(0, resource.find('/'));
  return has(ignored_resources_, resource) || has(ignored_groups_, group);
}

framework::Status Fit::PreFilter(const framework::CycleContext& c, framework::PluginState* state,
                                 framework::PreFilterResult*) const {
  auto& needs = static_cast<State*>(state)->needs;
  needs.clear();
  const auto add = [&](cluster::ResourceId id, int64_t amount) {
    const cluster::ResourceColumn* column = c.cluster.Resource(id);
    needs.push_back({id, column->allocatable.data(), column->requested.data(), amount});
  };
  const cluster::Amounts& fit = c.shape.fit;
  if (fit.cpu > 0) add(cluster::kCpu, fit.cpu);
  if (fit.memory > 0) add(cluster::kMemory, fit.memory);
  if (fit.ephemeral_storage > 0) add(cluster::kEphemeralStorage, fit.ephemeral_storage);
  const bool left_to_devices = features_.extended_resource && !features_.resources_by_class &&
                               !HasExtendedResource(c.cluster, fit);
  for (const auto& [id, amount] : fit.scalars) {
    const std::string& name = c.cluster.Resources().Name(id);
    if (amount == 0 || IsIgnored(name)) continue;
    add(id, amount);
    if (!features_.extended_resource) continue;
    // As in kube-scheduler 1.34, which looks for classes only if there is an extended resource:
    // other resources of a pod without are left to devices too.
    needs.back().of_devices =
        left_to_devices || FindClassOfResource(features_, c.cluster.Objects(), name) != nullptr;
  }
  return {};
}

void Fit::Filter(const framework::CycleContext& c, const framework::PluginState* state,
                 framework::FilterBatch& batch) const {
  const State& s = *static_cast<const State*>(state);
  const int64_t* count = c.cluster.PodCount().data();
  const int64_t* allowed = c.cluster.AllowedPods().data();
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    const uint64_t word = batch.Word(w);
    if (word == 0) continue;
    if (std::has_single_bit(word)) {
      const auto n = static_cast<NodeIndex>(w * kLanes + std::countr_zero(word));
      if (s.Fails(c.cluster, n)) s.Reject(c.cluster, n, batch);
      continue;
    }
    // All 64 rows at once, feasible or not: branch-free beats picking.
    const size_t first = w * kLanes;
    uint64_t failed = Lacking(allowed + first, count + first, 1);
    for (const State::Need& need : s.needs) {
      if (need.of_devices) continue;
      failed |= Lacking(need.allocatable + first, need.requested + first, need.amount);
    }
    for (const State::Need& need : s.needs) {
      if (!need.of_devices) continue;
      framework::NodeSet::ForEachBit(word & ~failed, w, [&](NodeIndex n) {
        if (s.Lacks(c.cluster, need, n)) failed |= uint64_t{1} << (n % kLanes);
      });
    }
    framework::NodeSet::ForEachBit(failed & word, w,
                                   [&](NodeIndex n) { s.Reject(c.cluster, n, batch); });
  }
}

framework::Status Fit::PreScore(const framework::CycleContext& c, framework::PluginState* state,
                                const framework::NodeSet&) const {
  State& own = *static_cast<State*>(state);
  CollectResources(c.cluster, scored_, c.shape.fit_score, /*nonzero=*/true, &own.scored);
  devices_.Apply(c.cluster, &own.scored, &own.of_devices);
  return {};
}

void Fit::Score(const framework::CycleContext&, const framework::PluginState* state,
                framework::ScoreBatch& batch) const {
  const auto& scored = static_cast<const State*>(state)->scored;
  switch (strategy_) {
    case Strategy::kLeastAllocated:
      return ScoreLeastAllocated(scored, batch);
    case Strategy::kMostAllocated:
      return ScoreMostAllocated(scored, batch);
    case Strategy::kRequestedToCapacityRatio:
      return ScoreRatio(scored, utilization_scores_, batch);
  }
}

void Fit::Reasons(const framework::CycleContext& c, const framework::PluginState* state,
                  const framework::Verdict& verdict, std::vector<std::string>* out) const {
  const State& s = *static_cast<const State*>(state);
  const bool recompute = verdict.detail == kRecompute;
  const uint64_t bits = uint64_t{verdict.detail} << 32 | verdict.reason;
  const NodeIndex n = verdict.reason;
  if (recompute ? s.TooManyPods(c.cluster, n) : (bits & 1) != 0) out->emplace_back("Too many pods");
  for (size_t i = 0; i < s.needs.size(); ++i) {
    if (recompute ? s.Lacks(c.cluster, s.needs[i], n) : ((bits >> (i + 1)) & 1) != 0) {
      out->push_back(fmt::format("Insufficient {}", c.cluster.Resources().Name(s.needs[i].id)));
    }
  }
}

Result<std::unique_ptr<framework::Plugin>> MakeFit(const config::PluginArgs& args,
                                                   const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::NodeResourcesFitArgs>(&args);
  return std::make_unique<Fit>(own ? *own : config::NodeResourcesFitArgs(), handle.cluster,
                               handle.behaviour.dra);
}

}  // namespace berth::plugins::node_resources
