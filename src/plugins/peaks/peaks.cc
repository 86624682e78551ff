#include "plugins/peaks/peaks.h"

#include <algorithm>
#include <cstdint>

#include "api/rules/pod_requests.h"
#include "base/wrap.h"
#include "plugins/common/cpu_capacity.h"
#include "plugins/peaks/go_exp.h"

namespace berth::plugins::peaks {
namespace {

constexpr double kUnits = 1e15;

// The overhead counts only where something is requested.
int64_t RequestedMilliCpu(const api::Pod& pod) {
  const auto find = [](const api::ResourceList& list) {
    const auto it = list.find("cpu");
    return it == list.end() ? nullptr : &it->second;
  };
  const api::Quantity* overhead = find(pod.spec.overhead);
  if (api::HasPodLevelRequests(pod)) {
    const api::Quantity* own = find(pod.spec.resources->requests);
    if (own == nullptr || own->MilliValue() == 0) return 0;
    return WrapAdd(own->MilliValue(), overhead == nullptr ? 0 : overhead->MilliValue());
  }
  const api::ResourceList requests = api::PodRequests(pod);
  const api::Quantity* all = find(requests);
  if (all == nullptr || (overhead != nullptr && *all == *overhead)) return 0;
  return all->MilliValue();
}

}  // namespace

void Peaks::Score(const framework::CycleContext& c, const framework::PluginState*,
                  framework::ScoreBatch& batch) const {
  const double request = static_cast<double>(RequestedMilliCpu(c.shape.source));
  int64_t* scores = batch.Scores();
  MeasuredLoad load;
  batch.ForEach([&](cluster::NodeIndex n) {
    scores[n] = 0;
    if (!load_.Read(c.cluster, n, &load) || !load.first_cpu) return;
    const double now = *load.first_cpu;
    const double capacity = CpuCapacity(c.cluster, n);
    const double then = capacity == 0 ? 0 : 100 * (now / 100 * capacity + request) / capacity;
    if (then > 100) return;
    const auto model = args_.node_power_model.find(c.cluster.NodeName(n));
    if (model == args_.node_power_model.end()) return;
    const auto [k0, k1, k2] = model->second;
    scores[n] = TruncToInt64(k1 * (GoExp(k2 * then) - GoExp(k2 * now)) * kUnits);
  });
}

void Peaks::Normalize(const framework::CycleContext&, const framework::PluginState*,
                      const framework::NodeSet& feasible, framework::ScoreColumn& column) const {
  if (column.IsUniform()) {
    if (column.Uniform() != 0) column.SetUniform(framework::kMaxNodeScore);
    return;
  }
  int64_t* scores = column.Dense();
  int64_t lowest = INT64_MAX;
  int64_t highest = INT64_MIN;
  feasible.ForEach([&](cluster::NodeIndex n) {
    lowest = std::min(lowest, scores[n]);
    highest = std::max(highest, scores[n]);
  });
  if (lowest == 0 && highest == 0) return;
  const double range = static_cast<double>(WrapSub(highest, lowest));
  feasible.ForEach([&](cluster::NodeIndex n) {
    const double above = static_cast<double>(WrapSub(scores[n], lowest));
    const double cost = highest == lowest ? above : 100 * above / range;
    scores[n] = WrapSub(framework::kMaxNodeScore, TruncToInt64(cost));
  });
}

cluster::PluginInputs Inputs(const config::PluginArgs&) { return CpuCapacityInput(); }

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  const auto* given = config::OwnArgsAs<config::PeaksArgs>(args);
  return std::make_unique<Peaks>(given == nullptr ? config::PeaksArgs() : *given);
}

}  // namespace berth::plugins::peaks
