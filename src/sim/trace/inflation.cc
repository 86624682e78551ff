#include "sim/trace/inflation.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/random.h"
#include "plugins/common/gpu_fragmentation.h"
#include "plugins/common/node_power.h"
#include "sim/placement.h"
#include "sim/world.h"

namespace berth::sim {
namespace {

using plugins::ExpectedPod;
using plugins::ExpectedWorkload;
using plugins::GpuDemand;
using plugins::GpuReader;

constexpr size_t kMaxArrivals = 1'000'000;

config::GpuResourcesSpec Gpus() {
  config::GpuResourcesSpec spec;
  spec.SetGpuDefaults();
  spec.gpu_resource = kGpuResource;
  spec.share_resource = kGpuShares;
  return spec;
}

int64_t SharesOf(const GpuDemand& demand) { return demand.whole * 1000 + demand.share; }

// Positions in the trace, in the order of arrival.
std::vector<size_t> Arrivals(const std::vector<int64_t>& shares, double wanted, Random& random) {
  std::vector<size_t> order;
  double arrived = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    order.push_back(i);
    arrived += static_cast<double>(shares[i]);
  }
  while (arrived > 0 && arrived < wanted && order.size() < kMaxArrivals) {
    order.push_back(static_cast<size_t>(random.Below(shares.size())));
    arrived += static_cast<double>(shares[order.back()]);
  }
  for (size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<size_t>(random.Below(i))]);
  }
  return order;
}

class Run {
 public:
  Run(const Trace& trace, const InflationOptions& options)
      : trace_(trace), options_(options), world_(options.behaviour) {}

  Result<LoadCurve> Play(const config::KubeSchedulerConfiguration& config) {
    cluster::Cluster& cluster = world_.GetCluster();
    const auto inputs = scheduler::InputsOf(config, options_.behaviour, options_.extra_plugins);
    if (!inputs) return Fail(inputs.error());
    cluster.Track(*inputs);
    for (const api::Node& node : trace_.nodes) {
      const bool has_gpus = node.status.allocatable.contains(std::string(kGpuResource));
      if (has_gpus || options_.all_nodes) cluster.SetNode(node);
    }
    auto profiles = scheduler::ProfileSet::Make(config, options_.behaviour, cluster, nullptr,
                                                options_.seed, options_.extra_plugins);
    if (!profiles) return Fail(profiles.error());
    gpus_.emplace(Gpus(), cluster);
    ReadModels();
    if (total_ == 0) return Fail("the nodes of the trace have no GPUs");
    std::vector<int64_t> shares;
    std::vector<ExpectedPod> expected;
    for (const api::Pod& pod : trace_.pods) {
      const api::ResourceList& requests = pod.spec.containers[0].resources.requests;
      const GpuDemand demand = gpus_->DemandOf(requests);
      shares.push_back(SharesOf(demand));
      expected.push_back({requests.find("cpu")->second.MilliValue(),
                          requests.find("memory")->second.Value(), demand, 1});
    }
    workload_ = ExpectedWorkload(std::move(expected));
    PlacementOptions placement;
    placement.algorithm.seed = options_.seed;
    placement.algorithm.adaptive_sampling = options_.adaptive_sampling;
    placement.algorithm.classes = options_.classes;
    Placement place(world_, *profiles, placement);
    return PlayArrivals(shares, place);
  }

 private:
  void ReadModels() {
    const std::vector<config::NodePowerSpec> models = StudyPowerModels();
    std::map<std::string, const api::Node*> nodes;
    for (const api::Node& node : trace_.nodes) nodes[node.metadata.name] = &node;
    const cluster::Cluster& cluster = world_.GetCluster();
    plugins::FreeGpus gpus;
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      const std::string* name =
          api::FindValue(nodes[cluster.NodeName(n)]->metadata.labels, kPowerClass);
      const config::NodePowerSpec* model = &models.back();
      for (const config::NodePowerSpec& candidate : models) {
        if (name != nullptr && candidate.node_class == *name) model = &candidate;
      }
      models_.resize(std::max<size_t>(models_.size(), n + 1));
      models_[n] = *model;
      gpus_->Read(cluster, n, &gpus);
      total_ += gpus.Total();
    });
  }

  Result<LoadCurve> PlayArrivals(const std::vector<int64_t>& shares, Placement& place) {
    Random random(options_.seed);
    const double wanted = options_.load * static_cast<double>(total_);
    const std::vector<size_t> order = Arrivals(shares, wanted, random);
    LoadCurve curve;
    curve.seed = options_.seed;
    curve.points.push_back(Measure());
    for (size_t i = 0; i < order.size() && static_cast<double>(arrived_) < wanted; ++i) {
      api::Pod pod = trace_.pods[order[i]];
      pod.metadata.name += fmt::format("-{}", i);
      pod.metadata.uid = fmt::format("uid-{}", i);
      const PodOutcome outcome = place.Schedule(world_.GetCluster().AddPod(pod));
      if (outcome.kind == PodOutcome::Kind::kError) {
        return Fail(fmt::format("pod {}: {}", pod.metadata.name, outcome.message));
      }
      arrived_ += shares[order[i]];
      ++pods_;
      if (outcome.kind == PodOutcome::Kind::kPlaced) {
        ++placed_;
        allocated_ += shares[order[i]];
      }
      if (Percent(arrived_) >= static_cast<double>(curve.points.size())) {
        curve.points.push_back(Measure());
      }
      if (options_.progress) options_.progress(i + 1, order.size());
    }
    return curve;
  }

  double Percent(int64_t shares) const {
    return 100 * static_cast<double>(shares) / static_cast<double>(total_);
  }

  LoadPoint Measure() const {
    const cluster::Cluster& cluster = world_.GetCluster();
    const cluster::ResourceColumn& cpu = *cluster.Resource(cluster::kCpu);
    const cluster::ResourceColumn& memory = *cluster.Resource(cluster::kMemory);
    LoadPoint point;
    double fragments = 0;
    double free = 0;
    double watts = 0;
    plugins::FreeNode node;
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      node.milli_cpu = cpu.allocatable[n] - cpu.requested[n];
      node.memory = memory.allocatable[n] - memory.requested[n];
      gpus_->Read(cluster, n, &node.gpus);
      fragments += workload_.FragmentOf(node);
      free += static_cast<double>(node.gpus.Total());
      const auto count = static_cast<int64_t>(node.gpus.free.size());
      const bool has_pods = !cluster.Record(n).pods.empty();
      if (has_pods) ++point.busy_nodes;
      watts += plugins::WattsOf(models_[n], {.milli_cpu_allocatable = cpu.allocatable[n],
                                             .milli_cpu_used = cpu.requested[n],
                                             .gpus = count,
                                             .gpus_used = count - node.gpus.Whole(),
                                             .has_pods = has_pods});
    });
    point.arrived = Percent(arrived_);
    point.allocated = Percent(allocated_);
    point.fragments = 100 * fragments / static_cast<double>(total_);
    point.fragmented = free > 0 ? 100 * fragments / free : 0;
    point.kilowatts = watts / 1000;
    point.pods = pods_;
    point.placed = placed_;
    return point;
  }

  const Trace& trace_;
  const InflationOptions& options_;
  World world_;
  std::optional<GpuReader> gpus_;
  ExpectedWorkload workload_;
  std::vector<config::NodePowerSpec> models_;  // by row
  int64_t total_ = 0;                          // shares, as all that follow
  int64_t arrived_ = 0;
  int64_t allocated_ = 0;
  int64_t pods_ = 0;
  int64_t placed_ = 0;
};

config::NodePowerSpec Model(std::string_view name, double gpu_idle, double gpu_max, double cpu_idle,
                            double cpu_max, int64_t cores) {
  config::NodePowerSpec model;
  model.node_class = name;
  model.cpu = {.idle_watts = cpu_idle,
               .max_watts = cpu_max,
               .cores_per_package = cores,
               .threads_per_core = 2,
               .curve = "Package"};
  model.gpu = {.idle_watts = gpu_idle, .max_watts = gpu_max};
  return model;
}

}  // namespace

// Of Lettich et al.: G2 counts as an A10, G3 as an A100, as their nodes suggest.
std::vector<config::NodePowerSpec> StudyPowerModels() {
  return {Model("T4", 10, 70, 20, 165, 24),       Model("P100", 25, 250, 15, 120, 16),
          Model("V100M16", 30, 300, 20, 185, 16), Model("V100M32", 30, 300, 20, 185, 16),
          Model("A10", 30, 150, 20, 270, 32),     Model("G2", 30, 150, 20, 270, 32),
          Model("G3", 50, 400, 20, 270, 32),      Model("", 0, 0, 15, 120, 16)};
}

const LoadPoint& LoadCurve::At(double arrived) const {
  const LoadPoint* last = &points.front();
  for (const LoadPoint& point : points) {
    if (point.arrived <= arrived + 0.5) last = &point;
  }
  return *last;
}

LoadCurve MeanOf(std::span<const LoadCurve> runs) {
  LoadCurve mean = runs[0];
  for (const LoadCurve& run : runs.subspan(1)) {
    mean.points.resize(std::min(mean.points.size(), run.points.size()));
  }
  const auto count = static_cast<double>(runs.size());
  for (size_t i = 0; i < mean.points.size(); ++i) {
    const auto average = [&](double LoadPoint::*member) {
      double sum = 0;
      for (const LoadCurve& run : runs) sum += run.points[i].*member;
      mean.points[i].*member = sum / count;
    };
    for (auto member : {&LoadPoint::arrived, &LoadPoint::allocated, &LoadPoint::fragmented,
                        &LoadPoint::fragments, &LoadPoint::kilowatts}) {
      average(member);
    }
    const auto whole = [&](int64_t LoadPoint::*member) {
      int64_t sum = 0;
      for (const LoadCurve& run : runs) sum += run.points[i].*member;
      mean.points[i].*member = sum / static_cast<int64_t>(runs.size());
    };
    for (auto member : {&LoadPoint::pods, &LoadPoint::placed, &LoadPoint::busy_nodes}) {
      whole(member);
    }
  }
  return mean;
}

Result<LoadCurve> RunInflation(const Trace& trace, const config::KubeSchedulerConfiguration& config,
                               const InflationOptions& options) {
  return Run(trace, options).Play(config);
}

const api::TypeInfo& LoadPoint::Type() {
  using T = LoadPoint;
  static const api::TypeInfo type = api::Describe<T>("LoadPoint")
                                        .Always(0, "arrivedPercent", &T::arrived)
                                        .Always(0, "allocatedPercent", &T::allocated)
                                        .Always(0, "fragmentedPercentOfFree", &T::fragmented)
                                        .Always(0, "fragmentsPercent", &T::fragments)
                                        .Always(0, "kilowatts", &T::kilowatts)
                                        .Always(0, "pods", &T::pods)
                                        .Always(0, "placed", &T::placed)
                                        .Always(0, "busyNodes", &T::busy_nodes)
                                        .Build();
  return type;
}

const api::TypeInfo& LoadCurve::Type() {
  using T = LoadCurve;
  static const api::TypeInfo type = api::Describe<T>("LoadCurve")
                                        .Always(0, "profile", &T::profile)
                                        .Field(0, "points", &T::points)
                                        .Build();
  return type;
}

}  // namespace berth::sim
