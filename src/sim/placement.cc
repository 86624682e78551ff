#include "sim/placement.h"

#include <utility>

#include <fmt/format.h>

#include "framework/runtime/diagnosis.h"
#include "framework/runtime/post_filter.h"

namespace berth::sim {

using cluster::NodeIndex;
using cluster::PodId;

Placement::Placement(World& world, scheduler::ProfileSet& profiles, const PlacementOptions& options)
    : world_(world), profiles_(profiles), options_(options), algorithm_(options.algorithm) {
  for (const auto& profile : profiles.Profiles()) {
    profiles.CycleFor(profile->Name())->set_keep_raw(options.keep_scores);
  }
}

std::vector<PodOutcome> Placement::ScheduleAll(const std::function<void(size_t)>& progress) {
  std::vector<PodOutcome> outcomes;
  outcomes.reserve(world_.Pending().size());
  for (const Entity& entity :
       EntitiesOf(world_.GetCluster(), world_.GetBehaviour(), world_.Pending())) {
    Schedule(entity, &outcomes);
    if (progress) progress(outcomes.size());
  }
  return outcomes;
}

void Placement::Schedule(const Entity& entity, std::vector<PodOutcome>* outcomes) {
  if (entity.group != nullptr) return ScheduleGroup(entity, outcomes);
  outcomes->push_back(Schedule(entity.pods.front()));
  if (!outcomes->back().victims.empty()) MarkPreempted(outcomes->back().victims, *outcomes);
}

// Pods placed earlier that had to go again. Ids of removed pods may be used anew, names are not.
void Placement::MarkPreempted(const std::vector<std::string>& victims,
                              std::vector<PodOutcome>& outcomes) {
  for (const std::string& victim : victims) {
    for (PodOutcome& earlier : outcomes) {
      if (earlier.kind != PodOutcome::Kind::kPlaced) continue;
      if (earlier.namespace_ + "/" + earlier.name == victim) {
        earlier.kind = PodOutcome::Kind::kPreempted;
      }
    }
  }
}

PodOutcome Placement::Named(PodId id) const {
  PodOutcome outcome;
  outcome.pod = id;
  outcome.namespace_ = world_.GetCluster().GetPod(id).namespace_();
  outcome.name = world_.GetCluster().GetPod(id).name;
  return outcome;
}

PodOutcome Placement::Schedule(PodId id) {
  const cluster::Pod& pod = world_.GetCluster().GetPod(id);
  const std::string& name = pod.shape->source.spec.scheduler_name;
  framework::Cycle* cycle = profiles_.CycleFor(name);
  if (cycle == nullptr) {
    PodOutcome outcome = Named(id);
    outcome.kind = PodOutcome::Kind::kForeign;
    outcome.message = fmt::format("no profile for schedulerName \"{}\"", name);
    return outcome;
  }
  bool retry = false;
  PodOutcome outcome = Attempt(id, *cycle, &retry);
  if (!retry) return outcome;
  std::vector<std::string> victims = std::move(outcome.victims);
  outcome = Attempt(id, *cycle, &retry);
  outcome.victims.insert(outcome.victims.begin(), victims.begin(), victims.end());
  return outcome;
}

PodOutcome Placement::Attempt(PodId id, framework::Cycle& cycle, bool* retry) {
  PodOutcome outcome = Named(id);
  cluster::Cluster& cluster = world_.GetCluster();
  if (Gated(cycle, cluster.GetPod(id), &outcome)) return outcome;
  attempt_.Begin(cycle, cluster, id);
  attempt_.Decide(algorithm_, options_.keep_scores);
  const scheduler::Decision& decision = attempt_.decision();
  outcome.feasible_nodes = decision.feasible_count;
  outcome.evaluated_nodes = decision.evaluated_nodes;
  switch (decision.outcome) {
    case scheduler::Outcome::kScheduled:
      Place(&outcome);
      break;
    case scheduler::Outcome::kUnschedulable:
      outcome.kind = PodOutcome::Kind::kUnschedulable;
      *retry = MakeRoom(cycle, id, &outcome);
      break;
    case scheduler::Outcome::kError:
      outcome.kind =
          cluster.NodeCount() == 0 ? PodOutcome::Kind::kUnschedulable : PodOutcome::Kind::kError;
      outcome.message = decision.error;
      break;
  }
  return outcome;
}

bool Placement::Gated(const framework::Cycle& cycle, const cluster::Pod& pod,
                      PodOutcome* outcome) const {
  const scheduler::EnqueueGate gate =
      scheduler::RunPreEnqueue(cycle.profile(), world_.GetCluster(), pod);
  if (gate.Open()) return false;
  outcome->kind = PodOutcome::Kind::kGated;
  outcome->message = gate.status.Message();
  return true;
}

void Placement::Place(PodOutcome* outcome) {
  const scheduler::Decision& decision = attempt_.decision();
  const NodeIndex node = decision.node;
  outcome->node = node;
  outcome->equal_nodes = decision.best_count;
  outcome->total = decision.total;
  outcome->scores = ScoresOf(attempt_);
  if (const framework::Status status = attempt_.Reserve(node); !status.Ok()) {
    attempt_.Rollback();
    outcome->node = cluster::kNoNode;
    outcome->kind = PodOutcome::Kind::kError;
    outcome->message = status.Message();
    return;
  }
  outcome->kind = PodOutcome::Kind::kPlaced;
}

// Of the chosen node; empty without keep_scores.
std::vector<PluginScore> Placement::ScoresOf(const scheduler::Attempt& attempt) const {
  std::vector<PluginScore> scores;
  const framework::Cycle& cycle = attempt.cycle();
  const scheduler::Decision& decision = attempt.decision();
  if (!decision.scored || !options_.keep_scores) return scores;
  const auto& plugins = cycle.profile().score;
  for (size_t i = 0; i < plugins.size(); ++i) {
    if (cycle.ScoreSkipped(i)) continue;
    const int64_t normalized = cycle.NormalizedScore(i, decision.node);
    scores.push_back({std::string(plugins[i].plugin->Name()), cycle.RawScore(i, decision.node),
                      normalized, normalized * plugins[i].weight});
  }
  return scores;
}

// Runs PostFilter; true when victims were deleted and the pod should be tried again.
bool Placement::MakeRoom(framework::Cycle& cycle, PodId id, PodOutcome* outcome) {
  cluster::Cluster& cluster = world_.GetCluster();
  // Made first: the dry runs of preemption reuse the cycle's verdicts.
  outcome->message = framework::FitErrorMessage(cycle, attempt_.decision().diagnosis);
  framework::PostFilterResult proposal;
  bool room = false;
  if (!cycle.profile().post_filter.empty()) {
    const framework::Status status =
        framework::RunPostFilter(cycle, cluster, attempt_.decision().diagnosis, &proposal);
    if (!status.Message().empty()) outcome->message += " " + status.Message();
    room = status.Ok();
  }
  using Nomination = framework::PostFilterResult::Nomination;
  if (proposal.nomination != Nomination::kKeep) {
    cluster.MutableNominations().Clear(id);
    cluster.MutablePod(id).nominated_node_name.clear();
  }
  if (!room || proposal.nomination != Nomination::kSet) return false;
  for (const PodId victim : proposal.victims) {
    outcome->victims.push_back(cluster.GetPod(victim).Key());
    cluster.RemovePod(victim);
  }
  cluster.MutablePod(id).nominated_node_name = proposal.nominated_node;
  cluster.MutableNominations().Set(id, cluster.Strings().Intern(proposal.nominated_node));
  return true;
}

}  // namespace berth::sim
