#include "scheduler/engine/attempts.h"

#include <algorithm>

#include <fmt/format.h>

#include "framework/runtime/diagnosis.h"
#include "framework/runtime/nominated_filter.h"
#include "scheduler/engine/batching.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/group_attempts.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {
namespace {

using framework::PostFilterResult;
using framework::Status;

// kube-scheduler's limit on the note of an event; longer ones end in " ...".
constexpr size_t kNoteLengthLimit = 1024;

std::string Truncated(const std::string& message) {
  constexpr std::string_view kSuffix = " ...";
  if (message.size() <= kNoteLengthLimit) return message;
  return message.substr(0, kNoteLengthLimit - kSuffix.size()).append(kSuffix);
}

// The words of a FitError about the one node that was chosen.
std::string OneNodeMessage(const Status& status) {
  std::vector<std::string> parts;
  for (const std::string& reason : status.reasons()) parts.push_back("1 " + reason);
  std::sort(parts.begin(), parts.end());
  std::string message = "0/1 nodes are available:";
  if (!parts.empty()) message += fmt::format(" {}.", fmt::join(parts, ", "));
  return message;
}

}  // namespace

Attempts::Attempts(EngineContext& context) : c_(context), algorithm_(context.options.algorithm) {}

Attempts::~Attempts() = default;

void Attempts::FollowBatching(const config::KubeSchedulerConfiguration& config) {
  for (const ProfileRuntime& runtime : c_.runtimes) {
    PodSigner signer(*runtime.profile, config);
    batching_.push_back(
        signer.CanSign()
            ? std::make_unique<Batching>(std::move(signer), runtime.profile->Name(), c_.observer)
            : nullptr);
  }
}

Batching* Attempts::BatchingOf(const ProfileRuntime& runtime) const {
  return batching_[static_cast<size_t>(&runtime - c_.runtimes.data())].get();
}

void Attempts::FollowGroups(queue::GroupedQueue& queue) {
  groups_ = std::make_unique<GroupAttempts>(c_, queue);
}

bool Attempts::Step() {
  if (c_.WaitsForAnswer()) return false;
  const std::optional<PodId> next = c_.queue->Pop(c_.now);
  if (!next) return false;
  ++cycles_;
  if (groups_ != nullptr && queue::IsGroup(*next)) {
    groups_->Try(*next);
  } else {
    Try(*next);
  }
  return true;
}

bool Attempts::Skips(PodId id) {
  const cluster::Pod& pod = c_.cluster.GetPod(id);
  if (pod.terminating) {
    if (c_.observer != nullptr) c_.observer->Skipped(pod);
    c_.outbox.Record(c_.RefOf(pod), std::nullopt, "Warning", "FailedScheduling", "Scheduling",
                     "skip schedule deleting pod: " + pod.Key(),
                     c_.runtimes[c_.pods.Of(id).profile].profile->Name());
    c_.queue->Done(id);
    return true;
  }
  if (pod.node == cluster::kNoNode) return false;
  c_.queue->Done(id);  // assumed: it was queued again before that was known
  return true;
}

void Attempts::Try(PodId id) {
  if (Skips(id)) return;
  ProfileRuntime& runtime = c_.runtimes[c_.pods.Of(id).profile];
  if (!c_.extenders.Empty() && c_.extender_calls->AsksExtenders(id)) {
    c_.extender_calls->BeginExtended(id, runtime);
    return;
  }
  Decide(id, runtime);
  Conclude(id, runtime);
}

void Attempts::Conclude(PodId id, ProfileRuntime& runtime) {
  if (c_.options.behaviour.opportunistic_batching && c_.observer != nullptr &&
      BatchingOf(runtime) == nullptr) {
    TellBatching(runtime);
  }
  switch (attempt_.decision().outcome) {
    case Outcome::kScheduled:
      Commit(id, runtime, attempt_.decision().node);
      break;
    case Outcome::kUnschedulable:
      NoFit(id, runtime);
      break;
    case Outcome::kError: {
      Failure failure;
      failure.rejected = c_.cluster.NodeCount() == 0;  // "no nodes available" is no fault of ours
      failure.message = attempt_.decision().error;
      failure.nomination = c_.NominationOfFailure();
      if (interest_.points) c_.observer->AlgorithmEnded();
      ReportFilterErrors(*runtime.cycle);
      Fail(id, failure);
      break;
    }
  }
}

void Attempts::Decide(PodId id, ProfileRuntime& runtime) {
  const cluster::Pod& pod = c_.cluster.GetPod(id);
  TellBegan(pod, runtime);
  attempt_.Begin(*runtime.cycle, c_.cluster, id);
  if (Batching* batching = BatchingOf(runtime)) {
    DecideInBatch(*batching, id, runtime);
  } else {
    attempt_.Decide(algorithm_, interest_.scores);
  }
  TellDecided(pod, runtime, attempt_.decision());
}

// As Algorithm::Schedule without classes, but for the node of the hint, which is tried before all
// others. A nomination goes first.
void Attempts::DecideInBatch(Batching& batching, PodId id, ProfileRuntime& runtime) {
  framework::Cycle& cycle = *runtime.cycle;
  Decision& decision = attempt_.decision();
  if (!algorithm_.Begin(cycle, c_.cluster, c_.cluster.GetPod(id), &decision)) {
    return attempt_.Decided();
  }
  const NodeIndex hint = batching.FindHint(cycle, c_.cluster, cycles_, c_.now, interest_.points);
  const size_t start = algorithm_.NextStart();
  framework::WatchedPoint filter(cycle.watch(), framework::Point::kFilter);
  bool found = algorithm_.FindNominated(cycle, c_.cluster, &decision);
  const bool nominated = !cycle.context().pod.nominated_node_name.empty();
  if (!found && !nominated && hint != cluster::kNoNode) {
    ++decision.evaluated_nodes;
    found = framework::FeasibleWithNominated(cycle, c_.cluster, hint);
    if (found) {
      cycle.CountPassed();
      decision.feasible.Insert(hint);
      decision.feasible_count = 1;
    }
  }
  found = found || algorithm_.FindNodes(cycle, c_.cluster, &decision);
  filter.End(decision.error.empty() ? framework::Code::kSuccess : framework::Code::kError);
  if (found && algorithm_.Score(cycle, &decision, interest_.scores)) {
    algorithm_.Choose(cycle, &decision);
    batching.Store(cycle, decision, start, c_.now, interest_.points);
  }
  attempt_.Decided();
}

void Attempts::TellBegan(const cluster::Pod& pod, ProfileRuntime& runtime) {
  if (c_.observer == nullptr) return;
  ++c_.wants->cycles_begun;
  const bool due = IsDue(c_.wants->skip_cycles);
  if (due) {
    const auto profile = static_cast<uint8_t>(&runtime - c_.runtimes.data());
    interest_ = c_.observer->CycleBegan(pod, runtime.profile->Name(), profile);
  } else {
    interest_ = c_.wants->cycles ? c_.observer->CyclePassedOver(pod) : CycleInterest{};
    interest_.points = false;
  }
  if (due || runtime.cycle->watch() != nullptr) {
    runtime.cycle->set_watch(interest_.points ? c_.observer : nullptr, interest_.plugins);
  }
  if (c_.wants->now_ns != nullptr) cycle_began_ns_ = c_.wants->now_ns();
}

// The points of several pods cannot be told apart.
void Attempts::TellPassedOver(const cluster::Pod& pod, ProfileRuntime& runtime) {
  interest_ = {};
  runtime.cycle->set_watch(nullptr, false);
  if (c_.observer == nullptr) return;
  ++c_.wants->cycles_begun;
  if (c_.wants->cycles) interest_ = c_.observer->CyclePassedOver(pod);
  interest_.points = false;
  if (c_.wants->now_ns != nullptr) cycle_began_ns_ = c_.wants->now_ns();
}

void Attempts::TellDecided(const cluster::Pod& pod, ProfileRuntime& runtime,
                           const Decision& decision) {
  if (c_.wants->now_ns != nullptr) {
    const int64_t took_ns = c_.wants->now_ns() - cycle_began_ns_;
    if (took_ns >= c_.wants->slow_cycle_ns) c_.observer->SlowCycle(pod, took_ns, interest_.points);
  }
  if (interest_.decision || interest_.scores) {
    c_.observer->Decided(pod, decision, *runtime.cycle);
  }
}

// OpportunisticBatching in profiles whose pods have no signatures: there is never a hint.
void Attempts::TellBatching(const ProfileRuntime& runtime) {
  const Decision& decision = attempt_.decision();
  const bool searched = c_.cluster.NodeCount() > 0 && decision.pre_filter.Ok();
  if (!searched) return;
  const std::string& profile = runtime.profile->Name();
  const auto timed = [&](BatchStep step) {
    if (!interest_.points) return;
    c_.observer->BatchStepBegan(step);
    c_.observer->BatchStepEnded(profile, step, /*hinted=*/false);
  };
  timed(BatchStep::kGetHint);
  c_.observer->BatchAttempted(profile, BatchAttempt::kNoHint);
  if (decision.outcome != Outcome::kScheduled) return;
  timed(BatchStep::kStore);
  c_.observer->BatchFlushed(profile,
                            decision.feasible_count == 1 ? "empty_list" : "pod_not_batchable");
}

void Attempts::ReportFilterErrors(const framework::Cycle& cycle) {
  if (c_.observer == nullptr) return;
  std::optional<PodRef> ref;
  attempt_.decision().diagnosis.rejected.ForEach([&](NodeIndex n) {
    const framework::Verdict& verdict = cycle.verdicts()[n];
    if (verdict.code != framework::Code::kError || verdict.plugin == framework::kNoPlugin) return;
    if (!ref) ref = c_.RefOf(cycle.context().pod);
    c_.observer->PluginFailed(*ref, framework::Point::kFilter,
                              cycle.profile().At(verdict.plugin).Name(), "", "");
  });
}

// No node fits: asks for room, and waits.
void Attempts::NoFit(PodId id, ProfileRuntime& runtime) {
  if ((c_.pods.Of(id).extenders & c_.extenders.With(CallExtender::Verb::kPreempt)) != 0) {
    c_.extender_calls->BeginReview(id, runtime);
    return;
  }
  PostFilterResult result;
  Status status;
  if (!runtime.profile->post_filter.empty()) {
    status = framework::RunPostFilter(*runtime.cycle, c_.cluster, attempt_.decision().diagnosis,
                                      &result);
  } else if (c_.options.behaviour.failures_clear_nomination) {
    result.nomination = PostFilterResult::Nomination::kClear;
  }
  FinishNoFit(id, runtime, status, result);
}

void Attempts::FinishNoFit(PodId id, ProfileRuntime& runtime, const Status& status,
                           const PostFilterResult& result) {
  if (c_.observer != nullptr) c_.observer->PostFiltered(c_.cluster.GetPod(id), status, result);
  Failure failure;
  failure.rejected = true;
  failure.nomination = result.nomination;
  failure.nominated_node = result.nominated_node;
  attempt_.decision().diagnosis.post_filter_message = status.Message();
  if (interest_.points) c_.observer->AlgorithmEnded();
  failure.explained = std::make_shared<FailedAttempt>();
  failure.message = framework::FitErrorMessage(*runtime.cycle, attempt_.decision().diagnosis,
                                               &failure.explained->reasons);
  for (const PodId victim : result.victims) {
    failure.explained->victims.push_back(c_.cluster.GetPod(victim).Key());
  }
  failure.unschedulable = runtime.MaskOf(attempt_.decision().diagnosis.unschedulable_plugins);
  failure.pending = runtime.MaskOf(attempt_.decision().diagnosis.pending_plugins);
  if (result.deallocated_claim) {
    using Verb = framework::ApiWrite::Verb;
    framework::ApiWrite write{*result.deallocated_claim,
                              result.deletes_claim ? Verb::kDelete : Verb::kUpdateStatus};
    c_.outbox.EmitAwaited(WriteObject{std::move(write)},
                          {Awaited::For::kActivate, c_.cluster.GetPod(id).key(), 0, 0});
  }
  const bool later = result.nomination == PostFilterResult::Nomination::kSet &&
                     c_.preemptions->StartPreemption(id, result, failure);
  if (!later) Fail(id, failure);
}

void Attempts::Commit(PodId id, ProfileRuntime& runtime, NodeIndex node) {
  if (interest_.points) c_.observer->AlgorithmEnded();
  if (const Status reserved = attempt_.Reserve(node); !reserved.Ok()) {
    TakeBack(id, runtime, framework::Point::kReserve, reserved);
    return;
  }
  if (const Status permitted = attempt_.Permit(); !permitted.Ok()) {
    TakeBack(id, runtime, framework::Point::kPermit, permitted);
    return;
  }
  attempt_.Commit();
  auto binding = std::make_unique<Binding>();
  binding->key = c_.cluster.GetPod(id).key();
  binding->pod = id;
  binding->ref = c_.RefOf(c_.cluster.GetPod(id));
  binding->node = node;
  binding->node_name = c_.cluster.NodeName(node);
  binding->profile = c_.pods.Of(id).profile;
  binding->watched = interest_.points;
  binding->info = *c_.queue->FindInFlight(id);
  binding->extenders = c_.pods.Of(id).extenders;
  for (const PermitWait& wait : attempt_.waits()) {
    binding->waits.push_back({wait.plugin, After(c_.now, wait.timeout_ns), wait.timeout_ns});
  }
  for (PreBindWork& work : attempt_.TakeWork()) binding->runs.push_back({std::move(work)});
  binding->snapshot = c_.cluster.Snapshot(id);
  c_.log.Scheduled(c_.cluster.GetPod(id), binding->profile, binding->info.attempts,
                   attempt_.decision(), c_.cluster.Record(node).name, c_.now.UnixNano(),
                   ++c_.changes);
  LogCycleTimes();
  binding->record = c_.log.Newest();
  if (c_.wants->scheduled || interest_.points) {
    c_.observer->Attempted(c_.cluster.GetPod(id), Outcome::kScheduled, binding->node_name, "");
  }
  Binding& begun = c_.bindings->Add(std::move(binding));
  if (c_.options.planted_bug == PlantedBug::kDoubleAssume && ++planted_ % 7 == 0) {
    c_.queue->Done(id);
    c_.queue->Add(id, begun.profile, c_.now);
  }
  c_.bindings->Begin(begun);
}

// A plugin of the cycle has refused. The observer is notified of errors.
void Attempts::TellFailed(const cluster::Pod& pod, framework::Point point, NodeIndex node,
                          const Status& status) {
  if (c_.observer == nullptr || framework::IsRejected(status.code())) return;
  c_.observer->PluginFailed(c_.RefOf(pod), point, status.plugin(), c_.cluster.NodeName(node),
                            status.Message());
}

// Reserve or Permit has refused: everything is as before the cycle.
void Attempts::TakeBack(PodId id, ProfileRuntime& runtime, framework::Point point,
                        const Status& status) {
  TellFailed(c_.cluster.GetPod(id), point, attempt_.node(), status);
  attempt_.Rollback();
  Failure failure;
  failure.rejected = framework::IsRejected(status.code());
  failure.nomination = c_.NominationOfFailure();
  if (failure.rejected) {
    failure.message = OneNodeMessage(status);
    const queue::PluginId plugin = runtime.IdOf(status.plugin());
    if (plugin != queue::kNoPlugin) {
      (status.code() == framework::Code::kPending ? failure.pending : failure.unschedulable) |=
          queue::MaskOf(plugin);
    }
  } else {
    failure.message = fmt::format("running {} plugin \"{}\": {}", framework::PointName(point),
                                  status.plugin(), status.Message());
  }
  Fail(id, failure);
}

// --- Failure

void Attempts::Fail(PodId id, const Failure& failure) {
  PodRecord& record = c_.pods.Of(id);
  const queue::QueuedPod* in_flight = c_.queue->FindInFlight(id);
  const int32_t attempts = failure.info           ? failure.info->attempts
                           : in_flight != nullptr ? in_flight->attempts
                                                  : 0;
  if (record.deleted || record.assigned) {  // by somebody else
    c_.queue->Done(id);
  } else {
    Requeue(id, failure);
    Nominate(id, failure);
  }
  const cluster::Pod& pod = c_.cluster.GetPod(id);
  const auto named = c_.pods.by_name.find(pod.Key());
  if (named == c_.pods.by_name.end() || named->second == id) {  // else: recreated under its name
    LogFailure(pod, attempts, failure);
    if (c_.observer != nullptr) {
      c_.observer->Attempted(pod, failure.rejected ? Outcome::kUnschedulable : Outcome::kError, "",
                             failure.message);
    }
    c_.outbox.Record(c_.RefOf(pod), std::nullopt, "Warning", "FailedScheduling", "Scheduling",
                     Truncated(failure.message), c_.runtimes[record.profile].profile->Name());
    PatchFailure(id, failure);
  }
  if (record.deleted) c_.intake->ForgetPod(id);
}

void Attempts::Requeue(PodId id, const Failure& failure) {
  PodRecord& record = c_.pods.Of(id);
  if (record.newer) {
    const std::unique_ptr<api::Pod> newer = std::move(record.newer);
    c_.intake->TakeUp(id, *newer);
  }
  if (c_.options.planted_bug == PlantedBug::kLostRequeue && ++planted_ % 5 == 0) {
    c_.queue->Done(id);
  } else if (c_.queue->FindInFlight(id) != nullptr) {
    c_.queue->AddUnschedulable(id, failure.unschedulable, failure.pending, c_.now);
  } else if (failure.info && c_.queue->Find(id) == nullptr) {
    c_.queue->AddFailed(*failure.info, c_.now);
  }
}

// Without this, the next cycle could use the capacity before the watch shows the nomination.
void Attempts::Nominate(PodId id, const Failure& failure) {
  std::string node;
  switch (failure.nomination) {
    case PostFilterResult::Nomination::kSet:
      node = failure.nominated_node;
      break;
    case PostFilterResult::Nomination::kKeep:
      node = c_.cluster.GetPod(id).nominated_node_name;
      if (node.empty()) return;
      break;
    case PostFilterResult::Nomination::kClear:
      break;
  }
  if (node.empty()) {
    c_.cluster.MutableNominations().Clear(id);
  } else {
    c_.cluster.MutableNominations().Set(id, c_.cluster.Strings().Intern(node));
  }
}

// Tells the API server, when there is something new to tell.
void Attempts::PatchFailure(PodId id, const Failure& failure) {
  const cluster::Pod& pod = c_.cluster.GetPod(id);
  const PodRecord& record = c_.pods.Of(id);
  PatchPodStatus patch;
  patch.pod = c_.RefOf(pod);
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = failure.rejected ? "Unschedulable" : "SchedulerError";
  condition.message = failure.message;
  condition.observed_generation = c_.options.behaviour.observed_generation ? record.generation : 0;
  condition.last_transition_time = c_.now;
  const auto& before = record.scheduled;
  if (before && before->status == condition.status) {
    condition.last_transition_time = before->last_transition_time;
  }
  if (!before || before->status != condition.status || before->reason != condition.reason ||
      before->message != condition.message) {
    patch.condition = std::move(condition);
    if (before) patch.old_condition = *before;
  }
  patch.condition_types = c_.pods.condition_types[record.condition_types];
  const bool overrides = failure.nomination != PostFilterResult::Nomination::kKeep;
  const std::string& node = failure.nominated_node;
  if (c_.observer != nullptr) {
    c_.observer->FailureReported(pod, failure.rejected ? Outcome::kUnschedulable : Outcome::kError,
                                 overrides, node);
  }
  if (overrides && (failure.was_nominated || pod.nominated_node_name != node)) {
    patch.nominated_node_name = node;
  }
  if (patch.condition || patch.nominated_node_name) c_.outbox.Emit(std::move(patch));
}

void Attempts::LogFailure(const cluster::Pod& pod, int32_t attempts, const Failure& failure) {
  // An error of the cycle, or after it, has no reasons by node.
  const auto explained = failure.explained ? failure.explained : std::make_shared<FailedAttempt>();
  explained->message = failure.message;
  explained->nominated_node = failure.nominated_node;
  const bool of_cycle = !failure.info && !failure.of_group;
  c_.log.Failed(pod, c_.pods.Of(pod.id).profile, attempts,
                of_cycle ? &attempt_.decision() : nullptr,
                failure.rejected ? Outcome::kUnschedulable : Outcome::kError, explained,
                c_.now.UnixNano(), c_.changes);
  if (of_cycle) {
    LogCycleTimes();
  } else if (failure.info) {
    c_.bindings->LogBindingTimes(c_.RefOf(pod), c_.log.Newest());
  }
}

void Attempts::LogCycleTimes() {
  if (!interest_.points) return;
  if (const PointTimes* times = c_.observer->CycleTimes()) c_.log.Timed(c_.log.Newest(), *times);
}

}  // namespace berth::scheduler
