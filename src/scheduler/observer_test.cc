// What an observer is told, in order, of a pod's way through the engine.
#include "scheduler/observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "cluster/testing/builders.h"
#include "scheduler/decisions/decision_log.h"
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
  void PodChanged(Change, const cluster::Pod& pod, bool) override { pods.push_back(pod.name); }
  void Attempted(const cluster::Pod& pod, Outcome outcome, std::string_view,
                 std::string_view) override {
    if (outcome == Outcome::kScheduled) scheduled.push_back(pod.name);
  }
  void QueueIncoming(const cluster::Pod& pod, queue::QueueName queue, std::string_view event,
                     const queue::QueuedPod&, const framework::Profile&) override {
    queued.push_back(fmt::format("{} {} {}", pod.name, queue::NameOf(queue), event));
  }
  CycleInterest CycleBegan(const cluster::Pod&, std::string_view profile, uint8_t) override {
    points.push_back(fmt::format("cycle of {}", profile));
    return interest;
  }
  CycleInterest CyclePassedOver(const cluster::Pod&) override {
    points.push_back("a cycle passed over");
    return interest;
  }
  void SlowCycle(const cluster::Pod& pod, int64_t took_ns, bool watched) override {
    slow.push_back(fmt::format("{} {}{}", pod.name, took_ns, watched ? " watched" : ""));
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
  void BindingPluginEnded(const PodRef&, Point point, std::string_view plugin, Code code) override {
    binding_plugins.push_back(fmt::format("{} {} {}", PointName(point), plugin, CodeName(code)));
  }
  void BindingPointEnded(const PodRef&, Point point, Code code) override {
    points.push_back(fmt::format("{} {}", PointName(point), CodeName(code)));
  }
  void BindBegan(const PodRef&, std::string_view node) override {
    points.push_back(fmt::format("to be bound to {}", node));
  }
  void Bound(const PodRef&, std::string_view, const queue::QueuedPod&, const api::Time&,
             bool watched) override {
    points.push_back(watched ? "bound, watched" : "bound");
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
  void PreEnqueueAsked(std::string_view plugin, Code code) override {
    asked.push_back(fmt::format("{} {}", plugin, CodeName(code)));
  }
  void PreEnqueueEnded(std::string_view, Code code) override {
    gates.push_back(std::string(CodeName(code)));
  }

  CycleInterest interest;
  std::vector<std::string> points, plugins, events, hints, gates, queued, pods, scheduled, slow;
  std::vector<std::string> binding_plugins, asked;
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
  EXPECT_THAT(
      told_.points,
      ElementsAre("cycle of default-scheduler", "PreFilter Success", "started over",
                  "Filter Success", "PreScore Success", "Score Success", "decided, 2 of 2, scored",
                  "algorithm", "Reserve Success", "Permit Success", "PreBind Success",
                  StartsWith("to be bound"), "Bind Success", "PostBind Success", "bound, watched"));
  EXPECT_THAT(told_.plugins, IsEmpty());
  EXPECT_THAT(told_.binding_plugins,
              ElementsAre("PreBind VolumeBinding Success", "PreBind DynamicResources Success",
                          "Bind DefaultBinder Success"));
  EXPECT_THAT(told_.asked, ElementsAre("SchedulingGates Success", "DynamicResources Success",
                                       "DefaultPreemption Success"));
  EXPECT_THAT(told_.events, ElementsAre("NodeAdd", "NodeAdd", "UnschedulablePodAdd"));
  EXPECT_THAT(told_.gates, ElementsAre("Success"));
  EXPECT_THAT(told_.queued, ElementsAre("p active UnschedulablePodAdd"));
}

TEST_F(ObserverTest, AChangeIsToldUnderAllThatItMeans) {
  api::Node node = MakeNode("a");
  Add(node);
  told_.events.clear();
  node.metadata.resource_version = "2";
  node.metadata.labels["zone"] = "z";
  node.metadata.annotations["note"] = "n";
  Add(node);
  EXPECT_THAT(told_.events, ElementsAre("NodeUpdateNodeLabel", "NodeUpdateNodeAnnotation"));

  struct Row {
    const char* name;
    void (*change)(api::Pod&);
    std::vector<std::string> pending, assigned;
  };
  const Row rows[] = {
      {"nothing that matters",
       [](api::Pod& p) { p.metadata.annotations["note"] = "n"; },
       {"UnschedulablePodUpdate"},
       {"AssignedPodUpdate", "AssignedPodUpdate"}},
      {"labels",
       [](api::Pod& p) { p.metadata.labels["app"] = "web"; },
       {"UnschedulablePodUpdate", "UnschedulablePodUpdatePodLabel"},
       {"AssignedPodUpdate", "AssignedPodUpdatePodLabel"}},
      {"a toleration more",
       [](api::Pod& p) { p.spec.tolerations.emplace_back(); },
       {"UnschedulablePodUpdate", "UnschedulablePodUpdatePodToleration"},
       {"AssignedPodUpdate", "AssignedPodUpdatePodToleration"}},
  };
  for (const Row& row : rows) {
    for (const bool assigned : {false, true}) {
      SCOPED_TRACE(fmt::format("{}, {}", row.name, assigned ? "assigned" : "pending"));
      api::Pod pod = MakePod(fmt::format("{} {}", row.name, assigned).c_str());
      pod.metadata.resource_version = "1";
      if (assigned) pod.spec.node_name = "a";
      Add(pod);
      told_.events.clear();
      pod.metadata.resource_version = "2";
      row.change(pod);
      Add(pod);
      EXPECT_EQ(told_.events, assigned ? row.assigned : row.pending);
    }
  }
}

TEST_F(ObserverTest, ABindingThatTheWatchShowsIsAPodLessToScheduleAndOneMoreOnItsNode) {
  AddNode("a");
  api::Pod pod = MakePod("p");
  pod.metadata.resource_version = "1";
  Add(pod);
  told_.events.clear();
  pod.metadata.resource_version = "2";
  pod.spec.node_name = "a";
  Add(pod);
  EXPECT_THAT(told_.events, ElementsAre("UnschedulablePodDelete", "AssignedPodAdd"));
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
                          "Permit Success", "PreBind Success", StartsWith("to be bound")));
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

TEST_F(ObserverTest, WhatIsNotWantedIsNotTold) {
  AddNode("a");
  const auto schedule = [&](const char* name) {
    AddPod(name);
    ASSERT_TRUE(engine_->Step());
    Answer();
  };
  schedule("p1");
  told_.wants().pods = told_.wants().queues = false;
  told_.wants().scheduled = told_.wants().binds = false;
  told_.points.clear();
  schedule("p2");
  EXPECT_THAT(told_.points, ElementsAre("cycle of default-scheduler", "bound"));
  EXPECT_THAT(told_.scheduled, ElementsAre("p1"));
  told_.interest.points = true;
  schedule("p3");
  EXPECT_THAT(told_.scheduled, ElementsAre("p1", "p3")) << "its points are";
  EXPECT_THAT(told_.pods, ElementsAre("p1"));
  EXPECT_THAT(told_.queued, ElementsAre("p1 active UnschedulablePodAdd"));
}

TEST_F(ObserverTest, SoManyEventsHintsAndGatesArePassedOver) {
  told_.wants().skip_events = 2;
  told_.wants().skip_pre_enqueues = 1;
  AddNode("a");
  api::Pod pod = MakePod("p");
  pod.spec.node_selector["disk"] = "none";
  Add(pod);
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.events, IsEmpty());
  EXPECT_THAT(told_.gates, IsEmpty());
  told_.wants().skip_hints = 1;
  for (const char* node : {"b", "c"}) AddNode(node);
  AddPod("q");
  EXPECT_THAT(told_.events, ElementsAre("NodeAdd", "NodeAdd", "UnschedulablePodAdd"));
  EXPECT_THAT(told_.hints, ElementsAre("NodeAffinity NodeAdd QueueSkip"));
  EXPECT_THAT(told_.gates, ElementsAre("Success"));
}

TEST_F(ObserverTest, CyclesArePassedOverAndCounted) {
  told_.wants().skip_cycles = 2;
  told_.interest.points = told_.interest.decision = true;
  AddNode("a");
  for (const char* name : {"p1", "p2", "p3"}) AddPod(name);
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.points,
              ElementsAre("a cycle passed over", "decided, 1 of 1", "to be bound to a"));
  told_.points.clear();
  told_.wants().cycles = false;
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.points, ElementsAre("to be bound to a"));
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.points, Contains("cycle of default-scheduler"));
  EXPECT_THAT(told_.points, Contains("Filter Success"));
  EXPECT_EQ(told_.wants().cycles_begun, 3u);
}

TEST_F(ObserverTest, ACycleThatIsSlowByTheObserversClockIsTold) {
  static int64_t now_ns;
  static int64_t step_ns;
  now_ns = 0;
  step_ns = 10;
  told_.wants().now_ns = [] { return now_ns += step_ns; };
  told_.wants().slow_cycle_ns = 100;
  AddNode("a");
  for (const char* name : {"p1", "p2", "p3"}) AddPod(name);
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.slow, IsEmpty());
  step_ns = 100;
  told_.interest.points = true;
  ASSERT_TRUE(engine_->Step());
  told_.wants().skip_cycles = 1;
  ASSERT_TRUE(engine_->Step());
  EXPECT_THAT(told_.slow, ElementsAre("p2 100 watched", "p3 100"));
}

TEST_F(ObserverTest, TheEngineCountsWhatComesIntoItsQueues) {
  told_.wants().queues = false;
  AddNode("a");
  for (const char* name : {"p1", "p2"}) AddPod(name);
  Add(static_cast<api::Pod>(MakePod("gated").Gate("wait")));
  api::Pod bad = MakePod("bad");
  bad.spec.node_selector["disk"] = "none";
  Add(bad);
  while (engine_->Step()) Answer();
  std::vector<std::string> counts;
  for (const EventMoves& moves : engine_->IncomingPods()) {
    for (size_t q = 0; q < queue::kQueueNames; ++q) {
      if (moves.pods[q] == 0) continue;
      counts.push_back(fmt::format("{} {} {}", queue::NameOf(static_cast<queue::QueueName>(q)),
                                   moves.event, moves.pods[q]));
    }
  }
  EXPECT_THAT(counts, ElementsAre("active UnschedulablePodAdd 3", "gated UnschedulablePodAdd 1",
                                  "unschedulable ScheduleAttemptFailure 1"));
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
