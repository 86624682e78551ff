// PreemptionToleration (of scheduler-plugins): preemption that spares pods whose PriorityClass says
// so, by the preemptor's priority and by the time since the pod was scheduled.
//
// It stands in for DefaultPreemption, which a profile disables beside it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "config/args/preemption_toleration_args.h"
#include "framework/points/device_claims.h"
#include "framework/runtime/profile.h"
#include "plugins/default_preemption/evaluator.h"
#include "plugins/preemption_toleration/toleration_policy.h"

namespace berth::plugins::preemption_toleration {

inline constexpr std::string_view kName = config::PreemptionTolerationArgs::kPlugin;

class PreemptionToleration final : public framework::PostFilterPlugin,
                                   public framework::PreemptionPlugin,
                                   public framework::TimeAwarePlugin,
                                   private default_preemption::VictimPolicy {
 public:
  PreemptionToleration(const config::PreemptionTolerationArgs& args, uint64_t seed)
      : args_(args), random_(seed) {}

  std::string_view Name() const override { return kName; }
  void SetTime(const api::Time& now) override { now_ = now; }

  framework::Status PostFilter(framework::Cycle& cycle, cluster::Cluster& cluster,
                               const framework::Diagnosis& diagnosis,
                               framework::PostFilterResult* result) override;
  framework::Status FindCandidates(framework::Cycle& cycle, cluster::Cluster& cluster,
                                   const framework::Diagnosis& diagnosis,
                                   std::vector<framework::PreemptionCandidate>* candidates,
                                   framework::PostFilterResult* result) override;
  framework::Status PickCandidate(const cluster::Cluster& cluster,
                                  const std::vector<framework::PreemptionCandidate>& candidates,
                                  framework::PostFilterResult* result) override;
  framework::Status ReviewFailed(std::string_view why) const override;

 private:
  struct KnownClass {
    bool exists = false;
    std::optional<TolerationPolicy> policy;
  };

  framework::Status PotentialVictims(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                                     cluster::NodeIndex node,
                                     std::vector<cluster::PodId>* pods) override;
  const KnownClass& ClassOf(const cluster::Cluster& cluster, const std::string& name);
  bool Spares(const TolerationPolicy& policy, const cluster::Pod& victim, int32_t priority) const;

  const config::PreemptionTolerationArgs args_;
  Random random_;
  default_preemption::Evaluator evaluator_;
  api::Time now_ = api::Time::FromUnixNano(0);
  std::map<std::string, KnownClass, std::less<>> classes_;  // of classes_generation_
  uint64_t classes_generation_ = UINT64_MAX;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::preemption_toleration
