#include "plan/restore_spread.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string InZone(const std::string& name, const std::string& zone, int cpu = 8) {
  return Node(name, cpu, "zone: z" + zone + ", kubernetes.io/hostname: " + name);
}

std::string Spread(const std::string& app, const std::string& action = "DoNotSchedule",
                   const std::string& key = "zone", int skew = 1) {
  return ", topologySpreadConstraints: [{maxSkew: " + std::to_string(skew) +
         ", topologyKey: " + key + ", whenUnsatisfiable: " + action +
         ", labelSelector: {matchLabels: {app: " + app + "}}}]";
}

std::string Web(int number, const std::string& node, const std::string& spread,
                const std::string& metadata = "") {
  return Pod("web-" + std::to_string(number), "web", node, "1", spread, metadata);
}

Plan Restore(Site& site, bool soft = false, int64_t max_moves = INT64_MAX) {
  RestoreSpreadOptions options;
  options.soft = soft;
  options.max_moves = max_moves;
  return PlanRestoreSpread(site.inventory, *site.mover, options);
}

TEST(PlanRestoreSpread, AZoneThatCameBackEmptyGetsItsPods) {
  const std::string s = Spread("web");
  Site site(InZone("a", "x") + InZone("b", "y") + InZone("c", "z") + Web(1, "a", s) +
            Web(2, "a", s) + Web(3, "a", s) + Web(4, "b", s) + Web(5, "b", s) + Web(6, "b", s));
  const Plan plan = Restore(site);
  EXPECT_EQ(plan.excess_before, 4);
  EXPECT_EQ(plan.excess_after, 0);
  EXPECT_EQ(Told(plan), "web-1 Moves a>c; web-4 Moves b>c");
  EXPECT_THAT(plan.warnings, IsEmpty());
  EXPECT_THAT(Restore(site).pods, IsEmpty()) << "a fixpoint";
}

TEST(PlanRestoreSpread, WhatHoldsIsLeftAlone) {
  const std::string s = Spread("web");
  Site site(InZone("a", "x") + InZone("b", "y") + Web(1, "a", s) + Web(2, "a", s) + Web(3, "b", s));
  const Plan plan = Restore(site);
  EXPECT_EQ(plan.excess_before, 0);
  EXPECT_THAT(plan.pods, IsEmpty());
}

TEST(PlanRestoreSpread, NothingIsEvictedThatCannotLandBetter) {
  const std::string s = Spread("web");
  Site full(InZone("a", "x") + InZone("b", "y", 2) + Pod("db-1", "db", "b", "2") + Web(1, "a", s) +
            Web(2, "a", s) + Web(3, "a", s));
  const Plan plan = Restore(full);
  EXPECT_EQ(plan.excess_before, 2);
  EXPECT_EQ(plan.excess_after, 2);
  EXPECT_THAT(plan.pods, IsEmpty());
  EXPECT_THAT(plan.warnings, ElementsAre(HasSubstr("2 more pods of namespace shop matching "
                                                   "\"app=web\" than maxSkew 1 over zone")));
  EXPECT_NE(full.inventory.cluster().GetPod(full.inventory.cluster().FindPod("u-web-1")).node,
            cluster::kNoNode);
}

TEST(PlanRestoreSpread, ProtectedPodsAndThoseWithoutControllerStay) {
  const std::string s = Spread("web");
  const std::string kept = ", annotations: {karpenter.sh/do-not-disrupt: \"true\"}";
  Site site(InZone("a", "x") + InZone("b", "y") + Web(1, "a", s, kept) + Web(2, "a", s, kept) +
            Web(3, "a", s));
  const Plan plan = Restore(site);
  EXPECT_EQ(Told(plan), "web-3 Moves a>b");
  EXPECT_EQ(plan.excess_after, 0);
}

TEST(PlanRestoreSpread, BudgetsCount) {
  const std::string s = Spread("web");
  const std::string budget =
      "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: "
      "shop}\nspec: {minAvailable: 3, selector: {matchLabels: {app: web}}}\n";
  Site site(InZone("a", "x") + InZone("b", "y") + Web(1, "a", s) + Web(2, "a", s) + Web(3, "a", s) +
            budget);
  const Plan plan = Restore(site);
  EXPECT_THAT(plan.pods, IsEmpty());
  ASSERT_EQ(plan.budgets.size(), 1u);
  EXPECT_EQ(plan.budgets[0].refused, 3);
}

TEST(PlanRestoreSpread, SoftConstraintsOnlyWhenAsked) {
  const std::string s = Spread("web", "ScheduleAnyway");
  const std::string yaml = InZone("a", "x") + InZone("b", "y") + Web(1, "a", s) + Web(2, "a", s) +
                           Web(3, "a", s) + Web(4, "a", s);
  Site hard(yaml);
  EXPECT_EQ(Restore(hard).excess_before, 0);
  Site soft(yaml);
  const Plan plan = Restore(soft, /*soft=*/true);
  EXPECT_EQ(plan.excess_before, 3);
  EXPECT_EQ(plan.excess_after, 0);
  EXPECT_EQ(plan.moves, 2);
}

TEST(PlanRestoreSpread, TheNumberOfEvictionsIsBounded) {
  const std::string s = Spread("web");
  Site site(InZone("a", "x") + InZone("b", "y") + Web(1, "a", s) + Web(2, "a", s) + Web(3, "a", s) +
            Web(4, "a", s) + Web(5, "a", s));
  const Plan plan = Restore(site, false, 1);
  EXPECT_EQ(plan.moves, 1);
  EXPECT_EQ(plan.excess_after, 2);
}

TEST(PlanRestoreSpread, TheLeastImportantAndYoungestGoFirst) {
  const std::string s = Spread("web");
  Site site(InZone("a", "x") + InZone("b", "y") + Web(1, "a", s + ", priority: 9") +
            Web(2, "a", s + ", priority: 9") + Web(3, "a", s + ", priority: 1"));
  EXPECT_EQ(Told(Restore(site)), "web-3 Moves a>b");
}

// Random clusters with constraints over zones and hosts: the excess only falls, every pod of the
// plan has a node, and planning again finds nothing.
TEST(PlanRestoreSpread, RandomClustersReachAFixpoint) {
  Random random(11);
  size_t with_moves = 0;
  for (int i = 0; i < 300; ++i) {
    std::string yaml;
    const size_t nodes = 2 + random.Below(6);
    for (size_t n = 0; n < nodes; ++n) {
      yaml += InZone("n" + std::to_string(n), "z" + std::to_string(random.Below(3)), 6);
    }
    const size_t pods = random.Below(20);
    for (size_t p = 0; p < pods; ++p) {
      const std::string app = "w" + std::to_string(random.Below(2));
      yaml += Pod("p" + std::to_string(p), app, "n" + std::to_string(random.Below(nodes)), "1",
                  Spread(app, random.Below(2) == 0 ? "DoNotSchedule" : "ScheduleAnyway",
                         random.Below(2) == 0 ? "zone" : "kubernetes.io/hostname",
                         static_cast<int>(1 + random.Below(2))));
    }
    Site site(yaml);
    const Plan plan = Restore(site, /*soft=*/true);
    EXPECT_TRUE(plan.Works());
    EXPECT_LE(plan.excess_after + plan.moves, plan.excess_before) << yaml;
    with_moves += plan.moves > 0 ? 1 : 0;
    for (const Step& step : plan.pods) EXPECT_NE(step.from, step.to);
    const Plan again = Restore(site, /*soft=*/true);
    EXPECT_THAT(again.pods, IsEmpty()) << Told(again) << "\n" << yaml;
    EXPECT_EQ(again.excess_before, plan.excess_after);
  }
  EXPECT_GT(with_moves, 100u);
}

}  // namespace
}  // namespace berth::plan
