// What an observer is told, in order, of a pod's way through the engine.
#include "scheduler/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cluster/test_builders.h"
#include "scheduler/engine.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using framework::Code;
using framework::CodeName;
using framework::Point;
using framework::PointName;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

const api::Time kNow = api::Time::FromUnixNano(1'700'000'000'000'000'000);

class Recorder final : public EngineObserver {
 public:
  void QueueIncoming(const cluster::Pod& pod, queue::QueueName queue, std::string_view event,
                     const queue::QueuedPod&, const framework::Profile&) override {
    queued.push_back(fmt::format("{} {} {}", pod.name, queue::NameOf(queue), event));
  }
  CycleInterest CycleBegan(const cluster::Pod&, std::string_view profile, uint8_t) override {
    points.push_back(fmt::format("cycle of {}", profile));
    return interest;
  }
  void PointEnded(Point point, Code code) override {
    points.push_back(fmt::format("{} {}", PointName(point), CodeName(code)));
  }
  void StartedOver() override { points.push_back("started over"); }
  void PluginEnded(Point point, std::string_view plugin, Code code) override {
    plugins.push_back(fmt::format("{} {} {}", PointName(point), plugin, CodeName(code)));
  }
  void AlgorithmEnded() override { points.push_back("algorithm"); }
  void Decided(const cluster::Pod&, const Decision& decision, const framework::Cycle&) override {
    points.push_back(fmt::format("decided, {} of {}{}", decision.feasible_count,
                                 decision.evaluated_nodes, decision.scored ? ", scored" : ""));
  }
  void BindingPointEnded(const PodRef&, Point point, std::string_view plugin, Code code) override {
    points.push_back(fmt::format("{} {} {}", PointName(point), plugin, CodeName(code)));
  }
  void BindBegan(const PodRef&, std::string_view node) override {
    points.push_back(fmt::format("to be bound to {}", node));
  }
  void Bound(const PodRef&, std::string_view, const queue::QueuedPod&, const api::Time&) override {
    points.push_back("bound");
  }
  void PermitWaited(Code code, int64_t waited_ns) override {
    points.push_back(fmt::format("waited {} ns: {}", waited_ns, CodeName(code)));
  }
  bool EventBegan() override { return true; }
  void EventEnded(std::string_view event) override { events.emplace_back(event); }
  bool HintBegan() override { return true; }
  void HintEnded(std::string_view plugin, std::string_view event, std::string_view hint) override {
    hints.push_back(fmt::format("{} {} {}", plugin, event, hint));
  }
  bool PreEnqueueBegan() override { return true; }
  void PreEnqueueEnded(std::string_view, Code code) override {
    gates.push_back(std::string(CodeName(code)));
  }

  CycleInterest interest;
  std::vector<std::string> points, plugins, events, hints, gates, queued;
};

class ObserverTest : public ::testing::Test {
 protected:
  void SetUp() override { engine_ = std::move(*MakeEngine({})); }
  Result<std::unique_ptr<Engine>> MakeEngine(const EngineOptions& options) {
    return Engine::Make(config::Default(), options, kNow, nullptr, &told_);
  }
  void Add(const api::Node& node) { engine_->Upsert(node); }
  void Add(const api::Pod& pod) { engine_->Upsert(pod); }
  void AddNode(const char* name) { Add(static_cast<api::Node>(MakeNode(name))); }
  void AddPod(const char* name) { Add(static_cast<api::Pod>(MakePod(name))); }
  void Answer() {
    for (Effect& effect : engine_->TakeEffects()) {
      EffectResult result;
      result.id = effect.id;
      engine_->Complete(std::move(result));
    }
  }

  Recorder told_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(ObserverTest, AWatchedCycleNamesItsPointsInOrder) {
  told_.interest.points = true;
  told_.interest.decision = true;
  AddNode("a");
  AddNode("b");
  AddPod("p");
  ASSERT_TRUE(engine_->Step());
  Answer();
  EXPECT_THAT(told_.points,
              ElementsAre("cycle of default-scheduler", "PreFilter Success", "started over",
                          "Filter Success", "PreScore Success", "Score Success",
                          "decided, 2 of 2, scored", "algorithm", "Reserve Success",
                          "Permit Success", "PreBind  Success", StartsWith("to be bound"),
                          "Bind DefaultBinder Success", "PostBind  Success", "bound"));
  EXPECT_THAT(told_.plugins, IsEmpty());
  EXPECT_THAT(told_.events, ElementsAre("NodeAdd", "NodeAdd", "UnschedulablePodAdd"));
  EXPECT_THAT(told_.gates, ElementsAre("Success"));
  EXPECT_THAT(told_.queued, ElementsAre("p active UnschedulablePodAdd"));
}

TEST_F(ObserverTest, APodThatFitsNowhereIsNotScoredByItsClassEither) {
  told_.interest.points = true;
  Add(static_cast<api::Node>(MakeNode("a").Pods("0")));
  for (const char* name : {"p1", "p2", "p3"}) AddPod(name);
  for (int i = 0; i < 3; ++i) {
    told_.points.clear();
    ASSERT_TRUE(engine_->Step());
  }
  EXPECT_THAT(told_.points, ElementsAre("cycle of default-scheduler", "PreFilter Success",
                                        "PreScore Success", "Filter Success", "started over",
                                        "Filter Success", "PostFilter Unschedulable", "algorithm"));
}

TEST_F(ObserverTest, ADecisionFromAClassHasTheSamePoints) {
  told_.interest.points = true;
  AddNode("a");
  AddNode("b");
  for (const char* name : {"p1", "p2", "p3"}) AddPod(name);
  for (int i = 0; i < 3; ++i) {
    told_.points.clear();
    ASSERT_TRUE(engine_->Step());
  }
  EXPECT_THAT(told_.points,
              ElementsAre("cycle of default-scheduler", "PreFilter Success", "PreScore Success",
                          "Filter Success", "Score Success", "algorithm", "Reserve Success",
                          "Permit Success", "PreBind  Success", StartsWith("to be bound")));
  // Both nodes for the first pod, both for the class, and the one that changed since.
  const auto& plugins = engine_->CycleOf(0).profile().Plugins();
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (plugins[i]->Name() != "NodeResourcesFit") continue;
    EXPECT_EQ(engine_->CycleOf(0).calls()[i].pre_filter, 3u);
    EXPECT_EQ(engine_->CycleOf(0).calls()[i].filter, 5u);
    EXPECT_EQ(engine_->CycleOf(0).calls()[i].score, 5u);
  }
}

TEST_F(ObserverTest, SinglePluginsAreNamedWithTheirStatus) {
  told_.interest.points = true;
  told_.interest.plugins = true;
  AddNode("a");
  AddNode("b");
  AddPod("p");
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.plugins,
              IsSupersetOf({"PreFilter NodeResourcesFit Success", "PreFilter NodePorts Skip",
                            "Filter NodeResourcesFit Success", "PreScore NodeAffinity Skip",
                            "Score NodeResourcesFit Success",
                            "ScoreExtensionNormalize TaintToleration Success",
                            "Reserve VolumeBinding Success"}));
}

TEST_F(ObserverTest, WithoutInterestNothingOfTheCycleIsTold) {
  AddNode("a");
  AddPod("p");
  ASSERT_TRUE(engine_->Step());
  Answer();
  EXPECT_THAT(told_.points, ElementsAre("cycle of default-scheduler", "to be bound to a", "bound"));
}

TEST_F(ObserverTest, APodThatFitsNowhereAsksPostFilterAndLaterHints) {
  told_.interest.points = true;
  AddNode("a");
  api::Pod pod = MakePod("p");
  pod.spec.node_selector["disk"] = "none";
  Add(pod);
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.points,
              ElementsAre("cycle of default-scheduler", "PreFilter Success", "started over",
                          "Filter Success", StartsWith("PostFilter Unschedulable"), "algorithm"));
  EXPECT_THAT(told_.queued, Contains("p unschedulable ScheduleAttemptFailure"));
  AddNode("b");
  EXPECT_THAT(told_.hints, ElementsAre("NodeAffinity NodeAdd QueueSkip"));
}

}  // namespace
}  // namespace berth::scheduler
