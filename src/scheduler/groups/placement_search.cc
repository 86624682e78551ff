#include "scheduler/groups/placement_search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/wrap.h"

namespace berth::scheduler {

using framework::Status;

GroupStatus GeneratePlacements(const framework::Profile& profile, const cluster::Cluster& cluster,
                               const framework::PodGroupInfo& info, GroupWatch* watch,
                               std::vector<framework::Placement>* placements) {
  const framework::Placement all{"", cluster.Nodes()};
  if (profile.placement_generate.empty()) {
    placements->push_back(all);
    return {};
  }
  const auto& generator = *profile.placement_generate.front().plugin;
  if (watch != nullptr) watch->GroupPluginBegan(GroupPoint::kPlacementGenerate);
  const Status status = generator.GeneratePlacements(cluster, info, all, placements);
  if (watch != nullptr) {
    watch->GroupPluginEnded(GroupPoint::kPlacementGenerate, generator.Name(), status.code());
  }
  if (!status.Ok()) return GroupStatus(status);
  if (!placements->empty()) return {};
  return GroupStatus(Status::Unschedulable("no feasible placements found"));
}

void PlacementSearch::AddFeasible(size_t placement, const std::vector<MemberResult>& members) {
  std::vector<framework::ProposedAssignment> assignments;
  for (const MemberResult& member : members) {
    if (member.status.Ok()) assignments.push_back({member.pod, member.node});
  }
  AddFeasible(placement, std::move(assignments));
}

void PlacementSearch::AddFeasible(size_t placement,
                                  std::vector<framework::ProposedAssignment> assignments) {
  feasible_.push_back({placement, std::move(assignments)});
  ++result_.feasible;
}

// The first by name of the best: placements are in that order.
GroupStatus PlacementSearch::Choose() {
  result_.chosen = feasible_.front().placement;
  if (feasible_.size() == 1) return {};
  if (watch_ != nullptr) watch_->GroupPointBegan(GroupPoint::kPlacementScore);
  GroupStatus status = ScorePlacements();
  if (watch_ != nullptr) watch_->GroupPointEnded(GroupPoint::kPlacementScore, status.code);
  if (!status.Ok()) return status;
  const auto best = std::ranges::max_element(result_.scores, {}, &PlacementResult::Score::total);
  result_.chosen = best->placement;
  return {};
}

GroupStatus PlacementSearch::ScorePlacements() {
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
    if (watch_ != nullptr) watch_->GroupPluginBegan(GroupPoint::kPlacementNormalize);
    const Status status = plugin.NormalizePlacement(*scores);
    if (watch_ != nullptr) {
      watch_->GroupPluginEnded(GroupPoint::kPlacementNormalize, plugin.Name(), status.code());
    }
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
