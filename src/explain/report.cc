#include "explain/report.h"

namespace berth::explain {

using api::Describe;
using api::TypeInfo;

const TypeInfo& Rejection::Type() {
  static const TypeInfo type = Describe<Rejection>("Rejection")
                                   .Always(1, "plugin", &Rejection::plugin)
                                   .Always(2, "reason", &Rejection::reason)
                                   .Always(3, "code", &Rejection::code)
                                   .Always(4, "nodes", &Rejection::nodes)
                                   .Field(5, "examples", &Rejection::examples)
                                   .Build();
  return type;
}

const TypeInfo& DecisionSummary::Type() {
  static const TypeInfo type = Describe<DecisionSummary>("DecisionSummary")
                                   .Always(1, "id", &DecisionSummary::id)
                                   .Always(2, "time", &DecisionSummary::time)
                                   .Always(3, "namespace", &DecisionSummary::namespace_)
                                   .Always(4, "name", &DecisionSummary::name)
                                   .Always(5, "uid", &DecisionSummary::uid)
                                   .Always(6, "profile", &DecisionSummary::profile)
                                   .Always(7, "attempt", &DecisionSummary::attempt)
                                   .Always(8, "outcome", &DecisionSummary::outcome)
                                   .Field(9, "node", &DecisionSummary::node)
                                   .Field(10, "score", &DecisionSummary::score)
                                   .Always(11, "nodes", &DecisionSummary::nodes)
                                   .Always(12, "evaluated", &DecisionSummary::evaluated)
                                   .Always(13, "feasible", &DecisionSummary::feasible)
                                   .Field(14, "equal", &DecisionSummary::equal)
                                   .Field(15, "rejections", &DecisionSummary::rejections)
                                   .Field(16, "message", &DecisionSummary::message)
                                   .Field(17, "nominatedNode", &DecisionSummary::nominated_node)
                                   .Field(18, "victims", &DecisionSummary::victims)
                                   .Build();
  return type;
}

const TypeInfo& DecisionList::Type() {
  static const TypeInfo type = Describe<DecisionList>("DecisionList")
                                   .Always(1, "items", &DecisionList::items)
                                   .Field(2, "continue", &DecisionList::continue_)
                                   .Always(3, "total", &DecisionList::total)
                                   .Build();
  return type;
}

const TypeInfo& FunnelStep::Type() {
  static const TypeInfo type = Describe<FunnelStep>("FunnelStep")
                                   .Always(1, "plugin", &FunnelStep::plugin)
                                   .Always(2, "point", &FunnelStep::point)
                                   .Always(3, "before", &FunnelStep::before)
                                   .Always(4, "after", &FunnelStep::after)
                                   .Field(5, "skipped", &FunnelStep::skipped)
                                   .Always(6, "reasons", &FunnelStep::reasons)
                                   .Build();
  return type;
}

const TypeInfo& Funnel::Type() {
  static const TypeInfo type = Describe<Funnel>("Funnel")
                                   .Always(1, "nodes", &Funnel::nodes)
                                   .Always(2, "feasible", &Funnel::feasible)
                                   .Always(3, "steps", &Funnel::steps)
                                   .Build();
  return type;
}

const TypeInfo& PluginScore::Type() {
  static const TypeInfo type = Describe<PluginScore>("PluginScore")
                                   .Always(1, "plugin", &PluginScore::plugin)
                                   .Always(2, "raw", &PluginScore::raw)
                                   .Always(3, "normalized", &PluginScore::normalized)
                                   .Always(4, "weight", &PluginScore::weight)
                                   .Always(5, "weighted", &PluginScore::weighted)
                                   .Build();
  return type;
}

const TypeInfo& NodeScore::Type() {
  static const TypeInfo type = Describe<NodeScore>("NodeScore")
                                   .Always(1, "node", &NodeScore::node)
                                   .Always(2, "rank", &NodeScore::rank)
                                   .Always(3, "total", &NodeScore::total)
                                   .Field(4, "chosen", &NodeScore::chosen)
                                   .Always(5, "scores", &NodeScore::scores)
                                   .Build();
  return type;
}

const TypeInfo& NodeVerdict::Type() {
  static const TypeInfo type = Describe<NodeVerdict>("NodeVerdict")
                                   .Always(1, "node", &NodeVerdict::node)
                                   .Always(2, "fits", &NodeVerdict::fits)
                                   .Field(3, "plugin", &NodeVerdict::plugin)
                                   .Field(4, "code", &NodeVerdict::code)
                                   .Field(5, "reasons", &NodeVerdict::reasons)
                                   .Field(6, "score", &NodeVerdict::score)
                                   .Build();
  return type;
}

const TypeInfo& ScoreDifference::Type() {
  static const TypeInfo type = Describe<ScoreDifference>("ScoreDifference")
                                   .Always(1, "plugin", &ScoreDifference::plugin)
                                   .Always(2, "chosen", &ScoreDifference::chosen)
                                   .Always(3, "runnerUp", &ScoreDifference::runner_up)
                                   .Always(4, "difference", &ScoreDifference::difference)
                                   .Build();
  return type;
}

const TypeInfo& RunnerUp::Type() {
  static const TypeInfo type = Describe<RunnerUp>("RunnerUp")
                                   .Always(1, "node", &RunnerUp::node)
                                   .Always(2, "total", &RunnerUp::total)
                                   .Always(3, "behind", &RunnerUp::behind)
                                   .Always(4, "differences", &RunnerUp::differences)
                                   .Always(5, "text", &RunnerUp::text)
                                   .Build();
  return type;
}

const TypeInfo& Tie::Type() {
  static const TypeInfo type = Describe<Tie>("Tie")
                                   .Always(1, "total", &Tie::total)
                                   .Always(2, "count", &Tie::count)
                                   .Always(3, "nodes", &Tie::nodes)
                                   .Build();
  return type;
}

const TypeInfo& Victim::Type() {
  static const TypeInfo type = Describe<Victim>("Victim")
                                   .Always(1, "namespace", &Victim::namespace_)
                                   .Always(2, "name", &Victim::name)
                                   .Always(3, "priority", &Victim::priority)
                                   .Field(4, "violatesPdb", &Victim::violates_pdb)
                                   .Field(5, "pdbs", &Victim::pdbs)
                                   .Build();
  return type;
}

const TypeInfo& PreemptionCandidate::Type() {
  static const TypeInfo type =
      Describe<PreemptionCandidate>("PreemptionCandidate")
          .Always(1, "node", &PreemptionCandidate::node)
          .Always(2, "victims", &PreemptionCandidate::victims)
          .Always(3, "pdbViolations", &PreemptionCandidate::pdb_violations)
          .Field(4, "highestVictimPriority", &PreemptionCandidate::highest_victim_priority)
          .Field(5, "sumOfPriorities", &PreemptionCandidate::sum_of_priorities)
          .Field(6, "chosen", &PreemptionCandidate::chosen)
          .Field(7, "lost", &PreemptionCandidate::lost)
          .Build();
  return type;
}

const TypeInfo& PreemptionView::Type() {
  static const TypeInfo type = Describe<PreemptionView>("PreemptionView")
                                   .Always(1, "message", &PreemptionView::message)
                                   .Field(2, "nominatedNode", &PreemptionView::nominated_node)
                                   .Always(3, "candidates", &PreemptionView::candidates)
                                   .Field(4, "candidateCount", &PreemptionView::candidate_count)
                                   .Field(5, "hopeless", &PreemptionView::hopeless)
                                   .Build();
  return type;
}

const TypeInfo& Hint::Type() {
  static const TypeInfo type = Describe<Hint>("Hint")
                                   .Always(1, "plugin", &Hint::plugin)
                                   .Always(2, "says", &Hint::says)
                                   .Build();
  return type;
}

const TypeInfo& QueueMove::Type() {
  static const TypeInfo type = Describe<QueueMove>("QueueMove")
                                   .Always(1, "time", &QueueMove::time)
                                   .Field(2, "from", &QueueMove::from)
                                   .Always(3, "to", &QueueMove::to)
                                   .Always(4, "event", &QueueMove::event)
                                   .Field(5, "hints", &QueueMove::hints)
                                   .Build();
  return type;
}

const TypeInfo& QueuePlace::Type() {
  static const TypeInfo type = Describe<QueuePlace>("QueuePlace")
                                   .Always(1, "where", &QueuePlace::where)
                                   .Always(2, "attempts", &QueuePlace::attempts)
                                   .Field(3, "queuedAt", &QueuePlace::queued_at)
                                   .Field(4, "firstAttempt", &QueuePlace::first_attempt)
                                   .Field(5, "backoffUntil", &QueuePlace::backoff_until)
                                   .Field(6, "waitsFor", &QueuePlace::waits_for)
                                   .Field(7, "gatedBy", &QueuePlace::gated_by)
                                   .Always(8, "history", &QueuePlace::history)
                                   .Build();
  return type;
}

const TypeInfo& PresentOutcome::Type() {
  static const TypeInfo type = Describe<PresentOutcome>("PresentOutcome")
                                   .Always(1, "outcome", &PresentOutcome::outcome)
                                   .Field(2, "node", &PresentOutcome::node)
                                   .Always(3, "message", &PresentOutcome::message)
                                   .Build();
  return type;
}

const TypeInfo& DecisionView::Type() {
  static const TypeInfo type = Describe<DecisionView>("DecisionView")
                                   .Field(1, "record", &DecisionView::record)
                                   .Always(2, "recomputed", &DecisionView::recomputed)
                                   .Field(3, "present", &DecisionView::present)
                                   .Field(4, "podNode", &DecisionView::pod_node)
                                   .Always(5, "funnel", &DecisionView::funnel)
                                   .Always(6, "topNodes", &DecisionView::top_nodes)
                                   .Field(7, "runnerUp", &DecisionView::runner_up)
                                   .Field(8, "tie", &DecisionView::tie)
                                   .Field(9, "node", &DecisionView::node)
                                   .Field(10, "preemption", &DecisionView::preemption)
                                   .Always(11, "queue", &DecisionView::queue)
                                   .Field(12, "durationsMs", &DecisionView::durations_ms)
                                   .Build();
  return type;
}

const TypeInfo& Suggestion::Type() {
  static const TypeInfo type = Describe<Suggestion>("Suggestion")
                                   .Always(1, "kind", &Suggestion::kind)
                                   .Always(2, "text", &Suggestion::text)
                                   .Always(3, "nodes", &Suggestion::nodes)
                                   .Always(4, "examples", &Suggestion::examples)
                                   .Field(5, "change", &Suggestion::change)
                                   .Field(6, "patch", &Suggestion::patch)
                                   .Field(7, "whatIf", &Suggestion::what_if)
                                   .Build();
  return type;
}

const TypeInfo& Cause::Type() {
  static const TypeInfo type = Describe<Cause>("Cause")
                                   .Always(1, "kind", &Cause::kind)
                                   .Always(2, "text", &Cause::text)
                                   .Field(3, "remedy", &Cause::remedy)
                                   .Build();
  return type;
}

const TypeInfo& SuggestionList::Type() {
  static const TypeInfo type = Describe<SuggestionList>("SuggestionList")
                                   .Always(1, "namespace", &SuggestionList::namespace_)
                                   .Always(2, "name", &SuggestionList::name)
                                   .Always(3, "feasibleNow", &SuggestionList::feasible_now)
                                   .Field(4, "message", &SuggestionList::message)
                                   .Always(5, "items", &SuggestionList::items)
                                   .Always(6, "tried", &SuggestionList::tried)
                                   .Field(7, "causes", &SuggestionList::causes)
                                   .Field(8, "workload", &SuggestionList::workload)
                                   .Field(9, "pending", &SuggestionList::pending)
                                   .Build();
  return type;
}

const TypeInfo& PendingPod::Type() {
  static const TypeInfo type = Describe<PendingPod>("PendingPod")
                                   .Always(1, "namespace", &PendingPod::namespace_)
                                   .Always(2, "name", &PendingPod::name)
                                   .Field(3, "uid", &PendingPod::uid)
                                   .Always(4, "where", &PendingPod::where)
                                   .Always(5, "attempts", &PendingPod::attempts)
                                   .Always(6, "priority", &PendingPod::priority)
                                   .Field(7, "profile", &PendingPod::profile)
                                   .Field(8, "createdAt", &PendingPod::created_at)
                                   .Field(9, "queuedAt", &PendingPod::queued_at)
                                   .Field(10, "backoffUntil", &PendingPod::backoff_until)
                                   .Field(11, "message", &PendingPod::message)
                                   .Field(12, "rejections", &PendingPod::rejections)
                                   .Field(13, "nominatedNode", &PendingPod::nominated_node)
                                   .Field(14, "workload", &PendingPod::workload)
                                   .Build();
  return type;
}

const TypeInfo& PendingGroup::Type() {
  static const TypeInfo type = Describe<PendingGroup>("PendingGroup")
                                   .Always(1, "plugin", &PendingGroup::plugin)
                                   .Always(2, "reason", &PendingGroup::reason)
                                   .Always(3, "pods", &PendingGroup::pods)
                                   .Field(4, "nodes", &PendingGroup::nodes)
                                   .Field(5, "examples", &PendingGroup::examples)
                                   .Build();
  return type;
}

const TypeInfo& PendingList::Type() {
  static const TypeInfo type = Describe<PendingList>("PendingList")
                                   .Always(1, "total", &PendingList::total)
                                   .Always(2, "items", &PendingList::items)
                                   .Always(3, "groups", &PendingList::groups)
                                   .Build();
  return type;
}

const TypeInfo& NodeTable::Type() {
  static const TypeInfo type = Describe<NodeTable>("NodeTable")
                                   .Always(1, "count", &NodeTable::count)
                                   .Always(2, "zones", &NodeTable::zones)
                                   .Always(3, "resources", &NodeTable::resources)
                                   .Always(4, "name", &NodeTable::name)
                                   .Always(5, "zone", &NodeTable::zone)
                                   .Always(6, "schedulable", &NodeTable::schedulable)
                                   .Field(7, "tainted", &NodeTable::tainted)
                                   .Always(8, "allocatable", &NodeTable::allocatable)
                                   .Always(9, "requested", &NodeTable::requested)
                                   .Field(10, "ready", &NodeTable::ready)
                                   .Field(11, "pools", &NodeTable::pools)
                                   .Field(12, "pool", &NodeTable::pool)
                                   .Field(13, "taints", &NodeTable::taints)
                                   .Field(14, "taint", &NodeTable::taint)
                                   .Build();
  return type;
}

const TypeInfo& Amount::Type() {
  static const TypeInfo type = Describe<Amount>("Amount")
                                   .Always(1, "resource", &Amount::resource)
                                   .Always(2, "allocatable", &Amount::allocatable)
                                   .Always(3, "requested", &Amount::requested)
                                   .Always(4, "free", &Amount::free)
                                   .Build();
  return type;
}

const TypeInfo& PodOnNode::Type() {
  static const TypeInfo type = Describe<PodOnNode>("PodOnNode")
                                   .Always(1, "namespace", &PodOnNode::namespace_)
                                   .Always(2, "name", &PodOnNode::name)
                                   .Always(3, "priority", &PodOnNode::priority)
                                   .Always(4, "cpu", &PodOnNode::cpu)
                                   .Always(5, "memory", &PodOnNode::memory)
                                   .Field(6, "extended", &PodOnNode::extended)
                                   .Field(7, "terminating", &PodOnNode::terminating)
                                   .Field(8, "assumed", &PodOnNode::assumed)
                                   .Build();
  return type;
}

const TypeInfo& NodeDetail::Type() {
  static const TypeInfo type = Describe<NodeDetail>("NodeDetail")
                                   .Always(1, "name", &NodeDetail::name)
                                   .Field(2, "zone", &NodeDetail::zone)
                                   .Always(3, "schedulable", &NodeDetail::schedulable)
                                   .Field(4, "labels", &NodeDetail::labels)
                                   .Field(5, "taints", &NodeDetail::taints)
                                   .Always(6, "amounts", &NodeDetail::amounts)
                                   .Always(7, "pods", &NodeDetail::pods)
                                   .Field(8, "nominated", &NodeDetail::nominated)
                                   .Build();
  return type;
}

const TypeInfo& QueueCounts::Type() {
  static const TypeInfo type = Describe<QueueCounts>("QueueCounts")
                                   .Always(1, "active", &QueueCounts::active)
                                   .Always(2, "backoff", &QueueCounts::backoff)
                                   .Always(3, "unschedulable", &QueueCounts::unschedulable)
                                   .Always(4, "gated", &QueueCounts::gated)
                                   .Always(5, "inFlight", &QueueCounts::in_flight)
                                   .Always(6, "waiting", &QueueCounts::waiting)
                                   .Always(7, "binding", &QueueCounts::binding)
                                   .Build();
  return type;
}

const TypeInfo& QueueState::Type() {
  static const TypeInfo type = Describe<QueueState>("QueueState")
                                   .Always(1, "time", &QueueState::time)
                                   .Always(2, "counts", &QueueState::counts)
                                   .Always(3, "totals", &QueueState::totals)
                                   .Always(4, "last60s", &QueueState::last60s)
                                   .Field(5, "nodes", &QueueState::nodes)
                                   .Field(6, "pods", &QueueState::pods)
                                   .Build();
  return type;
}

const TypeInfo& PluginRef::Type() {
  static const TypeInfo type = Describe<PluginRef>("PluginRef")
                                   .Always(1, "name", &PluginRef::name)
                                   .Field(2, "weight", &PluginRef::weight)
                                   .Build();
  return type;
}

const TypeInfo& PluginSet::Type() {
  static const TypeInfo type = Describe<PluginSet>("PluginSet")
                                   .Always(1, "point", &PluginSet::point)
                                   .Always(2, "plugins", &PluginSet::plugins)
                                   .Build();
  return type;
}

const TypeInfo& ProfileView::Type() {
  static const TypeInfo type =
      Describe<ProfileView>("ProfileView")
          .Always(1, "schedulerName", &ProfileView::scheduler_name)
          .Field(2, "percentageOfNodesToScore", &ProfileView::percentage_of_nodes_to_score)
          .Always(3, "points", &ProfileView::points)
          .Build();
  return type;
}

const TypeInfo& ConfigView::Type() {
  static const TypeInfo type =
      Describe<ConfigView>("ConfigView").Always(1, "profiles", &ConfigView::profiles).Build();
  return type;
}

const TypeInfo& Index::Type() {
  static const TypeInfo type = Describe<Index>("Index")
                                   .Always(1, "version", &Index::version)
                                   .Always(2, "paths", &Index::paths)
                                   .Always(3, "profiles", &Index::profiles)
                                   .Always(4, "decisionsKept", &Index::decisions_kept)
                                   .Build();
  return type;
}

const TypeInfo& AddNodes::Type() {
  static const TypeInfo type = Describe<AddNodes>("AddNodes")
                                   .Always(1, "like", &AddNodes::like)
                                   .Always(2, "count", &AddNodes::count)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfRequest::Type() {
  static const TypeInfo type =
      Describe<WhatIfRequest>("WhatIfRequest")
          .Field(1, "manifests", &WhatIfRequest::manifests)
          .Field(2, "cordon", &WhatIfRequest::cordon)
          .Field(3, "uncordon", &WhatIfRequest::uncordon)
          .Field(4, "removeNodes", &WhatIfRequest::remove_nodes)
          .Field(5, "addNodes", &WhatIfRequest::add_nodes)
          .Field(6, "weights", &WhatIfRequest::weights)
          .Field(7, "reschedulePending", &WhatIfRequest::reschedule_pending)
          .Field(8, "profile", &WhatIfRequest::profile)
          .Build();
  return type;
}

const TypeInfo& WhatIfPlacement::Type() {
  static const TypeInfo type = Describe<WhatIfPlacement>("WhatIfPlacement")
                                   .Always(1, "namespace", &WhatIfPlacement::namespace_)
                                   .Always(2, "name", &WhatIfPlacement::name)
                                   .Always(3, "outcome", &WhatIfPlacement::outcome)
                                   .Field(4, "node", &WhatIfPlacement::node)
                                   .Field(5, "before", &WhatIfPlacement::before)
                                   .Field(6, "message", &WhatIfPlacement::message)
                                   .Field(7, "score", &WhatIfPlacement::score)
                                   .Field(8, "feasible", &WhatIfPlacement::feasible)
                                   .Field(9, "equal", &WhatIfPlacement::equal)
                                   .Field(10, "victims", &WhatIfPlacement::victims)
                                   .Field(11, "scores", &WhatIfPlacement::scores)
                                   .Field(12, "source", &WhatIfPlacement::source)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfUse::Type() {
  static const TypeInfo type = Describe<WhatIfUse>("WhatIfUse")
                                   .Always(1, "resource", &WhatIfUse::resource)
                                   .Always(2, "allocatableBefore", &WhatIfUse::allocatable_before)
                                   .Always(3, "requestedBefore", &WhatIfUse::requested_before)
                                   .Always(4, "allocatableAfter", &WhatIfUse::allocatable_after)
                                   .Always(5, "requestedAfter", &WhatIfUse::requested_after)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfSummary::Type() {
  static const TypeInfo type = Describe<WhatIfSummary>("WhatIfSummary")
                                   .Always(1, "nodes", &WhatIfSummary::nodes)
                                   .Always(2, "pods", &WhatIfSummary::pods)
                                   .Always(3, "pending", &WhatIfSummary::pending)
                                   .Build();
  return type;
}

const TypeInfo& WhatIfResult::Type() {
  static const TypeInfo type = Describe<WhatIfResult>("WhatIfResult")
                                   .Always(1, "placements", &WhatIfResult::placements)
                                   .Field(2, "placed", &WhatIfResult::placed)
                                   .Field(3, "unschedulable", &WhatIfResult::unschedulable)
                                   .Field(4, "gated", &WhatIfResult::gated)
                                   .Field(5, "preempted", &WhatIfResult::preempted)
                                   .Field(6, "errors", &WhatIfResult::errors)
                                   .Always(7, "before", &WhatIfResult::before)
                                   .Always(8, "after", &WhatIfResult::after)
                                   .Always(9, "use", &WhatIfResult::use)
                                   .Field(10, "notes", &WhatIfResult::notes)
                                   .Always(11, "tookMs", &WhatIfResult::took_ms)
                                   .Build();
  return type;
}

std::string WithEmptyLists(std::string json) {
  constexpr std::string_view kNull = "null";
  std::string text;
  text.reserve(json.size());
  bool quoted = false;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quoted && c == '\\') {
      text += c;
      text += json[++i];
      continue;
    }
    if (c == '"') quoted = !quoted;
    if (!quoted && c == 'n' && std::string_view(json).substr(i, kNull.size()) == kNull) {
      text += "[]";
      i += kNull.size() - 1;
      continue;
    }
    text += c;
  }
  return text;
}

}  // namespace berth::explain
