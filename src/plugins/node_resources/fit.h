// NodeResourcesFit: a node must have enough of every requested resource; how full it gets decides
// how much it is wanted.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "framework/points/node_capacity.h"
#include "framework/points/pod_group.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/node_resources/allocation.h"
#include "plugins/node_resources/device_totals.h"

namespace berth::plugins::node_resources {

inline constexpr std::string_view kFitName = "NodeResourcesFit";

class Fit final : public framework::PreFilterPlugin,
                  public framework::FilterPlugin,
                  public framework::PreScorePlugin,
                  public framework::ScorePlugin,
                  public framework::PlacementScorePlugin,
                  public framework::NodeCapacityPlugin,
                  public framework::EnqueueExtensions {
 public:
  Fit(const config::NodeResourcesFitArgs& args, const cluster::Cluster& cluster,
      const config::DraFeatures& features);

  std::string_view Name() const override { return kFitName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnNodePods; }
  std::unique_ptr<framework::PluginState> NewState() const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  int64_t MorePods(const framework::CycleContext&, const framework::PluginState*,
                   cluster::NodeIndex node) const override;
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  // How full the placement gets as a whole: fuller is better, whatever the strategy for nodes.
  framework::Status ScorePlacement(const cluster::Cluster&, const framework::PodGroupInfo&,
                                   const framework::Placement&,
                                   std::span<const framework::ProposedAssignment> assignments,
                                   int64_t* score) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

 private:
  struct State;

  bool IsIgnored(const std::string& resource) const;

  const config::DraFeatures features_;
  std::vector<std::string> ignored_resources_;
  std::vector<std::string> ignored_groups_;
  Strategy strategy_ = Strategy::kLeastAllocated;
  std::vector<ScoredSpec> scored_;
  UtilizationScores utilization_scores_{};
  mutable DeviceTotals devices_;
};

Result<std::unique_ptr<framework::Plugin>> MakeFit(const config::PluginArgs&,
                                                   const framework::PluginHandle&);

}  // namespace berth::plugins::node_resources
