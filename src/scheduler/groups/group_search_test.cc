// Gangs of unlike pods: the plain order, the search, and all there is.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"
#include "config/config.h"
#include "scheduler/groups/group_algorithm.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::PodId;

class Decider final : public MemberDecider {
 public:
  cluster::NodeIndex Decide(Attempt& attempt, const framework::NodeSet* within) override {
    attempt.Decide(algorithm_, /*score_always=*/false, within);
    return attempt.decision().node;
  }

 private:
  Algorithm algorithm_{{}};
};

struct SmallNode {
  int64_t cpu = 0;
  int64_t memory = 0;  // GiB
  int zone = 0;
};
struct SmallPod {
  int64_t cpu = 0;
  int64_t memory = 0;
  int zone = -1;  // the only one it may be in; -1: any
};
struct Problem {
  std::vector<SmallNode> nodes;
  std::vector<SmallPod> pods;
  int min_count = 0;
};

// Whether `min_count` of the pods from `i` on find places: tries everything.
bool Exists(Problem& p, size_t i, int missing) {
  if (missing <= 0) return true;
  if (static_cast<int>(p.pods.size() - i) < missing) return false;
  const SmallPod& pod = p.pods[i];
  for (SmallNode& node : p.nodes) {
    if (node.cpu < pod.cpu || node.memory < pod.memory) continue;
    if (pod.zone >= 0 && pod.zone != node.zone) continue;
    node.cpu -= pod.cpu;
    node.memory -= pod.memory;
    const bool found = Exists(p, i + 1, missing - 1);
    node.cpu += pod.cpu;
    node.memory += pod.memory;
    if (found) return true;
  }
  return Exists(p, i + 1, missing);
}

// The problem as a cluster with a pending group.
class Scene {
 public:
  explicit Scene(const Problem& problem) : problem_(problem) {
    config::FeatureGates gates(37);
    EXPECT_TRUE(gates.Set("GenericWorkload=true").has_value());
    const config::Behaviour behaviour(gates);
    auto made = ProfileSet::Make(config::Default(behaviour), behaviour, cluster_);
    EXPECT_TRUE(made.has_value());
    profiles_ = std::make_unique<ProfileSet>(std::move(*made));
    for (size_t i = 0; i < problem.nodes.size(); ++i) {
      const SmallNode& node = problem.nodes[i];
      cluster_.SetNode(cluster::MakeNode(fmt::format("n{}", i))
                           .Cpu(std::to_string(node.cpu))
                           .Memory(fmt::format("{}Gi", node.memory))
                           .Label("zone", fmt::format("z{}", node.zone)));
    }
    for (size_t i = 0; i < problem.pods.size(); ++i) {
      const SmallPod& small = problem.pods[i];
      api::Pod pod = cluster::MakePod(fmt::format("p{}", i))
                         .Requests("cpu", std::to_string(small.cpu))
                         .Requests("memory", fmt::format("{}Gi", small.memory));
      pod.spec.scheduling_group.emplace().pod_group_name = "g";
      if (small.zone >= 0) pod.spec.node_selector["zone"] = fmt::format("z{}", small.zone);
      members_.push_back(cluster_.AddPod(pod));
    }
    group_.metadata.namespace_ = "ns";
    group_.metadata.name = "g";
    group_.spec.scheduling_policy.gang.emplace().min_count = problem.min_count;
    cluster_.MutableObjects().pod_groups.Set(group_);
  }

  // Whether the gang is placed; what is said to be placed is checked.
  bool Places(int64_t steps) {
    Decider decider;
    GroupAlgorithm algorithm(*profiles_->CycleFor("default-scheduler"), cluster_, decider);
    algorithm.set_search_steps(steps);
    const std::string before = cluster::Dump(cluster_);
    const GroupResult result = algorithm.Run({group_, members_});
    EXPECT_EQ(cluster::Dump(cluster_), before);
    EXPECT_EQ(result.members.size(), members_.size());
    if (result.status.Ok()) Check(result);
    return result.status.Ok();
  }

 private:
  void Check(const GroupResult& result) const {
    std::vector<SmallNode> left = problem_.nodes;
    int placed = 0;
    for (const MemberResult& member : result.members) {
      if (!member.status.Ok()) continue;
      ++placed;
      SmallNode& node = left[std::stoul(cluster_.NodeName(member.node).substr(1))];
      const SmallPod& pod = problem_.pods[std::stoul(cluster_.GetPod(member.pod).name.substr(1))];
      node.cpu -= pod.cpu;
      node.memory -= pod.memory;
      EXPECT_TRUE(pod.zone < 0 || pod.zone == node.zone);
    }
    EXPECT_GE(placed, problem_.min_count);
    for (const SmallNode& node : left) {
      EXPECT_GE(node.cpu, 0);
      EXPECT_GE(node.memory, 0);
    }
  }

  const Problem& problem_;
  cluster::Cluster cluster_;
  std::unique_ptr<ProfileSet> profiles_;
  api::PodGroup group_;
  std::vector<PodId> members_;
};

TEST(GroupSearch, TheHardestPodComesFirst) {
  // The plain order spreads the small pods over both nodes, and the large one fits nowhere.
  const Problem problem{{{4, 8, 0}, {4, 8, 0}}, {{1, 1}, {1, 1}, {4, 1}}, 3};
  Scene scene(problem);
  EXPECT_FALSE(scene.Places(0));
  EXPECT_TRUE(scene.Places(10));
}

TEST(GroupSearch, APodTriesAnotherNodeWhenThoseAfterItDoNotFit) {
  // Three CPUs for the first pod on either node; only on the one with little memory is it right.
  const Problem problem{{{3, 8, 0}, {3, 3, 0}}, {{3, 3}, {2, 4}}, 2};
  Scene scene(problem);
  EXPECT_FALSE(scene.Places(0));
  EXPECT_TRUE(scene.Places(10));
}

TEST(GroupSearch, ItEndsWithItsSteps) {
  Problem problem;
  for (int i = 0; i < 6; ++i) problem.nodes.push_back({5, 16, 0});
  for (int i = 0; i < 11; ++i) problem.pods.push_back({3, 1 + i % 5});  // six fit
  problem.min_count = 7;
  Scene scene(problem);
  EXPECT_FALSE(scene.Places(500));
}

TEST(GroupSearch, PodsBeyondTheMinimumTakeWhatIsLeft) {
  const Problem problem{{{4, 8, 0}, {4, 8, 0}}, {{1, 1}, {1, 1}, {4, 1}, {2, 1}, {1, 1}}, 3};
  Scene scene(problem);
  EXPECT_TRUE(scene.Places(10));
}

Problem Random(std::mt19937_64& random) {
  const auto between = [&](int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  };
  Problem problem;
  for (int64_t n = between(2, 4); n > 0; --n) {
    problem.nodes.push_back({between(2, 8), between(2, 8), static_cast<int>(between(0, 1))});
  }
  std::vector<SmallPod> templates;
  for (int64_t n = between(2, 4); n > 0; --n) {
    templates.push_back({between(1, 4), between(1, 4), static_cast<int>(between(-3, 1))});
  }
  for (int64_t n = between(2, 7); n > 0; --n) {
    problem.pods.push_back(templates[random() % templates.size()]);
  }
  const auto pods = static_cast<int64_t>(problem.pods.size());
  problem.min_count = static_cast<int>(between(std::max<int64_t>(2, pods - 1), pods));
  return problem;
}

// The figures are in docs/pod-groups.md.
TEST(GroupSearch, RandomGangsAgainstAllThereIs) {
  constexpr int kGangs = 1500;
  constexpr std::array<int64_t, 3> kSteps = {0, 20, 200};
  std::mt19937_64 random(20);
  int exist = 0;
  std::array<int, kSteps.size()> found{};
  for (int i = 0; i < kGangs; ++i) {
    SCOPED_TRACE(i);
    Problem problem = Random(random);
    const bool exists = Exists(problem, 0, problem.min_count);
    exist += exists ? 1 : 0;
    Scene scene(problem);
    bool before = false;
    for (size_t s = 0; s < kSteps.size(); ++s) {
      const bool places = scene.Places(kSteps[s]);
      EXPECT_TRUE(exists || !places);
      EXPECT_TRUE(places || !before) << "worse with more steps";
      found[s] += places ? 1 : 0;
      before = places;
    }
  }
  std::cout << fmt::format(
      "of {} gangs {} can be placed; placed with 0, 20 and 200 steps: {}, {}, {}\n", kGangs, exist,
      found[0], found[1], found[2]);
  EXPECT_LT(found[0], exist * 95 / 100);
  EXPECT_GT(found[1], exist * 98 / 100);
  EXPECT_GE(found[2], exist * 99 / 100);
}

}  // namespace
}  // namespace berth::scheduler
