// Engine: the scheduling cycle, from Pop to Permit, and what follows when it fails.
#include <algorithm>

#include <fmt/format.h>

#include "framework/runtime/diagnosis.h"
#include "scheduler/engine_impl.h"

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

bool Engine::Impl::Step() {
  if (WaitsForAnswer()) return false;
  const std::optional<PodId> next = queue_->Pop(now_);
  if (!next) return false;
  Try(*next);
  return true;
}

void Engine::Impl::Try(PodId id) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  ProfileRuntime& runtime = runtimes_[RecordOf(id).profile];
  if (pod.terminating) {
    if (observer_ != nullptr) observer_->Skipped(pod);
    Record(RefOf(pod), std::nullopt, "Warning", "FailedScheduling", "Scheduling",
           "skip schedule deleting pod: " + pod.Key(), runtime.profile->Name());
    queue_->Done(id);
    return;
  }
  if (pod.node != cluster::kNoNode) {  // assumed: it was queued again before that was known
    queue_->Done(id);
    return;
  }
  if (!extenders_.Empty() && AsksExtenders(id)) {
    BeginExtended(id, runtime);
    return;
  }
  Decide(id, runtime);
  Conclude(id, runtime);
}

void Engine::Impl::Conclude(PodId id, ProfileRuntime& runtime) {
  switch (attempt_.decision().outcome) {
    case Outcome::kScheduled:
      Commit(id, runtime, attempt_.decision().node);
      break;
    case Outcome::kUnschedulable:
      NoFit(id, runtime);
      break;
    case Outcome::kError: {
      Failure failure;
      failure.rejected = cluster_.NodeCount() == 0;  // "no nodes available" is no fault of ours
      failure.message = attempt_.decision().error;
      if (interest_.points) observer_->AlgorithmEnded();
      ReportFilterErrors(*runtime.cycle);
      Fail(id, failure);
      break;
    }
  }
}

void Engine::Impl::Decide(PodId id, ProfileRuntime& runtime) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  TellBegan(pod, runtime);
  attempt_.Begin(*runtime.cycle, cluster_, id);
  attempt_.Decide(algorithm_, interest_.scores);
  TellDecided(pod, runtime);
}

void Engine::Impl::TellBegan(const cluster::Pod& pod, ProfileRuntime& runtime) {
  if (observer_ == nullptr) return;
  ++wants_->cycles_begun;
  const bool due = IsDue(wants_->skip_cycles);
  if (due) {
    const auto profile = static_cast<uint8_t>(&runtime - runtimes_.data());
    interest_ = observer_->CycleBegan(pod, runtime.profile->Name(), profile);
  } else {
    interest_ = wants_->cycles ? observer_->CyclePassedOver(pod) : CycleInterest{};
    interest_.points = false;
  }
  if (due || runtime.cycle->watch() != nullptr) {
    runtime.cycle->set_watch(interest_.points ? observer_ : nullptr, interest_.plugins);
  }
  if (wants_->now_ns != nullptr) cycle_began_ns_ = wants_->now_ns();
}

void Engine::Impl::TellDecided(const cluster::Pod& pod, ProfileRuntime& runtime) {
  if (wants_->now_ns != nullptr) {
    const int64_t took_ns = wants_->now_ns() - cycle_began_ns_;
    if (took_ns >= wants_->slow_cycle_ns) observer_->SlowCycle(pod, took_ns, interest_.points);
  }
  if (interest_.decision || interest_.scores)
    observer_->Decided(pod, attempt_.decision(), *runtime.cycle);
}

void Engine::Impl::ReportFilterErrors(const framework::Cycle& cycle) {
  if (observer_ == nullptr) return;
  std::optional<PodRef> ref;
  attempt_.decision().diagnosis.rejected.ForEach([&](NodeIndex n) {
    const framework::Verdict& verdict = cycle.verdicts()[n];
    if (verdict.code != framework::Code::kError || verdict.plugin == framework::kNoPlugin) return;
    if (!ref) ref = RefOf(cycle.context().pod);
    observer_->PluginFailed(*ref, framework::Point::kFilter,
                            cycle.profile().At(verdict.plugin).Name(), "", "");
  });
}

// No node fits: asks for room, and waits.
void Engine::Impl::NoFit(PodId id, ProfileRuntime& runtime) {
  if ((RecordOf(id).extenders & extenders_.With(CallExtender::Verb::kPreempt)) != 0) {
    BeginReview(id, runtime);
    return;
  }
  PostFilterResult result;
  Status status;
  if (!runtime.profile->post_filter.empty()) {
    status =
        framework::RunPostFilter(*runtime.cycle, cluster_, attempt_.decision().diagnosis, &result);
  }
  FinishNoFit(id, runtime, status, result);
}

void Engine::Impl::FinishNoFit(PodId id, ProfileRuntime& runtime, const Status& status,
                               const PostFilterResult& result) {
  if (observer_ != nullptr) observer_->PostFiltered(cluster_.GetPod(id), status, result);
  Failure failure;
  failure.rejected = true;
  failure.nomination = result.nomination;
  failure.nominated_node = result.nominated_node;
  attempt_.decision().diagnosis.post_filter_message = status.Message();
  if (interest_.points) observer_->AlgorithmEnded();
  failure.explained = std::make_shared<FailedAttempt>();
  failure.message = framework::FitErrorMessage(*runtime.cycle, attempt_.decision().diagnosis,
                                               &failure.explained->reasons);
  for (const PodId victim : result.victims) {
    failure.explained->victims.push_back(cluster_.GetPod(victim).Key());
  }
  failure.unschedulable = runtime.MaskOf(attempt_.decision().diagnosis.unschedulable_plugins);
  failure.pending = runtime.MaskOf(attempt_.decision().diagnosis.pending_plugins);
  if (result.deallocated_claim) {
    using Verb = framework::ApiWrite::Verb;
    framework::ApiWrite write{*result.deallocated_claim,
                              result.deletes_claim ? Verb::kDelete : Verb::kUpdateStatus};
    EmitAwaited(WriteObject{std::move(write)},
                {Awaited::For::kActivate, cluster_.GetPod(id).key(), 0, 0});
  }
  const bool later = result.nomination == PostFilterResult::Nomination::kSet &&
                     StartPreemption(id, result, failure);
  if (!later) Fail(id, failure);
}

void Engine::Impl::Commit(PodId id, ProfileRuntime& runtime, NodeIndex node) {
  if (interest_.points) observer_->AlgorithmEnded();
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
  binding->key = cluster_.GetPod(id).key();
  binding->pod = id;
  binding->ref = RefOf(cluster_.GetPod(id));
  binding->node = node;
  binding->node_name = cluster_.NodeName(node);
  binding->profile = RecordOf(id).profile;
  binding->watched = interest_.points;
  binding->info = *queue_->FindInFlight(id);
  binding->extenders = RecordOf(id).extenders;
  for (const PermitWait& wait : attempt_.waits()) {
    binding->waits.push_back({wait.plugin, After(now_, wait.timeout_ns), wait.timeout_ns});
  }
  binding->tasks = attempt_.TakeWork();
  binding->snapshot = cluster_.Snapshot(id);
  log_.Scheduled(cluster_.GetPod(id), binding->profile, binding->info.attempts, attempt_.decision(),
                 cluster_.Record(node).name, now_.UnixNano(), ++changes_);
  LogCycleTimes();
  binding->record = log_.Newest();
  if (wants_->scheduled || interest_.points) {
    observer_->Attempted(cluster_.GetPod(id), Outcome::kScheduled, binding->node_name, "");
  }
  Binding& begun = *binding;
  bindings_[begun.key] = std::move(binding);
  if (options_.behaviour.nominate_before_binding) NominateBeforeBinding(begun);
  if (options_.planted_bug == PlantedBug::kDoubleAssume && ++planted_ % 7 == 0) {
    queue_->Done(id);
    queue_->Add(id, begun.profile, now_);
  }
  ProceedBinding(begun);
}

// A plugin of the cycle has refused. The observer is notified of errors.
void Engine::Impl::TellFailed(const cluster::Pod& pod, framework::Point point, NodeIndex node,
                              const Status& status) {
  if (observer_ == nullptr || framework::IsRejected(status.code())) return;
  observer_->PluginFailed(RefOf(pod), point, status.plugin(), cluster_.NodeName(node),
                          status.Message());
}

// What stands before the binding may take long: others are told where the pod is expected.
void Engine::Impl::NominateBeforeBinding(const Binding& binding) {
  if (binding.waits.empty() && binding.tasks.empty()) return;
  if (cluster_.GetPod(binding.pod).nominated_node_name == binding.node_name) return;
  PatchPodStatus patch;
  patch.pod = binding.ref;
  patch.nominated_node_name = binding.node_name;
  Emit(std::move(patch));
}

// Reserve or Permit has refused: everything is as before the cycle.
void Engine::Impl::TakeBack(PodId id, ProfileRuntime& runtime, framework::Point point,
                            const Status& status) {
  TellFailed(cluster_.GetPod(id), point, attempt_.node(), status);
  attempt_.Rollback();
  Failure failure;
  failure.rejected = framework::IsRejected(status.code());
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

void Engine::Impl::Fail(PodId id, const Failure& failure) {
  PodRecord& record = RecordOf(id);
  const queue::QueuedPod* in_flight = queue_->FindInFlight(id);
  const int32_t attempts = failure.info           ? failure.info->attempts
                           : in_flight != nullptr ? in_flight->attempts
                                                  : 0;
  if (record.deleted || record.assigned) {  // by somebody else
    queue_->Done(id);
  } else {
    Requeue(id, failure);
    Nominate(id, failure);
  }
  const cluster::Pod& pod = cluster_.GetPod(id);
  const auto named = pod_of_name_.find(pod.Key());
  if (named == pod_of_name_.end() || named->second == id) {  // else: made anew under its name
    LogFailure(pod, attempts, failure);
    if (observer_ != nullptr) {
      observer_->Attempted(pod, failure.rejected ? Outcome::kUnschedulable : Outcome::kError, "",
                           failure.message);
    }
    Record(RefOf(pod), std::nullopt, "Warning", "FailedScheduling", "Scheduling",
           Truncated(failure.message), runtimes_[record.profile].profile->Name());
    PatchFailure(id, failure);
  }
  if (record.deleted) ForgetPod(id);
}

void Engine::Impl::Requeue(PodId id, const Failure& failure) {
  PodRecord& record = RecordOf(id);
  if (record.newer) {
    const std::unique_ptr<api::Pod> newer = std::move(record.newer);
    TakeUp(id, *newer);
  }
  if (options_.planted_bug == PlantedBug::kLostRequeue && ++planted_ % 5 == 0) {
    queue_->Done(id);
  } else if (queue_->FindInFlight(id) != nullptr) {
    queue_->AddUnschedulable(id, failure.unschedulable, failure.pending, now_);
  } else if (failure.info && queue_->Find(id) == nullptr) {
    queue_->AddFailed(*failure.info, now_);
  }
}

// Without this, the next cycle could give away the room before the API server shows the nomination.
void Engine::Impl::Nominate(PodId id, const Failure& failure) {
  std::string node;
  switch (failure.nomination) {
    case PostFilterResult::Nomination::kSet:
      node = failure.nominated_node;
      break;
    case PostFilterResult::Nomination::kKeep:
      node = cluster_.GetPod(id).nominated_node_name;
      if (node.empty()) return;
      break;
    case PostFilterResult::Nomination::kClear:
      break;
  }
  if (node.empty()) {
    cluster_.MutableNominations().Clear(id);
  } else {
    cluster_.MutableNominations().Set(id, cluster_.Strings().Intern(node));
  }
}

// Tells the API server, when there is something new to tell.
void Engine::Impl::PatchFailure(PodId id, const Failure& failure) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  const PodRecord& record = RecordOf(id);
  PatchPodStatus patch;
  patch.pod = RefOf(pod);
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = failure.rejected ? "Unschedulable" : "SchedulerError";
  condition.message = failure.message;
  condition.observed_generation = options_.behaviour.observed_generation ? record.generation : 0;
  condition.last_transition_time = now_;
  const auto& before = record.scheduled;
  if (before && before->status == condition.status) {
    condition.last_transition_time = before->last_transition_time;
  }
  if (!before || before->status != condition.status || before->reason != condition.reason ||
      before->message != condition.message) {
    patch.condition = std::move(condition);
    if (before) patch.old_condition = *before;
  }
  patch.condition_types = condition_types_[record.condition_types];
  const bool overrides = failure.nomination != PostFilterResult::Nomination::kKeep;
  const std::string& node = failure.nominated_node;
  if (observer_ != nullptr) {
    observer_->FailureReported(pod, failure.rejected ? Outcome::kUnschedulable : Outcome::kError,
                               overrides, node);
  }
  if (overrides && pod.nominated_node_name != node) patch.nominated_node_name = node;
  if (patch.condition || patch.nominated_node_name) Emit(std::move(patch));
}

}  // namespace berth::scheduler
