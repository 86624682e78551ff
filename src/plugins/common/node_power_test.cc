#include "plugins/common/node_power.h"

#include <gtest/gtest.h>

namespace berth::plugins {
namespace {

// A Xeon 6326 with V100s, as in the study.
config::NodePowerSpec V100() {
  config::NodePowerSpec model;
  model.cpu = {.idle_watts = 20,
               .max_watts = 185,
               .cores_per_package = 16,
               .threads_per_core = 2,
               .curve = "Package"};
  model.gpu = {.idle_watts = 30, .max_watts = 300};
  return model;
}

TEST(NodePower, PackagesThatWorkDrawTheirMaximum) {
  // 96 CPUs are 48 cores in 3 packages.
  const auto watts = [](int64_t used) {
    return WattsOf(V100(), {.milli_cpu_allocatable = 96000, .milli_cpu_used = used});
  };
  EXPECT_EQ(watts(0), 60);
  EXPECT_EQ(watts(100), 185 + 40) << "a core that is used in part works";
  EXPECT_EQ(watts(32000), 185 + 40);
  EXPECT_EQ(watts(32001), 2 * 185 + 20);
  EXPECT_EQ(watts(96000), 3 * 185);
  EXPECT_EQ(watts(200000), 3 * 185) << "more than there is";
}

TEST(NodePower, GpusInUseDrawTheirMaximum) {
  const NodeUse use{.milli_cpu_allocatable = 32000, .gpus = 8, .gpus_used = 3};
  EXPECT_EQ(WattsOf(V100(), use), 20 + 3 * 300 + 5 * 30);
}

TEST(NodePower, LinearIsBetweenIdleAndMaximum) {
  config::NodePowerSpec model;
  model.base_watts = 50;
  model.cpu = {.idle_watts = 100, .max_watts = 300, .threads_per_core = 1, .curve = "Linear"};
  EXPECT_EQ(WattsOf(model, {.milli_cpu_allocatable = 8000, .milli_cpu_used = 2000}), 50 + 150);
  EXPECT_EQ(WattsOf(model, {.milli_cpu_allocatable = 0, .milli_cpu_used = 2000}), 50);
}

TEST(NodePower, NodesWithoutPodsMaySleep) {
  config::NodePowerSpec model = V100();
  model.base_watts = 200;
  NodeUse use{.milli_cpu_allocatable = 32000, .gpus = 2};
  EXPECT_EQ(WattsOf(model, use), 200 + 20 + 60) << "they run on";
  model.sleep_watts = 5;
  EXPECT_EQ(WattsOf(model, use), 5);
  use.has_pods = true;
  EXPECT_EQ(WattsOf(model, use), 200 + 20 + 60);
}

}  // namespace
}  // namespace berth::plugins
