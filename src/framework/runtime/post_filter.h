// The PostFilter point: plugins that may preempt pods for a pod that fits nowhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "framework/points/preemption_candidates.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"

namespace berth::framework {

// Calls the PostFilter plugins of the cycle's profile in turn. Success: `result` holds the
// proposal. Otherwise the reasons of all called plugins, which are appended to the failure message.
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
  // Resumes with the remaining candidates, or with the reason why the review failed. Returns as Run
  // does.
  bool Resume(std::vector<PreemptionCandidate> candidates);
  bool ResumeFailed(std::string_view why);

  const Status& status() const { return status_; }
  const PostFilterResult& result() const { return result_; }

 private:
  // True: the current plugin ended the run.
  bool Take(Status status, PostFilterResult own);
  // Continues with the current plugin or the next. Returns as Run does.
  bool Next();
  bool Reviewed(Status status, PostFilterResult own);
  void End(Status status);

  Cycle& cycle_;
  cluster::Cluster& cluster_;
  const Diagnosis& diagnosis_;
  std::optional<WatchedPoint> point_;
  size_t at_ = 0;  // the current plugin
  std::vector<PreemptionCandidate> candidates_;
  PreemptionPlugin* reviewed_ = nullptr;
  PostFilterResult own_;  // of the plugin under review
  std::vector<std::string> reasons_;
  std::string_view first_;
  Status status_;
  PostFilterResult result_;
};

}  // namespace berth::framework
