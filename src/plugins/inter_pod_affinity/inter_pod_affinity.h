// InterPodAffinity: affinity and anti-affinity between pods.
//
// Required terms of the pod and required anti-affinity of the pods already placed are filters;
// preferred terms of both sides, and required affinity of placed pods with hardPodAffinityWeight,
// are scores. All of it is counted per topology domain by cluster::TopologyCounters; a cycle sums
// the counters that concern the pod and looks up each node's domains.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/pods/affinity_term.h"
#include "cluster/pods/shape_table.h"
#include "framework/points/label_aware.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::inter_pod_affinity {

inline constexpr std::string_view kName = "InterPodAffinity";
inline constexpr std::string_view kAffinityReason = "node(s) didn't match pod affinity rules";
inline constexpr std::string_view kAntiAffinityReason =
    "node(s) didn't match pod anti-affinity rules";
inline constexpr std::string_view kExistingAntiAffinityReason =
    "node(s) didn't satisfy existing pods anti-affinity rules";

class NodeLabelKeys;

class InterPodAffinity final : public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::PreScorePlugin,
                               public framework::ScorePlugin,
                               public framework::LabelAwarePlugin,
                               public framework::EnqueueExtensions {
 public:
  explicit InterPodAffinity(const config::InterPodAffinityArgs& args,
                            const config::Behaviour& behaviour = {});
  ~InterPodAffinity() override;

  std::string_view Name() const override { return kName; }
  uint32_t DependsOn() const override {
    return framework::kOnNodeObject | framework::kOnNodePods | framework::kOnDomainPods |
           framework::kOnPodLabels;
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
  struct CountedTerm;
  struct Compiled;
  struct State;
  // The required terms of a pod as hints read them: lists that do not parse are errors.
  struct HintTerms {
    Result<std::vector<cluster::AffinityTerm>> near;
    Result<std::vector<cluster::AffinityTerm>> apart;
    // For long lists, what was found out about other pods: by serial of their shapes.
    struct Found {
      bool near_all;
      bool apart_all;
      bool apart_any;
    };
    mutable boost::unordered_flat_map<uint64_t, Found> found;
  };
  static HintTerms::Found Matches(const HintTerms& terms, const cluster::Pod& pod);

  Compiled Compile(const cluster::Cluster& cluster, const cluster::PodShape& shape) const;
  static void FindTermsOfOthers(const cluster::Cluster& cluster, const cluster::PodShape& shape,
                                Compiled& compiled);
  void CompileMany(const cluster::Cluster& cluster, const cluster::OwnTerms& own,
                   Compiled& compiled) const;
  bool IsIdle(const cluster::Cluster& cluster, const Compiled& compiled,
              const cluster::PlacedTerm* term) const;
  void CountExisting(const framework::CycleContext& c, State& state) const;
  static void CountIncoming(const framework::CycleContext& c, State& state);
  static void ChangePod(const framework::CycleContext& c, State& state, const cluster::Pod& pod,
                        framework::NodeIndex node, int32_t delta);
  framework::Status CountScores(const framework::CycleContext& c, State& state) const;
  int64_t WeightOf(const cluster::OwnTerm& own) const;
  const HintTerms& TermsForHints(const cluster::Cluster& cluster,
                                 const cluster::PodShape& shape) const;
  Result<framework::Hint> AfterPodChange(const cluster::Cluster&, const cluster::Pod&,
                                         const queue::Event&) const;
  Result<framework::Hint> AfterNodeChange(const cluster::Cluster&, const cluster::Pod&,
                                          const queue::Event&) const;

  config::InterPodAffinityArgs args_;
  const config::Behaviour behaviour_;
  mutable cluster::PerShape<Compiled> compiled_;  // touched only in BeginCycle
  // Touched only on the cycle's own thread: the keys of node labels, and the column of all others.
  std::unique_ptr<NodeLabelKeys> node_keys_;
  std::unique_ptr<cluster::LabelColumn> absent_;
  mutable cluster::PerShape<HintTerms> hint_terms_;  // touched only in hints
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::inter_pod_affinity
