#include "plugins/load_aware/load_aware.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/wrap.h"

namespace berth::plugins::load_aware {
namespace {

constexpr std::string_view kNames[kResources] = {"cpu", "memory"};
constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr int64_t kUnknown = -1;
// Verdict::reason: the resource, and whether the node is closed or would be too busy.
constexpr uint32_t kClosed = 1u << 8;

double Find(const config::LoadAwareArgs::Percents& percents, std::string_view name, double other) {
  const auto it = percents.find(name);
  return it == percents.end() ? other : it->second;
}

double AmountOf(const api::ResourceList& list, size_t resource) {
  const auto it = list.find(kNames[resource]);
  if (it == list.end()) return 0;
  return resource == kCpu ? static_cast<double>(it->second.MilliValue())
                          : static_cast<double>(it->second.Value());
}

int64_t ArrivalOf(const cluster::Pod& pod) {
  return pod.scheduled_at ? pod.scheduled_at->seconds : pod.creation_timestamp.seconds;
}

}  // namespace

struct LoadAware::State : framework::PluginState {
  PerResource estimate{};  // of the pod
  const Band* band = nullptr;
};

LoadAware::LoadAware(const config::LoadAwareArgs& args, cluster::Cluster& cluster)
    : load_(args.metrics.Source().name),
      hysteresis_(*args.hysteresis),
      unmeasured_seconds_(*args.unmeasured_seconds) {
  cluster.TrackResource(cluster::kCpu);
  cluster.TrackResource(cluster::kMemory);
  for (const config::LoadBandSpec& spec : args.bands) {
    Band& band = bands_.emplace_back();
    band.min_priority = spec.min_priority.value_or(INT64_MIN);
    for (size_t r = 0; r < kResources; ++r) {
      band.thresholds[r] = Find(spec.thresholds, kNames[r], kNever);
    }
  }
  std::stable_sort(bands_.begin(), bands_.end(),
                   [](const Band& a, const Band& b) { return a.min_priority > b.min_priority; });
  for (size_t r = 0; r < kResources; ++r) {
    estimated_percent_[r] = Find(args.estimated_percent, kNames[r], 100);
    estimated_default_[r] = AmountOf(*args.estimated_default, r);
    weights_[r] = Find(args.score_weights, kNames[r], 0);
  }
}

std::unique_ptr<framework::PluginState> LoadAware::NewState() const {
  return std::make_unique<State>();
}

PerResource LoadAware::EstimateOf(const cluster::PodShape& shape) const {
  PerResource estimate;
  const double requests[kResources] = {static_cast<double>(shape.on_node.cpu),
                                       static_cast<double>(shape.on_node.memory)};
  for (size_t r = 0; r < kResources; ++r) {
    estimate[r] =
        requests[r] > 0 ? requests[r] * estimated_percent_[r] / 100 : estimated_default_[r];
  }
  return estimate;
}

const LoadAware::Band& LoadAware::BandOf(int32_t priority) const {
  static const Band kNone{INT64_MIN, {kNever, kNever}};
  for (const Band& band : bands_) {
    if (priority >= band.min_priority) return band;
  }
  return kNone;
}

void LoadAware::Refresh(const cluster::Cluster& cluster, cluster::NodeIndex n, Row* row) const {
  MeasuredLoad load;
  if (!cluster.Nodes().Contains(n) || !load_.Read(cluster, n, &load)) {
    *row = {};
    return;
  }
  const bool fresh = !row->measured || row->sample != load.window_end;
  row->measured = true;
  row->sample = load.window_end;
  const ResourceLoad* measured[kResources] = {&load.cpu, &load.memory};
  const cluster::ResourceId ids[kResources] = {cluster::kCpu, cluster::kMemory};
  for (size_t r = 0; r < kResources; ++r) {
    row->known[r] = measured[r]->known;
    row->percent[r] = measured[r]->average;
    row->used[r] = row->percent[r];
    row->allocatable[r] = static_cast<double>(cluster.Resource(ids[r])->allocatable[n]);
  }
  const double since = load.measured != 0 ? load.measured : static_cast<double>(load.window_end);
  for (const cluster::PodId id : cluster.Record(n).pods) {
    const cluster::Pod& pod = cluster.GetPod(id);
    const auto arrival = static_cast<double>(ArrivalOf(pod));
    if (!pod.assumed && arrival <= since - static_cast<double>(unmeasured_seconds_)) continue;
    const PerResource estimate = EstimateOf(*pod.shape);
    for (size_t r = 0; r < kResources; ++r) {
      if (row->allocatable[r] > 0) row->used[r] += 100 * estimate[r] / row->allocatable[r];
    }
  }
  if (!fresh) return;
  for (size_t b = 0; b < bands_.size(); ++b) {
    for (size_t r = 0; r < kResources; ++r) {
      const uint32_t bit = 1u << (b * kResources + r);
      const double threshold = bands_[b].thresholds[r];
      if (!row->known[r] || row->percent[r] < threshold - hysteresis_) {
        row->closed &= ~bit;
      } else if (row->percent[r] >= threshold) {
        row->closed |= bit;
      }
    }
  }
}

void LoadAware::BeginCycle(const framework::CycleContext& c, framework::PluginState* state) const {
  State& own = *static_cast<State*>(state);
  own.estimate = EstimateOf(c.shape);
  own.band = &BandOf(c.shape.priority);
  const cluster::RowLog& log = c.cluster.Changes();
  rows_.resize(std::max(rows_.size(), c.cluster.Rows()));
  const bool followed = began_ && log.ForEachSince(position_, [&](cluster::NodeIndex n) {
    if (n < rows_.size()) Refresh(c.cluster, n, &rows_[n]);
  });
  if (!followed) {
    for (cluster::NodeIndex n = 0; n < c.cluster.Rows(); ++n) Refresh(c.cluster, n, &rows_[n]);
  }
  position_ = log.Read();
  began_ = true;
}

void LoadAware::Filter(const framework::CycleContext&, const framework::PluginState* state,
                       framework::FilterBatch& batch) const {
  const State& own = *static_cast<const State*>(state);
  const auto band = static_cast<size_t>(own.band - bands_.data());
  if (band >= bands_.size()) return;  // no band: no thresholds
  batch.ForEach([&](cluster::NodeIndex n) {
    const Row& row = rows_[n];
    if (!row.measured) return;
    for (size_t r = 0; r < kResources; ++r) {
      if (!row.known[r]) continue;
      const bool closed = (row.closed >> (band * kResources + r) & 1) != 0;
      if (!closed && With(row, own.estimate, r) <= own.band->thresholds[r]) continue;
      batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable,
                   static_cast<uint32_t>(r) | (closed ? kClosed : 0));
      return;
    }
  });
}

void LoadAware::Reasons(const framework::CycleContext&, const framework::PluginState* state,
                        const framework::Verdict& verdict, std::vector<std::string>* out) const {
  const size_t resource = verdict.reason & 1;
  const auto* own = static_cast<const State*>(state);
  const double threshold =
      own != nullptr && own->band != nullptr ? own->band->thresholds[resource] : kNever;
  if ((verdict.reason & kClosed) != 0) {
    out->push_back(fmt::format("node(s) used {:g}% of {} or more and are not {:g} points below yet",
                               threshold, kNames[resource], hysteresis_));
  } else {
    out->push_back(
        fmt::format("node(s) would use more than {:g}% of {}", threshold, kNames[resource]));
  }
}

void LoadAware::Score(const framework::CycleContext&, const framework::PluginState* state,
                      framework::ScoreBatch& batch) const {
  const State& own = *static_cast<const State*>(state);
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) {
    const Row& row = rows_[n];
    double sum = 0;
    double weights = 0;
    for (size_t r = 0; r < kResources; ++r) {
      if (!row.known[r]) continue;
      sum += weights_[r] * std::clamp(100 - With(row, own.estimate, r), 0.0, 100.0);
      weights += weights_[r];
    }
    scores[n] =
        !row.measured || weights == 0 ? kUnknown : static_cast<int64_t>(std::floor(sum / weights));
  });
}

void LoadAware::Normalize(const framework::CycleContext&, const framework::PluginState*,
                          const framework::NodeSet& feasible,
                          framework::ScoreColumn& column) const {
  if (column.IsUniform()) {
    if (column.Uniform() == kUnknown) column.SetUniform(0);
    return;
  }
  int64_t* scores = column.Dense();
  int64_t sum = 0;
  int64_t known = 0;
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kUnknown) return;
    sum += scores[n];
    ++known;
  });
  const int64_t mean = known == 0 ? 0 : sum / known;
  feasible.ForEach([&](cluster::NodeIndex n) {
    if (scores[n] == kUnknown) scores[n] = mean;
  });
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::LoadAwareArgs own;
  if (const auto* given = config::OwnArgsAs<config::LoadAwareArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<LoadAware>(own, handle.cluster);
}

}  // namespace berth::plugins::load_aware
