#include "replicas/replica_loop.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::replicas {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ReplicaLoopTest : public ::testing::Test {
 protected:
  std::shared_ptr<ReplicaLoop> Make(int64_t rate) {
    return std::make_shared<ReplicaLoop>(world_, rate, 1);
  }
  net::Loop::Task Note(std::string what) {
    return [this, what = std::move(what)] { ran_.push_back(what); };
  }

  sim::EventLoop world_{api::Time::FromUnixNano(1'700'000'000'000'000'000)};
  std::vector<std::string> ran_;
};

TEST_F(ReplicaLoopTest, TimersFollowItsOwnClock) {
  const auto slow = Make(900);
  slow->After(seconds(9), Note("slow"));
  world_.RunUntil(10 * sim::kSecond - 1);
  EXPECT_THAT(ran_, IsEmpty());
  world_.RunUntil(10 * sim::kSecond + 2);
  EXPECT_THAT(ran_, ElementsAre("slow"));
  EXPECT_EQ(slow->Steady() / milliseconds(1), 9000);
}

TEST_F(ReplicaLoopTest, NothingRunsWhileItIsPausedButItsClockGoesOn) {
  const auto loop = Make(1000);
  loop->After(seconds(1), Note("first"));
  loop->Arrive(2 * sim::kSecond, Note("second"));
  loop->Pause();
  world_.RunUntil(5 * sim::kSecond);
  EXPECT_THAT(ran_, IsEmpty());
  EXPECT_EQ(loop->Steady(), seconds(5));
  loop->Resume();
  EXPECT_THAT(ran_, IsEmpty());
  world_.RunUntil(5 * sim::kSecond);
  EXPECT_THAT(ran_, ElementsAre("first", "second"));
}

TEST_F(ReplicaLoopTest, WhatWasHeldCanStillBeCancelled) {
  const auto loop = Make(1000);
  const auto timer = loop->After(seconds(1), Note("cancelled"));
  loop->Pause();
  world_.RunUntil(2 * sim::kSecond);
  loop->Cancel(timer);
  loop->Resume();
  world_.RunUntil(3 * sim::kSecond);
  EXPECT_THAT(ran_, IsEmpty());
}

TEST_F(ReplicaLoopTest, ItsWallClockJumpsItsSteadyClockDoesNot) {
  const auto loop = Make(1000);
  const api::Time before = loop->Now();
  loop->JumpWallClock(-30 * sim::kSecond);
  EXPECT_EQ(loop->Now().UnixNano(), before.UnixNano() - 30 * sim::kSecond);
  EXPECT_EQ(loop->Steady(), seconds(0));
}

TEST_F(ReplicaLoopTest, NothingRunsAfterACrash) {
  auto loop = Make(1000);
  loop->After(seconds(1), Note("never"));
  loop.reset();
  world_.RunUntil(2 * sim::kSecond);
  EXPECT_THAT(ran_, IsEmpty());
}

}  // namespace
}  // namespace berth::replicas
