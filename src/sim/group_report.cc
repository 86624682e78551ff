// Pod groups in a Report.
#include <map>
#include <utility>

#include "sim/report.h"

namespace berth::sim {

using api::Describe;
using api::TypeInfo;

const TypeInfo& BlockerReport::Type() {
  static const TypeInfo type = Describe<BlockerReport>("Blocker")
                                   .Always(1, "pods", &BlockerReport::pods)
                                   .Always(2, "pod", &BlockerReport::pod)
                                   .Always(3, "message", &BlockerReport::message)
                                   .Build();
  return type;
}

const TypeInfo& GroupReport::Type() {
  static const TypeInfo type = Describe<GroupReport>("Group")
                                   .Always(1, "namespace", &GroupReport::namespace_)
                                   .Always(2, "name", &GroupReport::name)
                                   .Always(3, "outcome", &GroupReport::outcome)
                                   .Field(4, "minCount", &GroupReport::min_count)
                                   .Always(5, "pods", &GroupReport::pods)
                                   .Field(6, "running", &GroupReport::running)
                                   .Always(7, "placed", &GroupReport::placed)
                                   .Field(8, "best", &GroupReport::best)
                                   .Field(9, "bestPlacement", &GroupReport::best_placement)
                                   .Field(10, "blockers", &GroupReport::blockers)
                                   .Field(11, "placement", &GroupReport::placement)
                                   .Field(12, "placements", &GroupReport::placements)
                                   .Field(13, "preempted", &GroupReport::preempted)
                                   .Field(14, "message", &GroupReport::message)
                                   .Build();
  return type;
}

namespace {

std::string_view OutcomeName(GroupOutcome::Kind kind) {
  switch (kind) {
    case GroupOutcome::Kind::kPlaced:
      return "Placed";
    case GroupOutcome::Kind::kUnschedulable:
      return "Unschedulable";
    case GroupOutcome::Kind::kGated:
      return "Gated";
    case GroupOutcome::Kind::kError:
      return "Error";
  }
  return "";
}

}  // namespace

std::vector<GroupReport> ReportGroups(const std::vector<PodOutcome>& outcomes,
                                      const std::vector<GroupOutcome>& groups) {
  std::map<std::pair<std::string_view, std::string_view>, int64_t> lost;  // pods by group
  for (const PodOutcome& outcome : outcomes) {
    if (outcome.group.empty() || outcome.kind != PodOutcome::Kind::kPreempted) continue;
    ++lost[{outcome.namespace_, outcome.group}];
  }
  std::vector<GroupReport> reports;
  for (const GroupOutcome& group : groups) {
    GroupReport& report = reports.emplace_back();
    report.namespace_ = group.namespace_;
    report.name = group.name;
    report.outcome = OutcomeName(group.kind);
    report.min_count = group.min_count;
    report.pods = group.pods;
    report.running = group.running;
    report.placed = group.placed;
    report.best = group.best;
    report.best_placement = group.best_placement;
    for (const GroupOutcome::Blocker& blocker : group.blockers) {
      report.blockers.push_back({blocker.pods, blocker.pod, blocker.message});
    }
    report.placement = group.placement;
    report.placements = group.placements;
    report.preempted = group.victims;
    report.message = group.message;
    const auto it = lost.find({group.namespace_, group.name});
    if (it == lost.end()) continue;
    report.placed -= it->second;
    report.outcome = "Preempted";
  }
  return reports;
}

}  // namespace berth::sim
