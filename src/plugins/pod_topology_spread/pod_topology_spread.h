// PodTopologySpread: pods of a kind spread evenly over the values of a label.
//
// Constraints that must hold (DoNotSchedule) are a filter: a node is refused when one more pod in
// its domain would put the domain more than maxSkew above the least loaded one. Constraints that
// should hold (ScheduleAnyway) are a score. Pods per domain are counted by
// cluster::TopologyCounters over the nodes the constraint's policies include.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/rules/label_selector.h"
#include "cluster/pods/shape_table.h"
#include "framework/points/label_aware.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/pod_topology_spread/constraints.h"
#include "plugins/pod_topology_spread/eligible_nodes.h"
#include "plugins/pod_topology_spread/service_index.h"

namespace berth::plugins::pod_topology_spread {

inline constexpr std::string_view kName = "PodTopologySpread";
inline constexpr std::string_view kSkewReason =
    "node(s) didn't match pod topology spread constraints";
inline constexpr std::string_view kMissingLabelReason =
    "node(s) didn't match pod topology spread constraints (missing required label)";

class PodTopologySpread final : public framework::PreFilterPlugin,
                                public framework::FilterPlugin,
                                public framework::PreScorePlugin,
                                public framework::ScorePlugin,
                                public framework::LabelAwarePlugin,
                                public framework::EnqueueExtensions {
 public:
  explicit PodTopologySpread(const config::PodTopologySpreadArgs& args);
  ~PodTopologySpread() override;

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override {
    return framework::kOnNodeObject | framework::kOnNodePods | framework::kOnDomainPods |
           framework::kOnNodeCount | framework::kOnPodLabels;
  }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  bool HasExtensions() const override { return true; }
  framework::Status AddPod(const framework::CycleContext&, framework::PluginState*,
                           const cluster::Pod&, framework::NodeIndex) const override;
  framework::Status RemovePod(const framework::CycleContext&, framework::PluginState*,
                              const cluster::Pod&, framework::NodeIndex) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet& feasible, framework::ScoreColumn&) const override;

  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;
  void AppendTraits(const framework::CycleContext&, const framework::PluginState*,
                    framework::NodeIndex, std::vector<int64_t>* out) const override;
  void AppendLabels(const framework::CycleContext&, const framework::PluginState*,
                    std::vector<int64_t>* out) const override;
  framework::Status PreScoreAlike(const framework::CycleContext&, framework::PluginState*,
                                  std::span<const framework::AlikeNodes>) const override;
  void NormalizeAlike(const framework::CycleContext&, const framework::PluginState*,
                      std::span<const framework::AlikeNodes>,
                      std::span<int64_t> scores) const override;

 private:
  struct Compiled;
  struct CompiledConstraint;
  struct CompiledList;
  struct Lists;
  struct HardState;
  struct SoftState;
  struct State;
  // The constraints that must hold, and for default ones what they were made from.
  struct HintConstraints {
    OwnerGenerations generations{};
    Result<std::vector<Constraint>> constraints;
    // For long lists: is a pod selected by any? By serial of its shape.
    mutable boost::unordered_flat_map<uint64_t, bool> selects = {};
  };
  static bool SelectsAny(const HintConstraints& known, const cluster::Pod& pod);

  Compiled Compile(const framework::CycleContext& c) const;
  void UpdateDefaults(const framework::CycleContext& c, Compiled& compiled) const;
  std::shared_ptr<Lists> CompileLists(const framework::CycleContext& c, const Compiled& compiled,
                                      api::Selector selector) const;
  std::shared_ptr<Lists> ListsFor(const framework::CycleContext& c, const Compiled& compiled,
                                  api::Selector selector) const;
  std::shared_ptr<Lists> ListsOfKind(const framework::CycleContext& c,
                                     const Compiled& compiled) const;
  void KeepForKind(const framework::CycleContext& c, const std::shared_ptr<Lists>& lists) const;
  CompiledList CompileList(const framework::CycleContext& c, std::string_view action,
                           const api::Selector& default_selector) const;
  static void FilterHopeless(const framework::CycleContext& c, const CompiledList& list,
                             framework::FilterBatch& batch);
  static void CountSoft(const framework::CycleContext& c, CompiledConstraint& constraint,
                        size_t size, bool may_point, SoftState& soft);
  static void BeginSoft(const CompiledConstraint& constraint, size_t size, SoftState& soft);
  static void CountSoftDomains(const framework::CycleContext& c, CompiledConstraint& constraint,
                               cluster::PodCounter* counter, SoftState& soft);
  static void FinishSoft(State& state);
  static size_t CountDomainsAlike(std::span<const framework::AlikeNodes> feasible,
                                  const CompiledConstraint& constraint,
                                  const framework::NodeSet& candidates, State& state);
  static double SumOf(const State& state, framework::NodeIndex n);
  static void SumUp(const State& state, size_t w, int64_t* scores);
  static void ChangePod(const framework::CycleContext& c, State& state, const cluster::Pod& pod,
                        framework::NodeIndex node, int32_t delta);

  Result<std::vector<Constraint>> HardConstraints(const cluster::Cluster& cluster,
                                                  const cluster::PodShape& shape) const;
  const HintConstraints& ConstraintsForHints(const cluster::Cluster& cluster,
                                             const cluster::PodShape& shape) const;
  Result<framework::Hint> AfterPodChange(const cluster::Cluster&, const cluster::Pod&,
                                         const queue::Event&, bool nominated_count) const;
  Result<framework::Hint> AfterNodeChange(const cluster::Cluster&, const cluster::Pod&,
                                          const queue::Event&) const;

  std::vector<api::TopologySpreadConstraint> defaults_;
  bool system_defaults_;
  // Touched only in BeginCycle.
  mutable cluster::PerShape<Compiled> compiled_;
  mutable EligibleTable eligible_;
  mutable boost::unordered_flat_map<uint64_t, std::shared_ptr<Lists>> of_kind_;  // the last ones
  mutable std::shared_ptr<Lists> unselected_;
  mutable cluster::PerShape<HintConstraints> hint_constraints_;  // touched only in hints
  mutable ServiceIndex services_;                                // touched in both
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::pod_topology_spread
