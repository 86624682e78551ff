#include "plugins/taint_toleration/taint_toleration.h"

#include "api/rules/toleration.h"
#include "framework/runtime/normalize.h"

namespace berth::plugins::taint_toleration {
namespace {

constexpr std::string_view kPrefer = "PreferNoSchedule";

// Only tolerations that may speak about PreferNoSchedule count for the score.
int64_t CountUntoleratedPreferred(const std::vector<api::Taint>& taints,
                                  const std::vector<api::Toleration>& tolerations) {
  int64_t count = 0;
  for (const api::Taint& taint : taints) {
    if (taint.effect != kPrefer) continue;
    bool tolerated = false;
    for (const api::Toleration& t : tolerations) {
      if (!t.effect.empty() && t.effect != kPrefer) continue;
      tolerated = tolerated || api::Tolerates(t, taint);
    }
    count += !tolerated;
  }
  return count;
}

}  // namespace

struct TaintToleration::State : framework::PluginState {
  const Answers* answers = nullptr;
};

std::unique_ptr<framework::PluginState> TaintToleration::NewState() const {
  return std::make_unique<State>();
}

void TaintToleration::BeginCycle(const framework::CycleContext& c,
                                 framework::PluginState* state) const {
  Answers& answers = answers_.Get(c.shape, [](const cluster::PodShape&) { return Answers(); });
  const cluster::TaintSets& sets = c.cluster.Taints();
  const auto& tolerations = c.shape.source.spec.tolerations;
  while (answers.forbids.size() < sets.Size()) {
    const auto& taints = sets.Get(static_cast<cluster::TaintSetId>(answers.forbids.size()));
    answers.forbids.push_back(api::FirstUntolerated(taints, tolerations, api::ForbidsScheduling) !=
                              nullptr);
    answers.untolerated.push_back(CountUntoleratedPreferred(taints, tolerations));
  }
  static_cast<State*>(state)->answers = &answers;
}

void TaintToleration::Filter(const framework::CycleContext& c, const framework::PluginState* state,
                             framework::FilterBatch& batch) const {
  const auto tainted = c.cluster.Tainted().Words();
  const auto set_of = c.cluster.TaintSetOf();
  const auto& forbids = static_cast<const State*>(state)->answers->forbids;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    framework::NodeSet::ForEachBit(batch.Word(w) & tainted[w], w, [&](cluster::NodeIndex n) {
      if (forbids[set_of[n]] != 0) {
        batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable);
      }
    });
  }
}

std::optional<int64_t> TaintToleration::UniformScore(const framework::CycleContext& c,
                                                     framework::PluginState*,
                                                     const framework::NodeSet& feasible) const {
  const auto tainted = c.cluster.Tainted().Words();
  for (size_t w = 0; w < tainted.size(); ++w) {
    if ((feasible.Words()[w] & tainted[w]) != 0) return std::nullopt;
  }
  return 0;
}

void TaintToleration::Score(const framework::CycleContext& c, const framework::PluginState* state,
                            framework::ScoreBatch& batch) const {
  const auto set_of = c.cluster.TaintSetOf();
  const auto& untolerated = static_cast<const State*>(state)->answers->untolerated;
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) { scores[n] = untolerated[set_of[n]]; });
}

void TaintToleration::Normalize(const framework::CycleContext&, const framework::PluginState*,
                                const framework::NodeSet& feasible,
                                framework::ScoreColumn& column) const {
  framework::DefaultNormalize(feasible, /*reverse=*/true, column);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<TaintToleration>();
}

}  // namespace berth::plugins::taint_toleration
