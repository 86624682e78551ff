#include "plugins/pod_state/pod_state.h"

#include "plugins/common/min_max.h"

namespace berth::plugins::pod_state {

void PodState::Score(const framework::CycleContext& c, const framework::PluginState*,
                     framework::ScoreBatch& batch) const {
  const cluster::Cluster& cluster = c.cluster;
  const cluster::Nominations& nominated = cluster.Nominated();
  int64_t* scores = batch.Scores();
  batch.ForEach([&](cluster::NodeIndex n) {
    const cluster::NodeRecord& node = cluster.Record(n);
    int64_t score = 0;
    for (const cluster::PodId id : node.pods) score += cluster.GetPod(id).terminating ? 1 : 0;
    if (const auto* pods = nominated.Empty() ? nullptr : nominated.On(node.name)) {
      score -= static_cast<int64_t>(pods->size());
    }
    scores[n] = score;
  });
}

void PodState::Normalize(const framework::CycleContext&, const framework::PluginState*,
                         const framework::NodeSet& feasible, framework::ScoreColumn& column) const {
  MinMaxNormalize(feasible, column);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<PodState>();
}

}  // namespace berth::plugins::pod_state
