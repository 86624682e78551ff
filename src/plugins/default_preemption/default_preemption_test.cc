#include "plugins/default_preemption/default_preemption.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/post_filter.h"
#include "plugins/default_preemption/dry_run.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::NodeIndex;
using cluster::PodId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A node takes at most as many pods as its allocatable "pods".
class Room final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Room"; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    batch.ForEach([&](NodeIndex n) {
      if (c.cluster.PodCount()[n] >= c.cluster.AllowedPods()[n]) {
        batch.Reject(n, framework::Code::kUnschedulable);
      }
    });
  }
  void Reasons(const framework::CycleContext&, const framework::PluginState*,
               const framework::Verdict&, std::vector<std::string>* out) const override {
    out->emplace_back("no room");
  }
};

Result<std::unique_ptr<framework::Plugin>> MakeRoom(const config::PluginArgs&,
                                                    const framework::PluginHandle&) {
  return std::make_unique<Room>();
}

class Preemption : public ::testing::Test {
 protected:
  void AddNode(const std::string& name, int64_t pods) {
    api::Node node;
    node.metadata.name = name;
    node.status.allocatable["pods"] = api::Quantity::FromInt(pods);
    cluster_.SetNode(node);
  }

  PodId AddPod(const std::string& name, int32_t priority, const std::string& node = "",
               const std::string& started = "2025-01-01T00:00:00Z", bool never = false) {
    api::Pod pod;
    pod.metadata.name = name;
    pod.metadata.uid = name;
    pod.metadata.namespace_ = "default";
    pod.metadata.labels["app"] = name;
    pod.spec.priority = priority;
    pod.spec.node_name = node;
    if (never) pod.spec.preemption_policy.emplace("Never");
    if (!started.empty()) pod.status.start_time = *api::Time::Parse(started);
    return cluster_.AddPod(pod);
  }

  // Filters all nodes for `pod`, none of which it fits, then asks the plugin.
  framework::Status PostFilter(PodId pod, framework::PostFilterResult* result) {
    config::ResolvedProfile resolved;
    resolved.scheduler_name = "test";
    resolved.points[config::Index(config::ExtensionPoint::kFilter)] = {{"Room", 0}};
    resolved.points[config::Index(config::ExtensionPoint::kPostFilter)] = {{std::string(kName), 0}};
    const framework::RegistryRow registry[] = {{"Room", &MakeRoom}, {kName, &Make}};
    profile_ = std::move(*framework::Profile::Make(resolved, registry, {cluster_}));
    cycle_ = std::make_unique<framework::Cycle>(*profile_);
    cycle_->Begin(cluster_, cluster_.GetPod(pod));
    framework::NodeSet nodes = cluster_.Nodes();
    cycle_->RunFilter(nodes);
    EXPECT_TRUE(nodes.Empty());
    framework::Diagnosis diagnosis;
    diagnosis.num_all_nodes = cluster_.NodeCount();
    diagnosis.rejected = cluster_.Nodes();
    return framework::RunPostFilter(*cycle_, cluster_, diagnosis, result);
  }

  std::vector<std::string> Names(const std::vector<PodId>& pods) const {
    std::vector<std::string> names;
    for (const PodId id : pods) names.push_back(cluster_.GetPod(id).name);
    return names;
  }

  cluster::Cluster cluster_;
  std::unique_ptr<framework::Profile> profile_;
  std::unique_ptr<framework::Cycle> cycle_;
};

TEST_F(Preemption, TakesTheNodeWhoseVictimMattersLeast) {
  AddNode("a", 1);
  AddNode("b", 1);
  AddPod("on-a", 5, "a");
  AddPod("on-b", 3, "b");
  framework::PostFilterResult result;
  ASSERT_TRUE(PostFilter(AddPod("new", 10), &result).Ok());
  EXPECT_EQ(result.nominated_node, "b");
  EXPECT_THAT(Names(result.victims), ElementsAre("on-b"));
}

TEST_F(Preemption, SparesThePodsThatRanLongest) {
  AddNode("a", 3);
  AddPod("young", 1, "a", "2025-01-03T00:00:00Z");
  AddPod("old", 1, "a", "2025-01-01T00:00:00Z");
  AddPod("middle", 1, "a", "2025-01-02T00:00:00Z");
  framework::PostFilterResult result;
  ASSERT_TRUE(PostFilter(AddPod("new", 10), &result).Ok());
  EXPECT_THAT(Names(result.victims), ElementsAre("young"));
}

// Recorded from kube-scheduler: of pods that have not started it spares the last, from 1.37 on the
// first.
TEST_F(Preemption, OfPodsThatHaveNotStartedTheOrderIsThatOfTheMinor) {
  AddNode("a", 7);
  AddPod("low", 1, "a", "");
  AddPod("v0", 2, "a", "");
  AddPod("v1", 2, "a", "");
  AddPod("runs", 2, "a", "2025-01-03T00:00:00Z");
  AddPod("v2", 2, "a", "");
  AddPod("v3", 2, "a", "");
  const NodeIndex a = cluster_.FindNode("a");
  const auto sorted = [&](const UnitRules& rules) {
    std::vector<DisruptionUnit> units = UnitsBelow(cluster_, {&a, 1}, 10, rules);
    SortByImportance(units, rules);
    std::vector<PodId> pods;
    for (const DisruptionUnit& unit : units) pods.push_back(unit.pods.front());
    return Names(pods);
  };
  UnitRules rules;
  EXPECT_THAT(sorted(rules), ElementsAre("runs", "v3", "v2", "v1", "v0", "low"));
  rules.start_when_listed = true;
  EXPECT_THAT(sorted(rules), ElementsAre("runs", "v0", "v1", "v2", "v3", "low"));
}

TEST_F(Preemption, SparesPodsWhoseBudgetIsUsedUp) {
  AddNode("a", 2);
  AddPod("guarded", 1, "a", "2025-01-03T00:00:00Z");
  AddPod("plain", 1, "a", "2025-01-01T00:00:00Z");
  api::PodDisruptionBudget budget;
  budget.metadata.name = "pdb";
  budget.metadata.namespace_ = "default";
  budget.spec.selector.emplace().match_labels["app"] = "guarded";
  cluster_.MutableObjects().pod_disruption_budgets.Set(budget);
  framework::PostFilterResult result;
  ASSERT_TRUE(PostFilter(AddPod("new", 10), &result).Ok());
  EXPECT_THAT(Names(result.victims), ElementsAre("plain"));
}

TEST_F(Preemption, LeavesTheClusterAsItWas) {
  AddNode("a", 3);
  for (const char* name : {"x", "y", "z"}) AddPod(name, 1, "a");
  const NodeIndex a = cluster_.FindNode("a");
  const std::vector<PodId> before = cluster_.Record(a).pods;
  framework::PostFilterResult result;
  ASSERT_TRUE(PostFilter(AddPod("new", 10), &result).Ok());
  EXPECT_EQ(cluster_.Record(a).pods, before);
  EXPECT_EQ(cluster_.PodCount()[a], 3);
  EXPECT_EQ(cycle_->verdicts()[a].code, framework::Code::kUnschedulable);
}

TEST_F(Preemption, SaysWhyItCannotHelp) {
  AddNode("a", 1);
  AddNode("b", 0);
  AddPod("important", 100, "a");
  framework::PostFilterResult result;
  const framework::Status status = PostFilter(AddPod("new", 10), &result);
  EXPECT_EQ(status.code(), framework::Code::kUnschedulable);
  EXPECT_EQ(status.Message(),
            "preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.");
  EXPECT_EQ(result.nomination, framework::PostFilterResult::Nomination::kClear);
  EXPECT_THAT(result.victims, IsEmpty());
}

TEST_F(Preemption, RespectsThePolicyNever) {
  AddNode("a", 1);
  AddPod("other", 1, "a");
  framework::PostFilterResult result;
  const framework::Status status =
      PostFilter(AddPod("new", 10, "", "2025-01-01T00:00:00Z", /*never=*/true), &result);
  EXPECT_EQ(status.Message(), "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_EQ(result.nomination, framework::PostFilterResult::Nomination::kKeep);
}

TEST_F(Preemption, LeastHarmfulComparesInOrder) {
  const PodId low = AddPod("low", 1, "", "2025-01-01T00:00:00Z");
  const PodId low_young = AddPod("low-young", 1, "", "2025-01-02T00:00:00Z");
  const PodId high = AddPod("high", 9);
  const auto best = [&](std::vector<Candidate> c) { return LeastHarmful(cluster_, c); };
  EXPECT_THAT(best({{0, {low}, 1}, {1, {high}, 0}}), ElementsAre(1)) << "budgets come first";
  EXPECT_THAT(best({{0, {high}, 0}, {1, {low}, 0}}), ElementsAre(1)) << "then the highest priority";
  EXPECT_THAT(best({{0, {high, low}, 0}, {1, {high}, 0}}), ElementsAre(1)) << "then the sum";
  EXPECT_THAT(best({{0, {low}, 0}, {1, {low_young}, 0}}), ElementsAre(1)) << "then the youngest";
  EXPECT_THAT(best({{0, {low}, 0}, {1, {low}, 0}}), ElementsAre(0, 1)) << "then they are equal";
}

}  // namespace
}  // namespace berth::plugins::default_preemption
