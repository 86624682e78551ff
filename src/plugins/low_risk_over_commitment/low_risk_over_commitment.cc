#include "plugins/low_risk_over_commitment/low_risk_over_commitment.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/wrap.h"
#include "plugins/low_risk_over_commitment/incomplete_beta.h"

namespace berth::plugins::low_risk_over_commitment {
namespace {

constexpr double kMaxVarianceShare = 0.99;

// A distribution on 0 to 1 with a given mean and variance.
struct Beta {
  double a = 1;
  double b = 1;

  // P[X <= x]; 0 where it cannot be computed.
  double Below(double x) const {
    if (!(a > 0) || !(b > 0)) return 0;
    if (x == 0 || x == 1) return x;
    const double p = IncompleteBeta(a, b, x);
    return p >= 0 && p <= 1 ? p : 0;
  }
};

// Nothing: there is no such distribution.
std::optional<Beta> Fit(double mean, double deviation) {
  const double second_moment = deviation * deviation + mean * mean;
  const double variance = second_moment - mean * mean;
  if (mean < 0 || mean > 1 || variance < 0 || variance >= mean * (1 - mean)) return std::nullopt;
  const double size =
      std::max(mean * (1 - mean) / variance - 1, std::numeric_limits<double>::denorm_min());
  return Beta{mean * size, (1 - mean) * size};
}

double MaxVariance(double mean) { return mean > 0 && mean < 1 ? mean * (1 - mean) : 0; }

double Ratio(int64_t part, int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// As Go's min(max(x, 0), 1): not a number stays that.
double Clamp(double x) { return std::isnan(x) ? x : std::clamp(x, 0.0, 1.0); }

Commitment Of(int64_t capacity, int64_t placed_request, int64_t placed_limit, int64_t own_request,
              int64_t own_limit) {
  return {.capacity = capacity,
          .request = std::min(WrapAdd(placed_request, own_request), capacity),
          .limit = WrapAdd(placed_limit, own_limit),
          .request_without = std::min(placed_request, capacity),
          .limit_without = placed_limit};
}

}  // namespace

LowRiskOverCommitment::LowRiskOverCommitment(const config::LowRiskOverCommitmentArgs& args,
                                             cluster::Cluster& cluster)
    : load_(args.SourceName()),
      smoothing_(std::sqrt(static_cast<double>(*args.smoothing_window_size))),
      cpu_(cluster.Resources().Intern("cpu")),
      memory_(cluster.Resources().Intern("memory")) {
  const auto& weights = args.risk_limit_weights;
  if (const auto it = weights.find("cpu"); it != weights.end()) cpu_weight_ = it->second;
  if (const auto it = weights.find("memory"); it != weights.end()) memory_weight_ = it->second;
  cluster.TrackResource(cpu_);
  cluster.TrackResource(memory_);
}

framework::Status LowRiskOverCommitment::PreScore(const framework::CycleContext& c,
                                                  framework::PluginState* state,
                                                  const framework::NodeSet&) const {
  auto& own = *static_cast<LowRiskState*>(state);
  own.requests = RequestsOf(c.shape.source);
  own.limits = LimitsOf(c.shape.source);
  return {};
}

double LowRiskOverCommitment::RiskOfLoad(double average, double deviation, const Commitment& node) {
  const double threshold = Clamp(Ratio(node.request_without, node.capacity));
  std::optional<Beta> fitted;
  double below = 0;
  if (average == 0 || (deviation == 0 && average <= threshold)) {
    below = 1;
  } else if (deviation != 0) {
    fitted = Fit(average, deviation);
    if (fitted) below = fitted->Below(threshold);
  }
  // Less than the limits is used for certain, if these are below the capacity.
  if (node.limit_without < node.capacity && node.request_without <= node.limit_without) {
    const double limit = Ratio(node.limit_without, node.capacity);
    if (limit == 0) {
      below = 1;
    } else if (fitted) {
      const double below_limit = fitted->Below(limit);
      if (below_limit > 0) below = Clamp(below / below_limit);
    }
  }
  return 1 - below;
}

// `capacity`: in the unit that the load is computed in.
double LowRiskOverCommitment::RiskOf(const Commitment& node, const ResourceLoad& load,
                                     double capacity, double limit_weight) const {
  const double of_limits = node.limit > node.capacity ? Ratio(WrapSub(node.limit, node.capacity),
                                                              WrapSub(node.limit, node.request))
                                                      : 0;
  double of_load = 0;
  if (load.known) {
    double average = 0;
    double deviation = 0;
    if (capacity > 0) {
      average = Clamp(load.average * capacity / 100 / capacity);
      deviation = Clamp(load.deviation * capacity / 100 / capacity);
    }
    deviation =
        std::min(deviation * smoothing_, std::sqrt(MaxVariance(average) * kMaxVarianceShare));
    of_load = RiskOfLoad(average, deviation, node);
  }
  return Clamp(limit_weight * of_limits + (1 - limit_weight) * of_load);
}

double LowRiskOverCommitment::ScoreOf(const framework::CycleContext& c, const LowRiskState& pod,
                                      cluster::NodeIndex n, const MeasuredLoad& load) const {
  LoadAmounts requests;
  LoadAmounts limits;
  for (const cluster::PodId id : c.cluster.Record(n).pods) {
    const api::Pod& placed = c.cluster.GetPod(id).shape->source;
    requests.Add(RequestsOf(placed));
    limits.Add(LimitsOf(placed));
  }
  const int64_t cpu = c.cluster.Resource(cpu_)->allocatable[n];
  const int64_t memory = c.cluster.Resource(memory_)->allocatable[n];
  const double cpu_risk = RiskOf(
      Of(cpu, requests.milli_cpu, limits.milli_cpu, pod.requests.milli_cpu, pod.limits.milli_cpu),
      load.cpu, static_cast<double>(cpu), cpu_weight_);
  const double memory_risk =
      RiskOf(Of(memory, requests.memory, limits.memory, pod.requests.memory, pod.limits.memory),
             load.memory, static_cast<double>(memory) * kMebi, memory_weight_);
  // As Go's max, in which not a number wins.
  const double risk = std::isnan(cpu_risk) || std::isnan(memory_risk)
                          ? std::numeric_limits<double>::quiet_NaN()
                          : std::max(cpu_risk, memory_risk);
  return (1 - risk) * static_cast<double>(framework::kMaxNodeScore);
}

void LowRiskOverCommitment::Score(const framework::CycleContext& c,
                                  const framework::PluginState* state,
                                  framework::ScoreBatch& batch) const {
  const auto& pod = *static_cast<const LowRiskState*>(state);
  const bool best_effort = pod.requests.milli_cpu == 0 && pod.requests.memory == 0 &&
                           pod.limits.milli_cpu == 0 && pod.limits.memory == 0;
  int64_t* scores = batch.Scores();
  MeasuredLoad load;
  batch.ForEach([&](cluster::NodeIndex n) {
    scores[n] = 0;
    if (best_effort || !load_.Read(c.cluster, n, &load)) return;
    scores[n] = TruncToInt64(std::round(ScoreOf(c, pod, n, load)));
  });
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle& handle) {
  config::LowRiskOverCommitmentArgs own;
  if (const auto* given = config::OwnArgsAs<config::LowRiskOverCommitmentArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<LowRiskOverCommitment>(own, handle.cluster);
}

}  // namespace berth::plugins::low_risk_over_commitment
