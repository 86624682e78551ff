#include "sim/trace/openb.h"

#include <string>

#include <gtest/gtest.h>

namespace berth::sim {
namespace {

constexpr std::string_view kNodes =
    "sn,cpu_milli,memory_mib,gpu,model\n"
    "gpu-node,96000,393216,8,G2\r\n"
    "\n"
    "cpu-node,32000,262144,0,\n";
constexpr std::string_view kPods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos\n"
    "whole,8000,1024,2,1000,,LS\n"
    "share,500,512,1,460,V100M16|V100M32,BE\n"
    "none,1000,1.0,0,0,,LS\n";

std::string Amount(const api::ResourceList& list, const std::string& name) {
  const auto it = list.find(name);
  return it == list.end() ? "-" : it->second.String();
}

TEST(Openb, NodesHaveGpusAndShares) {
  const auto trace = ReadOpenb(kNodes, kPods);
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->nodes.size(), 2u);
  const api::Node& node = trace->nodes[0];
  EXPECT_EQ(node.metadata.name, "gpu-node");
  EXPECT_EQ(Amount(node.status.allocatable, "cpu"), "96");
  EXPECT_EQ(Amount(node.status.allocatable, "nvidia.com/gpu"), "8");
  EXPECT_EQ(Amount(node.status.allocatable, "berth.dev/gpu-milli"), "8k");
  EXPECT_EQ(node.metadata.labels.at("berth.dev/gpu-model"), "G2");
  EXPECT_EQ(Amount(trace->nodes[1].status.allocatable, "nvidia.com/gpu"), "-");
  EXPECT_FALSE(trace->nodes[1].metadata.labels.contains("berth.dev/gpu-model"));
}

TEST(Openb, PodsTakeWholeGpusOrAShare) {
  const auto trace = ReadOpenb(kNodes, kPods);
  ASSERT_TRUE(trace) << trace.error().Message();
  ASSERT_EQ(trace->pods.size(), 3u);
  const auto requests = [&](size_t i) {
    return trace->pods[i].spec.containers[0].resources.requests;
  };
  EXPECT_EQ(Amount(requests(0), "nvidia.com/gpu"), "2");
  EXPECT_EQ(Amount(requests(0), "berth.dev/gpu-milli"), "-");
  EXPECT_EQ(Amount(requests(1), "berth.dev/gpu-milli"), "460");
  EXPECT_EQ(Amount(requests(1), "nvidia.com/gpu"), "-");
  EXPECT_EQ(Amount(requests(1), "memory"), "512Mi");
  EXPECT_EQ(Amount(requests(2), "nvidia.com/gpu"), "-");
  const auto& terms =
      trace->pods[1]
          .spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution
          ->node_selector_terms;
  EXPECT_EQ(terms.at(0).match_expressions.at(0).values,
            (std::vector<std::string>{"V100M16", "V100M32"}));
  EXPECT_FALSE(trace->pods[0].spec.affinity);
}

TEST(Openb, MistakesNameTheFileTheLineAndTheValue) {
  const auto error = [](std::string_view nodes, std::string_view pods) {
    const auto trace = ReadOpenb(nodes, pods);
    return trace ? std::string("none") : trace.error().Message();
  };
  EXPECT_EQ(error("", kPods), "nodes: the file is empty");
  EXPECT_EQ(error("sn,cpu_milli\n", kPods), "nodes: there is no column memory_mib");
  EXPECT_EQ(error("sn,cpu_milli,memory_mib,gpu,model\n", kPods), "nodes: there are no rows");
  EXPECT_EQ(error("sn,cpu_milli,memory_mib,gpu,model\nn,1,2\n", kPods),
            "nodes: line 2: it has 3 values, the first line names 5 columns");
  EXPECT_EQ(error("sn,cpu_milli,memory_mib,gpu,model\nn,1,2,many,\n", kPods),
            "nodes: line 2: gpu: \"many\" is no whole number from 0 to 1024");
  EXPECT_EQ(error("sn,cpu_milli,memory_mib,gpu,model\nn,-1,2,1,\n", kPods),
            "nodes: line 2: cpu_milli: \"-1\" is no whole number from 0 to 1099511627776");
  EXPECT_EQ(error("sn,cpu_milli,memory_mib,gpu,model\n,1,2,1,\n", kPods),
            "nodes: line 2: sn: a node has no name");
  EXPECT_EQ(error(kNodes, "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\np,1,1,1,2000,\n"),
            "pods: line 2: gpu_milli: \"2000\" is no whole number from 0 to 1000");
}

}  // namespace
}  // namespace berth::sim
