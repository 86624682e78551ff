// DynamicResources: devices for the resource claims of a pod.
//
// A pod waits until its claims exist. Claims that are allocated bind it to the nodes where the
// devices are; unallocated claims are allocated tentatively on every node that is evaluated.
// Reserve remembers the allocation for the chosen node in the object store's in_flight_claims until
// PreBind has written it (pre_bind.h).
//
// Threads: Filter may run on several threads at once, for disjoint ranges of nodes; the rest runs
// on the cycle's own. One cycle at a time: PreFilter brings the plugin's tables up to date for the
// cycle that follows it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/points/claim_aware.h"
#include "framework/points/device_claims.h"
#include "framework/points/pod_group.h"
#include "framework/points/queueing_hint.h"
#include "framework/runtime/profile.h"
#include "plugins/common/node_matcher.h"
#include "plugins/dynamic_resources/binding_conditions.h"
#include "plugins/dynamic_resources/inventory.h"
#include "plugins/dynamic_resources/node_pools.h"
#include "plugins/dynamic_resources/plan.h"
#include "plugins/dynamic_resources/search.h"
#include "plugins/dynamic_resources/selectors.h"

namespace berth::plugins::dynamic_resources {

inline constexpr std::string_view kName = "DynamicResources";
// Of a claim whose devices are not to be deleted under it.
inline constexpr std::string_view kFinalizer = "resource.kubernetes.io/delete-protection";

class DynamicResources final : public framework::PreEnqueuePlugin,
                               public framework::PreFilterPlugin,
                               public framework::FilterPlugin,
                               public framework::ClaimAwarePlugin,
                               public framework::ScorePlugin,
                               public framework::PostFilterPlugin,
                               public framework::PodGroupPostFilterPlugin,
                               public framework::ReservePlugin,
                               public framework::PreBindPlugin,
                               public framework::TimeAwarePlugin,
                               public framework::EnqueueExtensions {
 public:
  // `max_steps`: limit of devices tried per node; 0: none.
  DynamicResources(cluster::Cluster& cluster, int64_t max_steps,
                   const config::Behaviour& behaviour = {}, const BindingRules& binding = {});
  ~DynamicResources() override;

  std::string_view Name() const override { return kName; }
  std::vector<framework::RegisteredEvent> EventsToRegister(const config::Behaviour&) const override;
  // With the gate on, classes of devices decide whose resources are theirs.
  uint32_t Concerns() const override {
    return features_.extended_resource ? framework::kEveryPod
                                       : uint32_t{cluster::kHasResourceClaims};
  }
  uint32_t DependsOn() const override { return framework::kOnNodeObject | framework::kOnDevices; }
  std::unique_ptr<framework::PluginState> NewState() const override;
  void BeginCycle(const framework::CycleContext&, framework::PluginState*) const override;

  void SetTime(const api::Time& now) override { now_ = now; }

  framework::Status PreEnqueue(const cluster::Cluster&, const cluster::Pod&) const override;
  framework::Status PreFilter(const framework::CycleContext&, framework::PluginState*,
                              framework::PreFilterResult*) const override;
  void Filter(const framework::CycleContext&, const framework::PluginState*,
              framework::FilterBatch&) const override;
  // The kind of claims that have to be allocated. Those that are allocated to nodes are like no
  // other.
  bool AppendClaims(const framework::CycleContext&, framework::PluginState*,
                    std::vector<int64_t>* out) const override;
  // Which pools there are, and what has happened to devices that several nodes reach.
  bool AppendPremises(const framework::CycleContext&, framework::PluginState*,
                      std::vector<int64_t>* out) const override;
  // Nodes with a device that was taken or became free.
  const cluster::RowLog* ChangedRows() const override { return &changed_rows_; }
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override;
  // Nodes where earlier alternatives of requests can be had score higher.
  std::optional<int64_t> UniformScore(const framework::CycleContext&, framework::PluginState*,
                                      const framework::NodeSet&) const override;
  void Score(const framework::CycleContext&, const framework::PluginState*,
             framework::ScoreBatch&) const override;
  bool HasNormalize() const override { return true; }
  void Normalize(const framework::CycleContext&, const framework::PluginState*,
                 const framework::NodeSet&, framework::ScoreColumn&) const override;
  // Proposes to deallocate a claim that keeps the pod from nodes and that nobody else uses.
  framework::Status PostFilter(framework::Cycle&, cluster::Cluster&, const framework::Diagnosis&,
                               framework::PostFilterResult*) override;
  // Leaves the claims of a group's pods allocated.
  framework::Status PodGroupPostFilter(framework::Cycle&, cluster::Cluster&,
                                       const framework::PodGroupInfo&, framework::PodGroupTrial&,
                                       framework::PodGroupPostFilterResult*) override;
  framework::Status Reserve(const framework::CycleContext&, framework::PluginState*,
                            cluster::NodeIndex) override;
  // Gives back what is in flight. What was written already is for the PreBind task to undo.
  void Unreserve(const framework::CycleContext&, framework::PluginState*,
                 cluster::NodeIndex) override;
  std::unique_ptr<framework::PreBindTask> PreparePreBind(const framework::CycleContext&,
                                                         framework::PluginState*,
                                                         cluster::NodeIndex) override;
  bool AllowsParallel() const override { return true; }

  // The devices Reserve has taken in this cycle, as "driver/pool/device", sorted. Devices used with
  // admin access are not taken.
  static std::vector<std::string> ReservedDevices(const framework::PluginState* state);

 private:
  struct State;
  struct Variant;
  struct Verdicts;

  framework::Status CheckClaim(const cluster::ObjectStore& objects,
                               const api::ResourceClaim& claim) const;
  framework::Status AddClaim(const framework::CycleContext&, const api::ResourceClaim& claim,
                             State* state) const;
  void AddExtendedClaim(const framework::CycleContext&, State* state) const;
  void Synchronize(const framework::CycleContext&, State* state) const;
  void AddVariant(const framework::CycleContext&, uint64_t provided, State* state) const;
  void FollowDevices(const cluster::Cluster& cluster) const;
  std::shared_ptr<Verdicts> FindVerdicts(const framework::CycleContext&,
                                         const std::string& signature) const;
  Search::Outcome Decide(cluster::NodeIndex node, Search* search, PoolList* pools) const;
  void FilterExtended(const framework::CycleContext&, const State& state, size_t word,
                      framework::FilterBatch& batch) const;
  // Nodes of the word on which no device is needed.
  uint64_t LeftToNode(const framework::CycleContext&, const State& state, size_t word,
                      const framework::FilterBatch& batch) const;
  void FilterWord(const framework::CycleContext&, const State& state, size_t word,
                  std::vector<std::optional<Search>>* searches, PoolList* pools,
                  framework::FilterBatch& batch) const;
  void FilterVariant(const framework::CycleContext&, const State& state, size_t variant,
                     size_t word, uint64_t nodes, std::optional<Search>* search, PoolList* pools,
                     framework::FilterBatch& batch) const;

  framework::Status Refusal(std::string_view why) const;
  int64_t AllocatedAlternatives(const State& state) const;

  cluster::Cluster& cluster_;
  const int64_t max_steps_;
  const config::Behaviour behaviour_;
  const config::DraFeatures features_;
  const BindingRules binding_;
  api::Time now_;
  // What was derived from the object store, up to date since the last PreFilter of a pod with
  // claims.
  mutable Inventory inventory_;
  mutable NodePools pools_;
  mutable SelectorTable selectors_;
  mutable uint64_t uses_ = 0;
  mutable uint64_t signatures_ = 0;      // seen so far
  mutable uint64_t use_generation_ = 0;  // up to which the next two are current
  mutable uint64_t shared_changes_ = 0;  // of devices that are not of one node alone
  mutable cluster::RowLog changed_rows_;
  mutable boost::unordered_flat_map<std::string, std::shared_ptr<Verdicts>> verdicts_;
};

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle);

}  // namespace berth::plugins::dynamic_resources
