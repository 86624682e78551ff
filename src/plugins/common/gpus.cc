#include "plugins/common/gpus.h"

namespace berth::plugins {

void FreeGpus::Take(const GpuDemand& demand) {
  for (int64_t i = 0; i < demand.whole && !free.empty() && free.back() > 0; ++i) {
    free.pop_back();
    free.insert(free.begin(), 0);
  }
  if (demand.share <= 0 || free.empty()) return;
  auto at = std::lower_bound(free.begin(), free.end(), demand.share);
  if (at == free.end()) --at;
  const auto rest =
      static_cast<int32_t>(std::max<int64_t>(0, static_cast<int64_t>(*at) - demand.share));
  free.erase(at);
  free.insert(std::lower_bound(free.begin(), free.end(), rest), rest);
}

GpuReader::GpuReader(const config::GpuResourcesSpec& spec, cluster::Cluster& cluster)
    : whole_(cluster.Resources().Intern(spec.gpu_resource)),
      share_(cluster.Resources().Intern(spec.share_resource)),
      whole_name_(spec.gpu_resource),
      share_name_(spec.share_resource),
      per_gpu_(static_cast<int32_t>(spec.shares_per_gpu)) {
  cluster.TrackResource(whole_);
  cluster.TrackResource(share_);
}

GpuDemand GpuReader::DemandOf(const api::ResourceList& requests) const {
  const auto amount = [&](const std::string& name) {
    const auto it = requests.find(name);
    return it == requests.end() ? int64_t{0} : std::max<int64_t>(0, it->second.Value());
  };
  return {amount(whole_name_), amount(share_name_)};
}

void GpuReader::Read(const cluster::Cluster& cluster, cluster::NodeIndex node,
                     FreeGpus* out) const {
  const cluster::ResourceColumn& whole = *cluster.Resource(whole_);
  const cluster::ResourceColumn& share = *cluster.Resource(share_);
  int64_t count = whole.allocatable[node];
  if (count == 0) count = share.allocatable[node] / per_gpu_;
  count = std::clamp<int64_t>(count, 0, kMaxGpus);
  out->per_gpu = per_gpu_;
  out->free.assign(static_cast<size_t>(count), per_gpu_);
  if (count == 0) return;
  if (share.requested[node] == 0) {
    out->Take({whole.requested[node], 0});
    return;
  }
  for (const cluster::PodId pod : cluster.Record(node).pods) {
    const GpuDemand demand = DemandOf(*cluster.GetPod(pod).shape);
    if (demand.Any()) out->Take(demand);
  }
}

}  // namespace berth::plugins
