// What PodTopologySpread derives from a pod's shape, and what it keeps for one cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/wrap.h"
#include "plugins/common/domain_counts.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins::pod_topology_spread {

using cluster::LabelColumn;
using framework::NodeSet;

struct PodTopologySpread::CompiledConstraint {
  Constraint constraint;
  const LabelColumn* column;
  bool is_hostname;
  bool matches_itself;  // the pod counts among the pods it spreads over
  cluster::PodPredicate predicate;
  cluster::CounterHandle handle;
  std::shared_ptr<EligibleNodes> eligible;
  std::shared_ptr<EligibleNodes> candidates;  // the same without policies
};

// A constraint of a list that no node can satisfy: what it makes of a node by itself.
struct HopelessConstraint {
  cluster::StringId key;
  bool refuses_all;  // not even an empty domain is within its skew
};

struct PodTopologySpread::CompiledList {
  std::string error;
  std::vector<CompiledConstraint> constraints;
  bool requires_all_keys = true;  // nodes that lack a key are left out

  // A long list names keys that no node has together: no node counts, so nothing is counted and no
  // column is made for the keys. Instead of `constraints`, until the nodes' labels change.
  bool hopeless = false;
  std::vector<HopelessConstraint> refusals;
};

// The constraints of pods of one kind. Their labels decide little of them, so that pods which
// differ in labels mostly have them in common.
struct PodTopologySpread::Lists {
  // For pods without constraints of their own: by what the default ones select, and what that was
  // made from.
  OwnerGenerations generations{};
  api::StringMap service_labels;
  api::Selector selector;

  bool reads_labels = false;  // some selector depends on the pod's labels
  uint64_t nodes_seen = 0;    // TopologyCounters::Generation() when it was compiled
  CompiledList hard;
  CompiledList soft;

  bool Hopeless() const { return hard.hopeless || soft.hopeless; }
};

// What is derived from a pod's shape.
struct PodTopologySpread::Compiled {
  // For pods without constraints of their own: what the default ones depend on.
  bool from_defaults = false;
  OwnerGenerations generations{};
  api::StringMap service_labels;

  std::shared_ptr<Lists> lists;
};

// Pods per domain of a constraint that must hold.
struct PodTopologySpread::HardState {
  CompiledConstraint* constraint = nullptr;
  DomainCounts<int32_t> counts;
  int64_t least = 0;      // of all eligible domains
  size_t with_least = 0;  // how many domains have that count
  int64_t limit = 0;      // a node whose domain has more is refused

  void FindLeast() {
    least = std::numeric_limits<int32_t>::max();
    with_least = 0;
    for (const uint32_t code : constraint->eligible->Domains()) {
      const int64_t count = counts.Get(code);
      if (count < least) {
        least = count;
        with_least = 0;
      }
      with_least += count == least;
    }
  }
  void SetLimit() {
    const Constraint& c = constraint->constraint;
    const auto domains = static_cast<int64_t>(constraint->eligible->Domains().size());
    const int64_t floor = domains < c.min_domains ? 0 : least;
    limit = c.max_skew + floor - (constraint->matches_itself ? 1 : 0);
  }
  void Change(uint32_t code, int32_t delta) {
    const int64_t before = counts.Get(code);
    const int64_t after = before + delta;
    counts.Add(code, delta);
    if (after < least) {
      least = after;
      with_least = 1;
    } else {
      if (before == least) --with_least;
      if (after == least) ++with_least;
      if (with_least == 0) FindLeast();
    }
    SetLimit();
  }
};

// What a constraint that should hold adds to the score of a node.
struct PodTopologySpread::SoftState {
  const LabelColumn* column = nullptr;
  double weight = 0;              // of one pod
  double base = 0;                // of the constraint itself
  std::vector<int64_t> rounded;   // of_domain, if there is no other constraint
  std::vector<double> of_domain;  // by code; 0 for nodes without the label
  const int32_t* pods = nullptr;  // by row, instead of of_domain

  // For pod classes: the components of a node's traits.
  const cluster::PodCounter* counter = nullptr;
  const cluster::IndexCounts* domains = nullptr;

  std::vector<int32_t> pods_memory;  // what `pods` points to, unless a counter's own
  std::vector<uint32_t> touched;     // in pods_memory
};

struct PodTopologySpread::State final : framework::PluginState {
  Compiled* compiled = nullptr;
  std::vector<HardState> hard;
  std::vector<SoftState> soft;
  size_t hard_count = 0;
  size_t soft_count = 0;
  const NodeSet* scored = nullptr;  // nodes outside are ignored; null: none is
  NodeSet nobody;                   // what `scored` points to when all are
  std::vector<uint8_t> seen;        // by code
  std::vector<uint32_t> seen_codes;
};

// kube-scheduler marks nodes it ignores with this score, and so ignores nodes that have it.
inline constexpr int64_t kIgnored = -1;

// The scores that count, and what they make of one score.
struct Extent {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  int64_t largest = 0;

  void Add(int64_t score) {
    smallest = std::min(smallest, score);
    largest = std::max(largest, score);
  }
  int64_t Normalized(int64_t score) const {
    if (score == kIgnored) return 0;
    if (largest == 0) return framework::kMaxNodeScore;
    const int64_t left = WrapSub(WrapAdd(largest, smallest), score);
    return WrapDiv(WrapMul(framework::kMaxNodeScore, left), largest);
  }
};

}  // namespace berth::plugins::pod_topology_spread
