#include "shadow/shadow.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "shadow/summary.h"

namespace berth::shadow {
namespace {

using cluster::FromText;
using cluster::MakeNode;
using cluster::MakePod;
using ::testing::HasSubstr;

constexpr int64_t kSecond = 1'000'000'000;

api::Pod Unschedulable(api::Pod pod, const std::string& message = "0/2 nodes are available") {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "Unschedulable";
  condition.message = message;
  pod.status.conditions.push_back(std::move(condition));
  return pod;
}

MakeNode Node(const std::string& name, const std::string& cpu = "4") {
  return MakeNode(name).Cpu(cpu).Memory("8Gi");
}
MakePod Pod(const std::string& name, const std::string& cpu = "1") {
  return MakePod(name).Requests("cpu", cpu).Requests("memory", "1Gi");
}

class ShadowTest : public ::testing::Test {
 protected:
  void SetUp() override { Use(config::Default()); }

  void Use(const config::KubeSchedulerConfiguration& config) {
    auto made = Shadow::Make(config, {});
    ASSERT_TRUE(made.has_value()) << made.error().Message();
    shadow_ = std::move(*made);
    now_ns_ = 1'700'000'000 * kSecond;
    shadow_->AdvanceTo(api::Time::FromUnixNano(now_ns_));
  }
  void Pass(int64_t ns) {
    now_ns_ += ns;
    shadow_->AdvanceTo(api::Time::FromUnixNano(now_ns_));
    for (Comparison& c : shadow_->TakeComparisons()) seen_[c.name] = std::move(c);
  }
  void Put(const api::Node& node) { shadow_->Upsert(node); }
  void Put(const api::Pod& pod) { shadow_->Upsert(pod); }
  // The pod is created, and a second later bound.
  void Bind(MakePod pod, const std::string& node) {
    Put(pod);
    Pass(kSecond);
    Put(pod.On(node));
    Pass(0);
  }
  // A minute later: everything is settled.
  const Comparison& Of(const std::string& pod) {
    Pass(60 * kSecond);
    EXPECT_TRUE(seen_.contains(pod)) << pod << " was not compared";
    return seen_[pod];
  }

  std::unique_ptr<Shadow> shadow_;
  std::map<std::string, Comparison> seen_;
  int64_t now_ns_ = 0;
};

TEST_F(ShadowTest, EqualNodesAreTheSameOrATie) {
  Put(Node("a"));
  Put(Node("b"));
  shadow_->Start();
  const MakePod pod = Pod("p");
  Bind(pod, "a");
  const Outcome a = Of("p").outcome;
  Bind(Pod("q"), "b");
  EXPECT_EQ(Of("q").outcome, Outcome::kSame) << "a has a pod now";
  EXPECT_TRUE(a == Outcome::kSame || a == Outcome::kTie);
  EXPECT_EQ(shadow_->Open(), 0u);
}

TEST_F(ShadowTest, ALowerTotalNamesThePlugins) {
  Put(Node("empty"));
  Put(Node("used"));
  Put(Pod("old", "2").On("used"));
  shadow_->Start();
  Bind(Pod("p"), "used");
  EXPECT_EQ(shadow_->Open(), 1u) << "a race can explain it until the window has passed";
  const Comparison& c = Of("p");
  EXPECT_EQ(c.outcome, Outcome::kScoreGap);
  EXPECT_EQ(c.our_node, "empty");
  EXPECT_EQ(c.their_node, "used");
  EXPECT_GT(c.our_total, c.their_total);
  ASSERT_FALSE(c.gaps.empty());
  EXPECT_THAT(Why(c), HasSubstr("NodeResourcesFit"));
}

TEST_F(ShadowTest, ARejectedNodeNamesThePluginAndItsReason) {
  Put(Node("open"));
  Put(Node("tainted").Taint("key", "NoSchedule"));
  shadow_->Start();
  Bind(Pod("p"), "tainted");
  const Comparison& c = Of("p");
  EXPECT_EQ(c.outcome, Outcome::kInfeasible);
  EXPECT_EQ(c.plugin, "TaintToleration");
  EXPECT_THAT(c.reason, HasSubstr("untolerated taint"));
  EXPECT_EQ(c.our_node, "open");
}

TEST_F(ShadowTest, APodThatFitsNowhereWasPlaced) {
  Put(Node("a", "1"));
  shadow_->Start();
  Bind(Pod("p", "2"), "a");
  const Comparison& c = Of("p");
  EXPECT_EQ(c.outcome, Outcome::kWeWait);
  EXPECT_EQ(c.plugin, "NodeResourcesFit");
  EXPECT_THAT(c.reason, HasSubstr("Insufficient cpu"));
}

TEST_F(ShadowTest, WaitingIsComparedToo) {
  Put(Node("a"));
  shadow_->Start();
  const MakePod small = Pod("small");
  const MakePod large = Pod("large", "9");
  Put(small);
  Put(large);
  Put(Unschedulable(small));
  Put(Unschedulable(large));
  const Outcome waits = Of("small").outcome;
  EXPECT_EQ(waits, Outcome::kTheyWait);
  EXPECT_EQ(seen_["small"].our_node, "a");
  EXPECT_EQ(seen_["small"].their_message, "0/2 nodes are available");
  EXPECT_EQ(seen_["large"].outcome, Outcome::kSame);
}

// first was placed before second was decided, but its binding came later.
TEST_F(ShadowTest, APlacementThatShowsLateIsARace) {
  Put(Node("a"));
  Put(Node("b", "8").Memory("16Gi"));
  shadow_->Start();
  const MakePod first = Pod("first", "6");
  const MakePod second = Pod("second", "3");
  Put(first);
  Put(second);
  Pass(kSecond);
  Put(MakePod(second).On("a"));  // b is better while first is not there
  Pass(kSecond / 10);
  Put(MakePod(first).On("b"));
  const Comparison& c = Of("second");
  EXPECT_EQ(c.outcome, Outcome::kRace);
  EXPECT_EQ(c.first_outcome, "ScoreGap");
  EXPECT_THAT(c.explanation, HasSubstr("Pod ns/first placed"));
  EXPECT_EQ(seen_["first"].outcome, Outcome::kSame);
}

TEST_F(ShadowTest, WhatChangedJustBeforeTheBindingIsARace) {
  Put(Node("a"));
  shadow_->Start();
  const MakePod pod = Pod("p");
  Put(pod);
  Pass(kSecond);
  Put(Node("a").Cordoned());
  Pass(kSecond);
  Put(MakePod(pod).On("a"));
  EXPECT_EQ(Of("p").outcome, Outcome::kRace);
  EXPECT_EQ(seen_["p"].first_outcome, "WeWait");
}

TEST_F(ShadowTest, WhatChangedLongBeforeIsNoRace) {
  Put(Node("a"));
  shadow_->Start();
  const MakePod pod = Pod("p");
  Put(pod);
  Put(Node("a").Cordoned());
  Pass(20 * kSecond);
  Put(MakePod(pod).On("a"));
  EXPECT_EQ(Of("p").outcome, Outcome::kWeWait);
}

TEST_F(ShadowTest, NothingIsUndoneThatThePodHasSeen) {
  Put(Node("a").Cordoned());
  shadow_->Start();
  Put(Node("a"));  // and back, a moment before the pod exists
  Put(Node("a").Cordoned());
  Bind(Pod("p"), "a");
  EXPECT_EQ(Of("p").outcome, Outcome::kWeWait);
}

TEST_F(ShadowTest, TheClusterIsAsItWasAfterASearch) {
  Put(Node("a"));
  Put(Node("b"));
  Put(Pod("old", "3").On("b"));
  shadow_->Start();
  const MakePod pod = Pod("p");
  Put(pod);
  Pass(kSecond);
  shadow_->Delete(api::Object(api::Pod(Pod("old"))));
  Put(Node("c", "16"));
  Put(MakePod(pod).On("a"));
  Put(Pod("late").On("c"));
  shadow_->Delete(api::Object(api::Node(Node("c"))));
  Pass(60 * kSecond);
  const cluster::Cluster& cluster = shadow_->GetCluster();
  EXPECT_EQ(cluster.NodeCount(), 2u);
  EXPECT_EQ(cluster.FindPod("old"), cluster::kNoPod);
  ASSERT_NE(cluster.FindPod("p"), cluster::kNoPod);
  EXPECT_EQ(cluster.GetPod(cluster.FindPod("p")).node, cluster.FindNode("a"));
  EXPECT_EQ(cluster.Resource(cluster::kCpu)->requested[cluster.FindNode("a")], 1000);
  EXPECT_EQ(cluster.Resource(cluster::kCpu)->requested[cluster.FindNode("b")], 0);
}

TEST_F(ShadowTest, PreemptionIsCompared) {
  Put(Node("a", "2"));
  Put(Node("b", "2"));
  Put(Pod("low", "2").On("a").Priority(1));
  Put(Pod("lower", "2").On("b").Priority(0));
  shadow_->Start();
  const MakePod good = Pod("good", "2").Priority(10);
  Put(good);
  Put(Unschedulable(MakePod(good).Nominated("b")));
  EXPECT_EQ(Of("good").outcome, Outcome::kSame);
  shadow_->Delete(api::Object(api::Pod(good)));
  const MakePod bad = Pod("bad", "2").Priority(10);
  Put(bad);
  Put(Unschedulable(MakePod(bad).Nominated("a")));
  EXPECT_EQ(Of("bad").outcome, Outcome::kPreemption);
  EXPECT_EQ(seen_["bad"].our_node, "b");
  shadow_->Delete(api::Object(api::Pod(bad)));
  const MakePod none = Pod("none", "2").Priority(10);
  Put(none);
  Put(Unschedulable(none));
  EXPECT_EQ(Of("none").outcome, Outcome::kPreemption);
}

// From 1.35 on the node is written to the pod's status before volumes and devices are bound.
TEST_F(ShadowTest, ANominationWithoutAFailureIsADecision) {
  Put(Node("a"));
  Put(Node("b", "8"));
  shadow_->Start();
  const MakePod pod = Pod("p");
  Put(pod);
  Put(MakePod(pod).Nominated("b"));
  EXPECT_EQ(Of("p").outcome, Outcome::kSame);
  EXPECT_EQ(shadow_->GetCluster().GetPod(shadow_->GetCluster().FindPod("p")).node,
            shadow_->GetCluster().FindNode("b"))
      << "it counts there at once";
  seen_.clear();
  Put(MakePod(pod).On("b"));
  Pass(60 * kSecond);
  EXPECT_TRUE(seen_.empty()) << "compared twice";
  EXPECT_EQ(shadow_->PendingPods(), 0u);
}

// A claim is annotated before the pod is bound, which narrows the nodes to one.
TEST_F(ShadowTest, APodWithAClaimIsJudgedBeforeItsClaimWasWritten) {
  const auto claim = [](const std::string& annotations) {
    return FromText<api::PersistentVolumeClaim>(
        "{'metadata':{'name':'data','namespace':'ns','uid':'c'," + annotations +
        "},'spec':{'storageClassName':'late','accessModes':['ReadWriteOnce'],'resources':"
        "{'requests':{'storage':'1Gi'}}},'status':{'phase':'Pending'}}");
  };
  Put(Node("a"));
  Put(Node("b"));
  Put(Pod("old", "2").On("b"));
  shadow_->Upsert(FromText<api::StorageClass>(
      "{'metadata':{'name':'late'},'provisioner':'x','volumeBindingMode':'WaitForFirstConsumer'}"));
  shadow_->Upsert(claim("'resourceVersion':'1'"));
  shadow_->Start();
  const MakePod pod = Pod("p").Volume("{'name':'v','persistentVolumeClaim':{'claimName':'data'}}");
  Put(pod);
  Pass(kSecond);
  shadow_->Upsert(
      claim("'resourceVersion':'2','annotations':{'volume.kubernetes.io/selected-node':'b'}"));
  EXPECT_EQ(shadow_->GetCluster().GetPod(shadow_->GetCluster().FindPod("p")).node,
            shadow_->GetCluster().FindNode("b"));
  Pass(10 * kSecond);
  Put(MakePod(pod).On("b"));
  EXPECT_EQ(Of("p").outcome, Outcome::kScoreGap) << "a is better, though the claim now says b";
}

TEST_F(ShadowTest, ANodeOutsideTheSampleIsNoDifference) {
  auto config = config::Default();
  for (const bool sampling : {true, false}) {
    config.percentage_of_nodes_to_score = sampling ? 50 : 100;
    Use(config);
    for (int i = 0; i < 210; ++i) Put(Node(fmt::format("n{:03}", i), i == 0 ? "8" : "4"));
    shadow_->Start();
    Bind(Pod("p"), "n150");
    EXPECT_EQ(Of("p").outcome, sampling ? Outcome::kSampled : Outcome::kScoreGap);
  }
}

TEST_F(ShadowTest, AWeightThatDiffersIsNamed) {
  Put(Node("bare", "4"));
  Put(Node("busy", "4").Label("disk", "ssd"));
  Put(Pod("old", "1").On("busy"));
  shadow_->Start();
  Summary summary;
  const auto likes_ssd = [](const std::string& name) {
    return Pod(name, "500m")
        .NodeAffinity(
            "{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'preference':"
            "{'matchExpressions':[{'key':'disk','operator':'In','values':['ssd']}]}}]}");
  };
  for (int i = 0; i < 3; ++i) {  // as if NodeAffinity had weight 0
    const std::string name = fmt::format("p{}", i);
    Bind(likes_ssd(name), "bare");
    summary.Add(Of(name));
    shadow_->Delete(api::Object(api::Pod(Pod(name))));
  }
  summary.Conclude();
  EXPECT_EQ(summary.unexplained, 3);
  const auto guess = std::find_if(summary.weights.begin(), summary.weights.end(),
                                  [](const auto& g) { return g.plugin == "NodeAffinity"; });
  ASSERT_NE(guess, summary.weights.end());
  EXPECT_EQ(guess->explained, 3);
  EXPECT_EQ(guess->first, 0);
  EXPECT_LT(guess->last, guess->ours);
  EXPECT_THAT(ToMarkdown(summary), HasSubstr("NodeAffinity"));
}

TEST_F(ShadowTest, OtherSchedulersPodsOnlyCount) {
  Put(Node("a"));
  shadow_->Start();
  MakePod other = Pod("other");
  other.Get().spec.scheduler_name = "somebody-else";
  Bind(other, "a");
  Pass(60 * kSecond);
  EXPECT_TRUE(seen_.empty());
  EXPECT_NE(shadow_->GetCluster().FindPod("other"), cluster::kNoPod) << "its requests count";
}

TEST_F(ShadowTest, BindingsThatAListShowsAreNotCompared) {
  Put(Node("a"));
  const MakePod pod = Pod("p");
  Put(pod);
  shadow_->Start();
  shadow_->Replace("Pod", {api::Pod(MakePod(pod).On("a"))});
  Pass(60 * kSecond);
  EXPECT_TRUE(seen_.empty());
  EXPECT_EQ(shadow_->Unseen(), 1u);
  shadow_->Replace("Pod", {});
  EXPECT_EQ(shadow_->GetCluster().PodCountTotal(), 0u);
}

TEST_F(ShadowTest, AnEndJudgesWhatStillWaits) {
  Put(Node("a", "1"));
  shadow_->Start();
  Bind(Pod("p", "2"), "a");
  EXPECT_TRUE(seen_.empty());
  shadow_->Drain();
  Bind(Pod("q", "2"), "a");
  shadow_->Finish();
  Pass(0);
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_EQ(seen_["p"].outcome, Outcome::kWeWait);
}

TEST_F(ShadowTest, ExtendersAreRefused) {
  auto config = config::Default();
  config.extenders.emplace_back();
  const auto made = Shadow::Make(config, {});
  ASSERT_FALSE(made.has_value());
  EXPECT_THAT(made.error().Message(), HasSubstr("extenders"));
}

}  // namespace
}  // namespace berth::shadow
