// The class cache on its own, over plugins whose answers are written down in the test.
#include "framework/classes/class_cache.h"

#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "framework/runtime/cycle.h"
#include "framework/testing/plugins.h"

namespace berth::framework {
namespace {

using cluster::MakeNode;
using cluster::MakePod;

constexpr uint32_t kLocal = kOnNodeObject | kOnNodePods;

class ClassCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 8; ++i) {
      rows_.push_back(cluster_.SetNode(MakeNode(fmt::format("n{}", i)).Cpu("8").Memory("8Gi")));
    }
    pod_ = cluster_.AddPod(MakePod("p"));
  }

  // Refuses odd nodes; scores a node by its number, even and odd pairs alike.
  static FakeSpec EvenNodes() {
    return {.name = "Even",
            .filter = [](NodeIndex n) { return n % 2 == 0; },
            .score = [](NodeIndex n) { return int64_t{n} / 4 * 10; },
            .depends_on = kLocal};
  }

  // Null: scan.
  const ClassAnswer* Find(Cycle& cycle, const NodeSet* within = nullptr) {
    cycle.classes().set_eager(true);
    cycle.Begin(cluster_, cluster_.GetPod(pod_), within);
    EXPECT_TRUE(cycle.RunPreFilter().Ok());
    return cycle.classes().Find(cycle, cluster_);
  }
  NodeSet Of(std::initializer_list<int> nodes) const {
    NodeSet set(cluster_.Rows());
    for (const int n : nodes) set.Insert(rows_[static_cast<size_t>(n)]);
    return set;
  }

  cluster::Cluster cluster_;
  std::vector<NodeIndex> rows_;
  cluster::PodId pod_ = cluster::kNoPod;
};

TEST_F(ClassCacheTest, AnswersAsAScanWould) {
  FakeProfile profile(cluster_, {EvenNodes()});
  Cycle cycle(profile);
  const ClassAnswer* answer = Find(cycle);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->feasible_count, 4u);
  EXPECT_TRUE(answer->scored);
  EXPECT_EQ(answer->total, 10);
  EXPECT_EQ(answer->best_count, 2u);
  EXPECT_EQ(answer->Pick(0), rows_[4]);
  EXPECT_EQ(answer->Pick(1), rows_[6]);
  NodeSet feasible;
  NodeSet best;
  answer->List(&feasible, &best);
  EXPECT_TRUE(feasible == Of({0, 2, 4, 6}));
  EXPECT_TRUE(best == Of({4, 6}));
}

TEST_F(ClassCacheTest, NarrowedCandidatesAreTheOnlyOnesConsidered) {
  FakeProfile profile(cluster_, {EvenNodes()});
  Cycle cycle(profile);
  const NodeSet within = Of({0, 1, 2, 3, 5});
  const ClassAnswer* answer = Find(cycle, &within);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->feasible_count, 2u);
  EXPECT_EQ(answer->total, 0);
  NodeSet feasible;
  NodeSet best;
  answer->List(&feasible, &best);
  EXPECT_TRUE(feasible == Of({0, 2}));
  EXPECT_TRUE(best == Of({0, 2}));
  EXPECT_NE(Find(cycle), nullptr);
  EXPECT_EQ(cycle.class_answer().feasible_count, 4u) << "the class itself knows all nodes";
  EXPECT_EQ(cycle.classes().statistics().builds, 1u);
}

TEST_F(ClassCacheTest, ASingleNodeIsNotScored) {
  FakeProfile profile(cluster_, {EvenNodes()});
  Cycle cycle(profile);
  const NodeSet within = Of({5, 6, 7});
  const ClassAnswer* answer = Find(cycle, &within);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->feasible_count, 1u);
  EXPECT_FALSE(answer->scored);
  EXPECT_EQ(answer->total, 0);
  EXPECT_EQ(answer->Pick(0), rows_[6]);
}

TEST_F(ClassCacheTest, WhereNothingFitsEveryCandidateHasItsVerdict) {
  FakeProfile profile(cluster_, {EvenNodes()});
  Cycle cycle(profile);
  const NodeSet within = Of({1, 3, 7});
  const ClassAnswer* answer = Find(cycle, &within);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->feasible_count, 0u);
  size_t rejected = 0;
  answer->Rejections().ForEach([&](const VerdictCount& count) { rejected += count.nodes; });
  EXPECT_EQ(rejected, 3u);
  within.ForEach([&](NodeIndex n) { EXPECT_EQ(cycle.verdicts()[n].code, Code::kUnschedulable); });
}

TEST_F(ClassCacheTest, OnlyTheRowThatChangedIsEvaluatedAgain) {
  FakeProfile profile(cluster_, {EvenNodes()});
  Cycle cycle(profile);
  ASSERT_NE(Find(cycle), nullptr);
  const cluster::PodId other = cluster_.AddPod(MakePod("other"));
  cluster_.Place(other, rows_[2], /*assumed=*/true);
  ASSERT_NE(Find(cycle), nullptr);
  EXPECT_EQ(cycle.classes().statistics().builds, 1u);
  EXPECT_EQ(cycle.classes().statistics().rows, 1u);
}

TEST_F(ClassCacheTest, APluginThatDependsOnEverythingRulesClassesOut) {
  FakeSpec spec = EvenNodes();
  spec.depends_on = kOnEverything;
  FakeProfile profile(cluster_, {spec});
  Cycle cycle(profile);
  EXPECT_EQ(Find(cycle), nullptr);
}

TEST_F(ClassCacheTest, AScoreOutOfRangeIsLeftToTheScan) {
  FakeSpec spec = EvenNodes();
  spec.score = [](NodeIndex) { return kMaxNodeScore + 1; };
  FakeProfile profile(cluster_, {spec});
  Cycle cycle(profile);
  EXPECT_EQ(Find(cycle), nullptr);
}

TEST_F(ClassCacheTest, NormalizationComparesTheCellsOfTheCandidates) {
  FakeSpec spec = EvenNodes();
  spec.score = [](NodeIndex n) { return int64_t{n}; };
  spec.normalize = [](const NodeSet& feasible, ScoreColumn& column) {
    int64_t highest = 0;
    feasible.ForEach([&](NodeIndex n) { highest = std::max(highest, column.Get(n)); });
    int64_t* scores = column.Dense();
    feasible.ForEach([&](NodeIndex n) { scores[n] = scores[n] * 100 / highest; });
  };
  FakeProfile profile(cluster_, {spec});
  Cycle cycle(profile);
  const NodeSet within = Of({0, 2, 4});
  const ClassAnswer* answer = Find(cycle, &within);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->total, 100);
  EXPECT_EQ(answer->best_count, 1u);
  EXPECT_EQ(answer->Pick(0), rows_[4]);
}

}  // namespace
}  // namespace berth::framework
