// The queue's options that follow the Kubernetes version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "queue/scheduling_queue.h"
#include "queue/testing/fake_queue_host.h"

namespace berth::queue {
namespace {

using ::testing::IsEmpty;

constexpr PluginId kGate = 0, kFit = 1;
constexpr ClusterEvent kNodeAdd{EventResource::kNode, kAdd};

api::Time At(double seconds) {
  return api::Time::FromUnixNano(1'700'000'000'000'000'000 + static_cast<int64_t>(seconds * 1e9));
}

class QueueVersionsTest : public ::testing::Test {
 protected:
  QueueVersionsTest() { host_.registrations = {{kFit, kNodeAdd}}; }
  SchedulingQueue Make(bool QueueOptions::*option, bool on) {
    QueueOptions options = options_;
    options.*option = on;
    return {host_, 1, options};
  }
  void AddRejected(SchedulingQueue& queue, PodId pod, double at) {
    queue.Add(pod, 0, At(at));
    ASSERT_EQ(queue.Pop(At(at)), pod);
    queue.AddUnschedulable(pod, MaskOf(kFit), 0, At(at));
  }

  FakeQueueHost host_;
  QueueOptions options_;
};

TEST_F(QueueVersionsTest, WhetherEventsWithoutAnObjectReachGatedPods) {
  for (const bool on : {false, true}) {
    SchedulingQueue queue = Make(&QueueOptions::wildcard_events_reach_gated_pods, on);
    host_.gates[1] = MaskOf(kGate);
    queue.Add(1, 0, At(0));
    EXPECT_EQ(queue.NextWake().has_value(), on);
    host_.gates.clear();
    host_.gates_asked.clear();
    queue.Move({kNodeAdd, {}, {}}, At(1));
    EXPECT_THAT(host_.gates_asked, IsEmpty()) << "an event of another plugin";
    queue.Move({kUnschedulableTimeout, {}, {}}, At(2));
    EXPECT_EQ(queue.WhereIs(1), on ? "active" : "gated");
  }
}

TEST_F(QueueVersionsTest, TheFlushTriesGatedPodsAtEveryTickOrAfterAnotherFiveMinutes) {
  options_.wildcard_events_reach_gated_pods = true;
  for (const bool on : {false, true}) {
    SchedulingQueue queue = Make(&QueueOptions::flush_counts_from_last_flush, on);
    host_.gates[1] = MaskOf(kGate);
    queue.Add(1, 0, At(0));
    EXPECT_EQ(queue.NextWake(), At(330));
    host_.gates_asked.clear();
    queue.Advance(At(330));
    EXPECT_EQ(host_.gates_asked.size(), 1u);
    EXPECT_EQ(queue.WhereIs(1), "gated");
    EXPECT_EQ(queue.NextWake(), At(on ? 660 : 360));
  }
}

TEST_F(QueueVersionsTest, AnAttemptEndsTheTimeSinceTheFlush) {
  SchedulingQueue queue = Make(&QueueOptions::flush_counts_from_last_flush, true);
  AddRejected(queue, 1, 0);
  EXPECT_FALSE(queue.Find(1)->was_flushed);
  queue.Advance(At(330));
  EXPECT_TRUE(queue.Find(1)->was_flushed);
  ASSERT_EQ(queue.Pop(At(331)), 1u);
  EXPECT_TRUE(queue.FindInFlight(1)->was_flushed) << "metrics count pods that get a node then";
  queue.AddUnschedulable(1, MaskOf(kFit), 0, At(332));
  EXPECT_FALSE(queue.Find(1)->was_flushed);
  EXPECT_FALSE(queue.Find(1)->flushed);
  EXPECT_EQ(queue.NextWake(), At(660));
}

TEST_F(QueueVersionsTest, AFlushedPodThatIsGatedWasNotFlushed) {
  SchedulingQueue queue = Make(&QueueOptions::flush_counts_from_last_flush, true);
  AddRejected(queue, 1, 0);
  host_.gates[1] = MaskOf(kGate);
  queue.Advance(At(330));
  EXPECT_EQ(queue.WhereIs(1), "gated");
  EXPECT_FALSE(queue.Find(1)->was_flushed);
  EXPECT_EQ(queue.Find(1)->flushed, At(330));
}

TEST_F(QueueVersionsTest, WhetherActivationFromBackoffAsksTheGates) {
  for (const bool on : {false, true}) {
    SchedulingQueue queue = Make(&QueueOptions::activation_from_backoff_skips_pre_enqueue, on);
    AddRejected(queue, 1, 0);
    AddRejected(queue, 2, 0);
    queue.MoveIf({kNodeAdd, {}, {}}, At(0.5), [](const QueuedPod& pod) { return pod.pod == 1; });
    ASSERT_EQ(queue.WhereIs(1), "backoff");
    host_.gates = {{1, MaskOf(kGate)}, {2, MaskOf(kGate)}};
    queue.Activate(1, At(0.6));
    EXPECT_EQ(queue.WhereIs(1), on ? "active" : "gated");
    queue.Activate(2, At(0.6));
    EXPECT_EQ(queue.WhereIs(2), "gated") << "it did not pass the gates on its way to backoff";
    host_.gates.clear();
  }
}

TEST_F(QueueVersionsTest, WithoutPoppingFromBackoffActivationAlwaysAsksTheGates) {
  options_.pop_from_backoff = false;
  SchedulingQueue queue = Make(&QueueOptions::activation_from_backoff_skips_pre_enqueue, true);
  AddRejected(queue, 1, 0);
  queue.Move({kNodeAdd, {}, {}}, At(0.5));
  ASSERT_EQ(queue.WhereIs(1), "backoff");
  host_.gates[1] = MaskOf(kGate);
  queue.Activate(1, At(0.6));
  EXPECT_EQ(queue.WhereIs(1), "gated");
}

}  // namespace
}  // namespace berth::queue
