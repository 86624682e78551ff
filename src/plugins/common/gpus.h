// The GPUs of a node: how many are free, and how much of those that are shared.
//
// A pod takes whole GPUs (gpuResource) or a share of one (shareResource). The API does not say
// which GPU a pod has; GpuReader places the pods of a node in their order, shares on the GPU with
// the least that is enough (best fit), as device plugins that pack do. So what it returns depends
// on the node and its pods alone.
#pragma once

#include <algorithm>
#include <cstdint>

#include <boost/container/static_vector.hpp>

#include "cluster/cluster.h"
#include "config/args/gpu_args.h"

namespace berth::plugins {

inline constexpr size_t kMaxGpus = 64;  // of a node; more are left out

struct GpuDemand {
  int64_t whole = 0;  // GPUs
  int64_t share = 0;  // of one GPU, in units of shares

  bool Any() const { return whole > 0 || share > 0; }
  bool operator==(const GpuDemand&) const = default;
  auto operator<=>(const GpuDemand&) const = default;
};

// What is free of each GPU, in shares, ascending.
struct FreeGpus {
  boost::container::static_vector<int32_t, kMaxGpus> free;
  int32_t per_gpu = 1000;

  int64_t Total() const {
    int64_t total = 0;
    for (const int32_t share : free) total += share;
    return total;
  }
  // GPUs that nobody uses.
  int64_t Whole() const { return std::count(free.begin(), free.end(), per_gpu); }
  bool Fits(const GpuDemand& demand) const {
    if (demand.whole > Whole()) return false;
    if (demand.share == 0) return true;
    // Whole GPUs come from the end, the share from the first that is large enough.
    const auto left = free.size() - static_cast<size_t>(demand.whole);
    return left > 0 && free[left - 1] >= demand.share;
  }
  // Takes whole GPUs, then the share by best fit. What does not fit takes what there is.
  void Take(const GpuDemand& demand);
};

class GpuReader {
 public:
  // The cluster gets columns for both resources. REQUIRES: valid arguments, with defaults.
  GpuReader(const config::GpuResourcesSpec& spec, cluster::Cluster& cluster);

  GpuDemand DemandOf(const cluster::PodShape& shape) const {
    return {std::max<int64_t>(0, shape.on_node.Get(whole_)),
            std::max<int64_t>(0, shape.on_node.Get(share_))};
  }
  GpuDemand DemandOf(const api::ResourceList& requests) const;
  // With the pods that are on the node, assumed ones too.
  void Read(const cluster::Cluster& cluster, cluster::NodeIndex node, FreeGpus* out) const;
  int32_t SharesPerGpu() const { return per_gpu_; }

 private:
  cluster::ResourceId whole_;
  cluster::ResourceId share_;
  std::string whole_name_;
  std::string share_name_;
  int32_t per_gpu_;
};

}  // namespace berth::plugins
