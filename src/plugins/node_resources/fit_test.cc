#include "plugins/node_resources/fit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "plugins/common/testing/one_plugin.h"
#include "plugins/node_resources/balanced_allocation.h"

namespace berth::plugins::node_resources {
namespace {

TEST(Fit, WhatIsMissingIsTold) {
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  // The node has 4 cores, 8Gi and 2 GPUs; a pod on it takes 1 core, 1Gi and 1 GPU.
  const Case cases[] = {
      {"asks for nothing", pod(), "ok"},
      {"fits exactly", pod().Requests("cpu", "3").Requests("memory", "7Gi"), "ok"},
      {"a little too much", pod().Requests("cpu", "3001m"), "Unschedulable: Insufficient cpu"},
      {"more than the empty node has: nobody can make room", pod().Requests("cpu", "5"),
       "UnschedulableAndUnresolvable: Insufficient cpu"},
      {"two things", pod().Requests("memory", "8Gi").Requests("cpu", "4"),
       "Unschedulable: Insufficient cpu, Insufficient memory"},
      {"one of two cannot be helped", pod().Requests("memory", "8Gi").Requests("cpu", "5"),
       "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient memory"},
      {"a device", pod().Requests("example.com/gpu", "2"),
       "Unschedulable: Insufficient example.com/gpu"},
      {"a device the node does not have", pod().Requests("example.com/fpga", "1"),
       "UnschedulableAndUnresolvable: Insufficient example.com/fpga"},
      {"none of a device the node does not have", pod().Requests("example.com/fpga", "0"), "ok"},
      {"storage the node does not tell of", pod().Requests("ephemeral-storage", "1"),
       "UnschedulableAndUnresolvable: Insufficient ephemeral-storage"},
      {"huge pages", pod().Requests("hugepages-2Mi", "2Mi"),
       "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi"},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("a").Cpu("4").Memory("8Gi").Has("example.com/gpu", "2"));
    cluster.AddPod(MakePod("there")
                       .Requests("cpu", "1")
                       .Requests("memory", "1Gi")
                       .Requests("example.com/gpu", "1")
                       .On("a"));
    OnePlugin plugin(cluster, &MakeFit);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), "a " + c.want) << c.what;
  }
}

TEST(Fit, WhatDevicesStandForIsLeftToThem) {
  config::Behaviour behaviour;
  behaviour.dra.extended_resource = true;
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"the bare node may have devices", pod().Requests("x.com/gpu", "1"),
       "bare ok | plugged UnschedulableAndUnresolvable: Insufficient x.com/gpu"},
      {"no class stands for it", pod().Requests("x.com/fpga", "1"),
       "bare UnschedulableAndUnresolvable: Insufficient x.com/fpga | plugged "
       "UnschedulableAndUnresolvable: Insufficient x.com/fpga"},
      {"beside an extended resource huge pages are counted",
       pod().Requests("hugepages-2Mi", "2Mi").Requests("x.com/gpu", "1"),
       "bare UnschedulableAndUnresolvable: Insufficient hugepages-2Mi | plugged "
       "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi, Insufficient x.com/gpu"},
      {"alone they are left to devices", pod().Requests("hugepages-2Mi", "2Mi"),
       "bare ok | plugged ok"},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("bare").Cpu("4"));
    cluster.SetNode(MakeNode("plugged").Cpu("4").Has("x.com/gpu", "0"));
    cluster.MutableObjects().device_classes.Set(cluster::FromText<api::DeviceClass>(
        "{'metadata':{'name':'gpus'},'spec':{'extendedResourceName':'x.com/"
        "gpu'}}"));
    OnePlugin plugin(cluster, &MakeFit, {}, behaviour);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), c.want) << c.what;
  }
}

TEST(Fit, ClassesAndAmountsDecideWhatDevicesStandForSince135) {
  config::Behaviour behaviour{config::FeatureGates(35)};
  behaviour.dra.extended_resource = true;
  struct Case {
    const char* what;
    MakePod pod;
    std::string want;
  };
  const auto pod = [] { return MakePod("p"); };
  const Case cases[] = {
      {"none on the node counts as nothing said", pod().Requests("x.com/gpu", "1"),
       "bare ok | empty ok | plugged Unschedulable: Insufficient x.com/gpu"},
      {"a class can be requested by its own name",
       pod().Requests("deviceclass.resource.kubernetes.io/gpus", "1"),
       "bare ok | empty ok | plugged ok"},
      {"huge pages are never left to devices", pod().Requests("hugepages-2Mi", "2Mi"),
       "bare UnschedulableAndUnresolvable: Insufficient hugepages-2Mi | empty "
       "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi | plugged "
       "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi"},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("bare").Cpu("4"));
    cluster.SetNode(MakeNode("empty").Cpu("4").Has("x.com/gpu", "0"));
    cluster.SetNode(MakeNode("plugged").Cpu("4").Has("x.com/gpu", "1"));
    cluster.AddPod(MakePod("there").Requests("x.com/gpu", "1").On("plugged"));
    cluster.MutableObjects().device_classes.Set(cluster::FromText<api::DeviceClass>(
        "{'metadata':{'name':'gpus'},'spec':{'extendedResourceName':'x.com/gpu'}}"));
    OnePlugin plugin(cluster, &MakeFit, {}, behaviour);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(c.pod)), c.want) << c.what;
  }
}

TEST(Fit, ANodeTakesOnlySoManyPods) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a").Cpu("1").Pods("1"));
  OnePlugin plugin(cluster, &MakeFit);
  const auto pod = cluster.AddPod(MakePod("p").Requests("cpu", "1"));
  EXPECT_EQ(plugin.Filter(pod), "a ok");
  cluster.AddPod(MakePod("q").Requests("cpu", "1").On("a"));
  EXPECT_EQ(plugin.Filter(pod), "a Unschedulable: Too many pods, Insufficient cpu");
  EXPECT_EQ(plugin.Filter(cluster.AddPod(MakePod("r"))), "a Unschedulable: Too many pods");
}

TEST(Fit, ManyKindsOfResourcesAreAllTold) {
  for (const int kinds : {46, 47, 48, 60}) {
    cluster::Cluster cluster;
    MakePod pod("p");
    MakeNode enough("enough");
    MakeNode short_of_one("short");
    std::string all;
    for (int i = 0; i < kinds; ++i) {
      const std::string name = "example.com/r" + std::to_string(100 + i);
      pod.Requests(name, "2");
      enough.Has(name, "2");
      short_of_one.Has(name, i + 1 == kinds ? "1" : "2");
      all += (all.empty() ? "Insufficient " : ", Insufficient ") + name;
    }
    cluster.SetNode(enough);
    cluster.SetNode(short_of_one);
    cluster.SetNode(MakeNode("none").Pods("0"));
    OnePlugin plugin(cluster, &MakeFit);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(pod)),
              "enough ok | short UnschedulableAndUnresolvable: Insufficient example.com/r" +
                  std::to_string(99 + kinds) +
                  " | none UnschedulableAndUnresolvable: Too many pods, " + all)
        << kinds << " kinds";
  }
}

TEST(Fit, IgnoredResourcesAreNotLookedAt) {
  struct Case {
    const char* what;
    std::vector<std::string> resources;
    std::vector<std::string> groups;
    std::string want;
  };
  const std::string gpu = "Insufficient example.com/gpu";
  const std::string fpga = "Insufficient other.com/fpga";
  const std::string no = "a UnschedulableAndUnresolvable: ";
  const Case cases[] = {
      {"none", {}, {}, no + gpu + ", " + fpga},
      {"a resource", {"example.com/gpu"}, {}, no + fpga},
      {"a group", {}, {"other.com"}, no + gpu},
      {"both", {"example.com/gpu"}, {"other.com"}, "a ok"},
      {"a name without its group does not count", {"gpu"}, {"com"}, no + gpu + ", " + fpga},
  };
  for (const Case& c : cases) {
    cluster::Cluster cluster;
    cluster.SetNode(MakeNode("a"));
    config::NodeResourcesFitArgs args;
    args.ignored_resources = c.resources;
    args.ignored_resource_groups = c.groups;
    OnePlugin plugin(cluster, &MakeFit, args);
    EXPECT_EQ(plugin.Filter(cluster.AddPod(
                  MakePod("p").Requests("example.com/gpu", "1").Requests("other.com/fpga", "1"))),
              c.want)
        << c.what;
  }
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a"));
  config::NodeResourcesFitArgs args;
  args.ignored_resources = {"cpu", "hugepages-2Mi"};
  OnePlugin plugin(cluster, &MakeFit, args);
  EXPECT_EQ(plugin.Filter(
                cluster.AddPod(MakePod("p").Requests("cpu", "1").Requests("hugepages-2Mi", "2Mi"))),
            no + "Insufficient cpu, Insufficient hugepages-2Mi")
      << "only extended resources can be ignored";
}

TEST(Fit, ScoresByTheStrategyOfTheProfile) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a").Cpu("4").Memory("10Gi").Has("example.com/gpu", "4"));
  cluster.SetNode(MakeNode("b").Cpu("8").Memory("10Gi"));
  cluster.AddPod(MakePod("there").Requests("cpu", "1").Requests("memory", "5Gi").On("a"));
  const auto pod = cluster.AddPod(
      MakePod("p").Requests("cpu", "1").Requests("memory", "1Gi").Requests("example.com/gpu", "1"));
  struct Case {
    const char* what;
    std::optional<config::ScoringStrategy> strategy;
    std::string want;
  };
  config::ScoringStrategy least{"LeastAllocated", {{"cpu", 1}, {"memory", 1}}, {}};
  config::ScoringStrategy most{"MostAllocated", {{"cpu", 3}, {"memory", 1}}, {}};
  config::ScoringStrategy gpu{"MostAllocated", {{"example.com/gpu", 1}, {"cpu", 1}}, {}};
  config::ScoringStrategy unknown{"MostAllocated", {{"example.com/none", 1}, {"cpu", 1}}, {}};
  config::ScoringStrategy ratio{"RequestedToCapacityRatio", {{"cpu", 1}}, {}};
  ratio.requested_to_capacity_ratio.emplace().shape = {{0, 10}, {100, 0}};
  const Case cases[] = {
      {"by default the emptier", std::nullopt, "a 45>45 | b 88>88"},
      {"least allocated", least, "a 45>45 | b 88>88"},
      {"most allocated, cpu counts more", most, "a 52>52 | b 11>11"},
      {"a device counts where it is", gpu, "a 37>37 | b 12>12"},
      {"a device nobody asks for does not", unknown, "a 50>50 | b 12>12"},
      {"a shape", ratio, "a 50>50 | b 88>88"},
  };
  for (const Case& c : cases) {
    config::NodeResourcesFitArgs args;
    args.scoring_strategy = c.strategy;
    OnePlugin plugin(cluster, &MakeFit, args);
    EXPECT_EQ(plugin.Score(pod), c.want) << c.what;
  }
}

TEST(BalancedAllocation, ScoresPodsThatAskForSomething) {
  cluster::Cluster cluster;
  cluster.SetNode(MakeNode("a").Cpu("4").Memory("4Gi"));
  cluster.SetNode(MakeNode("b").Cpu("4").Memory("8Gi"));
  OnePlugin plugin(cluster, &MakeBalancedAllocation);
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("none"))), "skip");
  EXPECT_EQ(
      plugin.Score(cluster.AddPod(MakePod("p").Requests("cpu", "2").Requests("memory", "2Gi"))),
      "a 100>100 | b 87>87");
  EXPECT_EQ(plugin.Score(cluster.AddPod(MakePod("q").Requests("cpu", "2"))), "a 75>75 | b 75>75");
}

}  // namespace
}  // namespace berth::plugins::node_resources
