// What InterPodAffinity derives from a pod's shape, and what it keeps for one cycle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/wrap.h"
#include "plugins/common/domain_counts.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity/many_terms.h"

namespace berth::plugins::inter_pod_affinity {

using cluster::CounterHandle;
using cluster::LabelColumn;
using cluster::PodPredicate;
using framework::Status;

// A term of the incoming pod, counted by itself.
struct InterPodAffinity::CountedTerm {
  PodPredicate predicate;
  const LabelColumn* column;
  int64_t weight;
  CounterHandle handle;
};

// What is derived from a pod's shape.
struct InterPodAffinity::Compiled {
  // With the pod's own spec, all that the terms are made from.
  uint64_t namespaces_generation = 0;
  std::string error;
  bool has_preferred = false;  // as written, parsed or not

  // Required affinity: one pod must match all terms, so they are one predicate.
  PodPredicate affinity;
  CounterHandle affinity_handle;
  std::vector<const LabelColumn*> affinity_columns;  // distinct
  bool matches_itself = false;

  std::vector<CountedTerm> anti_affinity;
  std::vector<CountedTerm> preferred;

  // Instead of all these, if there are very many terms.
  struct Many {
    uint64_t nodes_seen = 0;  // TopologyCounters::Generation() when it was compiled
    ManyTerms affinity{/*joint=*/true};
    ManyTerms anti_affinity;
    ManyTerms preferred;
  };
  std::unique_ptr<Many> many;
  bool has_affinity = false;       // required
  bool has_anti_affinity = false;  // required

  // Terms of placed pods that speak about this shape.
  uint64_t terms_seen = 0;
  std::vector<CounterHandle> repelling;  // required anti-affinity
  std::vector<CounterHandle> scoring;    // all others
};

struct InterPodAffinity::State final : framework::PluginState {
  Compiled* compiled = nullptr;
  // Filter: pods by domain.
  DomainTable<int32_t> existing;  // required anti-affinity of placed pods that matches the pod
  DomainTable<int32_t> anti_affinity;
  DomainTable<int32_t> affinity;  // one per key, in the order of affinity_columns
  int64_t existing_total = 0;
  int64_t affinity_total = 0;
  // Score: weights by domain.
  DomainTable<int64_t> score;
  // For classes of pods: is there anything to filter or score by?
  bool filters = false;
  Status scores;
};

inline int64_t Normalized(int64_t score, int64_t smallest, int64_t spread) {
  const double share = static_cast<double>(WrapSub(score, smallest)) / static_cast<double>(spread);
  return TruncToInt64(static_cast<double>(framework::kMaxNodeScore) * share);
}

}  // namespace berth::plugins::inter_pod_affinity
