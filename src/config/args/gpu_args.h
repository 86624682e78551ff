// The arguments of the plugins that score GPUs: GpuFragmentation and EnergyAware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/rules/resource_list.h"
#include "config/plugin_args.h"

namespace berth::config {

// How nodes and pods state GPUs. A pod takes whole GPUs, or a share of one.
struct GpuResourcesSpec {
  std::string gpu_resource;    // nvidia.com/gpu
  std::string share_resource;  // berth.dev/gpu-milli; a pod's amount is on one GPU
  int64_t shares_per_gpu = 0;  // 1000

  void SetGpuDefaults();
  void ValidateGpus(std::vector<std::string>& errors) const;
  bool operator==(const GpuResourcesSpec&) const = default;
};

// A kind of pod that is expected to arrive.
struct ExpectedPods {
  api::ResourceList requests;
  double weight = 0;  // relative to the others

  bool operator==(const ExpectedPods&) const = default;
  static const api::TypeInfo& Type();
};

struct GpuFragmentationArgs : GpuResourcesSpec {
  static constexpr std::string_view kPlugin = "GpuFragmentation";

  // Empty: learned from the pods of the cluster.
  std::vector<ExpectedPods> workload;
  // The weight of GPUs that will be stranded when the node is full, beside those that are
  // fragments already; 0: none.
  double lookahead = 0;

  void SetDefaults() { SetGpuDefaults(); }
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const GpuFragmentationArgs&) const = default;
  static const api::TypeInfo& Type();
};

// Watts of the CPUs of a node.
struct CpuPowerSpec {
  double idle_watts = 0;          // of a package that runs nothing
  double max_watts = 0;           // of a package in full use
  int64_t cores_per_package = 0;  // 0: the node is one package
  int64_t threads_per_core = 0;   // CPUs that a core counts as; 2
  std::string curve = {};         // Package, or Linear between the two

  bool operator==(const CpuPowerSpec&) const = default;
  static const api::TypeInfo& Type();
};

// Watts of one GPU: in use when a pod has all or a share of it.
struct GpuPowerSpec {
  double idle_watts = 0;
  double max_watts = 0;

  bool operator==(const GpuPowerSpec&) const = default;
  static const api::TypeInfo& Type();
};

// The power of the nodes of a class.
struct NodePowerSpec {
  std::string node_class;             // the value of the class label; empty: all other nodes
  double base_watts = 0;              // of everything else, while the node runs
  std::optional<double> sleep_watts;  // of a node without pods; absent: it runs on
  CpuPowerSpec cpu;
  GpuPowerSpec gpu;

  bool operator==(const NodePowerSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct EnergyAwareArgs : GpuResourcesSpec {
  static constexpr std::string_view kPlugin = "EnergyAware";
  using Multipliers = boost::container::flat_map<std::string, double, std::less<>>;

  std::string class_label;  // berth.dev/power-class
  std::vector<NodePowerSpec> models;
  std::string zone_label;        // topology.kubernetes.io/zone
  Multipliers zone_multipliers;  // of watts: price or carbon intensity; 1 for zones without one

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const EnergyAwareArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
