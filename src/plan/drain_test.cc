#include "plan/drain.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/testing/site.h"

namespace berth::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr char kBudget[] =
    "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\n"
    "metadata: {name: web, namespace: shop}\nspec: {minAvailable: %s, selector: {matchLabels: "
    "{app: "
    "web}}}\n";

std::string Budget(const std::string& min_available, const std::string& name = "web") {
  std::string text = kBudget;
  text.replace(text.find("%s"), 2, min_available);
  text.replace(text.find("name: web"), 9, "name: " + name);
  return text;
}

TEST(PlanDrain, PodsMoveToWhereTheSchedulerPutsThem) {
  Site site(Node("a", 4) + Node("b", 2) + Node("c", 4) + Pod("web-1", "web", "a", "1") +
            Pod("web-2", "web", "a", "1") + Pod("db-1", "db", "c", "3"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(Told(plan), "web-1 Moves a>b; web-2 Moves a>b");
  EXPECT_TRUE(plan.Works());
  EXPECT_EQ(plan.nodes_before, 3);
  EXPECT_EQ(plan.nodes_after, 2);
  ASSERT_THAT(plan.nodes, SizeIs(1));
  EXPECT_EQ(plan.nodes[0].change, "Freed");
  EXPECT_THAT(plan.assumptions, ElementsAre(HasSubstr("3 pods name a controller")));
}

TEST(PlanDrain, APodThatFitsNowhereIsHomelessWithItsReason) {
  Site site(Node("a", 4) + Node("b", 2) + Pod("big-1", "big", "a", "3"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_FALSE(plan.Works());
  EXPECT_EQ(Told(plan), "big-1 Homeless a>");
  EXPECT_THAT(
      plan.pods[0].message,
      HasSubstr("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable"));
}

TEST(PlanDrain, DrainedNodesDoNotTakeEachOthersPods) {
  Site site(Node("a", 4) + Node("b", 4) + Pod("web-1", "web", "a", "1"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a", "b"});
  EXPECT_EQ(Told(plan), "web-1 Homeless a>");
}

TEST(PlanDrain, WhatHasNoControllerIsLostAndWhatBelongsToTheNodeStays) {
  const std::string daemon =
      "---\napiVersion: v1\nkind: Pod\nmetadata: {name: agent, namespace: shop, uid: u-agent, "
      "resourceVersion: \"1\", creationTimestamp: 2026-01-01T00:00:00Z, ownerReferences: "
      "[{apiVersion: apps/v1, kind: DaemonSet, name: agent, uid: d, controller: true}]}\n"
      "spec: {nodeName: a, containers: [{name: c}]}\nstatus: {phase: Running}\n";
  Site site(Node("a", 4) + Node("b", 4) + daemon + Pod("alone", "", "a", "1"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(Told(plan), "alone Lost a>");
  EXPECT_EQ(plan.stays, 1);
  EXPECT_EQ(plan.nodes[0].change, "Kept");
}

TEST(PlanDrain, AnnotationsOfAutoscalersForbidEviction) {
  Site site(
      Node("a", 4) + Node("b", 4) +
      Pod("web-1", "web", "a", "1", "", ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(Told(plan), "web-1 Blocked a>");
  EXPECT_THAT(plan.pods[0].message, HasSubstr("karpenter.sh/do-not-disrupt=true"));
}

TEST(PlanDrain, ABudgetIsGivenBackWhenTheReplacementHasANode) {
  const std::string pods =
      Node("a", 4) + Node("b", 4) + Pod("web-1", "web", "a", "1") + Pod("web-2", "web", "a", "1");
  Site one(pods + Budget("1"));
  EXPECT_EQ(Told(PlanDrain(one.inventory, *one.mover, {"a"})), "web-1 Moves a>b; web-2 Moves a>b");
  Site none(pods + Budget("2"));
  const Plan plan = PlanDrain(none.inventory, *none.mover, {"a"});
  EXPECT_EQ(Told(plan), "web-1 Blocked a>; web-2 Blocked a>");
  EXPECT_THAT(plan.pods[0].message,
              HasSubstr("PodDisruptionBudget web allows no disruption: 2 of 2"));
  ASSERT_THAT(plan.budgets, SizeIs(1));
  EXPECT_EQ(plan.budgets[0].refused, 2);
  Site percent(pods + Budget("\"51%\""));
  EXPECT_EQ(PlanDrain(percent.inventory, *percent.mover, {"a"}).blocked, 2) << "rounded up";
}

TEST(PlanDrain, AHomelessReplacementKeepsItsBudgetUsedUp) {
  Site site(Node("a", 4) + Node("b", 1) + Pod("web-1", "web", "a", "2") +
            Pod("web-2", "web", "a", "2") + Budget("1"));
  EXPECT_EQ(Told(PlanDrain(site.inventory, *site.mover, {"a"})),
            "web-1 Homeless a>; web-2 Blocked a>");
}

TEST(PlanDrain, TwoBudgetsForOnePodBlockIt) {
  Site site(Node("a", 4) + Node("b", 4) + Pod("web-1", "web", "a", "1") + Budget("0") +
            Budget("0", "other"));
  const Plan plan = PlanDrain(site.inventory, *site.mover, {"a"});
  EXPECT_THAT(plan.pods.at(0).message, HasSubstr("both cover the pod"));
}

TEST(PlanDrain, WhoMakesWayIsReplacedToo) {
  const std::string low = Pod("low-1", "low", "b", "3", ", priority: 1");
  Site site(Node("a", 4) + Node("b", 4) + Node("c", 3) +
            Pod("high-1", "high", "a", "4", ", priority: 100") + low);
  EXPECT_EQ(Told(PlanDrain(site.inventory, *site.mover, {"a"})),
            "high-1 Moves a>b; low-1 Moves b>c for shop/high-1");
}

TEST(PlanOutage, TheNodesVanishAndImportantPodsComeFirst) {
  Site site(Node("a", 4, "topology.kubernetes.io/zone: x") + Node("b", 4) +
            Pod("low-1", "low", "a", "3", ", priority: 1") +
            Pod("high-1", "high", "a", "3", ", priority: 9") + Budget("9"));
  const Plan plan = PlanOutage(site.inventory, *site.mover, {"a"});
  EXPECT_EQ(Told(plan), "high-1 Moves a>b; low-1 Homeless a>");
  EXPECT_THAT(plan.pods[1].message, HasSubstr("0/1 nodes are available: 1 Insufficient cpu"));
  EXPECT_EQ(plan.nodes_after, 1);
}

TEST(PlanShrink, TheNodesThatDisturbLeastGo) {
  Site site(Node("a", 4) + Node("b", 4) + Node("c", 4) + Pod("web-1", "web", "a", "1") +
            Pod("web-2", "web", "a", "1") + Pod("web-3", "web", "b", "1") +
            Pod("alone", "", "c", "1"));
  const Plan plan = PlanShrink(site.inventory, *site.mover, {"a", "b", "c"}, 1);
  ASSERT_THAT(plan.nodes, SizeIs(1));
  EXPECT_EQ(plan.nodes[0].name, "b");
}

}  // namespace
}  // namespace berth::plan
