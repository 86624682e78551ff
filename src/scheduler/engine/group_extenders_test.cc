// Extenders in the cycle of a pod group. The test is the extender.
#include <string>
#include <utility>
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
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

// How often the engine told that a group's cycle began, started over and ended.
class Counter final : public EngineObserver {
 public:
  void GroupBegan(std::string_view, bool may_start_over) override {
    ++began;
    over = may_start_over;
  }
  void GroupStartedOver() override { ++started_over; }
  void GroupAttempted(GroupOutcome outcome) override { outcomes.emplace_back(NameOf(outcome)); }

  int began = 0;
  int started_over = 0;
  bool over = false;
  std::vector<std::string> outcomes;
};

class GroupExtendersTest : public ExtendersTest {
 protected:
  void Make(std::vector<config::Extender> extenders,
            const std::string& gate_settings = "GenericWorkload=true") {
    config::FeatureGates gates(37);
    ASSERT_TRUE(gates.Set(gate_settings).has_value());
    EngineOptions options;
    options.behaviour = config::Behaviour(gates);
    options.check_inputs = true;
    config::KubeSchedulerConfiguration config = config::Default(options.behaviour);
    config.extenders = std::move(extenders);
    auto engine = Engine::Make(config, options, api::Time::FromUnixNano(now_), nullptr, &counter_);
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
  }
  template <class T>
  void Put(T object) {
    object.metadata.resource_version = std::to_string(++version_);
    engine_->Upsert(std::move(object));
  }
  void PutNode(const std::string& name, const std::string& cpu, const std::string& zone = "") {
    MakeNode node = MakeNode(name).Cpu(cpu);
    if (!zone.empty()) node.Label("zone", zone);
    Put(api::Node(node));
  }
  void PutGang(int32_t min_count, int32_t priority = 0, const std::string& topology = "") {
    api::PodGroup group;
    group.metadata.namespace_ = "ns";
    group.metadata.name = group.metadata.uid = "g";
    group.spec.priority = priority;
    group.spec.scheduling_policy.gang.emplace().min_count = min_count;
    if (!topology.empty()) {
      group.spec.scheduling_constraints.emplace().topology.emplace_back().key = topology;
    }
    Put(group);
  }
  void PutMember(const std::string& name, int32_t priority = 0) {
    api::Pod pod = MakePod(name).Requests("cpu", "1").Priority(priority);
    pod.spec.scheduling_group.emplace().pod_group_name = "g";
    Put(pod);
  }
  std::string EffectWords(const EffectAction& action) const override {
    if (const auto* bind = std::get_if<BindPod>(&action)) {
      return "bind " + bind->pod.name + " to " + bind->node;
    }
    if (const auto* event = std::get_if<RecordEvent>(&action)) {
      return "event " + event->regarding.name + ": " + event->note;
    }
    if (const auto* patch = std::get_if<PatchPodGroupStatus>(&action)) {
      return "group " + patch->condition.reason + ": " + patch->condition.message;
    }
    return "other";
  }
  void Pass(std::string_view prefix, std::vector<std::string> nodes) {
    Say(prefix, Passes(std::move(nodes)));
  }

  Counter counter_;
};

TEST_F(GroupExtendersTest, EveryPodIsFilteredBesideThoseBeforeIt) {
  Make({Filter("x")});
  for (const char* name : {"a", "b", "c"}) PutNode(name, "1");
  PutGang(2);
  PutMember("p");
  PutMember("q");
  EXPECT_THAT(Run(), ElementsAre("x filter p [a b c]"));
  EXPECT_TRUE(engine_->WaitsForAnswer());
  EXPECT_EQ(engine_->GetCluster().PodCount()[0], 0) << "nothing is placed meanwhile";
  Pass("x filter p", {"b"});
  EXPECT_THAT(Run(), ElementsAre("x filter q [a c]")) << "p takes b";
  Pass("x filter q", {"c"});
  const auto words = Run();
  EXPECT_THAT(words, Contains("bind q to c"));
  EXPECT_THAT(words, Contains("group Scheduled: "));
  EXPECT_EQ(engine_->GetCluster().PodCount()[1], 1) << "p";
  EXPECT_EQ(counter_.began, 1);
  EXPECT_TRUE(counter_.over);
  EXPECT_EQ(counter_.started_over, 2);
  EXPECT_THAT(counter_.outcomes, ElementsAre("scheduled"));
}

TEST_F(GroupExtendersTest, AGangThatAnExtenderKeepsOutSaysSo) {
  Make({Filter("x")});
  for (const char* name : {"a", "b"}) PutNode(name, "1");
  PutGang(2);
  PutMember("p");
  PutMember("q");
  Run();
  Pass("x filter p", {"a"});
  Run();
  ExtenderAnswer none;
  none.failed = {{"b", "not on b"}};
  Say("x filter q", none);
  const auto words = Run();
  EXPECT_THAT(words, Contains("event q: 0/2 nodes are available: 1 Insufficient cpu, 1 not on b."));
  EXPECT_THAT(words, Contains(HasSubstr("group Unschedulable: minCount (2) cannot be satisfied: 1 "
                                        "scheduled, 0 remaining")));
  EXPECT_THAT(words, Not(Contains(HasSubstr("bind"))));
  EXPECT_THAT(counter_.outcomes, ElementsAre("unschedulable"));
}

TEST_F(GroupExtendersTest, ScoresOfSeveralExtendersAreAddedUp) {
  config::Extender one = Filter("one"), two = Named("two");
  one.prioritize_verb = two.prioritize_verb = "prioritize";
  Make({one, two});
  for (const char* name : {"a", "b"}) PutNode(name, "4");
  PutGang(2);
  PutMember("p");
  PutMember("q");
  EXPECT_THAT(Run(), ElementsAre("one filter p [a b]"));
  Pass("one filter p", {"a", "b"});
  EXPECT_THAT(Run(), UnorderedElementsAre("one prioritize p [a b]", "two prioritize p [a b]"));
  ExtenderAnswer for_a, for_b;
  for_a.scores = {{"a", 10}};
  for_b.scores = {{"b", 9}};
  Say("two prioritize p", for_b);
  EXPECT_THAT(Run(), IsEmpty()) << "the other one has not answered";
  Say("one prioritize p", for_a);
  EXPECT_THAT(Run(), ElementsAre("one filter q [a b]"));
  Pass("one filter q", {"a", "b"});
  Run();
  Say("one prioritize q", for_a);
  Say("two prioritize q", for_a);
  const auto words = Run();
  EXPECT_THAT(words, Contains("bind q to a"));
}

TEST_F(GroupExtendersTest, AnExtenderThatFailsFailsTheGroup) {
  Make({Filter("x")});
  PutNode("a", "4");
  PutGang(2);
  PutMember("p");
  PutMember("q");
  Run();
  Pass("x filter p", {"a"});
  Run();
  EffectResult lost;
  lost.code = EffectResult::Code::kError;
  lost.message = "no route to x";
  Answer("x filter q", lost);
  const auto words = Run();
  EXPECT_THAT(words, Contains("event q: no route to x"));
  EXPECT_THAT(words, Contains("group SchedulerError: failed to schedule other pod from a pod "
                              "group: no route to x"));
  EXPECT_THAT(counter_.outcomes, ElementsAre("error"));
  EXPECT_EQ(engine_->WhereIs("p"), "error-backoff");
}

TEST_F(GroupExtendersTest, EveryPlacementIsTriedWithItsNodes) {
  Make({Filter("x")}, "GenericWorkload=true,TopologyAwareWorkloadScheduling=true");
  PutNode("a", "1", "east");
  PutNode("b", "1", "west");
  PutNode("c", "1", "west");
  PutGang(2, 0, "zone");
  PutMember("p");
  PutMember("q");
  EXPECT_THAT(Run(), ElementsAre("x filter p [a]"));
  Pass("x filter p", {"a"});
  EXPECT_THAT(Run(), ElementsAre("x filter p [b c]")) << "a is no place for both";
  Pass("x filter p", {"c"});
  EXPECT_THAT(Run(), ElementsAre("x filter q [b]"));
  Pass("x filter q", {"b"});
  EXPECT_THAT(Run(), Contains("bind q to b"));
}

TEST_F(GroupExtendersTest, PreemptionAsksTheFilterButNotWhoReviewsVictims) {
  config::Extender extender = Filter("x");
  extender.preempt_verb = "preempt";
  Make({extender});
  PutNode("a", "1");
  PutNode("b", "1");
  Put(api::Pod(MakePod("low").Requests("cpu", "1").On("a")));
  PutGang(2, 10);
  PutMember("p", 10);
  PutMember("q", 10);
  EXPECT_THAT(Run(), ElementsAre("x filter p [b]"));
  Pass("x filter p", {"b"});
  EXPECT_THAT(Run(), ElementsAre("x filter p [a b]")) << "without the pod on a";
  Pass("x filter p", {"a"});
  EXPECT_THAT(Run(), ElementsAre("x filter q [b]"));
  Pass("x filter q", {"b"});
  const auto words = Run();
  EXPECT_THAT(words, Contains(HasSubstr("found a placement for podgroup, preempting 1 victims")));
  EXPECT_THAT(words, Not(Contains(HasSubstr("x preempt"))));
  EXPECT_THAT(counter_.outcomes, ElementsAre("waiting_on_preemption"));
}

TEST_F(GroupExtendersTest, InputsWaitForTheAnswers) {
  Make({Filter("x")});
  PutNode("a", "1");
  PutGang(1);
  PutMember("p");
  Run();
  PutNode("b", "1");
  EXPECT_EQ(engine_->GetCluster().NodeCount(), 1u);
  Pass("x filter p", {"a"});
  EXPECT_THAT(Run(), Contains("bind p to a"));
  EXPECT_EQ(engine_->GetCluster().NodeCount(), 2u);
}

TEST_F(GroupExtendersTest, PodsThatNoExtenderIsInterestedInNeedNoAnswer) {
  config::Extender extender = Filter("x");
  extender.managed_resources.push_back({"example.com/gpu", false});
  Make({extender});
  PutNode("a", "1");
  PutGang(1);
  PutMember("p");
  EXPECT_THAT(Run(), Contains("bind p to a"));
  EXPECT_FALSE(counter_.over);
}

}  // namespace
}  // namespace berth::scheduler
