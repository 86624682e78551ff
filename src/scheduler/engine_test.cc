#include "scheduler/engine.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "scheduler/testing/engine.h"
#include "scheduler/testing/permit.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST_F(EngineTest, BindsAPodAndBelievesTheWatch) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  EXPECT_EQ(engine_->WhereIs("p"), "binding");
  Answer("bind p");
  EXPECT_THAT(Run(), ElementsAre("event p Scheduled: Successfully assigned ns/p to a"));
  EXPECT_EQ(engine_->WhereIs("p"), "assumed");
  PutPod(Small("p").On("a"));
  EXPECT_EQ(engine_->WhereIs("p"), "assigned");
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->AssumedPods(), 0u);
}

TEST_F(EngineTest, TheWatchMayBeFasterThanTheAnswer) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("p"));
  Run();
  PutPod(Small("p").On("a"));
  Answer("bind p");
  Answer("bind p");  // a second report of the same
  EXPECT_THAT(Run(), ElementsAre("event p Scheduled: Successfully assigned ns/p to a"));
  EXPECT_EQ(engine_->WhereIs("p"), "assigned");
}

TEST_F(EngineTest, SaysWhyNothingFitsAndTriesAgainWhenThatChanges) {
  PutNode(MakeNode("a").Cpu("500m"));
  PutPod(Small("p"));
  EXPECT_THAT(
      Run(),
      ElementsAre("event p FailedScheduling: 0/1 nodes are available: 1 Insufficient cpu. no new "
                  "claims to deallocate, preemption: 0/1 nodes are available: 1 Preemption is not "
                  "helpful for scheduling.",
                  "patch p PodScheduled=False/Unschedulable"));
  EXPECT_EQ(engine_->WhereIs("p"), "unschedulable");
  PutPod(MakePod("other").On("a"));  // helps nobody
  EXPECT_EQ(engine_->WhereIs("p"), "unschedulable");
  PutNode(MakeNode("b").Cpu("4"));
  EXPECT_EQ(engine_->WhereIs("p"), "backoff");
  EXPECT_THAT(Run(), ElementsAre("bind p to b"));  // nothing else to do, so the wait is cut short
}

TEST_F(EngineTest, TheSameFailureIsNotWrittenTwice) {
  PutNode(MakeNode("a").Cpu("500m"));
  PutPod(Small("p"));
  Run();
  api::Pod known = Small("p");
  api::PodCondition condition;
  for (const Effect& effect : sent_) {
    if (const auto* patch = std::get_if<PatchPodStatus>(&effect.action)) {
      condition = *patch->condition;
    }
  }
  known.status.conditions.push_back(condition);
  PutPod(known);
  PutNode(MakeNode("a").Cpu("600m"));
  Sleep(20);
  Run();
  PutNode(MakeNode("b").Cpu("700m"));
  Sleep(20);
  for (const std::string& words : Run()) EXPECT_THAT(words, ::testing::Not(HasSubstr("a Pod")));
}

TEST_F(EngineTest, AFailedBindingGivesTheNodeBack) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  PutPod(Small("q"));
  EXPECT_THAT(Run(), ::testing::Contains(HasSubstr("event q FailedScheduling")));
  Answer("bind p", EffectResult::Code::kError);
  const auto words = Run();
  EXPECT_THAT(words, ::testing::Contains("event p FailedScheduling: running Bind plugin "
                                         "\"DefaultBinder\": the server said no"));
  EXPECT_THAT(words, ::testing::Contains("patch p PodScheduled=False/SchedulerError"));
  EXPECT_THAT(words, ::testing::Contains("bind q to a"));  // p waits its backoff
  EXPECT_EQ(engine_->WhereIs("p"), "error-backoff");
}

TEST_F(EngineTest, ABindingWithoutAnAnswerIsLookedUp) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  Answer("bind p", EffectResult::Code::kUnknown);
  EXPECT_THAT(Run(), ElementsAre("read p"));
  PutPod(Small("q"));
  EXPECT_THAT(Run(), ::testing::Contains(HasSubstr("event q FailedScheduling")))
      << "its room is not given away";
  Answer("read p", EffectResult::Code::kUnknown);
  Sleep(1);
  EXPECT_THAT(Run(), ElementsAre("read p")) << "until there is an answer";
  Answer("read p", EffectResult::Code::kOk, api::Pod(Small("p").On("a")));
  EXPECT_THAT(Run(), ElementsAre("event p Scheduled: Successfully assigned ns/p to a"));
}

TEST_F(EngineTest, ABindingThatWasNotCarriedOutIsTriedAgain) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  Answer("bind p", EffectResult::Code::kUnknown);
  Run();
  Answer("read p", EffectResult::Code::kOk, api::Pod(Small("p")));
  Run();
  EXPECT_EQ(engine_->WhereIs("p"), "error-backoff");
  Sleep(3);
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineTest, AConflictIsAClearAnswerUnlessAnEarlierBindingHadNone) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  Answer("bind p", EffectResult::Code::kConflict);
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("event p FailedScheduling"), HasSubstr("patch p")));
  Sleep(3);
  Run();
  Answer("bind p", EffectResult::Code::kUnknown);
  Run();
  Answer("read p", EffectResult::Code::kOk, api::Pod(Small("p")));
  Sleep(5);
  EXPECT_THAT(Run(), ::testing::Contains("bind p to a"));
  Answer("bind p", EffectResult::Code::kConflict);
  EXPECT_THAT(Run(), ElementsAre("read p"));
}

TEST_F(EngineTest, WithoutAsyncPreemptionVictimsGoFirstAndNobodyElseIsTried) {
  EngineOptions options;
  options.behaviour.async_preemption = false;
  Make(options);
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("v1").On("a"));
  PutPod(Small("v2").On("a"));
  PutPod(MakePod("high").Requests("cpu", "2").Priority(10));
  PutPod(MakePod("other").Requests("cpu", "0"));
  EXPECT_THAT(Run(), ElementsAre("patch v2 DisruptionTarget=True/PreemptionByScheduler",
                                 "patch v1 DisruptionTarget=True/PreemptionByScheduler"));
  Answer("patch v1");
  Answer("patch v2");
  EXPECT_THAT(Run(), ElementsAre("delete v1", "delete v2"));
  Answer("delete v1");
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("event v1 Preempted")));
  Answer("delete v2");
  EXPECT_THAT(Run(),
              ElementsAre(HasSubstr("event v2 Preempted"), HasSubstr("event high FailedScheduling"),
                          HasSubstr("nominated=a"), "bind other to a"));
}

TEST_F(EngineTest, APreemptorThatIsDeletedMeanwhileIsForgotten) {
  EngineOptions options;
  options.behaviour.async_preemption = false;
  Make(options);
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("v").On("a"));
  PutPod(Small("high").Priority(10));
  Run();
  engine_->Delete(api::Pod(Small("high")));
  Answer("patch v");
  Run();
  Answer("delete v");
  EXPECT_THAT(Run(), ElementsAre(HasSubstr("event v Preempted")));
  EXPECT_THAT(engine_->Invariants(), IsEmpty());
}

TEST_F(EngineTest, APodDeletedWhileBoundLeavesItsNode) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  PutPod(Small("q").Priority(-1));
  Run();
  engine_->Delete(api::Pod(Small("p")));
  Answer("bind p", EffectResult::Code::kNotFound);
  EXPECT_EQ(engine_->WhereIs("p"), "");
  Sleep(2);
  EXPECT_THAT(Run(), ::testing::Contains("bind q to a"));
}

TEST_F(EngineTest, APodBoundAndGoneBeforeTheAnswerLeavesItsNode) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  engine_->Delete(api::Pod(Small("p")));
  Answer("bind p");
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_THAT(engine_->Invariants(), IsEmpty());
  PutPod(Small("q"));
  EXPECT_THAT(Run(), ::testing::Contains("bind q to a"));
}

TEST_F(EngineTest, APodBoundElsewhereKeepsItsNode) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  Answer("bind p", EffectResult::Code::kUnknown);
  PutNode(MakeNode("b").Cpu("1"));
  Run();
  api::Pod elsewhere = Small("p").On("b");
  elsewhere.metadata.resource_version = std::to_string(++version_);
  Answer("read p", EffectResult::Code::kOk, elsewhere);
  EXPECT_THAT(Run(), ::testing::Contains("event p FailedScheduling: running Bind plugin "
                                         "\"DefaultBinder\": the server said no"));
  EXPECT_EQ(engine_->WhereIs("p"), "assigned");
  PutPod(Small("q"));
  EXPECT_THAT(Run(), ElementsAre("bind q to a"));
}

TEST_F(EngineTest, AReadOlderThanThePodsEndDoesNotBringItBack) {
  PutNode(MakeNode("a").Cpu("1"));
  PutNode(MakeNode("b").Cpu("1").Taint("full", "NoSchedule"));
  PutPod(Small("p"));
  Run();
  Answer("bind p", EffectResult::Code::kUnknown);
  EXPECT_THAT(Run(), ElementsAre("read p"));
  api::Pod elsewhere = Small("p").On("b");
  PutPod(elsewhere);
  engine_->Delete(elsewhere);
  elsewhere.metadata.resource_version = std::to_string(version_);
  Answer("read p", EffectResult::Code::kOk, elsewhere);
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_EQ(engine_->GetCluster().FindPod("p"), cluster::kNoPod);
}

TEST_F(EngineTest, GatedPodsWaitForTheirGates) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p").Gate("later"));
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->WhereIs("p"), "gated");
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineTest, DeletingPodsAreSkipped) {
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod pod = Small("p");
  pod.metadata.deletion_timestamp = Now();
  PutPod(pod);
  EXPECT_THAT(Run(), ElementsAre("event p FailedScheduling: skip schedule deleting pod: ns/p"));
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(EngineTest, PodsOfOtherSchedulersOnlyTakeUpRoom) {
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod other = Small("other");
  other.spec.scheduler_name = "somebody-else";
  PutPod(other);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->WhereIs("other"), "");
  other.spec.node_name = "a";
  PutPod(other);
  EXPECT_EQ(engine_->WhereIs("other"), "assigned");
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ::testing::Contains(HasSubstr("event p FailedScheduling")));
}

TEST_F(EngineTest, PreemptionEndToEnd) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("v1").On("a").Priority(1));
  PutPod(Small("v2").On("a").Priority(1));
  PutPod(MakePod("p").Requests("cpu", "2").Priority(10));
  const auto first = Run();
  EXPECT_THAT(first, ::testing::Contains("patch p PodScheduled=False/Unschedulable nominated=a"));
  EXPECT_THAT(first, ::testing::Contains(HasSubstr("DisruptionTarget=True/PreemptionByScheduler")));
  EXPECT_EQ(std::count_if(first.begin(), first.end(),
                          [](const auto& w) { return w.starts_with("patch v"); }),
            1)
      << "the last victim waits for the others";
  const std::string one = first[0].substr(6, 2);  // "patch vN …"
  const std::string two = one == "v1" ? "v2" : "v1";
  Answer("patch " + one);
  EXPECT_THAT(Run(), ElementsAre("delete " + one));
  Answer("delete " + one);
  EXPECT_THAT(Run(), ElementsAre("event " + one + " Preempted: Preempted by pod p on node a",
                                 "patch " + two + " DisruptionTarget=True/PreemptionByScheduler"));
  Answer("patch " + two);
  Run();
  Answer("delete " + two);
  Run();
  PutPod(Small("low").Priority(1));
  Run();
  for (const std::string& victim : {one, two}) engine_->Delete(api::Pod(Small(victim)));
  Sleep(2);
  EXPECT_THAT(Run(), ::testing::Contains("bind p to a"));
  EXPECT_NE(engine_->WhereIs("low"), "binding") << "the room was made for p";
}

TEST_F(EngineTest, AVictimThatCannotBeDeletedLetsThePodTryAgain) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("v").On("a").Priority(1));
  PutPod(Small("p").Priority(10));
  Run();
  Answer("patch v", EffectResult::Code::kError);
  EXPECT_THAT(Run(), ::testing::Contains("patch v DisruptionTarget=True/PreemptionByScheduler"));
}

TEST_F(EngineTest, AListTellsWhatIsGone) {
  PutNode(MakeNode("a").Cpu("1"));
  PutNode(MakeNode("b").Cpu("1"));
  PutPod(Small("p").On("a"));
  PutPod(Small("waits").Gate("g"));
  engine_->Replace("Pod", {});
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_EQ(engine_->WhereIs("waits"), "");
  std::vector<api::Object> nodes;
  nodes.push_back(api::Node(MakeNode("b").Cpu("1")));
  engine_->Replace("Node", std::move(nodes));
  EXPECT_EQ(engine_->GetCluster().NodeCount(), 1u);
  EXPECT_THAT(Run(), IsEmpty());
}

TEST_F(EngineTest, AListInPartsTellsWhatIsGoneAtItsEnd) {
  for (const char* name : {"a", "b", "c"}) PutNode(MakeNode(name).Cpu("1"));
  const auto list = [&](const char* name, ListPart part) {
    engine_->Replace("Node", {api::Node(MakeNode(name).Cpu("1"))}, part);
    return engine_->GetCluster().NodeCount();
  };
  EXPECT_EQ(list("a", ListPart::kFirst), 3u);  // breaks off
  EXPECT_EQ(list("d", ListPart::kFirst), 4u);
  EXPECT_EQ(list("c", ListPart::kMiddle), 4u);
  EXPECT_EQ(list("b", ListPart::kLast), 3u);
  EXPECT_EQ(engine_->GetCluster().FindNode("a"), cluster::kNoNode);
}

TEST_F(EngineTest, OldNewsIsNoNews) {
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod pod = Small("p");
  pod.metadata.resource_version = "100";
  engine_->Upsert(pod);
  pod.metadata.resource_version = "99";
  pod.spec.node_name = "a";
  engine_->Upsert(pod);
  EXPECT_EQ(engine_->WhereIs("p"), "active");
}

TEST_F(EngineTest, APodMadeAnewUnderItsNameIsAnotherPod) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p").On("a"));
  api::Pod again = Small("p");
  again.metadata.uid = "second";
  PutPod(again);
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineTest, WithoutNodesPodsWait) {
  PutPod(Small("p"));
  EXPECT_THAT(Run(), ElementsAre("event p FailedScheduling: no nodes available to schedule pods",
                                 "patch p PodScheduled=False/Unschedulable"));
}

TEST_F(EngineTest, AnAssumedPodIsBelievedInForAsLongAsConfigured) {
  EngineOptions options;
  options.assumed_ttl_ns = 30 * kSecond;
  Make(options);
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("p"));
  Run();
  Answer("bind p");
  Run();
  Sleep(29);
  EXPECT_EQ(engine_->WhereIs("p"), "assumed");
  Sleep(1);
  EXPECT_EQ(engine_->WhereIs("p"), "active") << "the watch never showed it";
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineTest, PodsHaveNothingThatAGateHides) {
  api::Pod pod = Small("p");
  pod.spec.resources = api::ResourceRequirements{};
  pod.spec.resources->requests["cpu"] = *api::Quantity::Parse("100");
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(pod);
  EXPECT_THAT(Run(), Not(Contains("bind p to a")));

  EngineOptions options;
  options.behaviour.pod_level_resources = false;
  Make(options);
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(pod);
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(EngineTest, PodsAreTriedByTheProfileTheyName) {
  config::KubeSchedulerConfiguration config = config::Default();
  config.profiles.push_back(config.profiles.front());
  config.profiles.back().scheduler_name = "second";
  auto engine = Engine::Make(config, {}, Now());
  ASSERT_TRUE(engine.has_value()) << engine.error().Message();
  engine_ = std::move(*engine);
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod pod = Small("p");
  pod.spec.scheduler_name = "second";
  PutPod(pod);
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
  Answer("bind p");
  Run();
  EXPECT_EQ(std::get<RecordEvent>(sent_.back().action).reporting_controller, "second");
}

// --- PreBind

class PreBindTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineTest::SetUp();
    PutNode(MakeNode("a").Cpu("1"));
    Put(cluster::FromText<api::StorageClass>(
        "{'metadata':{'name':'local'},'provisioner':'kubernetes.io/no-provisioner',"
        "'volumeBindingMode':'WaitForFirstConsumer'}"));
    Put(cluster::FromText<api::PersistentVolume>(
        "{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1Gi'},"
        "'accessModes':['ReadWriteOnce'],'storageClassName':'local'},"
        "'status':{'phase':'Available'}}"));
    Put(cluster::FromText<api::PersistentVolumeClaim>(
        "{'metadata':{'name':'c','namespace':'ns','uid':'c'},'spec':{'storageClassName':'local',"
        "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}},"
        "'status':{'phase':'Pending'}}"));
    PutPod(Small("p").Volume("{'name':'d','persistentVolumeClaim':{'claimName':'c'}}"));
    EXPECT_THAT(Run(), ElementsAre("write"));
    EXPECT_EQ(engine_->WhereIs("p"), "binding");
  }
};

TEST_F(PreBindTest, AWriteThatFailsGivesEverythingBack) {
  Answer("write", EffectResult::Code::kError);
  EXPECT_THAT(Run(), ElementsAre("event p FailedScheduling: running PreBind plugin "
                                 "\"VolumeBinding\": the server said no",
                                 "patch p PodScheduled=False/SchedulerError"));
  EXPECT_EQ(engine_->WhereIs("p"), "error-backoff");
  Sleep(3);
  EXPECT_THAT(Run(), ElementsAre("write"));
}

TEST_F(PreBindTest, AWriteWithoutAnAnswerIsSentAgain) {
  Answer("write", EffectResult::Code::kUnknown);
  EXPECT_THAT(Run(), IsEmpty());
  EXPECT_EQ(engine_->WhereIs("p"), "binding") << "it keeps what it holds";
  Sleep(1);
  EXPECT_THAT(Run(), ElementsAre("write"));
  EXPECT_EQ(std::get<WriteObject>(sent_.front().action).write.object,
            std::get<WriteObject>(sent_.back().action).write.object);
}

// --- Permit

class PermitTest : public EngineTest {
 protected:
  void SetUp() override {
    EngineOptions options;
    options.extra_plugins = {TestPermit()};
    Make(options);
    PutNode(MakeNode("a").Cpu("1"));
    PutPod(Small("p").Label("permit", "wait"));
    EXPECT_THAT(Run(), IsEmpty());
    EXPECT_EQ(engine_->WhereIs("p"), "waiting");
  }
};

TEST_F(PermitTest, AllowedPodsAreBound) {
  EXPECT_FALSE(engine_->Allow("p", "Another"));
  EXPECT_TRUE(engine_->Allow("p", kTestPermit));
  EXPECT_THAT(Run(), ElementsAre("bind p to a"));
}

TEST_F(PermitTest, RejectedPodsGiveTheirNodeBack) {
  EXPECT_TRUE(engine_->Reject("p", kTestPermit, "not today"));
  EXPECT_THAT(Run(), ElementsAre("event p FailedScheduling: 0/1 nodes are available: 1 not today.",
                                 "patch p PodScheduled=False/Unschedulable"));
  EXPECT_EQ(engine_->AssumedPods(), 0u);
}

TEST_F(PermitTest, PatienceEnds) {
  Sleep(kTestPermitTimeoutSeconds + 1);
  EXPECT_THAT(Run(), ::testing::Contains(HasSubstr(
                         "rejected due to timeout after waiting 10s at plugin Permitter")));
}

TEST_F(PermitTest, AWaitingPodThatIsDeletedIsForgotten) {
  engine_->Delete(api::Pod(Small("p")));
  EXPECT_EQ(engine_->WhereIs("p"), "");
  EXPECT_THAT(Run(), ::testing::Contains(HasSubstr("event p FailedScheduling")));
  PutPod(Small("q"));
  EXPECT_THAT(Run(), ElementsAre("bind q to a"));
}

TEST_F(PermitTest, AWaitingVictimIsRejectedNotDeleted) {
  PutPod(Small("vip").Priority(10));
  const auto words = Run();
  EXPECT_THAT(words, ::testing::Contains("event p Preempted: Preempted by pod vip on node a"));
  EXPECT_THAT(words, ::testing::Not(::testing::Contains("delete p")));
  EXPECT_NE(engine_->WhereIs("p"), "waiting");
}

}  // namespace
}  // namespace berth::scheduler
