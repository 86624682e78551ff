// VolumeBinding: a pod runs where its volumes can be reached, and where those it still lacks can be
// bound or provisioned.
//
// Reserve decides for the chosen node which volume each waiting claim gets, or that one is to be
// provisioned there, and assumes it: the next pods see the decision. What has to be written to the
// API server before the pod may be bound, and what to wait for after that, is handed over as plain
// data.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "config/minor_rules.h"
#include "framework/points/claim_aware.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/common/utilization_scores.h"
#include "plugins/volume_binding/pod_volumes.h"

namespace berth::plugins::volume_binding {

inline constexpr std::string_view kName = "VolumeBinding";

// What Reserve decided for a pod. Everything in it must be written before the pod is bound.
struct ReservedVolumes {
  struct Binding {
    std::shared_ptr<const api::PersistentVolumeClaim> claim;
    // With claimRef and, unless a user had bound it, the annotation bound-by-controller.
    std::shared_ptr<const api::PersistentVolume> volume;
  };
  std::string node;
  std::vector<Binding> bindings;
  // With the annotation selected-node: their volumes are to be provisioned.
  std::vector<std::shared_ptr<const api::PersistentVolumeClaim>> provisions;
};

class VolumeBinding final : public framework::PreFilterPlugin,
                            public framework::FilterPlugin,
                            public framework::ClaimAwarePlugin,
                            public framework::PreScorePlugin,
                            public framework::ScorePlugin,
                            public framework::ReservePlugin,
                            public framework::PreBindPlugin,
                            public framework::EnqueueExtensions {
 public:
  explicit VolumeBinding(const config::VolumeBindingArgs& args,
                         const config::MinorRules& rules = {});

  std::string_view Name() const override { return kName; }
  // With a shape to score by, every pod has a score.
  uint32_t Concerns() const override {
    return scores_ ? framework::kEveryPod : uint32_t{cluster::kHasVolumes};
  }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnVolumes; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  // Where bound volumes can be reached from, and where those that are lacking can be provisioned.
  // Claims that wait and could have volumes that are there are like no other.
  bool AppendClaims(const framework::CycleContext&, framework::PluginState*,
                    std::vector<int64_t>* out) const override;
  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;
  const cluster::RowLog* ChangedRows() const override { return &view_.migrated.Changes(); }
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

  // By how full storage would be, if the arguments have a shape for that.
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  std::optional<int64_t> UniformScore(const framework::CycleContext&, framework::PluginState*,
                                      const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;

  framework::Status Reserve(const framework::CycleContext&, framework::PluginState*,
                            framework::NodeIndex node) override;
  // Also after the state has gone on to another pod: what was reserved is known by the pod's uid.
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 framework::NodeIndex node) override;
  std::unique_ptr<framework::PreBindTask> PreparePreBind(const framework::CycleContext&,
                                                         framework::PluginState*,
                                                         framework::NodeIndex node) override;
  bool AllowsParallel() const override { return true; }

  // What Reserve decided for the pod; null when its volumes needed nothing. Good until Unreserve or
  // Release.
  const ReservedVolumes* Reserved(std::string_view pod_uid) const;
  // The same for the pod this state was last used for.
  static const ReservedVolumes* Reserved(const framework::PluginState& state);
  // The decision has been carried out and is no longer needed; assumed objects stay until the API
  // server's objects replace them.
  void Release(std::string_view pod_uid);

  const config::MinorRules& Rules() const { return rules_; }
  // How long to wait, after writing, for all claims to be bound.
  int64_t BindTimeoutSeconds() const { return bind_timeout_seconds_; }

 private:
  Result<void> Assume(const cluster::Cluster& cluster, const Decision& decision,
                      ReservedVolumes* reserved);
  void Revert(const cluster::Cluster& cluster, const ReservedVolumes& reserved);

  int64_t bind_timeout_seconds_;
  config::MinorRules rules_;
  std::optional<UtilizationScores> scores_;
  // Derived from the cluster and brought up to date at the start of a cycle; holds what is assumed.
  mutable VolumeView view_;
  // Shared with the state of the cycle that reserved it.
  boost::unordered_flat_map<std::string, std::shared_ptr<const ReservedVolumes>> reserved_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::volume_binding
