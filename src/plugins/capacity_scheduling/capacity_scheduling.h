// CapacityScheduling (of scheduler-plugins): quotas of namespaces that may lend each other what
// they do not use.
//
// An ElasticQuota guarantees its namespace `min` and lets it use up to `max`; all together may not
// use more than the sum of the guarantees. A pod that is within its guarantee preempts pods of
// namespaces that use more than theirs. The plugin stands in for DefaultPreemption, which a profile
// disables beside it.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/capacity_scheduling/quota_ledger.h"
#include "plugins/default_preemption/evaluator.h"

namespace berth::plugins::capacity_scheduling {

inline constexpr std::string_view kName = "CapacityScheduling";

// What the quotas look like to one cycle.
class QuotaState final : public framework::PluginState {
 public:
  bool prepared = false;                // PreFilter has run
  uint32_t quota = QuotaLedger::kNone;  // of the pod
  Amounts request;                      // of the pod
  Amounts with_own_nominated;  // and of the more important pods that are nominated, same quota
  Amounts with_all_nominated;  // and of those of other quotas that are within their guarantee

  // What a quota uses, pods of dry runs included.
  Amounts UsedOf(const QuotaLedger& ledger, uint32_t index) const;
  // Has the quota more than its guarantee?
  bool IsOverMin(const QuotaLedger& ledger, uint32_t index) const;
  // Would the pod's quota be above its maximum with `request`?
  bool IsOverMaxWith(const QuotaLedger& ledger, const Amounts& request) const;
  // Would all quotas together be above all guarantees?
  bool AreAllOverMinWith(const QuotaLedger& ledger, const Amounts& request) const;

  // Pods of dry runs: what they add, by quota.
  std::vector<std::pair<uint32_t, Amounts>> added;
  Amounts& AddedTo(uint32_t index);
};

class CapacityScheduling final : public framework::PreFilterPlugin,
                                 public framework::PostFilterPlugin,
                                 public framework::PreemptionPlugin,
                                 public framework::ReservePlugin,
                                 public framework::EnqueueExtensions,
                                 private default_preemption::VictimPolicy {
 public:
  explicit CapacityScheduling(uint64_t seed) : random_(seed) {}

  std::string_view Name() const override { return kName; }
  // It rejects pods, not nodes.
  uint32_t DependsOn() const override { return 0; }
  std::unique_ptr<framework::PluginState> NewState() const override {
    return std::make_unique<QuotaState>();
  }
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  bool HasExtensions() const override { return true; }
  framework::Status AddPod(const framework::CycleContext&, framework::PluginState*,
                           const cluster::Pod&, cluster::NodeIndex) const override;
  framework::Status RemovePod(const framework::CycleContext&, framework::PluginState*,
                              const cluster::Pod&, cluster::NodeIndex) const override;

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

  // An assumed pod counts because it is on a node.
  framework::Status Reserve(const framework::CycleContext&, framework::PluginState*,
                            cluster::NodeIndex) override {
    return {};
  }
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 cluster::NodeIndex) override {}

 private:
  const QuotaState& StateOf(const framework::Cycle& cycle) const;
  void AddNominated(const framework::CycleContext&, QuotaState*) const;
  std::string NotEligible(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                          const framework::Diagnosis& diagnosis) const;

  framework::Status PotentialVictims(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                                     cluster::NodeIndex node,
                                     std::vector<cluster::PodId>* pods) override;
  void Sort(const cluster::Cluster& cluster, std::vector<cluster::PodId>& pods) const override;
  framework::Status Allows(const framework::Cycle& cycle) override;
  bool MustGo(const framework::Cycle& cycle) override;

  Random random_;
  default_preemption::Evaluator evaluator_;
  mutable QuotaLedger ledger_;
};

cluster::PluginInputs Inputs(const config::PluginArgs&);
Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::capacity_scheduling
