#include "scheduler/groups/placement_search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/wrap.h"

namespace berth::scheduler {

using framework::Status;

GroupStatus GeneratePlacements(const framework::Profile& profile, const cluster::Cluster& cluster,
                               const framework::PodGroupInfo& info,
                               std::vector<framework::Placement>* placements) {
  const framework::Placement all{"", cluster.Nodes()};
  if (profile.placement_generate.empty()) {
    placements->push_back(all);
    return {};
  }
  const auto& generator = *profile.placement_generate.front().plugin;
  if (const Status status = generator.GeneratePlacements(cluster, info, all, placements);
      !status.Ok()) {
    return GroupStatus(status);
  }
  if (!placements->empty()) return {};
  return GroupStatus(Status::Unschedulable("no feasible placements found"));
}

void PlacementSearch::AddFeasible(size_t placement, const std::vector<MemberResult>& members) {
  Feasible& feasible = feasible_.emplace_back();
  feasible.placement = placement;
  for (const MemberResult& member : members) {
    if (member.status.Ok()) feasible.assignments.push_back({member.pod, member.node});
  }
  ++result_.feasible;
}

// The first by name of the best: placements are in that order.
GroupStatus PlacementSearch::Choose() {
  result_.chosen = feasible_.front().placement;
  if (feasible_.size() == 1) return {};
  for (const Feasible& feasible : feasible_) result_.scores.push_back({feasible.placement, {}, 0});
  for (const framework::ServedPlacementScore& served : profile_.placement_score) {
    std::vector<int64_t> scores;
    if (const Status status = ScoreAll(served, &scores); !status.Ok()) {
      return GroupStatus::Error(status.Message());
    }
    for (size_t i = 0; i < scores.size(); ++i) {
      const int64_t weighted = WrapMul(scores[i], served.weight);
      result_.scores[i].weighted.push_back(weighted);
      result_.scores[i].total = WrapAdd(result_.scores[i].total, weighted);
    }
  }
  const auto best = std::ranges::max_element(result_.scores, {}, &PlacementResult::Score::total);
  result_.chosen = best->placement;
  return {};
}

Status PlacementSearch::ScoreAll(const framework::ServedPlacementScore& served,
                                 std::vector<int64_t>* scores) const {
  const framework::PlacementScorePlugin& plugin = *served.plugin;
  const auto failed = [&](std::string_view what, const Status& status) {
    return Status::Error(fmt::format("running {}: plugin \"{}\" failed with: {}", what,
                                     plugin.Name(), status.Message()));
  };
  for (const auto& [placement, assignments] : feasible_) {
    const Status status = plugin.ScorePlacement(cluster_, info_, result_.placements[placement],
                                                assignments, &scores->emplace_back());
    if (!status.Ok()) return failed("PlacementScore plugins", status);
  }
  if (plugin.HasNormalizePlacement()) {
    const Status status = plugin.NormalizePlacement(*scores);
    if (!status.Ok()) return failed("NormalizePlacementScore on PlacementScore plugins", status);
  }
  for (const int64_t score : *scores) {
    if (score >= 0 && score <= framework::kMaxNodeScore) continue;
    return Status::Error(fmt::format(
        "applying score defaultWeights on PlacementScore plugins: plugin \"{}\" returns an invalid "
        "score {}, it should in the range of [0, {}] after normalizing",
        plugin.Name(), score, framework::kMaxNodeScore));
  }
  return {};
}

}  // namespace berth::scheduler
