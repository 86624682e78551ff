// Cycles of pod groups, as a host sees them: 1.37 with the gate GenericWorkload.
#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/testing/engine.h"
#include "scheduler/testing/permit.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;
using Code = EffectResult::Code;

class GroupAttemptsTest : public EngineTest {
 protected:
  void SetUp() override { MakeWith("GenericWorkload=true"); }
  void MakeWith(const std::string& gate_settings) {
    config::FeatureGates gates(37);
    ASSERT_TRUE(gates.Set(gate_settings).has_value());
    EngineOptions options;
    options.behaviour = config::Behaviour(gates);
    options.check_inputs = true;
    options.extra_plugins = {TestPermit()};
    auto engine = Engine::Make(config::Default(options.behaviour), options, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
    sent_.clear();
  }
  void PutGang(const std::string& name, int32_t min_count, int32_t priority = 0) {
    group_ = {};
    group_.metadata.namespace_ = "ns";
    group_.metadata.name = group_.metadata.uid = name;
    group_.metadata.generation = 1;
    group_.spec.priority = priority;
    group_.spec.scheduling_policy.gang.emplace().min_count = min_count;
    Put(group_);
  }
  static api::Pod Member(const std::string& name, const std::string& group = "g",
                         int32_t priority = 0) {
    api::Pod pod = Small(name).Priority(priority);
    pod.spec.scheduling_group.emplace().pod_group_name = group;
    return pod;
  }
  // The effects that are neither events nor about status.
  std::vector<std::string> Bindings() {
    std::vector<std::string> words = Run();
    std::erase_if(words, [](const std::string& word) { return !word.starts_with("bind "); });
    return words;
  }
  void AnswerNominations() {
    for (const Effect& effect : std::exchange(sent_, {})) {
      const auto* patch = std::get_if<PatchPodStatus>(&effect.action);
      if (patch == nullptr) {
        sent_.push_back(effect);
        continue;
      }
      engine_->Complete({.id = effect.id, .message = {}});
    }
  }
  std::vector<std::string> Places(const std::vector<std::string>& pods) const {
    std::vector<std::string> places;
    for (const std::string& pod : pods) places.emplace_back(engine_->WhereIs(pod));
    return places;
  }

  api::PodGroup group_;
};

TEST_F(GroupAttemptsTest, AGangThatFitsIsBoundAsAWhole) {
  PutNode(MakeNode("a").Cpu("2"));
  PutNode(MakeNode("b").Cpu("2"));
  PutGang("g", 3);
  PutPod(Member("p"));
  PutPod(Member("q"));
  EXPECT_THAT(Run(), IsEmpty()) << "too few pods are known";
  EXPECT_THAT(Places({"p", "q"}), ElementsAre("gated", "gated"));
  PutPod(Member("r"));
  const auto words = Run();
  EXPECT_THAT(words, Contains("patch group g PodGroupInitiallyScheduled=True/Scheduled: "));
  EXPECT_THAT(words, Contains(HasSubstr("patch p nominated="))) << "it waited for the third";
  EXPECT_THAT(words, Contains(HasSubstr("bind r to "))) << "it did not";
  AnswerNominations();
  EXPECT_EQ(Bindings().size(), 2u);
  for (const char* pod : {"p", "q", "r"}) Answer(std::string("bind ") + pod);
  Run();
  EXPECT_THAT(Places({"p", "q", "r"}), ElementsAre("assumed", "assumed", "assumed"));
  EXPECT_EQ(engine_->Queue().InFlightCount(), 0u);
}

TEST_F(GroupAttemptsTest, OfAGangThatDoesNotFitNoPodIsBound) {
  PutNode(MakeNode("a").Cpu("2"));
  PutGang("g", 3);
  for (const char* pod : {"p", "q", "r"}) PutPod(Member(pod));
  const std::string of_group =
      "minCount (3) cannot be satisfied: 2 scheduled, 0 remaining, pod group preemption: No "
      "preemption victims found for incoming preemptor";
  const std::string why = "pod group is unschedulable, " + of_group;
  EXPECT_THAT(
      Run(),
      ElementsAre("event p FailedScheduling: " + why, "patch p PodScheduled=False/Unschedulable",
                  "event q FailedScheduling: " + why, "patch q PodScheduled=False/Unschedulable",
                  "event r FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu.",
                  "patch r PodScheduled=False/Unschedulable",
                  "patch group g PodGroupInitiallyScheduled=False/Unschedulable: " + of_group));
  EXPECT_THAT(Places({"p", "q", "r"}),
              ElementsAre("error-backoff", "error-backoff", "error-backoff"));
  PutPod(Small("other"));
  EXPECT_THAT(Bindings(), ElementsAre("bind other to a")) << "the gang holds nothing";
  PutNode(MakeNode("b").Cpu("2"));
  Sleep(30);
  EXPECT_THAT(Run(), Contains("patch group g PodGroupInitiallyScheduled=True/Scheduled: "));
}

TEST_F(GroupAttemptsTest, PodsWaitForTheObjectOfTheirGroup) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Member("p"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->WhereIs("p"), "incomplete");
  PutGang("g", 1);
  EXPECT_THAT(Bindings(), ElementsAre("bind p to a"));
  PutPod(Member("q", "h"));
  engine_->Delete(group_);
  PutPod(Member("r"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_THAT(Places({"q", "r"}), ElementsAre("incomplete", "incomplete"));
}

TEST_F(GroupAttemptsTest, PodsBeyondTheMinimumMayWait) {
  PutNode(MakeNode("a").Cpu("2"));
  PutGang("g", 2);
  for (const char* pod : {"p", "q", "r"}) PutPod(Member(pod));
  // The gang is complete before r comes.
  const auto words = Run();
  EXPECT_THAT(words, Contains("patch group g PodGroupInitiallyScheduled=True/Scheduled: "));
  EXPECT_THAT(words, Contains("event r FailedScheduling: 0/1 nodes are available: 1 Insufficient "
                              "cpu."));
  EXPECT_THAT(words, Contains(HasSubstr("bind q to a")));
  EXPECT_THAT(words, Not(Contains(HasSubstr("patch group g PodGroupInitiallyScheduled=False"))));
}

TEST_F(GroupAttemptsTest, AConditionThatIsTrueStays) {
  PutNode(MakeNode("a").Cpu("1"));
  PutGang("g", 1);
  PutPod(Member("p"));
  Run();
  for (const Effect& effect : sent_) {
    if (const auto* patch = std::get_if<PatchPodGroupStatus>(&effect.action)) {
      group_.status.conditions = {patch->condition};
    }
  }
  ASSERT_EQ(group_.status.conditions.size(), 1u);
  EXPECT_EQ(group_.status.conditions[0].observed_generation, 1);
  Put(group_);
  PutPod(Member("q"));
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("patch group"))));
}

TEST_F(GroupAttemptsTest, APodOfAnotherPriorityKeepsTheGroupFromBeingTried) {
  PutNode(MakeNode("a").Cpu("4"));
  PutGang("g", 2);
  PutPod(Member("p"));
  PutPod(Member("q", "g", 7));
  const std::string why =
      "all pods in a single pod group should have the same priority as the pod group's priority, "
      "got 7 and 0";
  EXPECT_THAT(Run(),
              UnorderedElementsAre(
                  "event q FailedScheduling: " + why, "patch q PodScheduled=False/SchedulerError",
                  "event p FailedScheduling: " + why, "patch p PodScheduled=False/SchedulerError",
                  "patch group g PodGroupInitiallyScheduled=False/SchedulerError: " + why));
  EXPECT_THAT(Places({"p", "q"}), ElementsAre("error-backoff", "error-backoff"));
}

TEST_F(GroupAttemptsTest, APodWhoseBindingFailsIsTriedWithItsGroupAgain) {
  PutNode(MakeNode("a").Cpu("2"));
  PutGang("g", 1);
  PutPod(Member("p"));
  EXPECT_THAT(Bindings(), ElementsAre("bind p to a"));
  Answer("bind p", Code::kError);
  EXPECT_THAT(Bindings(), ElementsAre("bind p to a")) << "at once";
}

TEST_F(GroupAttemptsTest, PodsThatTerminateAreNotTried) {
  PutNode(MakeNode("a").Cpu("4"));
  PutGang("g", 1);
  PutPod(Member("p"));
  api::Pod leaving = Member("q");
  leaving.metadata.deletion_timestamp = Now();
  PutPod(leaving);
  const auto words = Run();
  EXPECT_THAT(words, Contains("event q FailedScheduling: skip schedule deleting pod: ns/q"));
  EXPECT_THAT(words, Contains("bind p to a"));
}

// --- Preemption

class GroupPreemptionTest : public GroupAttemptsTest {
 protected:
  void Fill() {
    PutNode(MakeNode("a").Cpu("1"));
    PutNode(MakeNode("b").Cpu("1"));
    PutPod(Small("low-a").On("a"));
    PutPod(Small("low-b").On("b"));
    PutGang("g", 2, 10);
    PutPod(Member("p", "g", 10));
    PutPod(Member("q", "g", 10));
  }
};

TEST_F(GroupPreemptionTest, TheVictimsOfAGroupMakeWayForAllItsPods) {
  Fill();
  const auto words = Run();
  EXPECT_THAT(words, Contains("patch group g PodGroupInitiallyScheduled=False/Unschedulable: "
                              "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, pod "
                              "group preemption: found a placement for podgroup, preempting 2 "
                              "victims"));
  EXPECT_THAT(words, Contains(HasSubstr("patch p PodScheduled=False/Unschedulable nominated=")));
  EXPECT_THAT(words, Contains(HasSubstr("patch q PodScheduled=False/Unschedulable nominated=")));
  EXPECT_THAT(Places({"p", "q"}), ElementsAre("gated", "gated"));
  std::vector<std::string> messages;
  for (const Effect& effect : sent_) {
    const auto* patch = std::get_if<PatchPodStatus>(&effect.action);
    if (patch == nullptr || !patch->condition || patch->condition->type != "DisruptionTarget") {
      continue;
    }
    messages.push_back(patch->pod.name + " " + patch->condition->message);
  }
  ASSERT_EQ(messages.size(), 1u) << "the last one goes after the others";
  EXPECT_THAT(messages[0], HasSubstr("default-scheduler: preempting to accommodate a higher "
                                     "priority podgroup"));
  const std::string first = messages[0].substr(0, 5);
  const std::string last = first == "low-a" ? "low-b" : "low-a";
  Answer("patch " + first);
  Run();
  Answer("delete " + first);
  EXPECT_THAT(Run(), Contains("event " + first +
                              " Preempted: Preempted by podgroup g on node "
                              "cluster"));
  Answer("patch " + last);
  Run();
  Answer("delete " + last);
  Run();
  engine_->Delete(api::Object(api::Pod(Small(first).On(first == "low-a" ? "a" : "b"))));
  engine_->Delete(api::Object(api::Pod(Small(last).On(last == "low-a" ? "a" : "b"))));
  Sleep(30);
  EXPECT_THAT(Run(), Contains("patch group g PodGroupInitiallyScheduled=True/Scheduled: "));
}

TEST_F(GroupPreemptionTest, WithoutAsyncPreemptionTheCycleWaitsForTheVictims) {
  for (const bool ok : {true, false}) {
    MakeWith("GenericWorkload=true,SchedulerAsyncPreemption=false");
    Fill();
    EXPECT_THAT(Run(), Not(Contains(HasSubstr("patch group"))));
    PutPod(Small("other"));
    EXPECT_THAT(Run(), IsEmpty()) << "nothing else is tried meanwhile";
    for (const char* victim : {"low-a", "low-b"}) {
      Answer(std::string("patch ") + victim);
      Run();
    }
    engine_->Delete(api::Object(Member("q", "g", 10)));
    Answer("delete low-a", ok ? Code::kOk : Code::kError);
    Answer("delete low-b");
    const auto words = Run();
    EXPECT_THAT(words, Contains(HasSubstr(ok ? "PodGroupInitiallyScheduled=False/Unschedulable"
                                             : "PodGroupInitiallyScheduled=False/SchedulerError")));
    EXPECT_THAT(words, Contains(HasSubstr("event p FailedScheduling")));
    EXPECT_THAT(words, Not(Contains(HasSubstr("event q "))));
    EXPECT_EQ(engine_->WhereIs("q"), "");
  }
}

TEST_F(GroupAttemptsTest, WithoutTheGatePodsOfAGroupAreScheduledOneByOne) {
  MakeWith("");
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Member("p"));
  EXPECT_THAT(Bindings(), ElementsAre("bind p to a"));
}

}  // namespace
}  // namespace berth::scheduler
