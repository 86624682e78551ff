// The PostFilter point: the plugins that may make room for a pod no node can take.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/points/preemption_candidates.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"

namespace berth::framework {

// Asks the PostFilter plugins of the cycle's profile in turn. Success: `result` says what to do.
// Otherwise the reasons of all that were asked, whose text goes behind the failure message.
// `cluster` is the one the cycle runs on.
Status RunPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                     PostFilterResult* result);

// The same, with a pause whenever a plugin has found candidates for preemption: the caller may
// change them before the plugin picks one. All arguments outlive the run.
class ReviewedPostFilter {
 public:
  ReviewedPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis)
      : cycle_(cycle), cluster_(cluster), diagnosis_(diagnosis) {}

  // True: the run is over, see status() and result(). False: candidates() wait for Resume.
  bool Run();
  const std::vector<PreemptionCandidate>& candidates() const { return candidates_; }
  // Goes on with the candidates that are left, or with why there could be no review. As Run.
  bool Resume(std::vector<PreemptionCandidate> candidates);
  bool ResumeFailed(std::string_view why);

  const Status& status() const { return status_; }
  const PostFilterResult& result() const { return result_; }

 private:
  // True: the plugin at work had the last word.
  bool Take(Status status, PostFilterResult own);
  // Goes on with the plugin at work, or with the next; as Run.
  bool Next();
  bool Reviewed(Status status, PostFilterResult own);
  void End(Status status);

  Cycle& cycle_;
  cluster::Cluster& cluster_;
  const Diagnosis& diagnosis_;
  std::optional<WatchedPoint> point_;
  size_t at_ = 0;  // the plugin at work
  std::vector<PreemptionCandidate> candidates_;
  PreemptionPlugin* reviewed_ = nullptr;
  PostFilterResult own_;  // of the plugin under review
  std::vector<std::string> reasons_;
  std::string_view first_;
  Status status_;
  PostFilterResult result_;
};

}  // namespace berth::framework
