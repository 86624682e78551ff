// Pods of pod groups in simulations: group cycles instead of one pod after the other.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/report.h"
#include "sim/testing/world.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

config::Behaviour Groups(const std::string& more = "") {
  config::FeatureGates gates(37);
  EXPECT_TRUE(gates.Set("GenericWorkload=true" + more).has_value());
  return config::Behaviour(gates);
}

std::string Node(const std::string& name, int cpu, const std::string& rack = "r") {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {rack: " + rack +
         "}}\nstatus: {capacity: {cpu: " + std::to_string(cpu) + ", memory: 8Gi, pods: 10}}\n";
}
std::string Group(const std::string& name, const std::string& spec) {
  return "---\napiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: " + name +
         "}\nspec: " + spec + "\n";
}
std::string Gang(const std::string& name, int count, const std::string& more = "") {
  return Group(name,
               "{schedulingPolicy: {gang: {minCount: " + std::to_string(count) + "}}" + more + "}");
}
std::string Pod(const std::string& name, const std::string& group, int cpu,
                const std::string& more = "") {
  const std::string in = group.empty() ? "" : ", schedulingGroup: {podGroupName: " + group + "}";
  return "---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name +
         "}\nspec: {containers: [{name: c, resources: {requests: {cpu: " + std::to_string(cpu) +
         "}}}]" + in + more + "}\n";
}

struct Simulated {
  explicit Simulated(const std::string& yaml, const config::Behaviour& behaviour = Groups())
      : simulation(yaml, {}, behaviour), outcomes(simulation.placement->ScheduleAll({})) {}

  std::vector<std::string> Pods() const {
    std::vector<std::string> lines;
    for (const PodOutcome& outcome : outcomes) {
      lines.push_back(outcome.name + " " +
                      (outcome.kind == PodOutcome::Kind::kPlaced
                           ? simulation.world.GetCluster().NodeName(outcome.node)
                           : "-"));
    }
    return lines;
  }
  std::vector<GroupReport> Reports() const {
    return ReportGroups(outcomes, simulation.placement->groups());
  }

  Simulation simulation;
  std::vector<PodOutcome> outcomes;
};

TEST(GroupPlacement, AGangIsPlacedWholeOrNotAtAll) {
  const std::string yaml = Node("a", 2) + Node("b", 2) + Gang("first", 3) + Gang("second", 2) +
                           Pod("f1", "first", 1) + Pod("s1", "second", 1) + Pod("f2", "first", 1) +
                           Pod("s2", "second", 1) + Pod("f3", "first", 1);
  const Simulated run(yaml);
  EXPECT_THAT(run.Pods(), ElementsAre("f1 a", "f2 b", "f3 a", "s1 -", "s2 -"));
  const auto reports = run.Reports();
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].outcome, "Placed");
  EXPECT_EQ(reports[0].placed, 3);
  EXPECT_EQ(reports[1].outcome, "Unschedulable");
  EXPECT_EQ(reports[1].placed, 0);
  EXPECT_EQ(reports[1].best, 1) << "one worker would have fitted";
  EXPECT_THAT(reports[1].message,
              HasSubstr("minCount (2) cannot be satisfied: 1 scheduled, 0 remaining"));
  ASSERT_EQ(reports[1].blockers.size(), 1u);
  EXPECT_EQ(reports[1].blockers[0].pod, "s2");
  EXPECT_EQ(reports[1].blockers[0].message, "0/2 nodes are available: 2 Insufficient cpu.");
  EXPECT_EQ(run.outcomes[3].group, "second");
}

TEST(GroupPlacement, WithoutTheGatePodsAreScheduledOneByOne) {
  const std::string yaml = Node("a", 1) + Gang("g", 2) + Pod("p", "g", 1) + Pod("q", "g", 1);
  const Simulated run(yaml, config::Behaviour(config::FeatureGates(37)));
  EXPECT_THAT(run.Pods(), ElementsAre("p a", "q -"));
  EXPECT_THAT(run.Reports(), IsEmpty());
}

TEST(GroupPlacement, PodsWithoutGroupsComeOutTheSame) {
  std::string yaml = Node("a", 3) + Node("b", 5) + Node("c", 4);
  for (int i = 0; i < 12; ++i) {
    yaml += Pod("p" + std::to_string(i), "", i % 3 + 1, ", priority: " + std::to_string(i % 4));
  }
  EXPECT_EQ(Simulated(yaml).Pods(),
            Simulated(yaml, config::Behaviour(config::FeatureGates(37))).Pods());
}

TEST(GroupPlacement, WaitsForTheObjectAndTheMinimum) {
  const Simulated run(Node("a", 4) + Gang("g", 2) + Pod("p", "g", 1) + Pod("q", "absent", 1));
  ASSERT_EQ(run.outcomes.size(), 2u);
  EXPECT_EQ(run.outcomes[0].kind, PodOutcome::Kind::kGated);
  EXPECT_EQ(run.outcomes[0].message,
            "waiting for minCount pods from a gang to appear in scheduling queue");
  EXPECT_EQ(run.outcomes[1].kind, PodOutcome::Kind::kGated);
  EXPECT_THAT(run.outcomes[1].message, HasSubstr("pod group \"absent\" to appear"));
  EXPECT_EQ(run.Reports()[0].outcome, "Gated");
}

TEST(GroupPlacement, AGatedPodHoldsBackItsGroup) {
  const Simulated run(Node("a", 4) + Gang("g", 1) + Pod("p", "g", 1) +
                      Pod("q", "g", 1, ", schedulingGates: [{name: wait}]"));
  EXPECT_EQ(run.outcomes[0].kind, PodOutcome::Kind::kGated);
  EXPECT_EQ(run.outcomes[0].message,
            "pod q of its pod group is gated: waiting for scheduling gates: [wait]");
}

TEST(GroupPlacement, WhatPodsOfAGroupMustHaveInCommon) {
  const Simulated run(Node("a", 4) + Gang("g", 2, ", priority: 7") +
                      Pod("p", "g", 1, ", priority: 7") + Pod("q", "g", 1, ", priority: 3"));
  EXPECT_EQ(run.outcomes[0].kind, PodOutcome::Kind::kError);
  EXPECT_THAT(run.Reports()[0].message, HasSubstr("should have the same priority"));
}

TEST(GroupPlacement, ThePriorityOfTheGroupDecidesTheOrder) {
  const Simulated run(Node("a", 2) + Gang("low", 2, ", priority: 1") +
                      Gang("high", 2, ", priority: 9") + Pod("l1", "low", 1, ", priority: 1") +
                      Pod("l2", "low", 1, ", priority: 1") + Pod("h1", "high", 1, ", priority: 9") +
                      Pod("h2", "high", 1, ", priority: 9"));
  EXPECT_THAT(run.Pods(), ElementsAre("h1 a", "h2 a", "l1 -", "l2 -"));
}

TEST(GroupPlacement, PreemptsForTheWholeGroup) {
  const std::string victims = Pod("v1", "", 1, ", nodeName: a") + Pod("v2", "", 1, ", nodeName: b");
  const Simulated run(Node("a", 1) + Node("b", 1) + victims + Gang("g", 2, ", priority: 5") +
                      Pod("p", "g", 1, ", priority: 5") + Pod("q", "g", 1, ", priority: 5"));
  EXPECT_THAT(run.Pods(), ElementsAre("p a", "q b"));
  EXPECT_THAT(run.Reports()[0].preempted, ElementsAre("default/v1", "default/v2"));
}

TEST(GroupPlacement, TopologyChoosesOneDomain) {
  const std::string on_racks = ", schedulingConstraints: {topology: [{key: rack}]}";
  const std::string nodes = Node("a1", 1, "a") + Node("b1", 1, "b") + Node("b2", 1, "b");
  const config::Behaviour behaviour = Groups(",TopologyAwareWorkloadScheduling=true");
  const Simulated fits(nodes + Gang("g", 2, on_racks) + Pod("p", "g", 1) + Pod("q", "g", 1),
                       behaviour);
  EXPECT_THAT(fits.Pods(), ElementsAre("p b1", "q b2"));
  EXPECT_EQ(fits.Reports()[0].placement, "b");
  EXPECT_EQ(fits.Reports()[0].placements, 2);
  const Simulated refused(
      nodes + Gang("g", 3, on_racks) + Pod("p", "g", 1) + Pod("q", "g", 1) + Pod("r", "g", 1),
      behaviour);
  EXPECT_EQ(refused.Reports()[0].outcome, "Unschedulable");
  EXPECT_EQ(refused.Reports()[0].best, 2);
  EXPECT_EQ(refused.Reports()[0].best_placement, "b");
}

// Pods come in order of priority, so the preemption itself is only pretended.
TEST(GroupPlacement, AGroupWhosePodsArePreemptedLaterIsReported) {
  const Simulated run(Node("a", 2) + Gang("g", 1, ", priority: 9") +
                      Pod("p", "g", 2, ", priority: 9") + Pod("late", "", 2, ", priority: 3"));
  EXPECT_THAT(run.Pods(), ElementsAre("p a", "late -"));
  std::vector<PodOutcome> outcomes = run.outcomes;
  outcomes[0].kind = PodOutcome::Kind::kPreempted;
  const auto reports = ReportGroups(outcomes, run.simulation.placement->groups());
  EXPECT_EQ(reports[0].outcome, "Preempted");
  EXPECT_EQ(reports[0].placed, 0);
}

}  // namespace
}  // namespace berth::sim
