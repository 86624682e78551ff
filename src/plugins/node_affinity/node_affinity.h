// NodeAffinity: nodeSelector, required and preferred node affinity, and the affinity a profile adds
// to all pods.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/common/node_matcher.h"

namespace berth::plugins::node_affinity {

inline constexpr std::string_view kName = "NodeAffinity";
inline constexpr std::string_view kReasonPod = "node(s) didn't match Pod's node affinity/selector";
inline constexpr std::string_view kReasonEnforced =
    "node(s) didn't match scheduler-enforced node affinity";
inline constexpr std::string_view kReasonConflict = "pod affinity terms conflict";

// The only nodes that required terms which name nodes can match: sorted names, or nothing when some
// term does not name any. Equal to kube-scheduler's reading of metadata.name fields: ANDed within a
// term, ORed between terms.
std::optional<std::vector<std::string>> NodesNamedBy(const api::NodeSelector& required);

class NodeAffinity final : public framework::PreFilterPlugin,
                           public framework::FilterPlugin,
                           public framework::PreScorePlugin,
                           public framework::ScorePlugin,
                           public framework::EnqueueExtensions {
 public:
  // Fails when the added affinity does not parse.
  static Result<std::unique_ptr<NodeAffinity>> Make(const config::NodeAffinityArgs& args,
                                                    const cluster::Cluster& cluster);

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  // What a profile adds is added to every pod.
  uint32_t Concerns() const override {
    return added_required_ || has_added_preferred_ ? framework::kEveryPod
                                                   : uint32_t{cluster::kHasNodeAffinity};
  }
  uint32_t DependsOn() const override { return framework::kOnNodeObject; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  framework::Status PreScore(const framework::CycleContext&, framework::PluginState*,
                             const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet& feasible, framework::ScoreColumn&) const override;
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;

 private:
  struct Weighted {
    CompiledTerm term;
    int64_t weight;
  };
  // What is derived from a pod's shape.
  struct Compiled {
    // The pod's requirement, as a matcher, or a single node name, as for DaemonSets.
    std::optional<NodeMatcher> required;
    cluster::StringId only_node = cluster::kNoString;
    std::optional<std::vector<std::string>> named_nodes;
    std::vector<cluster::StringId> named_ids;  // the same
    std::vector<Weighted> preferred;
    bool has_preferred = false;
    std::string preferred_error;

    bool Asks() const { return required || only_node != cluster::kNoString; }
    // REQUIRES: the pod has a requirement.
    bool Matches(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
      return required ? required->Matches(cluster, n) : cluster.Record(n).name == only_node;
    }
  };
  struct State;

  NodeAffinity() = default;
  static Compiled Compile(const cluster::Cluster& cluster, const cluster::PodShape& shape);
  static void AddPreferred(const cluster::Cluster& cluster, const api::PreferredNodeAffinity& terms,
                           std::vector<Weighted>* out);

  Result<framework::Hint> AfterNodeChange(const cluster::Pod& pod, const queue::Event& event) const;

  // Touched only in BeginCycle.
  mutable cluster::PerShape<Compiled> compiled_;
  mutable Compiled nothing_;  // of a pod without requirements
  mutable std::optional<NodeMatcher> added_required_;
  mutable std::vector<Weighted> added_preferred_;
  bool has_added_preferred_ = false;
  std::optional<api::NodeSelectorMatcher> added_selector_;  // the source of added_required_
  // Touched only in hints.
  mutable cluster::PerShape<api::RequiredNodeAffinity> hint_required_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&);

}  // namespace berth::plugins::node_affinity
