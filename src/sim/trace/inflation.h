// Inflation: how full a cluster gets, as two studies of GPU scheduling measure it.
//
// The pods of a trace arrive in random order, one after the other, and more of them are drawn until
// what has arrived asks for a share of the GPUs of the cluster, 130 % for example. No pod ends; one
// that finds no node is not tried again. After every percent of arrived load it is measured how
// many GPUs are allocated, how much of the rest is fragmented with regard to the pods of the trace
// (plugins/common/gpu_fragmentation.h), and what the cluster draws (node_power.h, with the models
// of StudyPowerModels). Equal seeds give equal arrivals, whatever the configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "config/args/gpu_args.h"
#include "scheduler/profile_set.h"
#include "sim/trace/openb.h"

namespace berth::sim {

struct InflationOptions {
  double load = 1.3;       // at the end, of the GPUs
  uint64_t seed = 42;      // of the order and of the pods that are drawn, and of ties
  bool all_nodes = false;  // those without GPUs too; the studies leave them out
  bool adaptive_sampling = false;
  bool classes = true;  // changes speed only: AlgorithmOptions::classes
  config::Behaviour behaviour = {};
  std::span<const scheduler::ExtraPlugin> extra_plugins = {};
  std::function<void(size_t done, size_t all)> progress = nullptr;  // pods
};

// Percent are of all GPUs, but for `arrived` and `fragmented`.
struct LoadPoint {
  double arrived = 0;     // GPUs that have been asked for so far, percent of all GPUs
  double allocated = 0;   // the same of pods that have a node
  double fragmented = 0;  // percent of what is free
  double fragments = 0;   // the same, percent of all GPUs
  double kilowatts = 0;
  int64_t pods = 0;
  int64_t placed = 0;
  int64_t busy_nodes = 0;  // with pods

  static const api::TypeInfo& Type();
};

struct LoadCurve {
  std::string profile;
  uint64_t seed = 0;
  std::vector<LoadPoint> points;  // per percent of arrived load, the empty cluster first

  static const api::TypeInfo& Type();
  // The last one up to this load.
  const LoadPoint& At(double arrived) const;
};

Result<LoadCurve> RunInflation(const Trace& trace, const config::KubeSchedulerConfiguration& config,
                               const InflationOptions& options);

// The mean of runs with several seeds; REQUIRES: at least one, with equal options otherwise.
LoadCurve MeanOf(std::span<const LoadCurve> runs);

// Idle and highest power of the GPUs in the trace, and of the CPUs of their nodes.
std::vector<config::NodePowerSpec> StudyPowerModels();

}  // namespace berth::sim
