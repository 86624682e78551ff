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
// Unless the node lacks all of them but the first names: then the bits are of those, by id.
constexpr uint16_t kLacksTheRest = 0xfffe;
constexpr cluster::ResourceId kFirstNames = 31;

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
    const int64_t* allocatable;  // null: no node offers it
    const int64_t* requested;
    int64_t amount;
    bool of_devices = false;  // a node that does not provide it may have devices for it

    bool IsNowhere() const { return allocatable == nullptr && amount > 0 && !of_devices; }
  };
  const config::DraFeatures* features = nullptr;
  std::vector<Need> needs;
  std::vector<uint32_t> offered;  // those of `needs` that nodes differ in
  bool fails_everywhere = false;  // for lack of others
  bool devices_may_do = false;    // for some that have no fixed bit
  std::vector<ScoredResource> scored;
  std::vector<DeviceTotals::Columns> of_devices;  // what some of `scored` refer to

  bool TooManyPods(const cluster::Cluster& cluster, NodeIndex n) const {
    return cluster.PodCount()[n] + 1 > cluster.AllowedPods()[n];
  }
  bool Lacks(const cluster::Cluster& cluster, const Need& need, NodeIndex n) const {
    if (need.allocatable == nullptr) return need.IsNowhere();
    return need.amount > WrapSub(need.allocatable[n], need.requested[n]) &&
           (!need.of_devices || NodeProvides(*features, cluster, n, need.id));
  }
  bool Fails(const cluster::Cluster& cluster, NodeIndex n) const {
    return fails_everywhere || TooManyPods(cluster, n) ||
           std::any_of(offered.begin(), offered.end(),
                       [&](uint32_t i) { return Lacks(cluster, needs[i], n); });
  }
  // The verdict on a node that fails.
  void Reject(const cluster::Cluster& cluster, NodeIndex n, framework::FilterBatch& batch) const;
  void RejectMany(const cluster::Cluster& cluster, NodeIndex n, Code code,
                  framework::FilterBatch& batch) const;
};

void Fit::State::Reject(const cluster::Cluster& cluster, NodeIndex n,
                        framework::FilterBatch& batch) const {
  // Not even an empty node would do.
  const auto exceeds = [&](uint32_t i) {
    return needs[i].amount > needs[i].allocatable[n] && Lacks(cluster, needs[i], n);
  };
  const bool hopeless = fails_everywhere || std::any_of(offered.begin(), offered.end(), exceeds);
  const Code code = hopeless ? Code::kUnschedulableAndUnresolvable : Code::kUnschedulable;
  if (needs.size() + 1 >= kReasonBits) return RejectMany(cluster, n, code, batch);
  uint64_t bits = TooManyPods(cluster, n) ? 1 : 0;
  for (size_t i = 0; i < needs.size(); ++i) {
    if (Lacks(cluster, needs[i], n)) bits |= uint64_t{1} << (i + 1);
  }
  batch.Reject(n, code, static_cast<uint32_t>(bits), static_cast<uint16_t>(bits >> 32));
}

// Equal verdicts share their reasons, which are long here.
void Fit::State::RejectMany(const cluster::Cluster& cluster, NodeIndex n, Code code,
                            framework::FilterBatch& batch) const {
  uint32_t bits = TooManyPods(cluster, n) ? uint32_t{1} << kFirstNames : 0;
  bool lacks_the_rest = !devices_may_do;
  for (const uint32_t i : offered) {
    const bool lacks = Lacks(cluster, needs[i], n);
    if (needs[i].id < kFirstNames) {
      bits |= uint32_t{lacks} << needs[i].id;
    } else {
      lacks_the_rest = lacks_the_rest && lacks;
    }
  }
  if (lacks_the_rest) {
    batch.Reject(n, code, bits, kLacksTheRest);
  } else {
    batch.Reject(n, code, n, kRecompute);
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
  auto& own = *static_cast<State*>(state);
  auto& needs = own.needs;
  auto& offered = own.offered;
  needs.clear();
  offered.clear();
  own.fails_everywhere = false;
  own.devices_may_do = false;
  const auto add = [&](cluster::ResourceId id, int64_t amount, bool of_devices) {
    const cluster::ResourceColumn* column = c.cluster.Resource(id);
    own.devices_may_do = own.devices_may_do || (of_devices && id >= kFirstNames);
    if (column != nullptr) {
      offered.push_back(static_cast<uint32_t>(needs.size()));
      needs.push_back(
          {id, column->allocatable.data(), column->requested.data(), amount, of_devices});
    } else {
      needs.push_back({id, nullptr, nullptr, amount, of_devices});
      own.fails_everywhere = own.fails_everywhere || needs.back().IsNowhere();
    }
  };
  const cluster::Amounts& fit = c.shape.fit;
  if (fit.cpu > 0) add(cluster::kCpu, fit.cpu, false);
  if (fit.memory > 0) add(cluster::kMemory, fit.memory, false);
  if (fit.ephemeral_storage > 0) add(cluster::kEphemeralStorage, fit.ephemeral_storage, false);
  const bool left_to_devices = features_.extended_resource && !features_.resources_by_class &&
                               !HasExtendedResource(c.cluster, fit);
  for (const auto& [id, amount] : fit.scalars) {
    const std::string& name = c.cluster.Resources().Name(id);
    if (amount == 0 || IsIgnored(name)) continue;
    // As in kube-scheduler 1.34, which looks for classes only if there is an extended resource:
    // other resources of a pod without are left to devices too.
    const bool of_devices =
        features_.extended_resource &&
        (left_to_devices || FindClassOfResource(features_, c.cluster.Objects(), name) != nullptr);
    add(id, amount, of_devices);
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
    uint64_t failed =
        s.fails_everywhere ? ~uint64_t{0} : Lacking(allowed + first, count + first, 1);
    for (const uint32_t i : s.offered) {
      const State::Need& need = s.needs[i];
      if (need.of_devices) continue;
      failed |= Lacking(need.allocatable + first, need.requested + first, need.amount);
    }
    for (const uint32_t i : s.offered) {
      const State::Need& need = s.needs[i];
      if (!need.of_devices) continue;
      framework::NodeSet::ForEachBit(word & ~failed, w, [&](NodeIndex n) {
        if (s.Lacks(c.cluster, need, n)) failed |= uint64_t{1} << (n % kLanes);
      });
    }
    framework::NodeSet::ForEachBit(failed & word, w,
                                   [&](NodeIndex n) { s.Reject(c.cluster, n, batch); });
  }
}

int64_t Fit::MorePods(const framework::CycleContext& c, const framework::PluginState* state,
                      NodeIndex node) const {
  const State& s = *static_cast<const State*>(state);
  if (s.fails_everywhere) return 0;
  int64_t more =
      std::max<int64_t>(0, WrapSub(c.cluster.AllowedPods()[node], c.cluster.PodCount()[node]));
  for (const uint32_t i : s.offered) {
    const State::Need& need = s.needs[i];
    // What a placed pod adds to its node may differ from what it asks for, while it is resized.
    const bool plain = need.amount > 0 && c.shape.on_node.Get(need.id) == need.amount;
    if (need.of_devices || !plain) return -1;
    const int64_t left = WrapSub(need.allocatable[node], need.requested[node]);
    more = std::min(more, std::max<int64_t>(0, left) / need.amount);
  }
  return more;
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

// The nodes of a placement count as one big node.
framework::Status Fit::ScorePlacement(const cluster::Cluster& cluster,
                                      const framework::PodGroupInfo&,
                                      const framework::Placement& placement,
                                      std::span<const framework::ProposedAssignment> assignments,
                                      int64_t* score) const {
  *score = MostAllocatedOf(cluster, scored_, placement.nodes, [&](cluster::ResourceId id) {
    int64_t wanted = 0;
    for (const auto& [pod, node] : assignments) {
      wanted = WrapAdd(wanted, cluster.GetPod(pod).shape->fit_score.Get(id));
    }
    return wanted;
  });
  return {};
}

void Fit::Reasons(const framework::CycleContext& c, const framework::PluginState* state,
                  const framework::Verdict& verdict, std::vector<std::string>* out) const {
  const State& s = *static_cast<const State*>(state);
  const bool recompute = verdict.detail == kRecompute;
  const bool lacks_the_rest = verdict.detail == kLacksTheRest;
  const uint64_t bits = uint64_t{verdict.detail} << 32 | verdict.reason;
  const NodeIndex n = verdict.reason;
  const auto is_set = [&](size_t bit) { return ((bits >> bit) & 1) != 0; };
  const auto lacks = [&](size_t i) {
    const State::Need& need = s.needs[i];
    if (recompute) return s.Lacks(c.cluster, need, n);
    if (!lacks_the_rest) return is_set(i + 1);
    if (need.id < kFirstNames) return is_set(need.id);
    return need.allocatable != nullptr || need.IsNowhere();
  };
  if (recompute ? s.TooManyPods(c.cluster, n) : is_set(lacks_the_rest ? kFirstNames : 0)) {
    out->emplace_back("Too many pods");
  }
  for (size_t i = 0; i < s.needs.size(); ++i) {
    if (!lacks(i)) continue;
    out->push_back(fmt::format("Insufficient {}", c.cluster.Resources().Name(s.needs[i].id)));
  }
}

Result<std::unique_ptr<framework::Plugin>> MakeFit(const config::PluginArgs& args,
                                                   const framework::PluginHandle& handle) {
  const auto* own = std::get_if<config::NodeResourcesFitArgs>(&args);
  return std::make_unique<Fit>(own ? *own : config::NodeResourcesFitArgs(), handle.cluster,
                               handle.behaviour.dra);
}

}  // namespace berth::plugins::node_resources
