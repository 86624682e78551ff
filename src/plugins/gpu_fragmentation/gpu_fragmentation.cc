#include "plugins/gpu_fragmentation/gpu_fragmentation.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "base/wrap.h"
#include "plugins/common/lowest_cost.h"

namespace berth::plugins::gpu_fragmentation {
namespace {

constexpr size_t kMaxLearned = 1024;  // kinds; the rarest are left out
constexpr size_t kFewPods = 16;       // below it every change counts

struct State : framework::PluginState {
  GpuDemand demand;
};

int64_t CpuOf(const api::ResourceList& requests) {
  const auto it = requests.find("cpu");
  return it == requests.end() ? 0 : it->second.MilliValue();
}
int64_t MemoryOf(const api::ResourceList& requests) {
  const auto it = requests.find("memory");
  return it == requests.end() ? 0 : it->second.Value();
}

FreeNode FreeOf(const cluster::Cluster& cluster, cluster::NodeIndex n) {
  const cluster::ResourceColumn& cpu = *cluster.Resource(cluster::kCpu);
  const cluster::ResourceColumn& memory = *cluster.Resource(cluster::kMemory);
  FreeNode node;
  node.milli_cpu = WrapSub(cpu.allocatable[n], cpu.requested[n]);
  node.memory = WrapSub(memory.allocatable[n], memory.requested[n]);
  return node;
}

}  // namespace

GpuFragmentation::GpuFragmentation(const config::GpuFragmentationArgs& args,
                                   cluster::Cluster& cluster)
    : gpus_(args, cluster), learns_(args.workload.empty()), lookahead_(args.lookahead) {
  cluster.TrackResource(cluster::kCpu);
  cluster.TrackResource(cluster::kMemory);
  std::vector<ExpectedPod> kinds;
  for (const config::ExpectedPods& expected : args.workload) {
    kinds.push_back({CpuOf(expected.requests), MemoryOf(expected.requests),
                     gpus_.DemandOf(expected.requests), expected.weight});
  }
  workload_ = ExpectedWorkload(std::move(kinds), gpus_.SharesPerGpu());
}

std::unique_ptr<framework::PluginState> GpuFragmentation::NewState() const {
  return std::make_unique<State>();
}

void GpuFragmentation::BeginCycle(const framework::CycleContext& c,
                                  framework::PluginState* state) const {
  static_cast<State*>(state)->demand = gpus_.DemandOf(c.shape);
  if (!learns_) return;
  const size_t pods = c.cluster.PodCountTotal();
  const size_t change = pods > learned_from_ ? pods - learned_from_ : learned_from_ - pods;
  if (change == 0 || (learned_from_ > kFewPods && change < learned_from_ / 8)) return;
  Learn(c.cluster);
}

void GpuFragmentation::Learn(const cluster::Cluster& cluster) const {
  using Kind = std::tuple<int64_t, int64_t, GpuDemand>;
  std::map<Kind, double> seen;
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (!cluster.PodExists(id)) continue;
    const cluster::PodShape& shape = *cluster.GetPod(id).shape;
    seen[{shape.on_node.cpu, shape.on_node.memory, gpus_.DemandOf(shape)}] += 1;
  }
  std::vector<std::pair<double, Kind>> kinds;
  for (const auto& [kind, weight] : seen) kinds.emplace_back(weight, kind);
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (kinds.size() > kMaxLearned) kinds.resize(kMaxLearned);
  std::vector<ExpectedPod> expected;
  for (const auto& [weight, kind] : kinds) {
    const auto& [cpu, memory, demand] = kind;
    expected.push_back({cpu, memory, demand, weight});
  }
  workload_ = ExpectedWorkload(std::move(expected), gpus_.SharesPerGpu());
  learned_from_ = cluster.PodCountTotal();
  ++version_;
}

framework::Status GpuFragmentation::PreFilter(const framework::CycleContext&,
                                              framework::PluginState* state,
                                              framework::PreFilterResult*) const {
  return static_cast<State*>(state)->demand.Any() ? framework::Status() : framework::Status::Skip();
}

void GpuFragmentation::Filter(const framework::CycleContext& c, const framework::PluginState* state,
                              framework::FilterBatch& batch) const {
  const GpuDemand demand = static_cast<const State*>(state)->demand;
  FreeGpus gpus;
  batch.ForEach([&](cluster::NodeIndex n) {
    gpus_.Read(c.cluster, n, &gpus);
    if (!gpus.Fits(demand)) batch.Reject(n, framework::Code::kUnschedulable);
  });
}

double GpuFragmentation::CostOf(const FreeNode& node) const {
  const double fragment = workload_.FragmentOf(node);
  return lookahead_ > 0 ? fragment + lookahead_ * workload_.StrandedOf(node) : fragment;
}

void GpuFragmentation::Score(const framework::CycleContext& c, const framework::PluginState* state,
                             framework::ScoreBatch& batch) const {
  const GpuDemand demand = static_cast<const State*>(state)->demand;
  const cluster::Amounts& pod = c.shape.on_node;
  int64_t* scores = batch.Scores();
  FreeNode node;
  batch.ForEach([&](cluster::NodeIndex n) {
    node = FreeOf(c.cluster, n);
    gpus_.Read(c.cluster, n, &node.gpus);
    const double before = CostOf(node);
    node.milli_cpu = WrapSub(node.milli_cpu, pod.cpu);
    node.memory = WrapSub(node.memory, pod.memory);
    node.gpus.Take(demand);
    scores[n] = RawCost(CostOf(node) - before);
  });
}

void GpuFragmentation::Normalize(const framework::CycleContext&, const framework::PluginState*,
                                 const framework::NodeSet& feasible,
                                 framework::ScoreColumn& column) const {
  LowestCostIsBest(feasible, column);
}

bool GpuFragmentation::AppendPremises(const framework::CycleContext&, framework::PluginState*,
                                      std::vector<int64_t>* out) const {
  out->push_back(version_);
  return true;
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::GpuFragmentationArgs own;
  if (const auto* given = config::OwnArgsAs<config::GpuFragmentationArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<GpuFragmentation>(own, handle.cluster);
}

}  // namespace berth::plugins::gpu_fragmentation
