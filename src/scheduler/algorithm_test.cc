#include "scheduler/algorithm.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "framework/testing/plugins.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::NodeIndex;
using framework::FakeProfile;
using framework::FakeSpec;
using framework::PreFilterResult;
using framework::Status;

class AlgorithmTest : public ::testing::Test {
 protected:
  void AddNodes(int count) {
    for (int i = 0; i < count; ++i) cluster_.SetNode(MakeNode("n" + std::to_string(i)));
  }
  const cluster::Pod& AddPod(const api::Pod& pod) { return cluster_.GetPod(cluster_.AddPod(pod)); }

  Decision Schedule(Algorithm& algorithm, const framework::Profile& profile,
                    const cluster::Pod& pod) {
    framework::Cycle cycle(profile);
    Decision decision;
    algorithm.Schedule(cycle, cluster_, pod, &decision);
    if (decision.outcome == Outcome::kUnschedulable) {
      message_ = framework::FitErrorMessage(cycle, decision.diagnosis);
    }
    return decision;
  }

  cluster::Cluster cluster_;
  std::string message_;
};

FakeSpec Even() {
  return {.name = "Even", .filter = [](NodeIndex n) { return n % 2 == 0; }};
}
FakeSpec Same() { return {.name = "Same", .uniform = 7}; }

TEST_F(AlgorithmTest, WithoutNodesThereIsNothingToDecide) {
  const FakeProfile profile(cluster_, {Same()});
  Algorithm algorithm({});
  const Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.outcome, Outcome::kError);
  EXPECT_EQ(decision.error, "no nodes available to schedule pods");
}

TEST_F(AlgorithmTest, ChoosesAmongTheBestOnly) {
  AddNodes(10);
  const FakeProfile profile(cluster_, {Even(), {.name = "Score", .score = [](NodeIndex n) {
                                                  return n == 4 || n == 8 || n == 9 ? int64_t{90}
                                                                                    : int64_t{10};
                                                }}});
  Algorithm algorithm({.seed = 3});
  const cluster::Pod& pod = AddPod(MakePod("p"));
  std::set<NodeIndex> chosen;
  for (int i = 0; i < 100; ++i) {
    const Decision decision = Schedule(algorithm, profile, pod);
    ASSERT_EQ(decision.outcome, Outcome::kScheduled);
    EXPECT_EQ(decision.feasible_count, 5u);
    EXPECT_EQ(decision.evaluated_nodes, 10u);
    EXPECT_EQ(decision.best_count, 2u);
    EXPECT_TRUE(decision.best.Contains(decision.node));
    chosen.insert(decision.node);
  }
  EXPECT_EQ(chosen, (std::set<NodeIndex>{4, 8})) << "both, in the long run, and no other";
}

TEST_F(AlgorithmTest, TheSameSeedGivesTheSameRun) {
  AddNodes(50);
  const FakeProfile profile(cluster_, {Same()});
  const cluster::Pod& pod = AddPod(MakePod("p"));
  const auto run = [&](uint64_t seed) {
    Algorithm algorithm({.seed = seed});
    std::vector<NodeIndex> nodes;
    for (int i = 0; i < 20; ++i) nodes.push_back(Schedule(algorithm, profile, pod).node);
    return nodes;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST_F(AlgorithmTest, ASingleFeasibleNodeIsNotScoredUnlessAsked) {
  AddNodes(3);
  const FakeProfile profile(cluster_,
                            {{.name = "One", .filter = [](NodeIndex n) { return n == 1; }},
                             {.name = "Score", .score = [](NodeIndex) { return 5; }}});
  Algorithm algorithm({});
  framework::Cycle cycle(profile);
  Decision decision;
  const cluster::Pod& pod = AddPod(MakePod("p"));
  algorithm.Schedule(cycle, cluster_, pod, &decision);
  EXPECT_EQ(decision.node, 1u);
  EXPECT_FALSE(decision.scored);
  algorithm.Schedule(cycle, cluster_, pod, &decision, /*score_always=*/true);
  EXPECT_EQ(decision.node, 1u);
  EXPECT_TRUE(decision.scored);
}

TEST_F(AlgorithmTest, NothingFits) {
  AddNodes(3);
  const FakeProfile profile(cluster_, {{.name = "A", .filter = [](NodeIndex n) { return n != 0; }},
                                       {.name = "B",
                                        .filter = [](NodeIndex) { return false; },
                                        .code = framework::Code::kUnschedulableAndUnresolvable},
                                       Same()});
  Algorithm algorithm({});
  const Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(message_, "0/3 nodes are available: 1 A says no, 2 B says no.");
  EXPECT_EQ(decision.diagnosis.unschedulable_plugins, (std::set<std::string>{"A", "B"}));
  EXPECT_EQ(decision.diagnosis.rejected.Count(), 3u);
}

TEST_F(AlgorithmTest, AnErrorOfAFilterIsAnErrorOfTheCycle) {
  AddNodes(3);
  const FakeProfile profile(
      cluster_,
      {{.name = "A", .filter = [](NodeIndex n) { return n != 0; }, .code = framework::Code::kError},
       Same()});
  Algorithm algorithm({});
  const Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.outcome, Outcome::kError);
  EXPECT_EQ(decision.error, "running \"A\" filter plugin: A says no");
}

FakeSpec Only(const std::string& name, std::vector<std::string> names) {
  return {.name = name,
          .pre_filter = [names](const framework::CycleContext& c, PreFilterResult* result) {
            result->all_nodes = false;
            result->node_names = names;
            for (const std::string& n : names) {
              if (c.cluster.FindNode(n) != cluster::kNoNode) {
                result->nodes.push_back(c.cluster.FindNode(n));
              }
            }
            return Status();
          }};
}

TEST_F(AlgorithmTest, OnlyTheNodesThatPreFilterNamesAreLookedAt) {
  AddNodes(6);
  const FakeProfile profile(cluster_, {Only("Names", {"n1", "n2", "n3", "x"}), Even(), Same()});
  Algorithm algorithm({});
  Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.node, cluster_.FindNode("n2"));
  EXPECT_EQ(decision.evaluated_nodes, 3u);
  EXPECT_EQ(decision.diagnosis.unschedulable_plugins, (std::set<std::string>{"Names"}));

  const FakeProfile none(cluster_, {Only("Names", {"n1", "n3"}), Even(), Same()});
  decision = Schedule(algorithm, none, AddPod(MakePod("q")));
  EXPECT_EQ(decision.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(message_,
            "0/6 nodes are available: 2 Even says no, 4 node(s) didn't satisfy plugin(s) [Names].");
}

TEST_F(AlgorithmTest, TheOnlyNodeIsLookedAtAlone) {
  AddNodes(6);
  for (const char* name : {"n2", "n3", "x"}) {
    SCOPED_TRACE(name);
    const FakeProfile profile(cluster_, {Only("Names", {name}), Even(), Same()});
    std::vector<std::string> seen;
    for (const bool classes : {false, true}) {
      Algorithm algorithm({.classes = classes});
      framework::Cycle cycle(profile);
      Decision decision;
      const cluster::Pod& pod = AddPod(MakePod(fmt::format("{}-{}", name, classes)));
      algorithm.Schedule(cycle, cluster_, pod, &decision);
      const bool fits = decision.outcome == Outcome::kScheduled;
      EXPECT_EQ(fits, name == std::string_view("n2"));
      EXPECT_EQ(decision.only_node, fits && classes);
      seen.push_back(fmt::format("{} {} {} {} {} {} {} {}", decision.node, decision.feasible_count,
                                 decision.evaluated_nodes, decision.best_count, decision.scored,
                                 algorithm.NextStart(), cycle.calls()[0].pre_filter,
                                 cycle.calls()[1].filter));
      if (!fits) seen.back() += framework::FitErrorMessage(cycle, decision.diagnosis);
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST_F(AlgorithmTest, PreFilterMayRefuseThePod) {
  AddNodes(2);
  const auto says = [](Status status) {
    return [status](const framework::CycleContext&, PreFilterResult*) { return status; };
  };
  const FakeProfile refuses(
      cluster_, {{.name = "A", .pre_filter = says(Status::Unresolvable("wrong"))}, Same()});
  Algorithm algorithm({});
  Decision decision = Schedule(algorithm, refuses, AddPod(MakePod("p")));
  EXPECT_EQ(decision.outcome, Outcome::kUnschedulable);
  EXPECT_EQ(message_, "0/2 nodes are available: wrong.");
  EXPECT_EQ(decision.diagnosis.unschedulable_plugins, (std::set<std::string>{"A"}));
  const FakeProfile fails(cluster_, {{.name = "A", .pre_filter = says(Status::Error("boom"))}});
  decision = Schedule(algorithm, fails, AddPod(MakePod("q")));
  EXPECT_EQ(decision.outcome, Outcome::kError);
  EXPECT_EQ(decision.error, "running PreFilter plugin \"A\": boom");
}

// --- Sampling

TEST_F(AlgorithmTest, SamplingGoesOnWhereItStoppedAndLooksForOneMoreThanWanted) {
  AddNodes(400);  // 50 percent: 200 are wanted, of 400 that are all feasible
  const FakeProfile profile(cluster_, {Same()}, 50);
  Algorithm algorithm({});
  const cluster::Pod& pod = AddPod(MakePod("p"));
  const auto order = cluster_.NodeOrder();
  size_t start = 0;
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(algorithm.NextStart(), start);
    const Decision decision = Schedule(algorithm, profile, pod);
    EXPECT_EQ(decision.feasible_count, 200u);
    EXPECT_EQ(decision.evaluated_nodes, 201u) << "one more was looked at";
    for (size_t i = 0; i < 200; ++i) {
      ASSERT_TRUE(decision.feasible.Contains(order[(start + i) % 400])) << round << " " << i;
    }
    start = (start + 200) % 400;
  }
}

TEST_F(AlgorithmTest, SamplingCountsRefusedNodesToo) {
  AddNodes(400);
  const FakeProfile profile(cluster_, {Even(), Same()}, 25);  // 100 are wanted, 200 feasible
  Algorithm algorithm({});
  const cluster::Pod& pod = AddPod(MakePod("p"));
  const Decision decision = Schedule(algorithm, profile, pod);
  EXPECT_EQ(decision.feasible_count, 100u);
  EXPECT_EQ(decision.evaluated_nodes, 201u);
  EXPECT_EQ(decision.diagnosis.rejected.Count(), 100u);
  EXPECT_EQ(algorithm.NextStart(), 200u);
}

TEST_F(AlgorithmTest, WithTooFewFeasibleNodesAllAreLookedAt) {
  AddNodes(400);
  const FakeProfile profile(
      cluster_, {{.name = "Few", .filter = [](NodeIndex n) { return n % 8 == 0; }}, Same()}, 25);
  Algorithm algorithm({});
  const Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.feasible_count, 50u);
  EXPECT_EQ(decision.evaluated_nodes, 400u);
  EXPECT_EQ(algorithm.NextStart(), 0u);
}

TEST_F(AlgorithmTest, AdaptiveSamplingIsAnOption) {
  AddNodes(1000);
  const FakeProfile profile(cluster_, {Same()});
  const cluster::Pod& pod = AddPod(MakePod("p"));
  Algorithm all({});
  EXPECT_EQ(Schedule(all, profile, pod).feasible_count, 1000u);
  Algorithm adaptive({.adaptive_sampling = true});
  EXPECT_EQ(Schedule(adaptive, profile, pod).feasible_count, 420u) << "50 less 1000 / 125 percent";
  const FakeProfile explicit_share(cluster_, {Same()}, 70);
  EXPECT_EQ(Schedule(all, explicit_share, pod).feasible_count, 700u);
}

TEST_F(AlgorithmTest, WithoutScorePluginsTheFirstFeasibleNodeWillDo) {
  AddNodes(10);
  const FakeProfile profile(cluster_, {{.name = "A", .filter = [](NodeIndex n) { return n > 3; }}});
  Algorithm algorithm({});
  const Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p")));
  EXPECT_EQ(decision.node, 4u);
  EXPECT_EQ(decision.feasible_count, 1u);
}

// --- Nominated nodes and nominated pods

TEST_F(AlgorithmTest, TheNominatedNodeIsTriedFirst) {
  AddNodes(10);
  const FakeProfile profile(cluster_, {Even(), Same()});
  Algorithm algorithm({});
  Decision decision = Schedule(algorithm, profile, AddPod(MakePod("p").Nominated("n4")));
  EXPECT_EQ(decision.node, 4u);
  EXPECT_TRUE(decision.nominated_first);
  EXPECT_EQ(decision.evaluated_nodes, 1u);
  decision = Schedule(algorithm, profile, AddPod(MakePod("q").Nominated("n5")));
  EXPECT_EQ(decision.outcome, Outcome::kScheduled) << "it does not fit there: all nodes are tried";
  EXPECT_FALSE(decision.nominated_first);
  EXPECT_EQ(decision.feasible_count, 5u);
  decision = Schedule(algorithm, profile, AddPod(MakePod("r").Nominated("gone")));
  EXPECT_EQ(decision.feasible_count, 5u);
}

TEST(Algorithm, RoomPromisedToMoreImportantPodsIsLeftToThem) {
  struct Case {
    const char* what;
    int32_t priority;
    bool fits;
  };
  const Case cases[] = {
      {"a less important pod stays out", 4, false},
      {"an equally important one too", 5, false},
      {"a more important one does not care", 6, true},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    const NodeIndex n = cluster.SetNode(MakeNode("a").Cpu("2").Memory("4Gi"));
    auto profiles = ProfileSet::Make(config::Default(), {}, cluster);
    ASSERT_TRUE(profiles.has_value());
    const auto promised = cluster.AddPod(MakePod("promised").Priority(5).Requests("cpu", "2"));
    cluster.MutableNominations().Set(promised, cluster.Strings().Intern("a"));
    const auto pod = cluster.AddPod(MakePod("p").Priority(c.priority).Requests("cpu", "1"));
    Algorithm algorithm({});
    Decision decision;
    algorithm.Schedule(*profiles->CycleFor("default-scheduler"), cluster, cluster.GetPod(pod),
                       &decision);
    EXPECT_EQ(decision.outcome == Outcome::kScheduled, c.fits) << c.what;
    EXPECT_EQ(cluster.GetPod(promised).node, cluster::kNoNode) << "it was only imagined there";
    EXPECT_EQ(cluster.PodCount()[n], 0);
    EXPECT_EQ(cluster.Resource(cluster::kCpu)->requested[n], 0);
    algorithm.Schedule(*profiles->CycleFor("default-scheduler"), cluster, cluster.GetPod(promised),
                       &decision);
    EXPECT_EQ(decision.outcome, Outcome::kScheduled) << "the promised pod itself";
  }
}

TEST(ProfileSet, ACycleForEverySchedulerName) {
  cluster::Cluster cluster;
  const auto config = config::Load(
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "percentageOfNodesToScore: 30\n"
      "profiles: [{schedulerName: one}, {schedulerName: two, "
      "percentageOfNodesToScore: 40}]\n");
  ASSERT_TRUE(config.has_value()) << config.error().Message();
  auto profiles = ProfileSet::Make(*config, {}, cluster);
  ASSERT_TRUE(profiles.has_value()) << profiles.error().Message();
  EXPECT_EQ(profiles->Profiles().size(), 2u);
  EXPECT_EQ(profiles->CycleFor("one")->profile().PercentageOfNodesToScore(), 30);
  EXPECT_EQ(profiles->CycleFor("two")->profile().PercentageOfNodesToScore(), 40)
      << "the profile's own wins";
  EXPECT_NE(profiles->CycleFor("one"), profiles->CycleFor("two"));
  EXPECT_EQ(profiles->CycleFor("default-scheduler"), nullptr);
}

}  // namespace
}  // namespace berth::scheduler
