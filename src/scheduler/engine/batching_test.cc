// Observer callbacks of OpportunisticBatching.
#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BatchCounter final : public EngineObserver {
 public:
  void BatchAttempted(std::string_view profile, BatchAttempt attempt) override {
    told.push_back(std::string(profile) + " " + std::string(NameOf(attempt)));
  }
  void BatchFlushed(std::string_view, std::string_view reason) override {
    told.emplace_back(reason);
  }
  std::vector<std::string> told;
};

class BatchingTest : public EngineTest {
 protected:
  void SetUp() override {}
  void MakeWith(bool batching) {
    EngineOptions options;
    options.behaviour.opportunistic_batching = batching;
    auto engine = Engine::Make(config::Default(), options, Now(), nullptr, &counter_);
    ASSERT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
  }
  std::vector<std::string> Told(const api::Pod& pod) {
    PutPod(pod);
    Run();
    return std::exchange(counter_.told, {});
  }

  BatchCounter counter_;
};

TEST_F(BatchingTest, WithDefaultSpreadConstraintsNoPodIsLikeAnother) {
  MakeWith(true);
  EXPECT_THAT(Told(Small("none")), IsEmpty()) << "there is no node";
  engine_->Delete(api::Pod(Small("none")));
  PutNode(MakeNode("a").Cpu("3"));
  EXPECT_THAT(Told(Small("one")), ElementsAre("default-scheduler no_hint", "empty_list"));
  PutNode(MakeNode("b").Cpu("3"));
  EXPECT_THAT(Told(Small("two")), ElementsAre("default-scheduler no_hint", "pod_not_batchable"));
  EXPECT_THAT(Told(Small("three")), ElementsAre("default-scheduler no_hint", "pod_not_batchable"));
  EXPECT_THAT(Told(MakePod("big").Requests("cpu", "9")), ElementsAre("default-scheduler no_hint"));
}

TEST_F(BatchingTest, WithoutTheGateNothingIsTold) {
  MakeWith(false);
  PutNode(MakeNode("a").Cpu("3"));
  EXPECT_THAT(Told(Small("one")), IsEmpty());
}

}  // namespace
}  // namespace berth::scheduler
