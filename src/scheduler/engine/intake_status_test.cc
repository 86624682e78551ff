// Engine::UpdateStatus: a pod of which only the status and the node come.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using EngineStatusTest = EngineTest;

TEST_F(EngineStatusTest, BelievesAWatchThatTellsTheStatusAlone) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  PutStatus(Small("p").On("a"));
  EXPECT_EQ(engine_->AssumedPods(), 0u);
  Answer("bind p");
  EXPECT_THAT(Run(), ElementsAre("event p Scheduled: Successfully assigned ns/p to a"));
  EXPECT_EQ(engine_->WhereIs("p"), "assigned");
  PutPod(Small("q").Requests("cpu", "1500m"));
  EXPECT_THAT(Run(), Contains(HasSubstr("1 Insufficient cpu"))) << "p still takes its core";
  api::Pod done = Small("p").On("a");
  done.status.phase = "Succeeded";
  PutStatus(std::move(done));
  EXPECT_EQ(engine_->WhereIs("p"), "");
  Sleep(10);
  EXPECT_THAT(Run(), Contains("bind q to a"));
}

TEST_F(EngineStatusTest, TheStatusOfAPodThatIsNotKnownIsNothing) {
  PutNode(MakeNode("a").Cpu("2"));
  PutStatus(Small("p").On("a"));
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(EngineStatusTest, AStatusIsOfTheLatestSpecNotOfTheOneThatWasDecidedAbout) {
  PutNode(MakeNode("a").Cpu("4"));
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  PutPod(Small("p").Requests("cpu", "3"));  // changed while its binding is on its way
  PutStatus(Small("p").On("a"));
  const auto& cluster = engine_->GetCluster();
  const auto node = cluster.FindNode("a");
  EXPECT_EQ(cluster.Resource(cluster::kCpu)->requested[node], 3000);
}

}  // namespace
}  // namespace berth::scheduler
