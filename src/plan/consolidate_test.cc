#include "plan/consolidate.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "plan/disruption.h"
#include "plan/drain.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

std::vector<std::string> AllNodes(Site& site) { return site.inventory.Select(api::Selector()); }

Plan Consolidate(Site& site, int64_t max_moves = INT64_MAX) {
  ConsolidateOptions options;
  options.candidates = AllNodes(site);
  options.max_moves = max_moves;
  return PlanConsolidation(site.inventory, *site.mover, options);
}

TEST(PlanConsolidation, HalfEmptyNodesAreFreed) {
  Site site(Node("a", 4) + Node("b", 4) + Node("c", 4) + Pod("w-1", "w", "a", "1") +
            Pod("w-2", "w", "b", "1") + Pod("w-3", "w", "c", "1"));
  const Plan plan = Consolidate(site);
  EXPECT_EQ(plan.nodes_after, 1);
  EXPECT_EQ(plan.moves, 2);
  EXPECT_TRUE(plan.Works());
}

TEST(PlanConsolidation, TheNumberOfEvictionsIsBounded) {
  Site site(Node("a", 4) + Node("b", 4) + Node("c", 4) + Pod("w-1", "w", "a", "1") +
            Pod("w-2", "w", "b", "1") + Pod("w-3", "w", "c", "1"));
  const Plan plan = Consolidate(site, 1);
  EXPECT_EQ(plan.nodes_after, 2);
  EXPECT_EQ(plan.moves, 1);
}

TEST(PlanConsolidation, NothingIsPreemptedOrLost) {
  Site site(Node("a", 4) + Node("b", 4) + Pod("alone", "", "a", "1") +
            Pod("high-1", "high", "b", "4", ", priority: 9"));
  const Plan plan = Consolidate(site);
  EXPECT_TRUE(plan.nodes.empty());
  EXPECT_TRUE(plan.pods.empty());
}

TEST(PlanConsolidation, LocalStorageStaysUnlessItMayBeLost) {
  const std::string scratch = ", volumes: [{name: scratch, emptyDir: {}}]";
  const std::string two = Node("a", 4) + Node("b", 4) + Pod("w-2", "w", "b", "1", scratch);
  Site site(two + Pod("w-1", "w", "a", "1", scratch));
  EXPECT_TRUE(Consolidate(site).nodes.empty());
  Site safe(two + Pod("w-1", "w", "a", "1", scratch,
                      ", annotations: {cluster-autoscaler.kubernetes.io/"
                      "safe-to-evict-local-volumes: \"other, scratch\"}"));
  const Plan plan = Consolidate(safe);
  ASSERT_EQ(plan.nodes.size(), 1u);
  EXPECT_EQ(plan.nodes[0].name, "a");
  Site asked(two + Pod("w-1", "w", "a", "1", scratch));
  ConsolidateOptions options;
  options.candidates = AllNodes(asked);
  options.lose_local_data = true;
  EXPECT_EQ(PlanConsolidation(asked.inventory, *asked.mover, options).nodes.size(), 1u);
}

TEST(PlanConsolidation, AnnotationsOfNodesAreHonoured) {
  const std::string kept =
      "---\napiVersion: v1\nkind: Node\nmetadata: {name: b, annotations: "
      "{cluster-autoscaler.kubernetes.io/scale-down-disabled: \"true\"}}\n"
      "status: {allocatable: {cpu: 4, memory: 64Gi, pods: 110}}\n";
  Site site(Node("a", 4) + kept + Pod("w-1", "w", "a", "1") + Pod("w-2", "w", "a", "1"));
  const Plan plan = Consolidate(site);
  ASSERT_EQ(plan.nodes.size(), 1u);
  EXPECT_EQ(plan.nodes[0].name, "a") << "though b is empty";
}

TEST(PlanConsolidation, WhatANodeIsWorthCounts) {
  Site site(Node("a", 4) + Node("b", 4) + Node("c", 2) + Pod("w-1", "w", "a", "2") +
            Pod("w-2", "w", "b", "2"));
  ConsolidateOptions options;
  options.candidates = AllNodes(site);
  options.value = [](const api::Node& node) { return node.metadata.name == "b" ? 5.0 : 1.0; };
  options.eviction_cost = 2;
  const Plan plan = PlanConsolidation(site.inventory, *site.mover, options);
  std::vector<std::string> freed;
  for (const NodeStep& node : plan.nodes) freed.push_back(node.name);
  std::sort(freed.begin(), freed.end());
  EXPECT_EQ(freed, (std::vector<std::string>{"b", "c"})) << "a is not worth its eviction";
}

TEST(PlanConsolidation, AGangKeepsItsMinimum) {
  const auto member = [](const std::string& name, const std::string& node) {
    return Pod(name, "train", node, "1", "", ", labels: {scheduling.x-k8s.io/pod-group: train}");
  };
  const auto cluster = [&](int min) {
    std::string yaml = Node("a", 4) + Node("b", 4) + member("t-1", "a") + member("t-2", "b");
    // Pod() gives labels of its own to pods with an owner.
    for (size_t at = 0; (at = yaml.find(", labels: {app: train}", at)) != std::string::npos;) {
      yaml.erase(at, std::string(", labels: {app: train}").size());
    }
    return yaml +
           "---\napiVersion: scheduling.x-k8s.io/v1alpha1\nkind: PodGroup\nmetadata: {name: train, "
           "namespace: shop, uid: g, resourceVersion: \"1\"}\nspec: {minMember: " +
           std::to_string(min) + "}\n";
  };
  Site needed(cluster(2));
  EXPECT_TRUE(Consolidate(needed).nodes.empty());
  Site spare(cluster(1));
  EXPECT_EQ(Consolidate(spare).nodes.size(), 1u);
  Site drained(cluster(2));
  const Plan plan = PlanDrain(drained.inventory, *drained.mover, {"a"});
  ASSERT_EQ(plan.blocked, 1);
  EXPECT_EQ(plan.pods[0].message, "pod group shop/train needs 2 pods and has 2");
}

// A small random cluster: pods of several sizes, some of which keep apart, some of which have no
// controller.
std::string RandomCluster(Random& random) {
  const size_t nodes = 2 + random.Below(5);
  std::string yaml;
  std::vector<int> free;
  for (size_t n = 0; n < nodes; ++n) {
    free.push_back(static_cast<int>(2 + random.Below(5)));
    yaml += Node("n" + std::to_string(n), free.back());
  }
  const size_t pods = random.Below(12);
  for (size_t p = 0; p < pods; ++p) {
    const size_t node = random.Below(nodes);
    const int cpu = static_cast<int>(1 + random.Below(3));
    if (free[node] < cpu) continue;
    free[node] -= cpu;
    const std::string app = "w" + std::to_string(random.Below(3));
    const std::string apart =
        random.Below(4) == 0
            ? ", affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
              "[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: " +
                  app + "}}}]}}"
            : "";
    yaml += Pod("p" + std::to_string(p), random.Below(12) == 0 ? "" : app,
                "n" + std::to_string(node), std::to_string(cpu), apart);
  }
  return yaml;
}

// The most nodes that any set can free, by trying them all.
size_t MostFreed(const std::string& yaml, size_t nodes) {
  size_t most = 0;
  for (uint32_t set = 1; set < (1u << nodes); ++set) {
    Site site(yaml);
    std::vector<std::string> names;
    for (size_t n = 0; n < nodes; ++n) {
      if ((set >> n & 1u) != 0) names.push_back("n" + std::to_string(n));
    }
    if (names.size() <= most) continue;
    DisruptionCost disruption(site.inventory);
    std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      const auto cost = [&](const std::string& name) {
        return std::pair(disruption.Of(site.inventory.cluster().FindNode(name)), name);
      };
      return cost(a) < cost(b);
    });
    const Plan plan = PlanDrain(site.inventory, *site.mover, names);
    if (plan.Works() && plan.preempted == 0) most = names.size();
  }
  return most;
}

// Node labels are needed for anti-affinity by host name.
std::string WithHostNames(std::string yaml, size_t nodes) {
  for (size_t n = 0; n < nodes; ++n) {
    const std::string name = "n" + std::to_string(n);
    const std::string from = "{name: " + name + ", labels: {}}";
    const size_t at = yaml.find(from);
    yaml.replace(at, from.size(),
                 "{name: " + name + ", labels: {kubernetes.io/hostname: " + name + "}}");
  }
  return yaml;
}

TEST(PlanConsolidation, RandomClustersAgainstEverySet) {
  Random random(7);
  size_t as_good = 0;
  size_t more_to_do = 0;
  // More of them now and then: BERTH_PLAN_CLUSTERS=10000.
  const char* more = std::getenv("BERTH_PLAN_CLUSTERS");
  const size_t clusters = more == nullptr ? 400 : std::strtoul(more, nullptr, 10);
  for (size_t i = 0; i < clusters; ++i) {
    std::string yaml = RandomCluster(random);
    const auto nodes = static_cast<size_t>(std::count(yaml.begin(), yaml.end(), '\n') == 0
                                               ? 0
                                               : Site(yaml).inventory.cluster().NodeCount());
    yaml = WithHostNames(std::move(yaml), nodes);
    Site site(yaml);
    const Plan plan = Consolidate(site);
    EXPECT_TRUE(plan.Works()) << "a promise that does not hold, cluster " << i << "\n" << yaml;
    EXPECT_EQ(plan.preempted, 0) << "cluster " << i;
    const auto freed = static_cast<size_t>(plan.nodes_before - plan.nodes_after);
    const size_t most = MostFreed(yaml, nodes);
    EXPECT_LE(freed, most) << "cluster " << i;
    as_good += freed == most ? 1 : 0;
    // Once more on the predicted result, without the freed nodes: nothing is left to do.
    for (const NodeStep& node : plan.nodes) site.inventory.RemoveNode(node.name);
    more_to_do += Consolidate(site).nodes.empty() ? 0 : 1;
  }
  RecordProperty("as_good_as_every_set", static_cast<int>(as_good));
  EXPECT_GE(as_good * 100, clusters * 95) << as_good;
  // The search may miss a set that it finds once pods have moved, in a few of 10,000 clusters.
  EXPECT_LE(more_to_do * 1000, clusters) << "clusters without a fixpoint";
}

}  // namespace
}  // namespace berth::plan
