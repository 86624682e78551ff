// OpportunisticBatching: which node of equals the next pod gets, and what the observer learns.
#include <functional>

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
    calls.push_back(std::string(profile) + " " + std::string(NameOf(attempt)));
  }
  void BatchFlushed(std::string_view, std::string_view reason) override {
    calls.emplace_back(reason);
  }
  void BatchRescored(std::string_view) override { calls.emplace_back("rescored"); }
  std::vector<std::string> calls;
};

class BatchingTest : public EngineTest {
 protected:
  void SetUp() override {}
  // `spread`: pods are spread by default, as they are unless the configuration says otherwise.
  void MakeWith(int minor, bool batching = true, bool spread = false) {
    EngineOptions options;
    options.check_inputs = true;
    options.behaviour = config::Behaviour(config::FeatureGates(minor));
    options.behaviour.opportunistic_batching = batching;
    config::KubeSchedulerConfiguration config = config::Default(options.behaviour);
    for (config::PluginConfig& entry : config.profiles[0].plugin_config) {
      auto* args = std::get_if<config::PodTopologySpreadArgs>(&entry.args);
      if (args != nullptr && !spread) args->defaulting_type = "List";
    }
    auto engine = Engine::Make(config, options, Now(), nullptr, &counter_);
    ASSERT_TRUE(engine.has_value());
    engine_ = std::move(*engine);
  }
  void PutNodes(const std::string& cpu) {
    for (const char* name : {"a", "b", "c"}) PutNode(MakeNode(name).Cpu(cpu));
  }
  // Where the pod goes; empty: nowhere.
  std::string Place(const api::Pod& pod) {
    PutPod(pod);
    std::string node;
    for (const std::string& effect : Run()) {
      const std::string prefix = "bind " + pod.metadata.name + " to ";
      if (effect.starts_with(prefix)) node = effect.substr(prefix.size());
    }
    return node;
  }
  std::vector<std::string> Calls() { return std::exchange(counter_.calls, {}); }

  BatchCounter counter_;
};

TEST_F(BatchingTest, WithDefaultSpreadConstraintsNoPodIsLikeAnother) {
  MakeWith(37, true, /*spread=*/true);
  Place(Small("none"));
  EXPECT_THAT(Calls(), IsEmpty()) << "there is no node";
  engine_->Delete(api::Pod(Small("none")));
  PutNode(MakeNode("a").Cpu("3"));
  Place(Small("one"));
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint", "empty_list"));
  PutNode(MakeNode("b").Cpu("3"));
  Place(Small("two"));
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint", "pod_not_batchable"));
  Place(Small("three"));
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint", "pod_not_batchable"));
  Place(MakePod("big").Requests("cpu", "9"));
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint"));
}

TEST_F(BatchingTest, WithoutTheGateEveryPodIsDecidedAlone) {
  MakeWith(37, /*batching=*/false);
  PutNodes("1");
  EXPECT_EQ(Place(Small("one")), "a");
  EXPECT_EQ(Place(Small("two")), "b") << "the first of those that are left";
  EXPECT_THAT(Calls(), IsEmpty());
}

// The heap's last node takes the place of the chosen one, and is the next.
TEST_F(BatchingTest, WhileTheLastNodeIsFullTheNextOfTheRankingIsTaken) {
  for (const int minor : {35, 36, 37}) {
    SCOPED_TRACE(minor);
    MakeWith(minor);
    PutNodes("1");
    EXPECT_EQ(Place(Small("one")), "a");
    EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint"));
    EXPECT_EQ(Place(Small("two")), "c");
    EXPECT_THAT(Calls(), ElementsAre("default-scheduler hint_used"));
    EXPECT_EQ(Place(Small("three")), "b");
    EXPECT_THAT(Calls(), ElementsAre("default-scheduler hint_used"));
    EXPECT_EQ(Place(Small("four")), "");
    EXPECT_THAT(Calls(), ElementsAre("default-scheduler no_hint")) << "the ranking is used up";
  }
}

TEST_F(BatchingTest, IfTheLastNodeHasCapacityLeftItIsScoredAgainFrom137On) {
  MakeWith(36);
  PutNodes("4");
  EXPECT_EQ(Place(Small("one")), "a");
  Calls();
  EXPECT_EQ(Place(Small("two")), "b");
  EXPECT_THAT(Calls(), ElementsAre("node_not_full", "default-scheduler no_hint"));

  MakeWith(37);
  PutNodes("4");
  EXPECT_EQ(Place(Small("one")), "a");
  Calls();
  EXPECT_EQ(Place(Small("two")), "c") << "first in the heap of the ranking and the last node";
  EXPECT_THAT(Calls(), ElementsAre("rescored", "default-scheduler hint_used"));
}

TEST_F(BatchingTest, AHintThatDoesNotFitIsNotUsed) {
  MakeWith(37);
  PutNodes("1");
  EXPECT_EQ(Place(Small("one")), "a");
  Calls();
  PutNode(MakeNode("c").Cpu("100m"));
  EXPECT_EQ(Place(Small("two")), "b");
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler hint_not_used", "empty_list"));
}

TEST_F(BatchingTest, ANodeThatIsGoneMayBeTheHint) {
  MakeWith(37);
  PutNodes("1");
  EXPECT_EQ(Place(Small("one")), "a");
  Calls();
  engine_->Delete(api::Node(MakeNode("c")));
  EXPECT_EQ(Place(Small("two")), "b");
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler hint_not_used", "empty_list"));
}

TEST_F(BatchingTest, WhenARankingIsOfNoUse) {
  const struct {
    const char* reason;
    std::function<void()> between;
    api::Pod next;
  } rows[] = {
      {"expired", [this] { Sleep(0.6); }, Small("two")},
      {"pod_incompatible", [] {}, MakePod("two").Requests("cpu", "500m")},
      {"pod_incompatible", [] {}, Small("two").Label("app", "x")},
      {"node_missing", [this] { engine_->Delete(api::Node(MakeNode("a"))); }, Small("two")},
      {"pod_skipped", [this] { Place(MakePod("fails").Requests("cpu", "100")); }, Small("two")},
      {"pod_nominated", [] {}, Small("two").Nominated("b")},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    MakeWith(37);
    PutNodes("1");
    EXPECT_EQ(Place(Small("one")), "a");
    row.between();
    Calls();
    EXPECT_EQ(Place(row.next), "b");
    ASSERT_GE(counter_.calls.size(), 2u);
    EXPECT_EQ(counter_.calls[0], row.reason);
    EXPECT_EQ(counter_.calls[1], "default-scheduler no_hint");
    Calls();
  }
}

TEST_F(BatchingTest, Until136ANominationWinsOverTheHint) {
  MakeWith(36);
  PutNodes("1");
  EXPECT_EQ(Place(Small("one")), "a");
  Calls();
  EXPECT_EQ(Place(Small("two").Nominated("b")), "b");
  EXPECT_THAT(Calls(), ElementsAre("default-scheduler hint_not_used", "empty_list"));
}

}  // namespace
}  // namespace berth::scheduler
