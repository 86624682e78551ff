#include "plugins/load_aware/load_aware.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/table/load_metrics.h"
#include "plugins/common/testing/one_plugin.h"

namespace berth::plugins::load_aware {
namespace {

constexpr int64_t kNow = 1'700'000'000;

class LoadAwareTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) {
      cluster_.SetNode(MakeNode(name).Cpu("10").Memory("10Gi"));
    }
  }
  // A sample of use in percent.
  void Measure(const char* node, double cpu, double memory, int64_t at = kNow) {
    cluster::NodeMetrics metrics;
    metrics.measured = api::Time::FromUnixNano(at * 1'000'000'000);
    cluster::AddLoad("KubernetesMetricsServer",
                     {at, {{"CPU", "Latest", cpu}, {"Memory", "Latest", memory}}}, &metrics);
    cluster_.SetMetrics(node, std::move(metrics));
  }
  cluster::PodId Pod(const std::string& name, const char* cpu = "1") {
    return cluster_.AddPod(MakePod(name).Requests("cpu", cpu).Requests("memory", "1Gi"));
  }
  static config::PluginArgs Bands() {
    config::LoadAwareArgs args;
    config::LoadBandSpec important;
    important.min_priority = 1000;
    important.thresholds["cpu"] = 90;
    config::LoadBandSpec others;
    others.thresholds["cpu"] = 60;
    args.bands = {others, important};
    return config::OwnArgs::Of(std::move(args));
  }
  cluster::Cluster cluster_;
};

TEST_F(LoadAwareTest, WhatIsNotMeasuredIsNeutral) {
  OnePlugin plugin(cluster_, &Make);
  const auto pod = Pod("p");
  EXPECT_EQ(plugin.Filter(pod), "a ok | b ok | c ok");
  EXPECT_EQ(plugin.Score(pod), "a -1>0 | b -1>0 | c -1>0");
  Measure("a", 10, 10);
  Measure("b", 50, 50);
  // The pod is expected to use 8.5 % of the CPUs and 7 % of the memory.
  EXPECT_EQ(plugin.Score(pod), "a 82>82 | b 42>42 | c -1>62");
}

TEST_F(LoadAwareTest, BusyNodesAreRejectedByResource) {
  OnePlugin plugin(cluster_, &Make);
  Measure("a", 70, 10);
  Measure("b", 60, 10);
  Measure("c", 10, 90);
  EXPECT_EQ(plugin.Filter(Pod("p")),
            "a UnschedulableAndUnresolvable: node(s) used 65% of cpu or more and are not 5 points "
            "below yet | "
            "b UnschedulableAndUnresolvable: node(s) would use more than 65% of cpu | "
            "c UnschedulableAndUnresolvable: node(s) would use more than 95% of memory");
}

TEST_F(LoadAwareTest, BandsHaveThresholdsOfTheirOwn) {
  OnePlugin plugin(cluster_, &Make, Bands());
  Measure("a", 70, 99);
  const auto important = cluster_.AddPod(MakePod("p").Requests("cpu", "1").Priority(1000));
  EXPECT_EQ(plugin.Filter(important), "a ok | b ok | c ok");
  const auto other = cluster_.AddPod(MakePod("q").Requests("cpu", "1").Priority(999));
  EXPECT_NE(plugin.Filter(other), "a ok | b ok | c ok");
}

TEST_F(LoadAwareTest, AClosedNodeOpensBelowTheHysteresis) {
  OnePlugin plugin(cluster_, &Make);
  const auto pod = Pod("p", "100m");
  const auto open = [&] { return plugin.Filter(pod).starts_with("a ok"); };
  Measure("a", 62, 10);
  EXPECT_TRUE(open());
  Measure("a", 65, 10, kNow + 30);
  EXPECT_FALSE(open());
  Measure("a", 62, 10, kNow + 60);
  EXPECT_FALSE(open()) << "as before, but it was closed";
  Measure("a", 59.9, 10, kNow + 90);
  EXPECT_TRUE(open());
  Measure("a", 62, 10, kNow + 120);
  EXPECT_TRUE(open());
}

TEST_F(LoadAwareTest, PodsThatCameSinceAreAdded) {
  OnePlugin plugin(cluster_, &Make);
  Measure("a", 20, 20);
  Measure("b", 20, 20);
  Measure("c", 20, 20);
  const auto pod = Pod("p");
  EXPECT_EQ(plugin.Score(pod), "a 72>72 | b 72>72 | c 72>72");
  cluster_.Assume(Pod("assumed", "2"), cluster_.FindNode("a"));
  api::Pod old = MakePod("old").Requests("cpu", "2").On("b");
  old.metadata.creation_timestamp = api::Time::FromUnixNano((kNow - 61) * 1'000'000'000);
  cluster_.AddPod(old);
  api::Pod late = MakePod("late").Requests("cpu", "2").On("c");
  late.metadata.creation_timestamp = api::Time::FromUnixNano((kNow - 59) * 1'000'000'000);
  cluster_.AddPod(late);
  // Two CPUs are 17 %, the memory of the assumed pod is 7 %, that of one without requests 2 %.
  EXPECT_EQ(plugin.Score(pod), "a 60>60 | b 72>72 | c 62>62");
  Measure("a", 40, 20, kNow + 3600);
  cluster_.Forget(cluster_.Record(cluster_.FindNode("a")).pods[0]);
  EXPECT_EQ(plugin.Score(pod), "a 62>62 | b 72>72 | c 62>62");
}

TEST(LoadAwareArgs, MistakesAreNamed) {
  config::LoadAwareArgs args;
  args.metrics.type = "Prometheus";
  args.metrics.queries = {{"disk", ""}};
  args.bands.resize(2);
  args.bands[0].thresholds["cpu"] = 120;
  args.SetDefaults();
  std::vector<std::string> errors;
  args.Validate(errors);
  EXPECT_EQ(errors, (std::vector<std::string>{
                        "metrics.address: Required value: of Prometheus",
                        "metrics.queries[0].resource: Unsupported value: \"disk\": supported "
                        "values: \"cpu\", \"memory\"",
                        "metrics.queries[0].query: Required value",
                        "bands[0].thresholds[cpu]: Invalid value: 120: must be from 0 to 100",
                        "bands[1].minPriority: Duplicate value"}));
}

TEST(LoadAwareArgs, TheSourceIsPolledWithItsQueries) {
  config::LoadAwareArgs args;
  args.metrics.type = "Prometheus";
  args.metrics.address = "http://p:9090";
  args.metrics.queries = {{"memory", "m"}};
  args.SetDefaults();
  const config::MetricsSource source = args.metrics.Source();
  EXPECT_EQ(source.type, config::MetricsSource::Type::kPrometheus);
  EXPECT_EQ(source.name, "Prometheus http://p:9090 m");
  EXPECT_EQ(source.queries, (std::vector<config::MetricsQuery>{{"Memory", "AVG", "m"}}));
  EXPECT_EQ(source.max_age_seconds, 180);
}

}  // namespace
}  // namespace berth::plugins::load_aware
