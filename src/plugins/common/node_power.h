// The power of a node by what its pods have: CPUs and GPUs, as Lettich et al. model them ("Power-
// and Fragmentation-aware Online Scheduling for GPU Datacenters", CCGrid 2025).
#pragma once

#include <cstdint>

#include "config/args/gpu_args.h"

namespace berth::plugins {

struct NodeUse {
  int64_t milli_cpu_allocatable = 0;
  int64_t milli_cpu_used = 0;
  int64_t gpus = 0;
  int64_t gpus_used = 0;  // by a pod, all or a share of it
  bool has_pods = false;
};

// Watts. Package: packages draw their maximum as soon as one of their cores works, cores work as
// long as fewer than threadsPerCore of their CPUs are free, and pods fill one package after the
// other. Linear: between idle and maximum by the share of CPUs that are requested.
double WattsOf(const config::NodePowerSpec& model, const NodeUse& use);

}  // namespace berth::plugins
