#include "plugins/gpu_fragmentation/gpu_fragmentation.h"

#include <string>

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::gpu_fragmentation {
namespace {

constexpr const char* kWhole = "nvidia.com/gpu";
constexpr const char* kShare = "berth.dev/gpu-milli";

// Half of the pods take a whole GPU, half of them half of one.
config::PluginArgs Given() {
  config::GpuFragmentationArgs args;
  for (const auto& [name, amount] : {std::pair(kWhole, "1"), std::pair(kShare, "500")}) {
    config::ExpectedPods pods;
    pods.requests["cpu"] = *api::Quantity::Parse("1");
    pods.requests[name] = *api::Quantity::Parse(amount);
    pods.weight = 1;
    args.workload.push_back(std::move(pods));
  }
  return config::OwnArgs::Of(std::move(args));
}

class GpuFragmentationTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      cluster_.SetNode(
          MakeNode(name).Cpu("16").Memory("64Gi").Has(kWhole, "2").Has(kShare, "2000"));
    }
  }
  cluster::PodId Share(const std::string& name, const char* amount, const char* node = nullptr) {
    auto pod = MakePod(name).Requests("cpu", "1").Requests(kShare, amount);
    if (node != nullptr) pod.On(node);
    return cluster_.AddPod(pod);
  }
  cluster::Cluster cluster_;
};

TEST_F(GpuFragmentationTest, AShareGoesWhereAGpuIsBrokenAlready) {
  OnePlugin plugin(cluster_, &Make, Given());
  Share("first", "400", "a");
  // On a: 600 and 1000 are free. The half that takes whole GPUs cannot use the 600: 300 on
  // average. With 500 more, 100 and 1000: 100. On b it makes 500 and 1000 of two: 250.
  EXPECT_EQ(plugin.Score(Share("p", "500")), "a -200000>100 | b 250000>0");
}

TEST_F(GpuFragmentationTest, AWholeGpuGoesWhereTheRestStaysOfUse) {
  OnePlugin plugin(cluster_, &Make, Given());
  Share("first", "400", "a");
  const auto pod = cluster_.AddPod(MakePod("p").Requests("cpu", "1").Requests(kWhole, "1"));
  // On a only the 600 remain: 600 for those that take whole GPUs.
  EXPECT_EQ(plugin.Score(pod), "a 0>100 | b 0>100");
  EXPECT_EQ(plugin.Filter(pod), "a ok | b ok");
}

TEST_F(GpuFragmentationTest, GpusWithoutCpusAreFragments) {
  OnePlugin plugin(cluster_, &Make, Given());
  const auto pod = cluster_.AddPod(MakePod("p").Requests("cpu", "15500m"));
  cluster_.SetNode(MakeNode("cpus").Cpu("16").Memory("64Gi"));
  EXPECT_EQ(plugin.Score(pod), "a 2000000>0 | b 2000000>0 | cpus 0>100");
  EXPECT_EQ(plugin.Filter(pod), "skip");
}

TEST_F(GpuFragmentationTest, SharesAreOnOneGpu) {
  OnePlugin plugin(cluster_, &Make, Given());
  Share("first", "600", "a");
  Share("second", "600", "a");
  EXPECT_EQ(plugin.Filter(Share("p", "500")),
            "a Unschedulable: node(s) had no GPUs with enough free shares | b ok");
  EXPECT_EQ(plugin.Filter(Share("q", "400")), "a ok | b ok");
  EXPECT_EQ(plugin.Filter(Share("r", "1500")),
            "a Unschedulable: node(s) had no GPUs with enough free shares | "
            "b Unschedulable: node(s) had no GPUs with enough free shares");
}

TEST_F(GpuFragmentationTest, LookaheadKeepsCpusForTheGpusOfANode) {
  // The expected pods take one CPU for 0.75 GPUs. On `few`, two GPUs need 2.67 CPUs.
  cluster_.SetNode(MakeNode("few").Cpu("3").Memory("64Gi").Has(kWhole, "2").Has(kShare, "2000"));
  const auto pod = cluster_.AddPod(MakePod("p").Requests("cpu", "1"));
  OnePlugin without(cluster_, &Make, Given());
  EXPECT_EQ(without.Score(pod), "a 0>100 | b 0>100 | few 0>100");
  config::GpuFragmentationArgs args = *config::OwnArgsAs<config::GpuFragmentationArgs>(Given());
  args.lookahead = 1;
  OnePlugin with(cluster_, &Make, config::OwnArgs::Of(args));
  // With two CPUs left, 1.5 of the two GPUs can be used.
  EXPECT_EQ(with.Score(pod), "a 0>100 | b 0>100 | few 500000>0");
}

TEST_F(GpuFragmentationTest, LearnsFromThePodsThereAre) {
  OnePlugin plugin(cluster_, &Make);
  const auto pod = Share("p", "500");
  // Only pods like this one are known: half a GPU is as good as any.
  EXPECT_EQ(plugin.Score(pod), "a 0>100 | b 0>100");
  for (int i = 0; i < 3; ++i) {
    cluster_.AddPod(MakePod("w" + std::to_string(i)).Requests("cpu", "1").Requests(kWhole, "1"));
  }
  Share("first", "400", "a");
  // Now three of five take whole GPUs: the 600 of a cost 360, and the 100 that are left of them,
  // which nobody can use, 100.
  EXPECT_EQ(plugin.Score(pod), "a -260000>100 | b 300000>0");
}

}  // namespace
}  // namespace berth::plugins::gpu_fragmentation
