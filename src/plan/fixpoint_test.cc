// Planning again on the predicted result finds nothing to do. Consolidation and restored spread are
// tested beside their code.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "plan/drain.h"
#include "plan/grow.h"
#include "plan/testing/site.h"

namespace berth::plan {
namespace {

constexpr int kClusters = 200;

// Nodes n0 to n4 with pods of several sizes, some without a controller, some pending.
std::string RandomCluster(Random& random) {
  std::string yaml;
  std::vector<int> free;
  for (int n = 0; n < 5; ++n) {
    free.push_back(static_cast<int>(2 + random.Below(6)));
    yaml += Node("n" + std::to_string(n), free.back());
  }
  for (int p = 0; p < 14; ++p) {
    const size_t node = random.Below(6);
    const int cpu = static_cast<int>(1 + random.Below(3));
    const std::string owner = random.Below(10) == 0 ? "" : "w" + std::to_string(random.Below(3));
    const std::string name = "p" + std::to_string(p);
    if (node == 5) {
      yaml += Pod(name, owner, "", std::to_string(cpu));
    } else if (free[node] >= cpu) {
      free[node] -= cpu;
      yaml += Pod(name, owner, "n" + std::to_string(node), std::to_string(cpu));
    }
  }
  return yaml;
}

// Steps that would still change something.
int64_t Changes(const Plan& plan) { return plan.moves + plan.starts + plan.preempted; }

TEST(PlanFixpoint, Drain) {
  Random random(1);
  for (int i = 0; i < kClusters; ++i) {
    const std::string yaml = RandomCluster(random);
    Site site(yaml);
    PlanDrain(site.inventory, *site.mover, {"n0", "n1"});
    EXPECT_EQ(Changes(PlanDrain(site.inventory, *site.mover, {"n0", "n1"})), 0) << yaml;
  }
}

TEST(PlanFixpoint, Shrink) {
  Random random(2);
  for (int i = 0; i < kClusters; ++i) {
    const std::string yaml = RandomCluster(random);
    Site site(yaml);
    const Plan plan =
        PlanShrink(site.inventory, *site.mover, site.inventory.Select(api::Selector()), 2);
    std::vector<std::string> nodes;
    for (const NodeStep& node : plan.nodes) nodes.push_back(node.name);
    EXPECT_EQ(nodes.size(), 2u);
    EXPECT_EQ(Changes(PlanDrain(site.inventory, *site.mover, nodes)), 0) << yaml;
  }
}

TEST(PlanFixpoint, Outage) {
  Random random(3);
  for (int i = 0; i < kClusters; ++i) {
    const std::string yaml = RandomCluster(random);
    Site site(yaml);
    const Plan plan = PlanOutage(site.inventory, *site.mover, {"n0"});
    // What had no place has none now either; the others are where the plan put them.
    const auto pending = static_cast<size_t>(plan.homeless);
    size_t still = 0;
    const cluster::Cluster& cluster = site.inventory.cluster();
    for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
      if (!cluster.PodExists(id) || cluster.GetPod(id).node != cluster::kNoNode) continue;
      const auto& at_first = std::as_const(site.inventory).world().Pending();
      if (std::find(at_first.begin(), at_first.end(), id) != at_first.end()) continue;
      ++still;
      EXPECT_EQ(site.mover->Place(id, true, false).node, cluster::kNoNode) << yaml;
    }
    EXPECT_LE(pending, still) << yaml;
  }
}

TEST(PlanFixpoint, FitAndGrow) {
  Random random(4);
  for (int i = 0; i < kClusters; ++i) {
    const std::string yaml = RandomCluster(random);
    Site site(yaml);
    const api::Node like = *site.inventory.FindNode("n0");
    PlanFit(site.inventory, *site.mover, like, 20);
    const Plan again = PlanFit(site.inventory, *site.mover, like, 20);
    EXPECT_EQ(Changes(again), 0) << yaml;
    EXPECT_TRUE(again.nodes.empty()) << yaml;
    EXPECT_EQ(Changes(PlanGrow(site.inventory, *site.mover, like, 0)), 0) << yaml;
  }
}

TEST(PlanFixpoint, Upgrade) {
  Random random(5);
  for (int i = 0; i < kClusters; ++i) {
    const std::string yaml = RandomCluster(random);
    Site site(yaml);
    const Plan plan = PlanUpgrade(site.inventory, *site.mover, {"n0", "n1"}, 1);
    std::vector<std::string> left;
    for (const NodeStep& node : plan.nodes) {
      if (node.change == "Kept") left.push_back(node.name);
    }
    EXPECT_EQ(Changes(PlanDrain(site.inventory, *site.mover, left)), 0) << yaml;
  }
}

}  // namespace
}  // namespace berth::plan
