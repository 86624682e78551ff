#include "plugins/node_resources_allocatable/node_resources_allocatable.h"

#include <string>

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::node_resources_allocatable {
namespace {

using Args = config::NodeResourcesAllocatableArgs;

config::PluginArgs Of(std::vector<config::ResourceSpec> resources, std::string mode) {
  Args args;
  args.resources = std::move(resources);
  args.mode = std::move(mode);
  return config::OwnArgs::Of(std::move(args));
}

class NodeResourcesAllocatableTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.SetNode(MakeNode("small").Cpu("1").Memory("1Gi"));
    cluster_.SetNode(MakeNode("middle").Cpu("2").Memory("2Gi"));
    cluster_.SetNode(MakeNode("large").Cpu("4").Memory("4Gi"));
  }
  std::string Score(const config::PluginArgs& args) {
    OnePlugin plugin(cluster_, &Make, args);
    return plugin.Score(cluster_.AddPod(MakePod("p")));
  }
  cluster::Cluster cluster_;
};

TEST_F(NodeResourcesAllocatableTest, TheLeastScoresHighestByDefault) {
  // (1000 * 2^20 + 2^30) / (2^20 + 1) = 2023.998, and twice, four times that.
  EXPECT_EQ(Score({}), "small -2023>100 | middle -4047>66 | large -8095>0");
}

TEST_F(NodeResourcesAllocatableTest, TheMostScoresHighestInModeMost) {
  EXPECT_EQ(Score(Of({{"cpu", 1}}, "Most")), "small 1000>0 | middle 2000>33 | large 4000>100");
}

TEST_F(NodeResourcesAllocatableTest, PodsDoNotCount) {
  cluster_.AddPod(MakePod("big").Requests("cpu", "3").On("large"));
  EXPECT_EQ(Score(Of({{"cpu", 1}}, "Most")), "small 1000>0 | middle 2000>33 | large 4000>100");
}

TEST_F(NodeResourcesAllocatableTest, ResourcesOfOneNodeAndOfNone) {
  cluster_.SetNode(MakeNode("gpu").Cpu("1").Memory("1Gi").Has("example.com/gpu", "8"));
  EXPECT_EQ(Score(Of({{"example.com/gpu", 3}, {"pods", 1}}, "Most")),
            "small 0>0 | middle 0>0 | large 0>0 | gpu 6>100")
      << "pods have a weight, but no amount";
  EXPECT_EQ(Score(Of({{"cpu", 1}, {"cpu", 2}}, "Least")),
            "small -1000>100 | middle -2000>66 | large -4000>0 | gpu -1000>100");
}

TEST_F(NodeResourcesAllocatableTest, EqualNodesScoreZero) {
  cluster_.RemoveNode("middle");
  cluster_.RemoveNode("large");
  cluster_.SetNode(MakeNode("other").Cpu("1").Memory("1Gi"));
  EXPECT_EQ(Score({}), "small -2023>0 | other -2023>0");
}

TEST(NodeResourcesAllocatableMake, WeightsThatSumUpToZeroAreRefused) {
  constexpr int64_t kQuarter = int64_t{1} << 62;
  cluster::Cluster cluster;
  const auto made = Make(
      Of({{"cpu", kQuarter}, {"memory", kQuarter}, {"a/a", kQuarter}, {"a/b", kQuarter}}, "Most"),
      {cluster});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().Message(), "resources: the sum of the weights overflows to 0");
}

}  // namespace
}  // namespace berth::plugins::node_resources_allocatable
