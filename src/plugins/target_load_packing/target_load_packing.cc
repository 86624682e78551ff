#include "plugins/target_load_packing/target_load_packing.h"

#include <cmath>

#include "base/go_number.h"
#include "base/wrap.h"
#include "cluster/inputs.h"
#include "plugins/common/cpu_capacity.h"

namespace berth::plugins::target_load_packing {
namespace {

// Metrics reach their source this much later, in seconds.
constexpr int64_t kReportingInterval = 60;

const api::Quantity* FindCpu(const api::ResourceList& list) {
  const auto it = list.find("cpu");
  return it == list.end() ? nullptr : &it->second;
}

// When the pod came to its node. Of pods that no scheduler bound, when it was created.
int64_t ArrivalOf(const cluster::Pod& pod) {
  return pod.scheduled_at ? pod.scheduled_at->seconds : pod.creation_timestamp.seconds;
}

}  // namespace

TargetLoadPacking::TargetLoadPacking(const config::TargetLoadPackingArgs& args)
    : load_(args.SourceName()),
      multiplier_(*ParseGoFloat(*args.default_requests_multiplier)),
      target_(static_cast<double>(*args.target_utilization)) {
  const api::Quantity* cpu = FindCpu(*args.default_requests);
  if (cpu != nullptr) default_milli_cpu_ = cpu->MilliValue();
}

int64_t TargetLoadPacking::PredictedUse(const cluster::PodShape& shape) const {
  int64_t use = 0;
  for (const api::Container& container : shape.source.spec.containers) {
    if (const api::Quantity* limit = FindCpu(container.resources.limits)) {
      use = WrapAdd(use, limit->MilliValue());
    } else if (const api::Quantity* request = FindCpu(container.resources.requests)) {
      const double expected = static_cast<double>(request->MilliValue()) * multiplier_;
      use = WrapAdd(use, TruncToInt64(std::round(expected)));
    } else {
      use = WrapAdd(use, default_milli_cpu_);
    }
  }
  const api::Quantity* overhead = FindCpu(shape.source.spec.overhead);
  return overhead == nullptr ? use : WrapAdd(use, overhead->MilliValue());
}

// Of pods that came so late that the metrics may lack them. As in the original, only confirmed
// bindings count.
int64_t TargetLoadPacking::NotMeasuredYet(const cluster::Cluster& cluster, cluster::NodeIndex node,
                                          int64_t window_end) const {
  int64_t use = 0;
  for (const cluster::PodId id : cluster.Record(node).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    if (pod.assumed || WrapSub(window_end, ArrivalOf(pod)) >= kReportingInterval) continue;
    use = WrapAdd(use, PredictedUse(*pod.shape));
  }
  return use;
}

int64_t TargetLoadPacking::ScoreOf(double capacity, double used) const {
  const double percent = capacity == 0 ? 0 : 100 * used / capacity;
  if (percent > target_) {
    if (percent > 100) return 0;
    return TruncToInt64(std::round(target_ * (100 - percent) / (100 - target_)));
  }
  return TruncToInt64(std::round((100 - target_) * percent / target_ + target_));
}

void TargetLoadPacking::Score(const framework::CycleContext& c, const framework::PluginState*,
                              framework::ScoreBatch& batch) const {
  const double own = static_cast<double>(PredictedUse(c.shape));
  int64_t* scores = batch.Scores();
  MeasuredLoad load;
  batch.ForEach([&](cluster::NodeIndex n) {
    scores[n] = 0;
    if (!load_.Read(c.cluster, n, &load) || !load.last_cpu) return;
    const double capacity = CpuCapacity(c.cluster, n);
    const double measured = *load.last_cpu / 100 * capacity;
    const double missing = static_cast<double>(NotMeasuredYet(c.cluster, n, load.window_end));
    scores[n] = ScoreOf(capacity, measured + own + missing);
  });
}

cluster::PluginInputs Inputs(const config::PluginArgs&) { return CpuCapacityInput(); }

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  config::TargetLoadPackingArgs own;
  if (const auto* given = config::OwnArgsAs<config::TargetLoadPackingArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<TargetLoadPacking>(own);
}

}  // namespace berth::plugins::target_load_packing
