// Openb: the GPU cluster trace that Alibaba published in 2023 (openb_node_list, openb_pod_list) as
// nodes and pods.
//
//   nodes   sn,cpu_milli,memory_mib,gpu,model
//   pods    name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,…
//
// A node has whole GPUs as nvidia.com/gpu, the same GPUs in thousandths as berth.dev/gpu-milli, and
// its model as the labels berth.dev/gpu-model and berth.dev/power-class. A pod with one GPU and
// less than 1000 of gpu_milli takes a share, others whole GPUs; gpu_spec is a required node
// affinity. Times and QoS of pods are not read.
#pragma once

#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "base/error.h"

namespace berth::sim {

inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";
inline constexpr std::string_view kGpuShares = "berth.dev/gpu-milli";
inline constexpr std::string_view kGpuModel = "berth.dev/gpu-model";
inline constexpr std::string_view kPowerClass = "berth.dev/power-class";

struct Trace {
  std::vector<api::Node> nodes;
  std::vector<api::Pod> pods;  // in the order of the file
};

// The contents of both files. Errors name "nodes" or "pods", the line, the column and the value.
Result<Trace> ReadOpenb(std::string_view nodes_csv, std::string_view pods_csv);

}  // namespace berth::sim
