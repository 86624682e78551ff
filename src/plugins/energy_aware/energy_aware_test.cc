#include "plugins/energy_aware/energy_aware.h"

#include <string>

#include <gtest/gtest.h>

#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::energy_aware {
namespace {

config::EnergyAwareArgs Args() {
  config::EnergyAwareArgs args;
  config::NodePowerSpec old;
  old.node_class = "old";
  old.cpu = {.idle_watts = 100, .max_watts = 300};
  config::NodePowerSpec frugal;
  frugal.node_class = "frugal";
  frugal.cpu = {.idle_watts = 50, .max_watts = 150};
  frugal.gpu = {.idle_watts = 10, .max_watts = 70};
  args.models = {old, frugal};
  return args;
}

class EnergyAwareTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.SetNode(MakeNode("old").Cpu("10").Label("berth.dev/power-class", "old"));
    cluster_.SetNode(MakeNode("frugal")
                         .Cpu("10")
                         .Has("nvidia.com/gpu", "2")
                         .Label("berth.dev/power-class", "frugal")
                         .Label("topology.kubernetes.io/zone", "north"));
  }
  std::string Score(config::EnergyAwareArgs args) {
    OnePlugin plugin(cluster_, &Make, config::OwnArgs::Of(std::move(args)));
    return plugin.Score(cluster_.AddPod(MakePod("p").Requests("cpu", "1")));
  }
  cluster::Cluster cluster_;
};

TEST_F(EnergyAwareTest, TheNodeThatGrowsLeastScoresHighest) {
  EXPECT_EQ(Score(Args()), "old 20000>0 | frugal 10000>100");
}

TEST_F(EnergyAwareTest, WakingANodeCostsItsIdlePower) {
  config::EnergyAwareArgs args = Args();
  args.models[1].sleep_watts = 5;
  // 50 W of CPUs and 20 W of GPUs, and the 10 W of the pod, less the 5 W.
  EXPECT_EQ(Score(args), "old 20000>100 | frugal 75000>0");
  cluster_.AddPod(MakePod("other").Requests("cpu", "1").On("frugal"));
  EXPECT_EQ(Score(args), "old 20000>0 | frugal 10000>100") << "it is awake";
}

TEST_F(EnergyAwareTest, ZonesMultiply) {
  config::EnergyAwareArgs args = Args();
  args.zone_multipliers["north"] = 2.5;
  EXPECT_EQ(Score(args), "old 20000>100 | frugal 25000>0");
}

TEST_F(EnergyAwareTest, NodesWithoutAModelScoreTheMeanOfTheOthers) {
  cluster_.SetNode(MakeNode("unknown").Cpu("10"));
  EXPECT_EQ(Score(Args()), "old 20000>0 | frugal 10000>100 | unknown 9223372036854775807>50");
  config::EnergyAwareArgs args = Args();
  args.models[0].node_class.clear();
  EXPECT_EQ(Score(args), "old 20000>0 | frugal 10000>100 | unknown 20000>0")
      << "the model of all other nodes";
}

TEST_F(EnergyAwareTest, AGpuThatIsSharedAlreadyDrawsNoMore) {
  OnePlugin plugin(cluster_, &Make, config::OwnArgs::Of(Args()));
  cluster_.SetNode(MakeNode("shared")
                       .Cpu("10")
                       .Has("nvidia.com/gpu", "2")
                       .Label("berth.dev/power-class", "frugal"));
  cluster_.AddPod(MakePod("other").Requests("berth.dev/gpu-milli", "500").On("shared"));
  const auto pod = cluster_.AddPod(MakePod("p").Requests("berth.dev/gpu-milli", "300"));
  EXPECT_EQ(plugin.Score(pod), "old 0>100 | frugal 60000>0 | shared 0>100");
}

TEST(EnergyAwareArgs, MistakesAreNamed) {
  config::EnergyAwareArgs args = Args();
  args.SetDefaults();
  args.models[1].node_class = "old";
  args.models[1].cpu.curve = "Cubic";
  args.models[0].gpu.max_watts = -1;
  args.zone_multipliers["z"] = -2;
  std::vector<std::string> errors;
  args.Validate(errors);
  EXPECT_EQ(errors,
            (std::vector<std::string>{
                "models[0].gpu.maxWatts: Invalid value: -1: must be watts from 0 to 1e9",
                "models[1].class: Duplicate value: \"old\"",
                "models[1].cpu.curve: Unsupported value: \"Cubic\": supported values: \"Linear\", "
                "\"Package\"",
                "zoneMultipliers[z]: Invalid value: -2: must be from 0 to 1e6"}));
  cluster::Cluster cluster;
  const auto made = Make(config::OwnArgs::Of(config::EnergyAwareArgs()), {cluster});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().Message(), "models: Required value: at least one class of nodes");
}

}  // namespace
}  // namespace berth::plugins::energy_aware
