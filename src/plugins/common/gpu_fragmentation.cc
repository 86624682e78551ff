#include "plugins/common/gpu_fragmentation.h"

#include <algorithm>
#include <map>

namespace berth::plugins {
namespace {

std::vector<int64_t> Distinct(std::vector<int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

size_t RankOf(const std::vector<int64_t>& ascending, int64_t value) {
  return static_cast<size_t>(std::upper_bound(ascending.begin(), ascending.end(), value) -
                             ascending.begin());
}

}  // namespace

int64_t UselessShares(const FreeGpus& gpus, const GpuDemand& demand) {
  if (!gpus.Fits(demand)) return gpus.Total();
  int64_t useless = 0;
  for (const int32_t free : gpus.free) {
    const bool whole = demand.whole > 0 && free == gpus.per_gpu;
    const bool share = demand.share > 0 && free >= demand.share;
    if (!whole && !share) useless += free;
  }
  return useless;
}

ExpectedWorkload::ExpectedWorkload(std::vector<ExpectedPod> kinds, int64_t shares_per_gpu) {
  double sum = 0;
  for (const ExpectedPod& kind : kinds) sum += kind.weight;
  if (!(sum > 0)) return;
  double shares = 0;
  std::map<GpuDemand, std::vector<ExpectedPod>> by_gpus;
  for (ExpectedPod& kind : kinds) {
    kind.weight /= sum;
    if (kind.gpus.Any()) {
      by_gpus[kind.gpus].push_back(kind);
      shares +=
          kind.weight * static_cast<double>(kind.gpus.whole * shares_per_gpu + kind.gpus.share);
      milli_cpu_per_share_ += kind.weight * static_cast<double>(kind.milli_cpu);
      memory_per_share_ += kind.weight * static_cast<double>(kind.memory);
    } else {
      without_gpus_ += kind.weight;
    }
  }
  if (shares > 0) {
    milli_cpu_per_share_ /= shares;
    memory_per_share_ /= shares;
  }
  for (const auto& [gpus, alike] : by_gpus) {
    Group& group = groups_.emplace_back();
    group.gpus = gpus;
    for (const ExpectedPod& kind : alike) {
      group.weight += kind.weight;
      group.milli_cpu.push_back(kind.milli_cpu);
      group.memory.push_back(kind.memory);
    }
    group.milli_cpu = Distinct(std::move(group.milli_cpu));
    group.memory = Distinct(std::move(group.memory));
    const size_t width = group.memory.size() + 1;
    group.upto.assign((group.milli_cpu.size() + 1) * width, 0);
    for (const ExpectedPod& kind : alike) {
      group.upto[RankOf(group.milli_cpu, kind.milli_cpu) * width +
                 RankOf(group.memory, kind.memory)] += kind.weight;
    }
    for (size_t c = 1; c <= group.milli_cpu.size(); ++c) {
      for (size_t m = 1; m < width; ++m) {
        group.upto[c * width + m] += group.upto[(c - 1) * width + m] +
                                     group.upto[c * width + m - 1] -
                                     group.upto[(c - 1) * width + m - 1];
      }
    }
  }
}

double ExpectedWorkload::FragmentOf(const FreeNode& node) const {
  const auto total = static_cast<double>(node.gpus.Total());
  if (total == 0) return 0;
  double fragment = without_gpus_ * total;
  for (const Group& group : groups_) {
    const size_t width = group.memory.size() + 1;
    const double fits = group.upto[RankOf(group.milli_cpu, node.milli_cpu) * width +
                                   RankOf(group.memory, node.memory)];
    fragment += (group.weight - fits) * total;
    fragment += fits * static_cast<double>(UselessShares(node.gpus, group.gpus));
  }
  return fragment;
}

double ExpectedWorkload::StrandedOf(const FreeNode& node) const {
  const auto total = static_cast<double>(node.gpus.Total());
  double usable = total;
  if (milli_cpu_per_share_ > 0) {
    usable = std::min(usable, static_cast<double>(node.milli_cpu) / milli_cpu_per_share_);
  }
  if (memory_per_share_ > 0) {
    usable = std::min(usable, static_cast<double>(node.memory) / memory_per_share_);
  }
  return total - std::max(0.0, usable);
}

}  // namespace berth::plugins
