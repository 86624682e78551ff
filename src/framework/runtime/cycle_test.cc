#include "framework/runtime/cycle.h"

#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "framework/runtime/diagnosis.h"
#include "framework/runtime/normalize.h"
#include "framework/runtime/post_filter.h"
#include "framework/testing/plugins.h"

namespace berth::framework {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

using Names = std::vector<std::string>;

class CycleTest : public ::testing::Test {
 protected:
  CycleTest() {
    for (const char* name : {"a", "b", "c", "d"}) cluster_.SetNode(MakeNode(name));
    pod_ = cluster_.AddPod(MakePod("p"));
  }
  const cluster::Pod& Pod() const { return cluster_.GetPod(pod_); }

  // A PreFilter that names these nodes.
  static auto Only(std::vector<std::string> names) {
    return [names](const CycleContext& c, PreFilterResult* result) {
      result->all_nodes = false;
      result->node_names = names;
      for (const std::string& name : names) {
        const NodeIndex n = c.cluster.FindNode(name);
        if (n != cluster::kNoNode) result->nodes.push_back(n);
      }
      return Status();
    };
  }
  static auto Says(Status status) {
    return [status](const CycleContext&, PreFilterResult*) { return status; };
  }

  cluster::Cluster cluster_;
  cluster::PodId pod_;
};

TEST_F(CycleTest, PreFilterAnswers) {
  struct Case {
    const char* what;
    std::vector<FakeSpec> plugins;
    Code code;
    std::string message;
    std::string plugin;
    std::optional<Names> names;  // absent: all nodes
    size_t nodes;
  };
  const Case cases[] = {
      {"nobody has a say", {}, Code::kSuccess, "", "", {}, 0},
      {"all succeed", {{"A", Says({})}, {"B", Says({})}}, Code::kSuccess, "", "", {}, 0},
      {"one names nodes", {{"A", Only({"a", "c"})}}, Code::kSuccess, "", "", Names{"a", "c"}, 2},
      {"a node that does not exist stays a name",
       {{"A", Only({"a", "x"})}},
       Code::kSuccess,
       "",
       "",
       Names{"a", "x"},
       1},
      {"two name nodes: those both name",
       {{"A", Only({"a", "b", "c"})}, {"B", Only({"b", "c", "d"})}},
       Code::kSuccess,
       "",
       "",
       Names{"b", "c"},
       2},
      {"one names none",
       {{"A", Only({})}},
       Code::kUnschedulableAndUnresolvable,
       "node(s) didn't satisfy plugin A",
       "",
       Names{},
       0},
      {"two name different nodes, plugins told in order of name",
       {{"B", Only({"a"})}, {"A", Only({"b"})}},
       Code::kUnschedulableAndUnresolvable,
       "node(s) didn't satisfy plugin(s) [A B] simultaneously",
       "",
       Names{},
       0},
      {"one cannot be helped: the others are not asked",
       {{"A", Says(Status::Unresolvable("never"))}, {"B", Says(Status::Error("not reached"))}},
       Code::kUnschedulableAndUnresolvable,
       "never",
       "A",
       {},
       0},
      {"one says not now: the others are asked",
       {{"A", Says(Status::Unschedulable("later"))}, {"B", Only({"a"})}},
       Code::kUnschedulable,
       "later",
       "A",
       Names{"a"},
       1},
      {"an error stops it all",
       {{"A", Says(Status::Unschedulable("later"))}, {"B", Says(Status::Error("boom"))}},
       Code::kError,
       "running PreFilter plugin \"B\": boom",
       "B",
       {},
       0},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const FakeProfile profile(cluster_, c.plugins);
    Cycle cycle(profile);
    cycle.Begin(cluster_, Pod());
    const Status status = cycle.RunPreFilter();
    EXPECT_EQ(status.code(), c.code);
    EXPECT_EQ(status.Message(), c.message);
    EXPECT_EQ(status.plugin(), c.plugin);
    EXPECT_EQ(cycle.restriction().all_nodes, !c.names.has_value());
    if (!c.names) continue;
    EXPECT_EQ(cycle.restriction().node_names, *c.names);
    EXPECT_EQ(cycle.restriction().nodes.size(), c.nodes);
  }
}

TEST_F(CycleTest, ACycleIsUsedAgainForTheNextPod) {
  bool restrict = true;
  const FakeProfile profile(cluster_, {{"A", [&](const CycleContext& c, PreFilterResult* result) {
                                          return restrict ? Only({"a"})(c, result) : Status::Skip();
                                        }}});
  Cycle cycle(profile);
  cycle.Begin(cluster_, Pod());
  EXPECT_TRUE(cycle.RunPreFilter().Ok());
  EXPECT_EQ(cycle.restricting_plugins().size(), 1u);
  EXPECT_FALSE(cycle.FilterSkipped(0));
  restrict = false;
  cycle.Begin(cluster_, Pod());
  EXPECT_TRUE(cycle.RunPreFilter().Ok());
  EXPECT_TRUE(cycle.restriction().all_nodes);
  EXPECT_TRUE(cycle.restricting_plugins().empty());
  EXPECT_TRUE(cycle.FilterSkipped(0));
}

TEST_F(CycleTest, WhoHasNothingToSayAboutAPodIsNotAsked) {
  int ports = 0;   // how often it was asked
  int breaks = 0;  // the same for one that has something to say though it says it has not
  const FakeProfile profile(cluster_, {{.name = "Ports",
                                        .pre_filter =
                                            [&](const CycleContext& c, PreFilterResult*) {
                                              ++ports;
                                              return c.shape.host_ports.empty() ? Status::Skip()
                                                                                : Status();
                                            },
                                        .filter = [](NodeIndex) { return true; },
                                        .concerns = cluster::kHasHostPorts},
                                       {.name = "Breaks",
                                        .pre_filter =
                                            [&](const CycleContext&, PreFilterResult*) {
                                              ++breaks;
                                              return Status();
                                            },
                                        .filter = [](NodeIndex) { return true; },
                                        .concerns = cluster::kHasVolumes}});
  const cluster::PodId with = cluster_.AddPod(MakePod("with").HostPort(80));
  Cycle cycle(profile);
  const auto skipped = [&](const cluster::Pod& pod) {
    cycle.Begin(cluster_, pod);
    EXPECT_TRUE(cycle.RunPreFilter().Ok());
    EXPECT_FALSE(cycle.FilterSkipped(1));
    return cycle.FilterSkipped(0);
  };
  EXPECT_TRUE(skipped(Pod()));
  EXPECT_EQ(ports, 1) << "once, for all such pods";
  EXPECT_TRUE(skipped(Pod()));
  EXPECT_EQ(ports, 1);
  EXPECT_FALSE(skipped(cluster_.GetPod(with)));
  EXPECT_FALSE(skipped(cluster_.GetPod(with)));
  EXPECT_EQ(ports, 3);
  EXPECT_TRUE(skipped(Pod()));
  EXPECT_EQ(ports, 3);
  EXPECT_EQ(cycle.calls()[0].pre_filter, 2u) << "answers of Skip do not count";
  EXPECT_GE(breaks, 5);
  cycle.set_ask_all(true);
  EXPECT_TRUE(skipped(Pod()));
  EXPECT_EQ(ports, 4);
}

TEST_F(CycleTest, WhoComesAfterTheEndOfPreFilterHasSkippedNothing) {
  Status first;
  const FakeProfile profile(
      cluster_, {{.name = "First",
                  .pre_filter = [&](const CycleContext&, PreFilterResult*) { return first; }},
                 {.name = "Ports",
                  .pre_filter = Says(Status::Skip()),
                  .filter = [](NodeIndex) { return true; },
                  .concerns = cluster::kHasHostPorts},
                 {.name = "No", .filter = [](NodeIndex) { return false; }}});
  for (const bool all : {false, true}) {
    SCOPED_TRACE(all);
    Cycle cycle(profile);
    cycle.set_ask_all(all);
    first = Status();
    cycle.Begin(cluster_, Pod());
    EXPECT_TRUE(cycle.RunPreFilter().Ok());
    EXPECT_TRUE(cycle.PreFilterReached(0));
    EXPECT_TRUE(cycle.PreFilterReached(1));
    EXPECT_FALSE(cycle.PreFilterReached(2)) << "it has no PreFilter";
    EXPECT_TRUE(cycle.FilterSkipped(1));
    first = Status::Unresolvable("never");
    cycle.Begin(cluster_, Pod());
    EXPECT_FALSE(cycle.RunPreFilter().Ok());
    EXPECT_TRUE(cycle.PreFilterReached(0));
    EXPECT_FALSE(cycle.PreFilterReached(1));
    EXPECT_FALSE(cycle.FilterSkipped(1));
  }
}

TEST_F(CycleTest, TheFirstFilterThatRefusesHasTheLastWord) {
  std::vector<NodeIndex> seen_by_b;
  const FakeProfile profile(
      cluster_,
      {{.name = "A", .filter = [](NodeIndex n) { return n != 1; }},
       {.name = "Skipped",
        .pre_filter = Says(Status::Skip()),
        .filter = [](NodeIndex) { return false; }},
       {.name = "B",
        .filter =
            [&](NodeIndex n) {
              seen_by_b.push_back(n);
              return n != 1 && n != 2;
            },
        .code = Code::kUnschedulableAndUnresolvable},
       {.name = "C", .filter = [](NodeIndex n) { return n == 0; }, .code = Code::kError}});
  Cycle cycle(profile);
  cycle.Begin(cluster_, Pod());
  ASSERT_TRUE(cycle.RunPreFilter().Ok());
  NodeSet nodes = cluster_.Nodes();
  cycle.RunFilter(nodes);
  EXPECT_EQ(nodes.Count(), 1u);
  EXPECT_TRUE(nodes.Contains(0));
  EXPECT_EQ(seen_by_b, (std::vector<NodeIndex>{0, 2, 3})) << "a refused node is not shown again";
  EXPECT_EQ(cycle.Reasons(cycle.verdicts()[1]), std::vector<std::string>{"A says no"});
  EXPECT_EQ(cycle.verdicts()[2].code, Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(cycle.Reasons(cycle.verdicts()[2]), std::vector<std::string>{"B says no"});
  EXPECT_EQ(cycle.Reasons(cycle.verdicts()[3]),
            std::vector<std::string>{"running \"C\" filter plugin: C says no"});
}

TEST_F(CycleTest, HypothesesGoToPluginsThatCountPods) {
  int counted = 0;
  bool fail = false;
  const FakeProfile profile(
      cluster_, {{.name = "Counts",
                  .pre_filter = Says({}),
                  .extension =
                      [&](int added) {
                        counted += added;
                        return fail ? Status::Error("lost") : Status();
                      }},
                 {.name = "Plain", .pre_filter = Says({})},
                 {.name = "Skipped", .pre_filter = Says(Status::Skip()), .extension = [](int) {
                    return Status::Error("asked");
                  }}});
  Cycle cycle(profile);
  cycle.Begin(cluster_, Pod());
  ASSERT_TRUE(cycle.RunPreFilter().Ok());
  EXPECT_TRUE(cycle.AddPod(Pod(), 0).Ok());
  EXPECT_TRUE(cycle.AddPod(Pod(), 0).Ok());
  EXPECT_TRUE(cycle.RemovePod(Pod(), 0).Ok());
  EXPECT_EQ(counted, 1);
  fail = true;
  EXPECT_EQ(cycle.AddPod(Pod(), 0).Message(),
            "running AddPod on PreFilter plugin \"Counts\": lost");
}

TEST_F(CycleTest, ScoresAreNormalisedWeightedAndAddedUp) {
  const FakeProfile profile(
      cluster_,
      {{.name = "Raw", .score = [](NodeIndex n) { return int64_t{10} * n; }, .weight = 2},
       {.name = "Scaled",
        .score = [](NodeIndex n) { return int64_t{n}; },
        .normalize = [](const NodeSet& f, ScoreColumn& c) { DefaultNormalize(f, false, c); },
        .weight = 3},
       {.name = "Same", .uniform = 50, .weight = 5},
       {.name = "Skipped",
        .pre_score = [] { return Status::Skip(); },
        .score = [](NodeIndex) { return int64_t{1'000'000}; }}});
  Cycle cycle(profile);
  for (const bool keep_raw : {false, true}) {
    cycle.set_keep_raw(keep_raw);
    cycle.Begin(cluster_, Pod());
    NodeSet feasible = cluster_.Nodes();
    feasible.Erase(3);
    ASSERT_TRUE(cycle.RunScore(feasible).Ok());
    EXPECT_EQ(cycle.TotalScore(0), 250);
    EXPECT_EQ(cycle.TotalScore(1), 2 * 10 + 3 * 50 + 250);
    EXPECT_EQ(cycle.TotalScore(2), 2 * 20 + 3 * 100 + 250) << "node 3 does not count";
    EXPECT_EQ(cycle.NormalizedScore(1, 1), 50);
    EXPECT_EQ(cycle.RawScore(1, 1), keep_raw ? 1 : 50);
    EXPECT_EQ(cycle.RawScore(2, 1), 50);
    EXPECT_TRUE(cycle.ScoreSkipped(3));
    EXPECT_FALSE(cycle.ScoreSkipped(0));
  }
}

TEST_F(CycleTest, ScoresOutsideTheRangeAreAnError) {
  struct Case {
    const char* what;
    FakeSpec plugin;
    std::string bad;  // "" when all is well
  };
  const auto two_has = [](int64_t score) {
    return [score](NodeIndex n) { return n == 2 ? score : int64_t{0}; };
  };
  const Case cases[] = {
      {"0 and 100 are fine", {.name = "A", .score = two_has(100)}, ""},
      {"101", {.name = "A", .score = two_has(101)}, "101"},
      {"below zero", {.name = "A", .score = two_has(-1)}, "-1"},
      {"the same for all", {.name = "A", .uniform = 200}, "200"},
      {"normalised into the range",
       {.name = "A",
        .score = two_has(5000),
        .normalize = [](const NodeSet& f, ScoreColumn& c) { DefaultNormalize(f, true, c); }},
       ""},
  };
  for (const Case& c : cases) {
    const FakeProfile profile(cluster_, {c.plugin});
    Cycle cycle(profile);
    cycle.Begin(cluster_, Pod());
    const Status status = cycle.RunScore(cluster_.Nodes());
    EXPECT_EQ(status.Ok(), c.bad.empty()) << c.what;
    if (c.bad.empty()) continue;
    EXPECT_EQ(status.Message(),
              "applying score defaultWeights on Score plugins: plugin \"A\" returns an invalid "
              "score " +
                  c.bad + ", it should in the range of [0, 100] after normalizing")
        << c.what;
    NodeSet without = cluster_.Nodes();
    without.Erase(2);
    if (!c.plugin.uniform) {
      EXPECT_TRUE(cycle.RunScore(without).Ok()) << c.what << ", but not on a feasible node";
    }
  }
}

TEST_F(CycleTest, APreScoreErrorEndsTheCycle) {
  const FakeProfile profile(
      cluster_, {{.name = "A", .pre_score = [] { return Status::Error("broken"); }, .uniform = 1}});
  Cycle cycle(profile);
  cycle.Begin(cluster_, Pod());
  EXPECT_EQ(cycle.RunScore(cluster_.Nodes()).Message(), "running PreScore plugin \"A\": broken");
}

// Runs parts last to first.
class BackwardExecutor final : public Executor {
 public:
  size_t Width() const override { return 4; }
  void Run(size_t count, FunctionRef<void(size_t)> part) override {
    ++runs;
    for (size_t i = count; i > 0; --i) part(i - 1);
  }
  int runs = 0;
};

TEST_F(CycleTest, AnExecutorChangesNoAnswer) {
  for (int i = 0; i < 17000; ++i) cluster_.SetNode(MakeNode("n" + std::to_string(i)));
  const FakeProfile profile(
      cluster_,
      {{.name = "A", .filter = [](NodeIndex n) { return n % 7 != 0; }},
       {.name = "B", .filter = [](NodeIndex n) { return n % 5 != 0; }, .code = Code::kError},
       {.name = "S", .score = [](NodeIndex n) { return int64_t{n % 101}; }, .weight = 2}});
  BackwardExecutor executor;
  Cycle serial(profile);
  Cycle parallel(profile, &executor);
  NodeSet left[2] = {cluster_.Nodes(), cluster_.Nodes()};
  Cycle* cycles[2] = {&serial, &parallel};
  for (int i = 0; i < 2; ++i) {
    cycles[i]->Begin(cluster_, Pod());
    ASSERT_TRUE(cycles[i]->RunPreFilter().Ok());
    cycles[i]->RunFilter(left[i]);
    ASSERT_TRUE(cycles[i]->RunScore(left[i]).Ok());
  }
  EXPECT_EQ(executor.runs, 2) << "the set is large enough to be spread";
  EXPECT_EQ(left[0], left[1]);
  EXPECT_EQ(serial.verdicts(), parallel.verdicts());
  left[0].ForEach([&](NodeIndex n) {
    ASSERT_EQ(serial.TotalScore(n), parallel.TotalScore(n));
    ASSERT_EQ(serial.TotalScore(n), 2 * (n % 101));
  });
}

// --- What is said about a pod that did not fit

TEST_F(CycleTest, FitErrorMessageCountsReasons) {
  const FakeProfile profile(cluster_,
                            {{.name = "Zeta", .filter = [](NodeIndex n) { return n != 0; }},
                             {.name = "Beta", .filter = [](NodeIndex n) { return n > 2; }}});
  Cycle cycle(profile);
  cycle.Begin(cluster_, Pod());
  ASSERT_TRUE(cycle.RunPreFilter().Ok());
  NodeSet nodes = cluster_.Nodes();
  nodes.Erase(3);
  Diagnosis diagnosis;
  diagnosis.num_all_nodes = 4;
  diagnosis.rejected = nodes;
  cycle.RunFilter(nodes);
  ASSERT_TRUE(nodes.Empty());
  EXPECT_EQ(FitErrorMessage(cycle, diagnosis),
            "0/4 nodes are available: 1 Zeta says no, 2 Beta says no.")
      << "sorted by the text with the count in front";
  diagnosis.absent = Status::Unresolvable("not asked");
  EXPECT_EQ(FitErrorMessage(cycle, diagnosis),
            "0/4 nodes are available: 1 Zeta says no, 1 not asked, 2 Beta says no.");
  diagnosis.post_filter_message = "preemption: no.";
  EXPECT_EQ(
      FitErrorMessage(cycle, diagnosis),
      "0/4 nodes are available: 1 Zeta says no, 1 not asked, 2 Beta says no. preemption: no.");
  diagnosis.pre_filter_message = "all wrong";
  EXPECT_EQ(FitErrorMessage(cycle, diagnosis),
            "0/4 nodes are available: all wrong. preemption: no.");
}

TEST(Diagnosis, PluginsAreKeptByKindOfRefusal) {
  Diagnosis diagnosis;
  diagnosis.AddPlugin(Code::kUnschedulable, "A");
  diagnosis.AddPlugin(Code::kUnschedulableAndUnresolvable, "B");
  diagnosis.AddPlugin(Code::kPending, "C");
  diagnosis.AddPlugin(Code::kError, "D");
  diagnosis.AddPlugin(Code::kUnschedulable, "");
  EXPECT_EQ(diagnosis.unschedulable_plugins, (std::set<std::string>{"A", "B"}));
  EXPECT_EQ(diagnosis.pending_plugins, (std::set<std::string>{"C"}));
}

// --- PostFilter

TEST_F(CycleTest, PostFilterPluginsAreAskedInTurn) {
  using Nomination = PostFilterResult::Nomination;
  const auto says = [](Status status, Nomination nomination = Nomination::kKeep,
                       const std::string& node = "") {
    return [=](const Diagnosis&, PostFilterResult* result) {
      result->nomination = nomination;
      result->nominated_node = node;
      return status;
    };
  };
  struct Case {
    const char* what;
    std::vector<FakeSpec> plugins;
    Code code;
    std::string message;
    std::string plugin;
    Nomination nomination;
    std::string node;
  };
  const Case cases[] = {
      {"nobody helps", {}, Code::kUnschedulable, "", "", Nomination::kKeep, ""},
      {"the first that helps",
       {{.name = "A", .post_filter = says(Status::Unschedulable("no"))},
        {.name = "B", .post_filter = says({}, Nomination::kSet, "n")},
        {.name = "C", .post_filter = says({}, Nomination::kSet, "other")}},
       Code::kSuccess,
       "",
       "B",
       Nomination::kSet,
       "n"},
      {"the reasons of all, the name of the first",
       {{.name = "A", .post_filter = says(Status::Unschedulable("no"))},
        {.name = "B", .post_filter = says(Status::Unschedulable("neither"), Nomination::kClear)}},
       Code::kUnschedulable,
       "no, neither",
       "A",
       Nomination::kClear,
       ""},
      {"one that knows nothing can help",
       {{.name = "A", .post_filter = says(Status::Unresolvable("hopeless"))},
        {.name = "B", .post_filter = says({}, Nomination::kSet, "n")}},
       Code::kUnschedulableAndUnresolvable,
       "hopeless",
       "A",
       Nomination::kKeep,
       ""},
      {"an error takes back what was proposed",
       {{.name = "A", .post_filter = says(Status::Unschedulable("no"), Nomination::kClear)},
        {.name = "B", .post_filter = says(Status::Error("boom"), Nomination::kSet, "n")}},
       Code::kError,
       "boom",
       "B",
       Nomination::kKeep,
       ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const FakeProfile profile(cluster_, c.plugins);
    Cycle cycle(profile);
    cycle.Begin(cluster_, Pod());
    PostFilterResult result;
    const Status status = RunPostFilter(cycle, cluster_, Diagnosis(), &result);
    EXPECT_EQ(status.code(), c.code);
    EXPECT_EQ(status.Message(), c.message);
    EXPECT_EQ(status.plugin(), c.plugin);
    EXPECT_EQ(result.nomination, c.nomination);
    EXPECT_EQ(result.nominated_node, c.node);
  }
}

TEST_F(CycleTest, WhatOnePostFilterPluginDeallocatesIsDeallocated) {
  const auto claim = std::make_shared<const api::ResourceClaim>();
  const auto deallocates = [&](const Diagnosis&, PostFilterResult* result) {
    result->deallocated_claim = claim;
    result->deletes_claim = true;
    return Status::Unschedulable("given back");
  };
  const Status answers[] = {{}, Status::Unschedulable("no"), Status::Error("boom")};
  for (const Status& answer : answers) {
    SCOPED_TRACE(answer.Message());
    const FakeProfile profile(cluster_,
                              {{.name = "A", .post_filter = deallocates},
                               {.name = "B", .post_filter = [&](const Diagnosis&, auto* result) {
                                  result->nomination = PostFilterResult::Nomination::kClear;
                                  return answer;
                                }}});
    Cycle cycle(profile);
    cycle.Begin(cluster_, Pod());
    PostFilterResult result;
    EXPECT_EQ(RunPostFilter(cycle, cluster_, Diagnosis(), &result).code(), answer.code());
    EXPECT_EQ(result.deallocated_claim, claim);
    EXPECT_TRUE(result.deletes_claim);
  }
}

}  // namespace
}  // namespace berth::framework
