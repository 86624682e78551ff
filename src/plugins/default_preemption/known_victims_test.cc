#include "plugins/default_preemption/known_victims.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "framework/runtime/profile.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::NodeIndex;
using cluster::PodId;
using ::testing::ElementsAre;

uint32_t room_depends_on = 0;  // what the filter below declares

// A node takes at most as many pods as its allocatable "pods".
class Room final : public framework::FilterPlugin {
 public:
  std::string_view Name() const override { return "Room"; }
  uint32_t DependsOn() const override { return room_depends_on; }
  void Filter(const framework::CycleContext& c, const framework::PluginState*,
              framework::FilterBatch& batch) const override {
    batch.ForEach([&](NodeIndex n) {
      if (c.cluster.PodCount()[n] < c.cluster.AllowedPods()[n]) return;
      batch.Reject(n, framework::Code::kUnschedulable);
    });
  }
  static Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                         const framework::PluginHandle&) {
    return std::make_unique<Room>();
  }
};

class Known : public ::testing::Test {
 protected:
  void SetUp() override {
    room_depends_on = framework::kOnNodeObject | framework::kOnNodePods;
    for (const char* name : {"a", "b"}) {
      cluster_.SetNode(MakeNode(name).Pods("2"));
      for (const char* i : {"1", "2"}) Add(std::string(name) + i, 1, name);
    }
    config::ResolvedProfile resolved;
    resolved.scheduler_name = "test";
    resolved.points[config::Index(config::ExtensionPoint::kFilter)] = {{"Room", 0}};
    const framework::RegistryRow registry[] = {{"Room", &Room::Make}};
    profile_ = std::move(*framework::Profile::Make(resolved, registry, {cluster_}));
    cycle_ = std::make_unique<framework::Cycle>(*profile_);
  }

  PodId Add(const std::string& name, int32_t priority, const std::string& node = "") {
    return cluster_.AddPod(Made(name, priority, node));
  }
  static api::Pod Made(const std::string& name, int32_t priority, const std::string& node,
                       int64_t started = 10) {
    api::Pod pod = MakePod("x").Priority(priority);
    pod.metadata.name = name;
    pod.metadata.uid = name;
    pod.spec.node_name = node;
    pod.status.start_time = api::Time::FromUnixNano(started * 1'000'000'000);
    return pod;
  }

  // The victims on the nodes, for a new pod. It stays pending, and its shape known.
  std::vector<std::string> Look(int32_t priority = 10) {
    const PodId id = Add("new" + std::to_string(++pods_), priority);
    cycle_->Begin(cluster_, cluster_.GetPod(id));
    budgets_.Refresh(cluster_);
    std::vector<std::string> victims;
    KnownVictims::Search search(known_, *cycle_, cluster_, budgets_, UnitRules());
    cluster_.Nodes().ForEach([&](NodeIndex n) {
      const Finding& finding = search.LookAt(n);
      if (!finding.is_candidate) victims.emplace_back("none");
      for (const PodId victim : finding.candidate.victims) {
        victims.push_back(cluster_.GetPod(victim).name);
      }
    });
    return victims;
  }
  uint64_t DryRuns() const { return known_.statistics().dry_runs; }

  cluster::Cluster cluster_;
  std::unique_ptr<framework::Profile> profile_;
  std::unique_ptr<framework::Cycle> cycle_;
  DisruptionBudgets budgets_;
  KnownVictims known_;
  int pods_ = 0;
};

TEST_F(Known, ASecondPodOfTheShapeNeedsNoDryRun) {
  EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
  EXPECT_EQ(DryRuns(), 2u);
  EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
  EXPECT_EQ(DryRuns(), 2u);
  EXPECT_THAT(Look(/*priority=*/1), ElementsAre("none", "none")) << "another shape has its own";
  EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
  EXPECT_EQ(DryRuns(), 4u);
}

TEST_F(Known, ANodeWhosePodsChangeIsDryRunAgain) {
  Look();
  const PodId id = cluster_.FindPod("a1");
  cluster_.UpdatePod(id, Made("a1", 1, "a", /*started=*/5));
  EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
  EXPECT_EQ(DryRuns(), 3u);
  cluster_.UpdatePod(cluster_.FindPod("a2"), Made("a2", 1, "a", /*started=*/3));
  EXPECT_THAT(Look(), ElementsAre("a1", "b2")) << "the younger one goes";
  EXPECT_EQ(DryRuns(), 4u);
}

TEST_F(Known, NewBudgetsMakeAllVoid) {
  Look();
  cluster_.MutableObjects().pod_disruption_budgets.Set(
      cluster::FromText<api::PodDisruptionBudget>("{'metadata':{'name':'x','namespace':'ns'}}"));
  Look();
  EXPECT_EQ(DryRuns(), 4u);
}

TEST_F(Known, NodesWithNominatedPodsAreLookedAtAnew) {
  Look();
  const PodId promised = Add("promised", 20);
  cluster_.MutableNominations().Set(promised, cluster_.Strings().Intern("a"));
  EXPECT_THAT(Look(), ElementsAre("a1", "a2", "b2")) << "both must go to leave room for it";
  EXPECT_EQ(DryRuns(), 3u);
  cluster_.MutableNominations().Clear(promised);
  EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
  EXPECT_EQ(DryRuns(), 3u);
}

TEST_F(Known, AFilterThatDependsOnMoreIsAskedEveryTime) {
  room_depends_on |= framework::kOnDomainPods;
  for (uint64_t i = 1; i <= 3; ++i) {
    EXPECT_THAT(Look(), ElementsAre("a2", "b2"));
    EXPECT_EQ(DryRuns(), 2 * i);
  }
}

TEST_F(Known, SwitchedOffNothingIsReused) {
  known_.set_enabled(false);
  for (int i = 0; i < 2; ++i) Look();
  EXPECT_EQ(known_.statistics().reused, 0u);
}

TEST_F(Known, ShapesThatDoNotComeAnyMoreAreForgotten) {
  Look();
  for (int32_t priority = 100; priority < 120; ++priority) Look(priority);
  const uint64_t before = DryRuns();
  Look();
  EXPECT_EQ(DryRuns(), before + 2);
}

TEST_F(Known, HarmIsComparedInOrder) {
  const Harm least{0, 1, 1, 1, -9};
  EXPECT_LT(least, (Harm{1, 0, 0, 0, -9})) << "budgets first";
  EXPECT_LT(least, (Harm{0, 2, 0, 0, -9})) << "then the highest priority";
  EXPECT_LT(least, (Harm{0, 1, 2, 0, -9})) << "then the sum";
  EXPECT_LT(least, (Harm{0, 1, 1, 2, -9})) << "then how many";
  EXPECT_LT(least, (Harm{0, 1, 1, 1, -8})) << "then how long they ran";
}

}  // namespace
}  // namespace berth::plugins::default_preemption
