// PreemptionCandidate, and preemption in two steps, so that extenders can review the candidates in
// between.
#pragma once

#include <cstdint>
#include <vector>

#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"

namespace berth::framework {

// The victims on one node, if the pod fits there without them.
struct PreemptionCandidate {
  cluster::NodeIndex node = cluster::kNoNode;
  std::vector<cluster::PodId> victims;  // most important first
  int64_t pdb_violations = 0;
};

// A PostFilter plugin that preempts. Its PostFilter is FindCandidates followed by PickCandidate.
class PreemptionPlugin {
 public:
  virtual ~PreemptionPlugin() = default;
  // Success: there are candidates. Otherwise the plugin's status, with `result`.
  virtual Status FindCandidates(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                                std::vector<PreemptionCandidate>* candidates,
                                PostFilterResult* result) = 0;
  // `candidates` may differ from those found, or be empty; each has a victim.
  virtual Status PickCandidate(const cluster::Cluster& cluster,
                               const std::vector<PreemptionCandidate>& candidates,
                               PostFilterResult* result) = 0;
  // The status when the review failed.
  virtual Status ReviewFailed(std::string_view why) const = 0;
};

}  // namespace berth::framework
