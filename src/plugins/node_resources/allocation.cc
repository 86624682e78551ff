#include "plugins/node_resources/allocation.h"

#include <algorithm>
#include <cmath>

#include "base/wrap.h"
#include "framework/points/plugin.h"

namespace berth::plugins::node_resources {
namespace {

using cluster::NodeIndex;
using framework::kMaxNodeScore;

int64_t Requested(const ScoredResource& r, NodeIndex n) { return WrapAdd(r.used[n], r.request); }

int64_t LeastRequested(int64_t requested, int64_t capacity) {
  if (requested > capacity) return 0;
  return WrapDiv(WrapMul(WrapSub(capacity, requested), kMaxNodeScore), capacity);
}

int64_t MostRequested(int64_t requested, int64_t capacity) {
  requested = std::min(requested, capacity);
  return WrapDiv(WrapMul(requested, kMaxNodeScore), capacity);
}

// Weighted mean over the resources the node has, in integers.
template <class Rule>
int64_t WeightedMean(const std::vector<ScoredResource>& resources, NodeIndex n, Rule&& rule) {
  int64_t sum = 0;
  int64_t weights = 0;
  for (const ScoredResource& r : resources) {
    const int64_t capacity = r.allocatable[n];
    if (capacity == 0) continue;
    sum = WrapAdd(sum, WrapMul(rule(Requested(r, n), capacity), r.weight));
    weights += r.weight;
  }
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace

std::vector<ScoredSpec> ResolveSpecs(const cluster::Cluster& cluster,
                                     const std::vector<config::ResourceSpec>& specs) {
  std::vector<ScoredSpec> resolved;
  for (const config::ResourceSpec& spec : specs) {
    resolved.push_back({cluster.Resources().Intern(spec.name), spec.weight});
  }
  return resolved;
}

void CollectResources(const cluster::Cluster& cluster, const std::vector<ScoredSpec>& specs,
                      const cluster::Amounts& requests, bool nonzero,
                      std::vector<ScoredResource>* out) {
  out->clear();
  for (const auto& [id, weight] : specs) {
    const cluster::ResourceColumn* column = cluster.Resource(id);
    if (column == nullptr) continue;
    const int64_t request = requests.Get(id);
    if (id >= cluster::kFirstScalar && request == 0) continue;
    const int64_t* used = column->requested.data();
    if (nonzero && id == cluster::kCpu) used = cluster.NonzeroCpu().data();
    if (nonzero && id == cluster::kMemory) used = cluster.NonzeroMemory().data();
    out->push_back({column->allocatable.data(), used, request, weight, id});
  }
}

int64_t LeastAllocatedScore(const std::vector<ScoredResource>& resources, NodeIndex n) {
  return WeightedMean(resources, n, LeastRequested);
}

int64_t MostAllocatedScore(const std::vector<ScoredResource>& resources, NodeIndex n) {
  return WeightedMean(resources, n, MostRequested);
}

int64_t MostAllocatedOf(const cluster::Cluster& cluster, const std::vector<ScoredSpec>& specs,
                        const framework::NodeSet& nodes,
                        FunctionRef<int64_t(cluster::ResourceId)> wanted) {
  // Sums in columns of one row, so that the rule for a node applies.
  std::vector<int64_t> allocatable(specs.size());
  std::vector<int64_t> used(specs.size());
  std::vector<ScoredResource> sums;
  std::vector<ScoredResource> columns;
  for (size_t i = 0; i < specs.size(); ++i) {
    cluster::Amounts request;
    const int64_t amount = wanted(specs[i].id);
    if (specs[i].id >= cluster::kFirstScalar) request.scalars.emplace_back(specs[i].id, amount);
    CollectResources(cluster, {specs[i]}, request, /*nonzero=*/true, &columns);
    if (columns.empty()) continue;
    nodes.ForEach([&](NodeIndex n) {
      if (columns.front().allocatable[n] == 0) return;
      allocatable[i] = WrapAdd(allocatable[i], columns.front().allocatable[n]);
      used[i] = WrapAdd(used[i], columns.front().used[n]);
    });
    sums.push_back({&allocatable[i], &used[i], amount, specs[i].weight, specs[i].id});
  }
  return MostAllocatedScore(sums, 0);
}

int64_t RatioScore(const std::vector<ScoredResource>& resources, const UtilizationScores& shape,
                   NodeIndex n) {
  int64_t sum = 0;
  int64_t weights = 0;
  for (const ScoredResource& r : resources) {
    const int64_t capacity = r.allocatable[n];
    if (capacity == 0) continue;
    const int64_t requested = Requested(r, n);
    const int64_t utilization =
        requested > capacity ? 100 : WrapDiv(WrapMul(requested, 100), capacity);
    const int64_t score = shape[static_cast<size_t>(std::clamp<int64_t>(utilization, 0, 100))];
    if (score <= 0) continue;
    sum += score * r.weight;
    weights += r.weight;
  }
  if (weights == 0) return 0;
  return TruncToInt64(std::round(static_cast<double>(sum) / static_cast<double>(weights)));
}

int64_t BalancedScore(const std::vector<ScoredResource>& resources, NodeIndex n) {
  // Two passes instead of a list of fractions: nothing is allocated, and sums are taken in the same
  // order.
  const auto fraction = [n](const ScoredResource& r) {
    const double f = static_cast<double>(Requested(r, n)) / static_cast<double>(r.allocatable[n]);
    return f > 1 ? 1.0 : f;
  };
  double total = 0;
  double first = 0;
  double second = 0;
  size_t count = 0;
  for (const ScoredResource& r : resources) {
    if (r.allocatable[n] == 0) continue;
    const double f = fraction(r);
    total += f;
    (count == 0 ? first : second) = f;
    ++count;
  }
  double deviation = 0;
  if (count == 2) {
    deviation = std::fabs((first - second) / 2);
  } else if (count > 2) {
    const double mean = total / static_cast<double>(count);
    double sum = 0;
    for (const ScoredResource& r : resources) {
      if (r.allocatable[n] == 0) continue;
      const double d = fraction(r) - mean;
      sum = sum + d * d;
    }
    deviation = std::sqrt(sum / static_cast<double>(count));
  }
  return TruncToInt64((1 - deviation) * static_cast<double>(kMaxNodeScore));
}

}  // namespace berth::plugins::node_resources
