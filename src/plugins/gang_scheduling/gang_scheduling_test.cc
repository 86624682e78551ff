#include "plugins/gang_scheduling/gang_scheduling.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::plugins::gang_scheduling {
namespace {

using framework::Code;
using framework::Hint;
using framework::Status;

class GangSchedulingTest : public ::testing::Test {
 protected:
  static api::PodGroup Group(const std::string& name, int32_t min_count) {
    api::PodGroup group;
    group.metadata.namespace_ = "ns";
    group.metadata.name = name;
    if (min_count > 0) {
      group.spec.scheduling_policy.gang.emplace().min_count = min_count;
    } else {
      group.spec.scheduling_policy.basic.emplace();
    }
    return group;
  }
  void AddGroup(const std::string& name, int32_t min_count) {
    cluster_.MutableObjects().pod_groups.Set(Group(name, min_count));
  }
  const cluster::Pod& AddPod(const std::string& name, const std::string& group) {
    api::Pod pod = cluster::MakePod(name);
    if (!group.empty()) pod.spec.scheduling_group.emplace().pod_group_name = group;
    return cluster_.GetPod(cluster_.AddPod(pod));
  }
  std::string PreEnqueue(const cluster::Pod& pod) {
    return plugin_.PreEnqueue(cluster_, pod).Message();
  }

  cluster::Cluster cluster_;
  GangScheduling plugin_{nullptr};
};

TEST_F(GangSchedulingTest, PodsWaitForTheirGroupAndForEachOther) {
  EXPECT_EQ(PreEnqueue(AddPod("alone", "")), "");
  const cluster::Pod& first = AddPod("first", "g");
  EXPECT_EQ(PreEnqueue(first), "waiting for pods's pod group \"g\" to appear in scheduling queue");
  AddGroup("g", 2);
  EXPECT_EQ(PreEnqueue(first),
            "waiting for minCount pods from a gang to appear in scheduling queue");
  AddPod("second", "g");
  EXPECT_EQ(PreEnqueue(first), "");
}

TEST_F(GangSchedulingTest, AGroupThatIsNoGangWaitsForNobody) {
  AddGroup("g", 0);
  EXPECT_EQ(PreEnqueue(AddPod("p", "g")), "");
}

TEST_F(GangSchedulingTest, SaysWhetherMinCountCanBeReached) {
  const api::PodGroup gang = Group("g", 3);
  const auto ask = [&](const api::PodGroup& group, int64_t scheduled, int64_t remaining) {
    return plugin_.PlacementFeasible({group, {}}, {scheduled, remaining});
  };
  EXPECT_EQ(ask(gang, 1, 1).code(), Code::kUnschedulable);
  EXPECT_EQ(ask(gang, 1, 1).Message(),
            "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining");
  EXPECT_EQ(ask(gang, 1, 2).code(), Code::kWait);
  EXPECT_EQ(ask(gang, 1, 2).Message(),
            "minCount (3) is not yet satisfied: 1 scheduled, 2 remaining");
  EXPECT_TRUE(ask(gang, 3, 0).Ok());
  const api::PodGroup basic = Group("b", 0);
  EXPECT_EQ(ask(basic, 0, 0).code(), Code::kUnschedulable);
  EXPECT_TRUE(ask(basic, 1, 5).Ok());
}

TEST_F(GangSchedulingTest, HintsConcernPodsOfTheSameGroup) {
  const cluster::Pod& mine = AddPod("mine", "g");
  const cluster::Pod& other = AddPod("other", "h");
  EXPECT_EQ(plugin_.EventsToRegister(config::Behaviour(config::FeatureGates(36))).size(), 3u);
  const auto events = plugin_.EventsToRegister(config::Behaviour(config::FeatureGates(37)));
  ASSERT_EQ(events.size(), 4u);
  queue::Event added{events[0].event, {}, cluster_.Snapshot(mine.id)};
  EXPECT_EQ(*events[0].function(cluster_, mine, added), Hint::kQueue);
  EXPECT_EQ(*events[0].function(cluster_, other, added), Hint::kSkip);
  const auto group = [&](int32_t min_count) {
    return std::make_shared<const api::PodGroup>(Group("g", min_count));
  };
  queue::Event known{events[2].event, {}, group(2)};
  EXPECT_EQ(*events[2].function(cluster_, mine, known), Hint::kQueue);
  EXPECT_EQ(*events[2].function(cluster_, other, known), Hint::kSkip);
  const auto changed = [&](int32_t from, int32_t to) {
    queue::Event event{events[3].event, group(from), group(to)};
    return *events[3].function(cluster_, mine, event);
  };
  EXPECT_EQ(changed(3, 2), Hint::kQueue);
  EXPECT_EQ(changed(2, 3), Hint::kSkip);
  EXPECT_EQ(changed(2, 0), Hint::kSkip);
}

}  // namespace
}  // namespace berth::plugins::gang_scheduling
