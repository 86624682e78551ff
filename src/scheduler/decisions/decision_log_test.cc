#include "scheduler/decisions/decision_log.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

constexpr int64_t kSecond = 1'000'000'000;

class DecisionLogTest : public testing::Test {
 protected:
  DecisionLogTest() : log_({.decisions = 4, .moves = 8, .pending = 2}) {
    cluster_.SetNode(MakeNode("a"));
  }

  const cluster::Pod& Add(const std::string& name) {
    return cluster_.GetPod(cluster_.AddPod(MakePod(name)));
  }
  void Schedule(const cluster::Pod& pod) {
    log_.Scheduled(pod, 0, 1, decision_, cluster_.Record(0).name, kSecond, 1);
  }
  void Fail(const cluster::Pod& pod, const std::string& message) {
    auto failed = std::make_shared<FailedAttempt>();
    failed->message = message;
    log_.Failed(pod, 0, 1, &decision_, Outcome::kUnschedulable, failed, kSecond, 1);
  }

  cluster::Cluster cluster_;
  Decision decision_;
  DecisionLog log_;
};

TEST_F(DecisionLogTest, KeepsTheLastDecisionsAndTheirNames) {
  for (const char* name : {"p1", "p2", "p3", "p4", "p5", "p6"}) Schedule(Add(name));
  EXPECT_EQ(log_.Newest(), 6u);
  EXPECT_EQ(log_.Kept(), 4u);
  EXPECT_EQ(log_.Find(2), nullptr) << "overwritten";
  ASSERT_NE(log_.Find(3), nullptr);
  EXPECT_EQ(log_.NamesOf(*log_.Find(3)).name, "p3");
  EXPECT_EQ(log_.NamesOf(*log_.Find(6)).name, "p6");
  EXPECT_EQ(log_.Find(7), nullptr) << "not yet made";
}

TEST_F(DecisionLogTest, AWaitingPodIsRememberedLongerThanTheRing) {
  const cluster::Pod& waits = Add("waits");
  Fail(waits, "0/1 nodes are available");
  for (int i = 0; i < 10; ++i) Schedule(Add("p" + std::to_string(i)));
  const AttemptRecord* last = log_.FindLast(waits.id, waits.uid);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->failed->message, "0/1 nodes are available");
  Schedule(waits);
  EXPECT_EQ(log_.FindLast(waits.id, waits.uid)->outcome, Outcome::kScheduled);
}

TEST_F(DecisionLogTest, TimesBelongToTheirDecisionAlone) {
  PointTimes cycle;
  cycle.Add(framework::Point::kFilter, 2'000'000);
  PointTimes binding;
  binding.Add(framework::Point::kBind, 5'000'000);
  const cluster::Pod& waits = Add("waits");
  Fail(waits, "0/1 nodes are available");
  log_.Timed(1, cycle);
  Schedule(Add("p2"));
  EXPECT_TRUE(log_.Find(2)->times.Empty());
  Schedule(Add("p3"));
  log_.Timed(3, cycle);
  log_.Timed(3, binding);
  EXPECT_DOUBLE_EQ(log_.Find(3)->times.Ms(framework::Point::kFilter), 2);
  EXPECT_DOUBLE_EQ(log_.Find(3)->times.Ms(framework::Point::kBind), 5);
  EXPECT_FALSE(log_.Find(3)->times.Has(framework::Point::kScore)) << "never timed";
  for (const char* name : {"p4", "p5", "p6", "p7"}) Schedule(Add(name));
  EXPECT_TRUE(log_.Find(7)->times.Empty()) << "the place of a decision that was timed";
  log_.Timed(3, binding);  // overwritten: nobody gets it
  EXPECT_TRUE(log_.Find(7)->times.Empty());
  EXPECT_TRUE(log_.FindLast(waits.id, waits.uid)->times.Has(framework::Point::kFilter))
      << "a waiting pod keeps its times beyond the ring";
}

TEST_F(DecisionLogTest, NoMoreWaitingPodsThanTheLimit) {
  const cluster::Pod& first = Add("first");
  const cluster::Pod& third = Add("third");
  Fail(first, "1");
  Fail(Add("second"), "2");
  Fail(third, "3");
  for (int i = 0; i < 10; ++i) Schedule(Add("p" + std::to_string(i)));
  EXPECT_NE(log_.FindLast(first.id, first.uid), nullptr);
  EXPECT_EQ(log_.FindLast(third.id, third.uid), nullptr);
  Fail(first, "again");
  EXPECT_EQ(log_.FindLast(first.id, first.uid)->failed->message, "again");
}

queue::QueuedPod Queued(cluster::PodId pod) {
  queue::QueuedPod queued;
  queued.pod = pod;
  return queued;
}

TEST_F(DecisionLogTest, AMoveHasTheHintsThatLedToIt) {
  const queue::QueuedPod pod = Queued(7);
  const queue::QueuedPod other = Queued(8);
  log_.Moved(pod, queue::QueueName::kActive, "PodAdd", true, kSecond);
  log_.Hinted(8, 1, true);
  log_.Hinted(7, 2, false);
  log_.Hinted(7, 3, true);
  log_.Moved(pod, queue::QueueName::kBackoff, "NodeAdd", false, 2 * kSecond);
  log_.Moved(other, queue::QueueName::kBackoff, "NodeAdd", false, 2 * kSecond);
  const std::vector<QueueMoveRecord> moves = log_.MovesOf(7, 10);
  ASSERT_EQ(moves.size(), 2u);
  EXPECT_EQ(log_.EventName(moves[0].event), "NodeAdd");
  EXPECT_EQ(moves[0].helped, queue::MaskOf(3));
  EXPECT_EQ(moves[0].skipped, queue::MaskOf(2));
  EXPECT_EQ(moves[1].helped, 0u);
  EXPECT_EQ(log_.MovesOf(8, 10)[0].helped, 0u) << "hints of another pod came between";
}

TEST_F(DecisionLogTest, APodThatTakesOverANumberHasItsOwnMovesOnly) {
  const queue::QueuedPod pod = Queued(7);
  log_.Moved(pod, queue::QueueName::kUnschedulable, "ScheduleAttemptFailure", false, kSecond);
  log_.Moved(pod, queue::QueueName::kActive, "PodAdd", true, kSecond);
  EXPECT_EQ(log_.MovesOf(7, 10).size(), 1u);
}

TEST(Rates, CountTheLastMinute) {
  Rates rates;
  rates.Attempted(Outcome::kScheduled, 100 * kSecond);
  rates.Bound(5'000'000, 100 * kSecond);
  rates.Bound(15'000'000, 130 * kSecond);
  rates.Attempted(Outcome::kUnschedulable, 130 * kSecond);
  const QueueRates now = rates.Lately(130 * kSecond);
  EXPECT_EQ(now.scheduled, 1);
  EXPECT_EQ(now.unschedulable, 1);
  EXPECT_EQ(now.bound, 2);
  EXPECT_EQ(now.latency_ms.p50, 5);
  EXPECT_EQ(now.latency_ms.max, 15);
  EXPECT_EQ(now.series->bound.back(), 1);
  EXPECT_EQ(now.series->bound[29], 1);
  const QueueRates later = rates.Lately(165 * kSecond);
  EXPECT_EQ(later.scheduled, 0) << "too long ago";
  EXPECT_EQ(later.bound, 1);
  EXPECT_EQ(rates.Totals().bound, 2);
}

}  // namespace
}  // namespace berth::scheduler
