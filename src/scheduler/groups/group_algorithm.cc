#include "scheduler/groups/group_algorithm.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "cluster/pods/group_state.h"
#include "cluster/transaction.h"
#include "framework/runtime/diagnosis.h"
#include "scheduler/groups/placement_search.h"

namespace berth::scheduler {
namespace {

using cluster::PodId;
using framework::Code;
using framework::PlacementProgress;
using framework::PodGroupInfo;
using framework::Status;

constexpr std::string_view kDefaultPreemption = "DefaultPreemption";

// A pod that was refused on the node that had been chosen for it.
std::string OneNodeMessage(const Status& status) {
  std::vector<std::string> parts;
  for (const std::string& reason : status.reasons()) parts.push_back("1 " + reason);
  std::sort(parts.begin(), parts.end());
  return parts.empty() ? "0/1 nodes are available:"
                       : fmt::format("0/1 nodes are available: {}.", fmt::join(parts, ", "));
}

void AddPlugin(const Status& status, MemberResult* member) {
  if (status.plugin().empty()) return;
  (status.code() == Code::kPending ? member->pending_plugins : member->unschedulable_plugins)
      .emplace(status.plugin());
}

GroupStatus NoPlacement(size_t placements, const GroupStatus& first) {
  return GroupStatus::Unschedulable({fmt::format(
      "0/{} placements are available, first placement status: {}", placements, first.ErrorText())});
}

// Pods that were not tried fail as the group does.
void AddUntried(const PodGroupInfo& info, GroupResult* result) {
  if (result->members.size() == info.unscheduled.size()) return;
  std::vector<PodId> tried;
  for (const MemberResult& member : result->members) tried.push_back(member.pod);
  std::ranges::sort(tried);
  for (const PodId pod : info.unscheduled) {
    if (std::ranges::binary_search(tried, pod)) continue;
    MemberResult& member = result->members.emplace_back();
    member.pod = pod;
    member.status = result->status;
  }
}

// Reports a point from construction to End, to a watch that may be null.
class WatchedGroupPoint {
 public:
  WatchedGroupPoint(GroupWatch* watch, GroupPoint point) : watch_(watch), point_(point) {
    if (watch_ != nullptr) watch_->GroupPointBegan(point_);
  }
  void End(Code code) const {
    if (watch_ != nullptr) watch_->GroupPointEnded(point_, code);
  }

 private:
  GroupWatch* watch_;
  GroupPoint point_;
};

Status AskFeasible(const framework::Profile& profile, const PodGroupInfo& info,
                   const PlacementProgress& progress) {
  Status outcome;
  for (const auto& [plugin, index] : profile.placement_feasible) {
    Status status = plugin->PlacementFeasible(info, progress);
    if (status.Ok()) continue;
    status.set_plugin(plugin->Name());
    if (status.code() == Code::kUnschedulable) return status;
    if (status.code() != Code::kWait) {
      return Status::Error("running PlacementFeasible plugin: " + status.Message());
    }
    outcome = std::move(status);
  }
  return outcome;
}

}  // namespace

// --- One run over some nodes

Status GroupAlgorithm::Feasible(const PodGroupInfo& info, const PlacementProgress& progress) const {
  const WatchedGroupPoint point(watch_, GroupPoint::kPlacementFeasible);
  Status status = AskFeasible(cycle_.profile(), info, progress);
  point.End(status.code());
  return status;
}

GroupAlgorithm::Search GroupAlgorithm::RunIn(const PodGroupInfo& info,
                                             const framework::NodeSet* within) {
  Search search;
  const PlacementProgress start{
      static_cast<int64_t>(cluster::PlacedMemberCount(cluster_, info.group)),
      static_cast<int64_t>(info.unscheduled.size())};
  const Status feasible = Feasible(info, start);
  if (feasible.code() == Code::kError) {
    search.status =
        GroupStatus::Error("failed to evaluate placement feasibility: " + feasible.Message());
    return search;
  }
  if (feasible.code() == Code::kUnschedulable) {
    search.status = GroupStatus::Unschedulable(feasible.reasons());
    return search;
  }
  search.status = GroupStatus(feasible);
  search.members.reserve(info.unscheduled.size());
  {
    cluster::Transaction trial(cluster_);
    PlaceMembers(info, within, start, &search);
    TakeBack(&search);
  }
  if (search.status.code == Code::kWait) {
    search.status = GroupStatus::Unschedulable(std::move(search.status.reasons));
  }
  search.any_scheduled = search.any_scheduled && search.status.Ok();
  if (search.status.code == Code::kUnschedulable && search_steps_ > 0) {
    Search found;
    if (RunSearch(info, within, start, &found)) return found;
  }
  return search;
}

// Until all are tried, or it is clear that too few fit.
void GroupAlgorithm::PlaceMembers(const PodGroupInfo& info, const framework::NodeSet* within,
                                  PlacementProgress progress, Search* search) {
  for (const PodId pod : info.unscheduled) {
    MemberResult& member = search->members.emplace_back(PlaceMember(pod, within));
    if (!member.status.Ok() && !member.status.IsRejected()) {
      search->status = GroupStatus::Error("failed to schedule other pod from a pod group: " +
                                          member.status.ErrorText());
      return;
    }
    --progress.remaining;
    if (member.status.Ok()) {
      ++progress.scheduled;
      search->any_scheduled = true;
      KeepState(member, search);
    }
    const Status feasible = Feasible(info, progress);
    if (feasible.code() == Code::kError) {
      search->status =
          GroupStatus::Error("failed to evaluate placement feasibility: " + feasible.Message());
      return;
    }
    search->status = GroupStatus(feasible);
    if (feasible.code() == Code::kUnschedulable) return;
  }
}

MemberResult GroupAlgorithm::PlaceMember(PodId pod, const framework::NodeSet* within) {
  if (const MemberResult* known = decider_.Recall()) {
    if (known->status.Ok()) PlaceAsBefore(*known, within);
    return *known;
  }
  MemberResult member = DecideMember(pod, within);
  decider_.Remember(member);
  return member;
}

void GroupAlgorithm::PlaceAsBefore(const MemberResult& known, const framework::NodeSet* within) {
  attempt_.Begin(cycle_, cluster_, known.pod);
  cycle_.Begin(cluster_, cluster_.GetPod(known.pod), within);
  if (cycle_.RunPreFilter().Ok()) cycle_.FilterOne(known.node);
  attempt_.Decided();
  [[maybe_unused]] const Status reserved = attempt_.Reserve(known.node);
  BERTH_DCHECK(reserved.Ok());
}

MemberResult GroupAlgorithm::DecideMember(PodId pod, const framework::NodeSet* within) {
  MemberResult member;
  member.pod = pod;
  attempt_.Begin(cycle_, cluster_, pod);
  const cluster::NodeIndex node = decider_.Decide(attempt_, within);
  const Decision& decision = attempt_.decision();
  member.nodes = decision.diagnosis.num_all_nodes;
  member.evaluated = decision.evaluated_nodes;
  member.feasible = decision.feasible_count;
  member.equal = decision.best_count;
  member.scored = decision.scored;
  member.total = decision.total;
  if (decision.outcome != Outcome::kScheduled) {
    TellFailure(&member);
    return member;
  }
  const Status reserved = attempt_.Reserve(node);
  if (reserved.Ok()) {
    member.node = node;
    return member;
  }
  attempt_.Rollback();
  member.SetNomination("");
  member.status = GroupStatus(reserved);
  if (framework::IsRejected(reserved.code())) {
    member.status.error = OneNodeMessage(reserved);
    member.status.reasons.clear();
    AddPlugin(reserved, &member);
  }
  return member;
}

void GroupAlgorithm::TellFailure(MemberResult* member) {
  const Decision& decision = attempt_.decision();
  if (decision.outcome == Outcome::kUnschedulable) {
    // Whether the nomination stays is decided with the group.
    member->status.code = Code::kUnschedulable;
    member->status.error = framework::FitErrorMessage(cycle_, decision.diagnosis);
    member->unschedulable_plugins = decision.diagnosis.unschedulable_plugins;
    member->pending_plugins = decision.diagnosis.pending_plugins;
    return;
  }
  member->status = GroupStatus::Error(decision.error);
  if (cluster_.NodeCount() == 0) {  // no fault of the scheduler
    member->status.code = Code::kUnschedulableAndUnresolvable;
  }
  member->SetNomination("");
}

// What the plugins know of the pod that was placed last, if that is wanted.
void GroupAlgorithm::KeepState(const MemberResult& member, Search* search) {
  if (!keep_states_) return;
  auto& kept = search->kept.emplace_back();
  kept.proposed = {member.pod, member.node};
  kept.state = cycle_.MakeState();
  cycle_.Exchange(kept.state);
}

void GroupAlgorithm::Unreserve(const MemberResult& member, framework::CycleState* state) {
  const cluster::Pod& pod = cluster_.GetPod(member.pod);
  const framework::CycleContext context{cluster_, pod, *pod.shape};
  const auto& reserve = cycle_.profile().reserve;
  for (auto back = reserve.rbegin(); back != reserve.rend(); ++back) {
    framework::PluginState* own = state == nullptr ? nullptr : state->states[back->index].get();
    back->plugin->Unreserve(context, own, member.node);
  }
}

void GroupAlgorithm::UnreserveLast(const MemberResult& member, Search* search) {
  Unreserve(member, search->kept.empty() ? nullptr : &search->kept.back().state);
  if (!search->kept.empty()) search->kept.pop_back();
}

// What plugins hold; the caller rolls back the cluster.
void GroupAlgorithm::TakeBack(Search* search) {
  size_t kept = search->kept.size();
  for (auto member = search->members.rbegin(); member != search->members.rend(); ++member) {
    if (member->status.Ok()) Unreserve(*member, kept > 0 ? &search->kept[--kept].state : nullptr);
  }
}

// --- The group as a whole

GroupAlgorithm::Search GroupAlgorithm::RunRoot(const PodGroupInfo& info,
                                               std::vector<PlacementResult>* placements) {
  const bool topology = cycle_.profile().GetBehaviour().pod_group_topology;
  Search search = topology ? RunPlacements(info, placements) : RunIn(info, nullptr);
  if (search.status.Ok() && !search.any_scheduled) {
    search.status = GroupStatus::Unschedulable({});
  }
  return search;
}

GroupAlgorithm::Search GroupAlgorithm::RunPlacements(const PodGroupInfo& info,
                                                     std::vector<PlacementResult>* placements) {
  PlacementResult result;
  Search search;
  const WatchedGroupPoint generate(watch_, GroupPoint::kPlacementGenerate);
  search.status = GeneratePlacements(cycle_.profile(), cluster_, info, watch_, &result.placements);
  generate.End(search.status.code);
  if (!search.status.Ok()) return search;
  if (watch_ != nullptr) watch_->PlacementsGenerated(result.placements.size());
  const bool may_count =
      result.placements.size() > 1 && search_steps_ == 0 && decider_.RepeatsItself();
  bool over = false;
  search = TryPlacements(info, may_count, &result, &over);
  if (over) return search;
  placements->push_back(std::move(result));
  return search;
}

GroupAlgorithm::Search GroupAlgorithm::RunPlacement(const PodGroupInfo& info,
                                                    const framework::Placement& placement) {
  const bool all = placement.nodes.Count() == cluster_.NodeCount();
  return RunIn(info, all ? nullptr : &placement.nodes);
}

// What counting says of a placement: whether the group fits there, with how many pods. Nothing: it
// has to be tried.
std::optional<GroupAlgorithm::Counted> GroupAlgorithm::CountPlacement(
    const PodGroupInfo& info, const PlacementCapacity& capacity,
    const framework::Placement& placement, int64_t placed) const {
  const auto [least, most] = capacity.Places(placement.nodes);
  const auto all = static_cast<int64_t>(info.unscheduled.size());
  const bool known = least == most || least == all;
  const Status enough = Feasible(info, {placed + (known ? least : most), 0});
  if (enough.code() == Code::kError || (enough.Ok() && !known)) return std::nullopt;
  return Counted{enough.Ok(), least};
}

// `may_count`: placements need not be tried where counting says what would come of it. Of those
// only the best one is tried, or the first if none will do. `over`: a plugin has failed.
GroupAlgorithm::Search GroupAlgorithm::TryPlacements(const PodGroupInfo& info, bool may_count,
                                                     PlacementResult* result, bool* over) {
  std::optional<PlacementCapacity> capacity;
  if (may_count) capacity = PlacementCapacity::Of(cycle_, cluster_, info);
  const auto placed = static_cast<int64_t>(cluster::PlacedMemberCount(cluster_, info.group));
  std::vector<Search> searches;
  std::vector<std::optional<Counted>> counted;
  PlacementSearch found(cycle_.profile(), cluster_, info, watch_, *result);
  for (const framework::Placement& placement : result->placements) {
    if (watch_ != nullptr) watch_->PlacementBegan();
    const size_t i = searches.size();
    counted.emplace_back();
    if (capacity) counted.back() = CountPlacement(info, *capacity, placement, placed);
    Search own;
    if (!counted.back()) own = RunPlacement(info, placement);
    *over = own.status.IsError();
    if (*over) return own;
    const bool feasible = counted.back() ? counted.back()->feasible : own.status.Ok();
    if (watch_ != nullptr) watch_->PlacementTried(feasible);
    if (feasible && counted.back()) {
      std::vector<framework::ProposedAssignment> assignments;
      for (const PodId pod : info.unscheduled.first(static_cast<size_t>(counted.back()->pods))) {
        assignments.push_back({pod, cluster::kNoNode});
      }
      found.AddFeasible(i, std::move(assignments));
    } else if (feasible) {
      found.AddFeasible(i, own.members);
    }
    // Of those that fail, the first is reported.
    if (feasible || searches.empty()) {
      searches.push_back(std::move(own));
    } else {
      searches.emplace_back();
    }
  }
  Search search;
  if (result->feasible > 0) {
    search.status = found.Choose();
    if (!search.status.Ok()) return search;
  }
  const size_t wanted = result->feasible > 0 ? result->chosen : 0;
  search = std::move(searches[wanted]);
  if (counted[wanted]) search = RunPlacement(info, result->placements[wanted]);
  *over = search.status.IsError();
  if (*over) return search;
  if (result->feasible == 0) {
    search.status = NoPlacement(result->placements.size(), search.status);
  }
  return search;
}

GroupResult GroupAlgorithm::Run(const PodGroupInfo& info) {
  GroupResult result;
  keep_states_ = false;
  // Pods that are being tried keep nothing free on the nodes they are nominated to: not for each
  // other, and not for the group as a whole.
  cluster::Transaction cycle(cluster_);
  for (const PodId pod : info.unscheduled) cluster_.MutableNominations().Clear(pod);
  Search search = RunRoot(info, &result.placements);
  result.status = search.status;
  result.before_post_filter = std::move(search.status);
  result.any_scheduled = search.any_scheduled;
  result.members = std::move(search.members);
  AddUntried(info, &result);
  if (watch_ != nullptr) watch_->GroupAlgorithmEnded();
  if (result.status.code == Code::kUnschedulable) RunPostFilter(info, &result);
  return result;
}

// --- Preemption

class GroupAlgorithm::Trial final : public framework::PodGroupTrial {
 public:
  Trial(GroupAlgorithm& algorithm, const PodGroupInfo& info,
        std::vector<PlacementResult>* placements)
      : algorithm_(algorithm), info_(info), placements_(placements) {}

  bool ran() const { return ran_; }

  Status Run(std::vector<framework::TrialAssignment>* assignments) override {
    ran_ = true;
    algorithm_.keep_states_ = true;
    Search search = algorithm_.RunRoot(info_, placements_);
    algorithm_.keep_states_ = false;
    if (!search.status.Ok()) {
      std::vector<std::string> reasons = search.status.reasons;
      if (!search.status.error.empty()) reasons.insert(reasons.begin(), search.status.error);
      return {search.status.code, std::move(reasons)};
    }
    *assignments = std::move(search.kept);
    return {};
  }

 private:
  GroupAlgorithm& algorithm_;
  const PodGroupInfo& info_;
  std::vector<PlacementResult>* placements_;
  bool ran_ = false;
};

void GroupAlgorithm::RunPostFilter(const PodGroupInfo& info, GroupResult* result) {
  Trial trial(*this, info, &result->placements);
  result->post_filter_ran = true;
  const WatchedGroupPoint point(watch_, GroupPoint::kPodGroupPostFilter);
  result->post_filter = AskPostFilters(info, trial, &result->preemption);
  const Status& status = result->post_filter;
  point.End(status.code());
  if (status.code() == Code::kError) {
    result->status = GroupStatus(status);
    return;
  }
  result->status.reasons.push_back(status.Message());
  if (!status.Ok()) return;
  result->waits_for_preemption = true;
  for (const auto& [pod, node] : result->preemption.nominations) {
    const auto member = std::ranges::find(result->members, pod, &MemberResult::pod);
    if (member != result->members.end()) member->SetNomination(node);
  }
}

Status GroupAlgorithm::AskPostFilters(const PodGroupInfo& info, Trial& trial,
                                      framework::PodGroupPostFilterResult* result) {
  std::vector<std::string> reasons;
  std::string_view first;
  for (const auto& [plugin, index] : cycle_.profile().pod_group_post_filter) {
    framework::PodGroupPostFilterResult own;
    Status status = AskPostFilter(*plugin, info, trial, &own);
    if (status.Ok()) *result = std::move(own);
    if (status.Ok() || status.code() == Code::kUnschedulableAndUnresolvable) return status;
    if (status.code() != Code::kUnschedulable) {
      Status error = Status::Error(fmt::format("error in \"{}\" PodGroupPostFilter plugins: {}",
                                               plugin->Name(), status.Message()));
      error.set_plugin(plugin->Name());
      return error;
    }
    reasons.insert(reasons.end(), status.reasons().begin(), status.reasons().end());
    if (first.empty()) first = plugin->Name();
  }
  Status status(Code::kUnschedulable, std::move(reasons));
  status.set_plugin(first);
  return status;
}

Status GroupAlgorithm::AskPostFilter(framework::PodGroupPostFilterPlugin& plugin,
                                     const PodGroupInfo& info, Trial& trial,
                                     framework::PodGroupPostFilterResult* result) {
  if (watch_ != nullptr) watch_->GroupPluginBegan(GroupPoint::kPodGroupPostFilter);
  Status status = plugin.PodGroupPostFilter(cycle_, cluster_, info, trial, result);
  status.set_plugin(plugin.Name());
  if (watch_ == nullptr) return status;
  watch_->GroupPluginEnded(GroupPoint::kPodGroupPostFilter, plugin.Name(), status.code());
  if (plugin.Name() == kDefaultPreemption) {
    // Without a trial it is over early, unless there is nobody to preempt.
    const bool searched = trial.ran() || status.code() == Code::kUnschedulableAndUnresolvable;
    watch_->GroupPreemptionTried(status.code(), searched);
  }
  return status;
}

}  // namespace berth::scheduler
