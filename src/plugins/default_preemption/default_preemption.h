// DefaultPreemption: frees capacity for a pod by deleting less important pods from one node.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "framework/points/pod_group.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/default_preemption/known_victims.h"

namespace berth::plugins::default_preemption {

inline constexpr std::string_view kName = "DefaultPreemption";

// Of the candidates, those that hurt least: fewest broken budgets, lowest highest priority, lowest
// sum of priorities, fewest victims, youngest important victims. More than one when they are equal
// in all of that.
std::vector<size_t> LeastHarmful(const cluster::Cluster& cluster,
                                 const std::vector<Candidate>& candidates);

// What a successful preemption says, from 1.37 on.
std::string FoundMessage(std::string_view node, size_t victims);

class DefaultPreemption final : public framework::PostFilterPlugin,
                                public framework::PreemptionPlugin,
                                public framework::PodGroupPostFilterPlugin,
                                public framework::PreEnqueuePlugin,
                                public framework::EnqueueExtensions {
 public:
  DefaultPreemption(const config::DefaultPreemptionArgs& args, uint64_t seed,
                    const config::Behaviour& behaviour = {})
      : args_(args),
        has_message_(behaviour.preemption_has_message),
        units_(behaviour),
        group_policy_(behaviour.pod_group_preemption_policy),
        random_(seed),
        budgets_(behaviour.victims_stop_at_first_budget) {}

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

  // Holds a pod back while its victims are being deleted.
  framework::Status PreEnqueue(const cluster::Cluster&, const cluster::Pod& pod) const override {
    if (!pod.preempting) return {};
    const bool in_group = units_.groups && cluster::GroupNameOf(pod) != nullptr;
    return framework::Status::Unresolvable(
        in_group ? "waiting for the preemption for this pod group to be finished"
                 : "waiting for the preemption for this pod to be finished");
  }

  framework::Status PostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                               const framework::Diagnosis& diagnosis,
                               framework::PostFilterResult* result) override;
  framework::Status FindCandidates(framework::Cycle& cycle, cluster::Cluster& cluster,
                                   const framework::Diagnosis& diagnosis,
                                   std::vector<Candidate>* candidates,
                                   framework::PostFilterResult* result) override;
  framework::Status PickCandidate(const cluster::Cluster& cluster,
                                  const std::vector<Candidate>& candidates,
                                  framework::PostFilterResult* result) override;
  framework::Status ReviewFailed(std::string_view why) const override;
  // For a whole group, in the whole cluster.
  framework::Status PodGroupPostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                                       const framework::PodGroupInfo& info,
                                       framework::PodGroupTrial& trial,
                                       framework::PodGroupPostFilterResult* result) override;

  // For reports: the candidates of the cycle's pod on all nodes. Proposes nothing and leaves the
  // cluster unchanged. Empty when the pod may not preempt.
  struct Report {
    std::vector<Candidate> candidates;
    std::vector<size_t> best;  // positions in candidates
    std::vector<std::pair<cluster::NodeIndex, framework::Status>> not_candidates;
  };
  Report Evaluate(framework::Cycle& cycle, cluster::Cluster& cluster,
                  const framework::Diagnosis& diagnosis);

  // Why the pod may not preempt at all; empty when it may.
  static std::string NotEligible(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                                 const framework::Diagnosis& diagnosis);

  const KnownVictims& known() const { return known_; }
  // For tests: off, every node is dry-run every time.
  void set_reuse(bool reuse) { known_.set_enabled(reuse); }

 private:
  framework::Status Find(framework::Cycle& cycle, cluster::Cluster& cluster,
                         const framework::Diagnosis& diagnosis,
                         framework::PostFilterResult* result);
  size_t CandidatesWanted(size_t nodes) const;
  framework::Status Propose(const cluster::Cluster& cluster, const Candidate& chosen,
                            framework::PostFilterResult* result) const;

  config::DefaultPreemptionArgs args_;
  const bool has_message_;  // of what was found
  const UnitRules units_;
  const bool group_policy_;  // preemptionPolicy is that of the group, not of its pods
  Random random_;
  DisruptionBudgets budgets_;
  KnownVictims known_;
  std::vector<const Finding*> found_;      // candidates, in known_
  std::vector<const Finding*> least_;      // scratch
  std::vector<cluster::NodeIndex> nodes_;  // scratch
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::default_preemption
