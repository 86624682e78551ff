// Fragmentation of the GPUs of a node with regard to the pods that are expected (Weng et al.,
// "Beware of Fragmentation", USENIX ATC 2023).
//
// For one kind of pod, the fragment of a node is what is free of its GPUs and of no use to such a
// pod: all of it when the pod does not fit or takes no GPU, otherwise the GPUs on which it could
// not run. The fragmentation is the mean over the kinds, weighted by how often they arrive. Here
// kinds with the same GPU demand share tables of weights by CPU and memory.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/common/gpus.h"

namespace berth::plugins {

struct ExpectedPod {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  GpuDemand gpus;
  double weight = 0;
};

struct FreeNode {
  int64_t milli_cpu = 0;
  int64_t memory = 0;
  FreeGpus gpus;
};

class ExpectedWorkload {
 public:
  // Weights need not add up to one. Without kinds, nothing is a fragment.
  ExpectedWorkload() = default;
  explicit ExpectedWorkload(std::vector<ExpectedPod> kinds, int64_t shares_per_gpu = 1000);

  // In shares of a GPU, from 0 to all that is free.
  double FragmentOf(const FreeNode& node) const;
  // GPUs that stay free when the node is filled up with pods like the expected ones, because CPUs
  // or memory end first. In shares of a GPU, by the mean CPU and memory per GPU of kinds that take
  // GPUs.
  double StrandedOf(const FreeNode& node) const;
  bool Empty() const { return groups_.empty() && without_gpus_ == 0; }

 private:
  // Kinds with one GPU demand.
  struct Group {
    GpuDemand gpus;
    double weight = 0;
    std::vector<int64_t> milli_cpu;  // ascending, distinct
    std::vector<int64_t> memory;
    std::vector<double> upto;  // [cpu][memory]: weight of kinds with at most so much of both
  };

  std::vector<Group> groups_;
  double milli_cpu_per_share_ = 0;
  double memory_per_share_ = 0;
  double without_gpus_ = 0;  // weight of kinds that take none; all weights add up to one
};

// What of the free shares is of no use to a pod with this demand, which fits otherwise.
int64_t UselessShares(const FreeGpus& gpus, const GpuDemand& demand);

}  // namespace berth::plugins
