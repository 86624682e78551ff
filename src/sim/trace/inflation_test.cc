#include "sim/trace/inflation.h"

#include <string>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "config/config.h"

namespace berth::sim {
namespace {

// Four nodes of two GPUs, and pods that together ask for half of them.
Trace SmallTrace() {
  std::string nodes = "sn,cpu_milli,memory_mib,gpu,model\ncpus,64000,65536,0,\n";
  for (int i = 0; i < 4; ++i) nodes += "n" + std::to_string(i) + ",32000,65536,2,T4\n";
  std::string pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  for (int i = 0; i < 4; ++i) pods += "s" + std::to_string(i) + ",2000,1024,1,500,\n";
  pods += "w0,4000,1024,1,1000,\nw1,4000,1024,1,1000,\nc,4000,1024,0,0,\n";
  return *ReadOpenb(nodes, pods);
}

config::KubeSchedulerConfiguration Configuration(std::string_view scores) {
  const auto config = config::Load(fmt::format(R"(
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    preFilter: {{enabled: [{{name: GpuFragmentation}}]}}
    filter: {{enabled: [{{name: GpuFragmentation}}]}}
    score: {{{}}}
)",
                                               scores),
                                   config::Behaviour());
  EXPECT_TRUE(config) << config.error().Message();
  return *config;
}

TEST(Inflation, FillsTheClusterToTheLoad) {
  const Trace trace = SmallTrace();
  InflationOptions options;
  options.load = 1;
  const auto curve = RunInflation(trace, Configuration(""), options);
  ASSERT_TRUE(curve) << curve.error().Message();
  const LoadPoint& start = curve->points.front();
  EXPECT_EQ(start.arrived, 0);
  EXPECT_EQ(start.allocated, 0);
  // Four nodes with one package and two idle T4 each.
  EXPECT_DOUBLE_EQ(start.kilowatts, 4 * (20 + 2 * 10) / 1000.0);
  const LoadPoint& end = curve->points.back();
  EXPECT_GE(end.arrived, 100);
  EXPECT_GT(end.pods, 7) << "more are drawn than the trace has";
  EXPECT_LE(end.allocated, 100);
  EXPECT_GT(end.allocated, 70);
  EXPECT_EQ(end.busy_nodes, 4);
  for (size_t i = 1; i < curve->points.size(); ++i) {
    EXPECT_GE(curve->points[i].allocated, curve->points[i - 1].allocated);
    EXPECT_GE(curve->points[i].arrived, curve->points[i].allocated);
    EXPECT_LE(curve->points[i].fragmented, 100);
  }
}

TEST(Inflation, SeedsDecideTheArrivals) {
  const Trace trace = SmallTrace();
  InflationOptions options;
  options.load = 0.6;
  const auto run = [&](uint64_t seed) {
    options.seed = seed;
    return api::ToJson(*RunInflation(trace, Configuration(""), options));
  };
  const std::string first = run(1);
  EXPECT_EQ(first, run(1));
  bool differs = false;
  for (uint64_t seed = 2; seed < 10; ++seed) differs = differs || run(seed) != first;
  EXPECT_TRUE(differs);
}

TEST(Inflation, FragmentationAwareLeavesFewerFragments) {
  const Trace trace = SmallTrace();
  const auto fragments = [&](std::string_view scores) {
    double sum = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      InflationOptions options;
      options.load = 0.6;
      options.seed = seed;
      const auto curve = RunInflation(trace, Configuration(scores), options);
      EXPECT_TRUE(curve);
      for (const LoadPoint& point : curve->points) sum += point.fragments;
    }
    return sum;
  };
  EXPECT_LT(fragments("disabled: [{name: '*'}], enabled: [{name: GpuFragmentation}]"),
            fragments(""));
}

// The declared dependencies of the plugins hold: what is cached for later pods changes no decision.
TEST(Inflation, ClassesChangeNothing) {
  const Trace trace = SmallTrace();
  for (const char* scores : {"disabled: [{name: '*'}], enabled: [{name: GpuFragmentation}]",
                             "enabled: [{name: GpuFragmentation, weight: 3}]"}) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      InflationOptions options;
      options.seed = seed;
      const auto cached = RunInflation(trace, Configuration(scores), options);
      options.classes = false;
      const auto scanned = RunInflation(trace, Configuration(scores), options);
      ASSERT_TRUE(cached && scanned);
      ASSERT_EQ(api::ToJson(*cached), api::ToJson(*scanned)) << scores << " " << seed;
    }
  }
}

TEST(Inflation, AClusterWithoutGpusIsAnError) {
  const auto trace =
      ReadOpenb("sn,cpu_milli,memory_mib,gpu,model\nn,1000,1,0,\n",
                "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,1,1,0,0,\n");
  ASSERT_TRUE(trace);
  const auto curve = RunInflation(*trace, config::Default(), {});
  ASSERT_FALSE(curve);
  EXPECT_EQ(curve.error().Message(), "the nodes of the trace have no GPUs");
}

TEST(Inflation, MeansAreTakenPointByPoint) {
  LoadCurve a;
  LoadCurve b;
  a.points.resize(2);
  b.points.resize(3);
  a.points[1].allocated = 10;
  b.points[1].allocated = 30;
  a.points[1].pods = 4;
  b.points[1].pods = 8;
  const LoadCurve mean = MeanOf(std::vector<LoadCurve>{a, b});
  ASSERT_EQ(mean.points.size(), 2u);
  EXPECT_EQ(mean.points[1].allocated, 20);
  EXPECT_EQ(mean.points[1].pods, 6);
}

}  // namespace
}  // namespace berth::sim
