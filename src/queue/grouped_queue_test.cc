#include "queue/grouped_queue.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "queue/testing/fake_queue_host.h"

namespace berth::queue {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr PluginId kGate = 0, kFit = 1;
constexpr ClusterEvent kNodeAdd{EventResource::kNode, kAdd};
constexpr ClusterEvent kGatesGone{EventResource::kUnschedulablePod,
                                  kUpdatePodSchedulingGatesEliminated};

api::Time At(double seconds) {
  return api::Time::FromUnixNano(1'700'000'000'000'000'000 + static_cast<int64_t>(seconds * 1e9));
}

class GroupedQueueTest : public ::testing::Test {
 protected:
  GroupedQueueTest() {
    host_.registrations = {{kGate, kGatesGone}, {kGate, kNodeAdd}, {kFit, kNodeAdd}};
  }
  // The object of a group is known from now on.
  void Know(const std::string& name, double at = 0) {
    api::PodGroup group;
    group.metadata.namespace_ = "ns";
    group.metadata.name = name;
    cluster_.MutableObjects().pod_groups.Set(group);
    queue_.GroupAdded("ns", name, At(at));
  }
  PodId Pod(const std::string& name, const std::string& group, double at = 0) {
    api::Pod pod = cluster::MakePod(name);
    if (!group.empty()) pod.spec.scheduling_group.emplace().pod_group_name = group;
    const PodId id = cluster_.AddPod(pod);
    queue_.Add(id, 0, At(at));
    return id;
  }
  // The group that comes next, and the names of its pods.
  std::vector<std::string> PopGroup(double at, PodId* group) {
    const auto popped = queue_.Pop(At(at));
    if (!popped || !IsGroup(*popped)) return {"no group"};
    *group = *popped;
    std::vector<std::string> names;
    for (const PodId pod : queue_.PoppedGroup(*popped).pods) {
      names.push_back(cluster_.GetPod(pod).name);
    }
    return names;
  }
  std::string Where(PodId pod) const { return std::string(queue_.WhereIs(pod)); }

  FakeQueueHost host_;
  cluster::Cluster cluster_;
  GroupedQueue queue_{host_, cluster_, 1, QueueOptions{}};
};

TEST_F(GroupedQueueTest, PodsOfAGroupArePoppedTogether) {
  Know("g");
  const PodId p = Pod("p", "g");
  const PodId alone = Pod("alone", "", 0.5);
  Pod("q", "g", 1);
  EXPECT_EQ(queue_.Count(QueueName::kActive), 3u);
  PodId group = 0;
  EXPECT_THAT(PopGroup(2, &group), ElementsAre("p", "q"));
  EXPECT_EQ(Where(p), "in-flight");
  EXPECT_EQ(queue_.Find(p)->attempts, 1);
  EXPECT_EQ(queue_.InFlightCount(), 2u);
  EXPECT_EQ(queue_.Pop(At(2)), alone);
}

TEST_F(GroupedQueueTest, AGroupComesIntoAQueueOnceWhileItsPodsAreManyThere) {
  host_.gates[0] = 1;  // the first pod of the cluster: its group is gated
  Know("g");
  const PodId p = Pod("p", "g");
  Pod("q", "g", 1);
  Pod("r", "g", 2);
  ASSERT_EQ(Where(p), "gated");
  const auto gated = static_cast<size_t>(QueueName::kGated);
  ASSERT_EQ(queue_.Moves().size(), 1u);
  EXPECT_EQ(queue_.Moves()[0].groups[gated], 1u);
  EXPECT_EQ(queue_.Moves()[0].pods[gated], 1u + 2u + 3u);
  EXPECT_EQ(queue_.CountGroups(QueueName::kGated).groups, 1u);
  EXPECT_EQ(queue_.CountGroups(QueueName::kGated).pods, 3u);
  EXPECT_EQ(queue_.CountGroups(QueueName::kActive).groups, 0u);
}

TEST_F(GroupedQueueTest, PodsWaitForTheObjectOfTheirGroup) {
  const PodId p = Pod("p", "g");
  EXPECT_EQ(Where(p), "incomplete");
  EXPECT_EQ(queue_.IncompleteCount(), 1u);
  EXPECT_FALSE(queue_.CanPop());
  Know("g", 1);
  EXPECT_EQ(Where(p), "active");
  cluster_.MutableObjects().pod_groups.Remove("ns", "g");
  queue_.GroupDeleted("ns", "g");
  EXPECT_EQ(Where(p), "incomplete");
  EXPECT_FALSE(queue_.CanPop());
}

TEST_F(GroupedQueueTest, PodsThatComeDuringAnAttemptWaitForItsEnd) {
  Know("g");
  const PodId p = Pod("p", "g");
  PodId group = 0;
  PopGroup(0, &group);
  const PodId q = Pod("q", "g");
  EXPECT_EQ(Where(q), "pending");
  queue_.Done(p);
  queue_.EndAttempt(group, GroupEnd::kScheduled, At(0));
  EXPECT_EQ(Where(p), "");
  EXPECT_EQ(Where(q), "active");
}

TEST_F(GroupedQueueTest, ARejectedGroupWaitsLongerTheMorePodsItHas) {
  Know("g");
  for (const char* name : {"a", "b", "c", "d"}) Pod(name, "g");
  double now = 0;
  for (int attempt = 0; attempt < 6; ++attempt) {  // 1, 2, 4, 8, 16, 20 s: the longest is 10 s x 2
    PodId group = 0;
    ASSERT_EQ(PopGroup(now, &group).size(), 4u) << attempt;
    const auto span = queue_.PoppedGroup(group).pods;
    const std::vector<PodId> pods(span.begin(), span.end());
    for (const PodId pod : pods) queue_.AddUnschedulable(pod, MaskOf(kFit), 0, At(now));
    queue_.EndAttempt(group, GroupEnd::kRejected, At(now));
    EXPECT_EQ(Where(pods.front()), "error-backoff");
    const double wait = attempt < 5 ? double{1} * (1 << attempt) : 20;
    EXPECT_EQ(*queue_.BackoffUntil(pods.front()), At(now + wait));
    EXPECT_FALSE(queue_.CanPop());  // never early
    now += wait + 1;
    queue_.Advance(At(now));
  }
}

TEST_F(GroupedQueueTest, WhatIsLeftOfAScheduledGroupIsTriedAtOnce) {
  Know("g");
  const PodId p = Pod("p", "g");
  const PodId q = Pod("q", "g");
  PodId group = 0;
  PopGroup(0, &group);
  queue_.Done(p);
  queue_.AddUnschedulable(q, MaskOf(kFit), 0, At(1));
  queue_.EndAttempt(group, GroupEnd::kScheduled, At(1));
  EXPECT_THAT(PopGroup(1, &group), ElementsAre("q"));
}

TEST_F(GroupedQueueTest, OnePodThatIsGatedGatesTheGroup) {
  Know("g");
  const PodId p = Pod("p", "g");
  host_.gates[1] = MaskOf(kGate);
  const PodId q = Pod("q", "g");
  ASSERT_EQ(q, 1u);
  EXPECT_EQ(Where(p), "gated");
  EXPECT_EQ(Where(q), "gated");
  host_.gates.clear();
  queue_.Move({kNodeAdd, {}, {}}, At(1));
  EXPECT_EQ(Where(p), "active");
}

TEST_F(GroupedQueueTest, DeletedPodsLeaveTheirGroup) {
  Know("g");
  const PodId p = Pod("p", "g");
  const PodId q = Pod("q", "g");
  queue_.Delete(p);
  EXPECT_EQ(Where(p), "");
  PodId group = 0;
  EXPECT_THAT(PopGroup(0, &group), ElementsAre("q"));
  queue_.Delete(q);  // while it is tried
  queue_.AddUnschedulable(q, MaskOf(kFit), 0, At(0));
  queue_.EndAttempt(group, GroupEnd::kRejected, At(0));
  EXPECT_EQ(Where(q), "");
  EXPECT_EQ(queue_.InFlightCount(), 0u);
}

TEST_F(GroupedQueueTest, APodWhoseBindingFailedReturnsToItsGroup) {
  Know("g");
  const PodId p = Pod("p", "g");
  PodId group = 0;
  PopGroup(0, &group);
  const QueuedPod failed = *queue_.FindInFlight(p);
  queue_.Done(p);
  queue_.EndAttempt(group, GroupEnd::kScheduled, At(0));
  queue_.AddFailed(failed, At(1));
  EXPECT_EQ(Where(p), "active");
  EXPECT_EQ(queue_.Find(p)->consecutive_errors_count, 1);
}

}  // namespace
}  // namespace berth::queue
