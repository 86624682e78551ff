#include "scheduler/groups/group_algorithm.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"
#include "config/config.h"
#include "scheduler/groups/validation.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// As the scheduler decides.
class Decider final : public MemberDecider {
 public:
  cluster::NodeIndex Decide(Attempt& attempt, const framework::NodeSet* within) override {
    attempt.Decide(algorithm_, /*score_always=*/false, within);
    return attempt.decision().node;
  }

 private:
  Algorithm algorithm_{{}};
};

class GroupAlgorithmTest : public ::testing::Test {
 protected:
  explicit GroupAlgorithmTest(bool topology = false) {
    config::FeatureGates gates(37);
    EXPECT_TRUE(gates.Set("GenericWorkload=true").has_value());
    if (topology) {
      EXPECT_TRUE(gates.Set("TopologyAwareWorkloadScheduling=true").has_value());
    }
    behaviour_ = config::Behaviour(gates);
    behaviour_.FollowPodGroups(gates);
    auto made = ProfileSet::Make(config::Default(behaviour_), behaviour_, cluster_);
    EXPECT_TRUE(made.has_value());
    profiles_ = std::make_unique<ProfileSet>(std::move(*made));
    group_.metadata.namespace_ = "ns";
    group_.metadata.name = "g";
    group_.spec.priority = 10;
  }

  void Gang(int32_t min_count) {
    group_.spec.scheduling_policy.gang.emplace().min_count = min_count;
  }
  void AddNode(const std::string& name, const std::string& cpu, const std::string& rack = "r") {
    cluster_.SetNode(MakeNode(name).Cpu(cpu).Memory("8Gi").Label("rack", rack));
  }
  static api::Pod Pod(const std::string& name, const std::string& cpu, int32_t priority) {
    return MakePod(name).Requests("cpu", cpu).Priority(priority);
  }
  static api::Pod InGroup(api::Pod pod, const std::string& group) {
    pod.spec.scheduling_group.emplace().pod_group_name = group;
    return pod;
  }
  void AddMember(const std::string& name, const std::string& cpu) {
    members_.push_back(cluster_.AddPod(InGroup(Pod(name, cpu, 10), "g")));
  }
  void AddRunning(const std::string& name, const std::string& node, int32_t priority,
                  const std::string& group = "") {
    api::Pod pod = Pod(name, "1", priority);
    pod.spec.node_name = node;
    cluster_.AddPod(group.empty() ? pod : InGroup(pod, group));
  }
  framework::Cycle& TheCycle() { return *profiles_->CycleFor("default-scheduler"); }

  GroupResult Run() {
    cluster_.MutableObjects().pod_groups.Set(group_);
    Decider decider;
    GroupAlgorithm algorithm(TheCycle(), cluster_, decider);
    const std::string before = cluster::Dump(cluster_);
    GroupResult result = algorithm.Run({group_, members_});
    EXPECT_EQ(cluster::Dump(cluster_), before);
    return result;
  }
  // The outcome of each pod, in order: "pod node" or "pod: message".
  std::vector<std::string> Told(const GroupResult& result) {
    std::vector<std::string> lines;
    for (const MemberResult& member : result.members) {
      const MemberOutcome outcome = OutcomeOf(result, member);
      const std::string& name = cluster_.GetPod(member.pod).name;
      lines.push_back(outcome.status.Ok() ? name + " " + cluster_.NodeName(member.node)
                                          : name + ": " + outcome.status.Message());
    }
    return lines;
  }
  std::vector<std::string> Victims(const GroupResult& result) {
    std::vector<std::string> names;
    for (const PodId id : result.preemption.victims) names.push_back(cluster_.GetPod(id).name);
    return names;
  }

  config::Behaviour behaviour_;
  cluster::Cluster cluster_;
  std::unique_ptr<ProfileSet> profiles_;
  api::PodGroup group_;
  std::vector<PodId> members_;
};

TEST_F(GroupAlgorithmTest, PlacesAllPodsBesideEachOther) {
  Gang(2);
  AddNode("a", "1");
  AddNode("b", "1");
  AddMember("p", "1");
  AddMember("q", "1");
  const GroupResult result = Run();
  EXPECT_TRUE(result.status.Ok()) << result.status.Message();
  EXPECT_THAT(Told(result), ElementsAre("p a", "q b"));
  const GroupCondition condition = ConditionOf(result);
  EXPECT_TRUE(condition.scheduled);
  EXPECT_EQ(condition.reason, "Scheduled");
}

TEST_F(GroupAlgorithmTest, AGangThatCannotBeCompleteGetsNothing) {
  Gang(3);
  AddNode("a", "2");
  for (const char* name : {"p", "q", "r"}) AddMember(name, "1");
  const GroupResult result = Run();
  EXPECT_FALSE(result.status.Ok());
  EXPECT_THAT(
      Told(result),
      ElementsAre("p: pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 "
                  "remaining, pod group preemption: No preemption victims found for incoming "
                  "preemptor",
                  "q: pod group is unschedulable, minCount (3) cannot be satisfied: 2 scheduled, 0 "
                  "remaining, pod group preemption: No preemption victims found for incoming "
                  "preemptor",
                  "r: 0/1 nodes are available: 1 Insufficient cpu."));
  EXPECT_EQ(ConditionOf(result).reason, "Unschedulable");
}

TEST_F(GroupAlgorithmTest, StopsWhenTooFewPodsAreLeft) {
  Gang(2);
  AddNode("a", "1");
  AddMember("big", "4");
  AddMember("small", "1");
  const GroupResult result = Run();
  EXPECT_THAT(Told(result),
              ElementsAre("big: 0/1 nodes are available: 1 Insufficient cpu.",
                          "small: minCount (2) cannot be satisfied: 0 scheduled, 1 remaining"));
}

TEST_F(GroupAlgorithmTest, AboveTheMinimumThosePodsGoThatFit) {
  Gang(1);
  AddNode("a", "1");
  AddMember("p", "1");
  AddMember("q", "1");
  const GroupResult result = Run();
  EXPECT_TRUE(result.status.Ok());
  EXPECT_THAT(Told(result), ElementsAre("p a", "q: 0/1 nodes are available: 1 Insufficient cpu."));
}

TEST_F(GroupAlgorithmTest, PreemptsForAllPodsAndSparesTheRest) {
  Gang(2);
  AddNode("a", "1");
  AddNode("b", "1");
  AddNode("c", "1");
  AddRunning("low", "a", 1);
  AddRunning("lower", "b", 0);
  AddRunning("equal", "c", 10);
  AddMember("p", "1");
  AddMember("q", "1");
  const GroupResult result = Run();
  EXPECT_TRUE(result.waits_for_preemption);
  EXPECT_THAT(Victims(result), ElementsAre("low", "lower"));
  EXPECT_EQ(result.preemption.nominations.size(), 2u);
  EXPECT_EQ(result.post_filter.Message(),
            "pod group preemption: found a placement for podgroup, preempting 2 victims");
}

TEST_F(GroupAlgorithmTest, APodThatStillFitsBesideTheGroupIsSpared) {
  Gang(1);
  AddNode("a", "2");
  AddRunning("first", "a", 1);
  AddRunning("second", "a", 1);
  AddMember("p", "1");
  const GroupResult result = Run();
  EXPECT_EQ(Victims(result).size(), 1u);
}

TEST_F(GroupAlgorithmTest, AGroupThatIsDisruptedAsAWholeGoesAsAWhole) {
  api::PodGroup other;
  other.metadata.namespace_ = "ns";
  other.metadata.name = "other";
  other.spec.disruption_mode.emplace().all.emplace();
  cluster_.MutableObjects().pod_groups.Set(other);
  Gang(1);
  AddNode("a", "1");
  AddNode("b", "1");
  cluster_.SetNode(MakeNode("c").Cpu("0"));
  AddRunning("x", "a", 0, "other");
  AddRunning("y", "b", 0, "other");
  AddMember("p", "1");
  const GroupResult result = Run();
  EXPECT_THAT(Victims(result), ElementsAre("x", "y"));
}

TEST_F(GroupAlgorithmTest, ValidatesWhatThePodsHaveInCommon) {
  AddNode("a", "4");
  AddMember("p", "1");
  const auto why = [&] {
    return WhyInvalid(cluster_, {group_, members_}, behaviour_,
                      [](const std::string& name) { return name == "default-scheduler"; });
  };
  EXPECT_THAT(why(), IsEmpty());
  members_.push_back(cluster_.AddPod(InGroup(Pod("q", "1", 11), "g")));
  EXPECT_EQ(why(),
            "all pods in a single pod group should have the same priority as the pod group's "
            "priority, got 11 and 10");
  members_.pop_back();
  api::Pod never = InGroup(Pod("r", "1", 10), "g");
  never.spec.preemption_policy.emplace("Never");
  members_.push_back(cluster_.AddPod(never));
  EXPECT_EQ(why(),
            "all pods in a single pod group should have the same preemption policy, got Never and "
            "PreemptLowerPriority");
}

class GroupTopologyTest : public GroupAlgorithmTest {
 protected:
  GroupTopologyTest() : GroupAlgorithmTest(/*topology=*/true) {
    group_.spec.scheduling_constraints.emplace().topology.push_back({"rack"});
  }
};

TEST_F(GroupTopologyTest, AllPodsGoToOneDomain) {
  Gang(2);
  AddNode("a1", "1", "a");
  AddNode("b1", "1", "b");
  AddNode("b2", "1", "b");
  AddMember("p", "1");
  AddMember("q", "1");
  const GroupResult result = Run();
  EXPECT_TRUE(result.status.Ok()) << result.status.Message();
  EXPECT_THAT(Told(result), ElementsAre("p b1", "q b2"));
}

TEST_F(GroupTopologyTest, TheFullerDomainIsWantedMore) {
  Gang(1);
  AddNode("a1", "8", "a");
  AddNode("b1", "2", "b");
  AddMember("p", "1");
  EXPECT_THAT(Told(Run()), ElementsAre("p b1"));
}

TEST_F(GroupTopologyTest, ReportsTheFirstPlacementWhenNoneWillDo) {
  Gang(2);
  AddNode("a1", "1", "a");
  AddNode("b1", "1", "b");
  AddMember("p", "1");
  AddMember("q", "1");
  const GroupResult result = Run();
  EXPECT_EQ(result.before_post_filter.Message(),
            "pod group is unschedulable, 0/2 placements are available, first placement status: "
            "minCount (2) cannot be satisfied: 1 scheduled, 0 remaining");
}

}  // namespace
}  // namespace berth::scheduler
