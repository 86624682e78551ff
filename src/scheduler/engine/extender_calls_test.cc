// Extenders as the engine sees them: what they are asked, in which order, and what becomes of what
// they say. The test is the extender.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "scheduler/engine.h"
#include "scheduler/testing/extenders.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kSecond = 1'000'000'000;
using Code = EffectResult::Code;

class EngineExtendersTest : public ExtendersTest {
 protected:
  void Make(std::vector<config::Extender> extenders) {
    config::KubeSchedulerConfiguration config = config::Default();
    config.extenders = std::move(extenders);
    auto engine = Engine::Make(config, {}, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
  }
  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  template <class T>
  void Put(const T& builder) {
    Upsert(builder);
  }
  void Upsert(api::Pod pod) { UpsertAny(std::move(pod)); }
  void Upsert(api::Node node) { UpsertAny(std::move(node)); }
  template <class T>
  void UpsertAny(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }

  std::string EffectWords(const EffectAction& action) const override {
    if (const auto* bind = std::get_if<BindPod>(&action)) {
      return "bind " + bind->pod.name + " to " + bind->node;
    }
    if (const auto* patch = std::get_if<PatchPodStatus>(&action)) {
      std::string text = "patch " + patch->pod.name;
      if (patch->condition) text += " " + patch->condition->reason;
      if (patch->nominated_node_name) text += " nominated=" + *patch->nominated_node_name;
      return text;
    }
    if (const auto* event = std::get_if<RecordEvent>(&action)) {
      return "event " + event->regarding.name + ": " + event->note;
    }
    if (const auto* read = std::get_if<ReadPod>(&action)) return "read " + read->pod.name;
    return "other";
  }
};

MakeNode Node(const std::string& name) { return MakeNode(name).Cpu("4"); }
MakePod Pod(const std::string& name) { return MakePod(name).Requests("cpu", "1"); }

TEST_F(EngineExtendersTest, FiltersOneAfterTheOtherIgnorableOnesLast) {
  config::Extender lenient = Filter("lenient");
  lenient.ignorable = true;
  Make({lenient, Filter("first"), Filter("second")});
  for (const char* name : {"a", "b", "c"}) Put(Node(name));
  Put(Pod("p"));
  EXPECT_THAT(Run(), ElementsAre("first filter p [a b c]"));
  Say("first", Passes({"b", "c"}));
  EXPECT_THAT(Run(), ElementsAre("second filter p [b c]"));
  Say("second", Passes({"c"}));
  EXPECT_THAT(Run(), ElementsAre("lenient filter p [c]"));
  Error("lenient", "it is down");
  EXPECT_THAT(Run(), ElementsAre("bind p to c"));
  EXPECT_EQ(engine_->AwaitedRequests(), 1u);
}

TEST_F(EngineExtendersTest, WhatHappensMeanwhileIsTakenUpAfterwards) {
  Make({Filter("x")});
  Put(Node("a"));
  Put(Pod("p"));
  Put(Pod("q"));
  EXPECT_THAT(Run(), ElementsAre("x filter p [a]"));
  Put(Node("b"));
  api::Node gone = Node("a");
  engine_->Delete(gone);
  now_ += 3 * kSecond;
  engine_->AdvanceTo(Now());
  EXPECT_EQ(engine_->NextWake(), std::nullopt);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->GetCluster().NodeCount(), 1u);
  Say("x", Passes({"a"}));
  EXPECT_THAT(Run(), ElementsAre("bind p to a", "x filter q [b]"));
}

TEST_F(EngineExtendersTest, RefusalsAreReasonsAndAnyEventMayHelp) {
  Make({Filter("x")});
  for (const char* name : {"a", "b", "c", "d"}) Put(Node(name));
  Put(Pod("p"));
  Run();
  ExtenderAnswer answer;
  answer.failed = {{"a", "no"}, {"b", "never"}, {"nowhere", "no"}};
  answer.failed_and_unresolvable = {{"b", "not ever"}, {"c", "not ever"}};
  Say("x", answer);
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("event p: 0/4 nodes are available: 1 no, 2 not ever."),
                                 "patch p Unschedulable"));
  EXPECT_EQ(engine_->WhereIs("p"), "unschedulable");
  now_ += 20 * kSecond;
  engine_->AdvanceTo(Now());
  Put(MakeNode("e"));  // no in-tree plugin could be helped by it
  EXPECT_THAT(Run(), ElementsAre("x filter p [a b c d]"));
}

TEST_F(EngineExtendersTest, ErrorsAreTheSchedulersError) {
  struct Row {
    std::string name;
    std::optional<ExtenderAnswer> answer;
    std::string note;
  };
  const Row rows[] = {
      {"a call that failed", std::nullopt, "failed filter with extender at URL U, code 500"},
      {"a node that is not there", Passes({"a", "z"}),
       R"(extender "http://x" claims a filtered node "z" which is not found in the input node list)"},
      {"a node that was not asked about", Passes({"full"}),
       R"(extender "http://x" claims a filtered node "full" which is not found in the input node list)"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    Make({Filter("x")});
    Put(Node("a"));
    Put(MakeNode("full"));
    Put(Pod("p"));
    Run();
    if (row.answer) {
      Say("x", *row.answer);
    } else {
      Error("x", row.note);
    }
    EXPECT_THAT(Run(), ElementsAre("event p: " + row.note, "patch p SchedulerError"));
  }
}

TEST_F(EngineExtendersTest, ScoresAreAddedWithTheirWeight) {
  config::Extender one = Named("one");
  one.prioritize_verb = "prioritize";
  config::Extender two = one;
  two.url_prefix = "http://two";
  two.weight = 3;
  Make({one, two});
  for (const char* name : {"a", "b", "c"}) Put(Node(name));
  Put(Pod("p"));
  EXPECT_THAT(Run(), ElementsAre("one prioritize p [a b c]", "two prioritize p [a b c]"));
  ExtenderAnswer answer;
  answer.scores = {{"a", 3}, {"b", 2}, {"nowhere", 10}};
  Say("two", answer);
  EXPECT_THAT(Run(), IsEmpty());  // both are waited for
  answer.scores = {{"b", 5}, {"a", 1}};
  Say("one", answer);
  EXPECT_THAT(Run(), ElementsAre("bind p to b"));  // 30 * 2 + 10 * 5 > 30 * 3 + 10
}

TEST_F(EngineExtendersTest, NobodyScoresOneNodeAndErrorsOfScoresDoNotCount) {
  config::Extender scorer = Named("x");
  scorer.prioritize_verb = "prioritize";
  Make({scorer});
  Put(Node("a"));
  Put(Pod("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  Put(Node("b"));
  Put(Pod("q"));
  Run();
  Error("x", "no idea");
  EXPECT_THAT(Run(), ElementsAre("bind q to b"));
}

TEST_F(EngineExtendersTest, OnlyPodsThatAskForAManagedResourceAreShown) {
  config::Extender extender = Filter("x");
  extender.managed_resources = {{"example.com/lamp", true}};
  Make({extender});
  Put(Node("a"));
  Put(Pod("plain"));
  EXPECT_THAT(Run(), ElementsAre("bind plain to a"));
  Put(Pod("lit").Requests("example.com/lamp", "3"));  // no node has lamps: it is not ours to count
  EXPECT_THAT(Run(), ElementsAre("x filter lit [a]"));
}

TEST_F(EngineExtendersTest, BindsInPlaceOfTheBindPlugin) {
  config::Extender binder = Named("x");
  binder.bind_verb = "bind";
  Make({binder});
  Put(Node("a"));
  Put(Pod("p"));
  EXPECT_THAT(Run(), ElementsAre("x bind p [a]"));
  EXPECT_EQ(engine_->AwaitedEffects(), 1u);
  EXPECT_EQ(engine_->AwaitedRequests(), 0u) << "an extender is asked, not the API server";
  Say("x", {});
  EXPECT_THAT(Run(), ElementsAre("event p: Successfully assigned ns/p to a"));
  Put(Pod("q"));
  EXPECT_THAT(Run(), ElementsAre("x bind q [a]"));
  Error("x", "out of ink");
  EXPECT_THAT(Run(), ElementsAre("event q: out of ink", "patch q SchedulerError"));
}

TEST_F(EngineExtendersTest, ABindingWithoutAnAnswerIsLookedUp) {
  config::Extender binder = Named("x");
  binder.bind_verb = "bind";
  Make({binder});
  Put(Node("a"));
  Put(Pod("p"));
  Run();
  Error("x", "too late", Code::kUnknown);
  EXPECT_THAT(Run(), ElementsAre("read p"));
}

TEST_F(EngineExtendersTest, AnIgnorableBinderMayBeDown) {
  config::Extender binder = Named("x");
  binder.bind_verb = "bind";
  binder.ignorable = true;
  Make({binder});
  Put(Node("a"));
  Put(Pod("p"));
  Run();
  Error("x", "it is down");
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

class EnginePreemptVerbTest : public EngineExtendersTest {
 protected:
  // Two nodes, each full with one unimportant pod, and an important one.
  void SetUp() override {
    config::Extender extender = Named("x");
    extender.preempt_verb = "preempt";
    extender.ignorable = ignorable_;
    Make({extender});
    for (const std::string name : {"a", "b"}) {
      Put(Node(name));
      Put(MakePod("low-" + name).Requests("cpu", "4").Priority(1).On(name));
    }
    Put(Pod("p").Priority(10));
    EXPECT_THAT(Run(), ElementsAre("x preempt p [] a:low-a,0 b:low-b,0"));
  }
  bool ignorable_ = false;
};

TEST_F(EnginePreemptVerbTest, TheExtenderDropsCandidates) {
  ExtenderAnswer answer;
  answer.victims = {{"b", {{"low-b"}, 0}}};
  Say("x", answer);
  EXPECT_THAT(Run(), ElementsAre("patch low-b PreemptionByScheduler", HasSubstr("event p: 0/2"),
                                 "patch p Unschedulable nominated=b"));
}

TEST_F(EnginePreemptVerbTest, LiesAndFailures) {
  struct Row {
    std::string name;
    std::map<std::string, ExtenderAnswer::Victims> victims;
    std::string words;
  };
  const Row rows[] = {
      {"no candidate is left", {}, "preemption: no candidate node for preemption"},
      {"an unknown node",
       {{"z", {{"low-a"}, 0}}},
       R"(preemption: nodeinfo not found for node name "z")"},
      {"a pod of another node",
       {{"a", {{"low-b"}, 0}}},
       "preemption: extender: http://x claims to preempt pod (UID: &{low-b}) on node: a, but the "
       "pod is not found on that node"},
      {"no victims", {{"a", {}}}, R"(preemption: expected at least one victim pod on node "a")"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    SetUp();
    ExtenderAnswer answer;
    answer.victims = row.victims;
    Say("x", answer);
    EXPECT_THAT(Run(), ElementsAre(HasSubstr(row.words), "patch p Unschedulable"));
  }
}

class EngineIgnorablePreemptTest : public EnginePreemptVerbTest {
 protected:
  EngineIgnorablePreemptTest() { ignorable_ = true; }
};

TEST_F(EngineIgnorablePreemptTest, AnIgnorableOneMayFail) {
  Error("x", "it is down");
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("PreemptionByScheduler"), HasSubstr("event p: 0/2"),
                                 HasSubstr("patch p Unschedulable nominated=")));
}

TEST_F(EngineExtendersTest, TheNominatedNodeIsAskedAboutFirst) {
  Make({Filter("x")});
  Put(Node("a"));
  Put(Node("b"));
  api::Pod pod = Pod("p");
  pod.status.nominated_node_name = "b";
  Upsert(pod);
  EXPECT_THAT(Run(), ElementsAre("x filter p [b]"));
  Error("x", "it is down");  // then as if there were no nomination
  EXPECT_THAT(Run(), ElementsAre("x filter p [a b]"));
  Say("x", Passes({"a"}));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineExtendersTest, TooManyAreRefused) {
  config::KubeSchedulerConfiguration config = config::Default();
  config.extenders.assign(65, Filter("x"));
  EXPECT_FALSE(Engine::Make(config, {}, Now()).has_value());
}

}  // namespace
}  // namespace berth::scheduler
