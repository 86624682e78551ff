// Bindings: the PreBind plugins of a pod, one after the other or several at once.
//
// Plugins that run together form a group. When one of them fails, or the pod is preempted, those
// that run beside it are given up: no further step of theirs is carried out. What they have sent is
// waited for, because a device or volume that was written after all must not be given to another
// pod.
#include <algorithm>

#include <fmt/format.h>

#include "scheduler/engine/bindings.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {
namespace {

using framework::PreBindStep;
using framework::WriteResult;

constexpr int64_t kSecond = 1'000'000'000;

WriteResult::Code CodeOf(EffectResult::Code code) {
  switch (code) {
    case EffectResult::Code::kOk:
      return WriteResult::Code::kOk;
    case EffectResult::Code::kConflict:
      return WriteResult::Code::kConflict;
    case EffectResult::Code::kNotFound:
      return WriteResult::Code::kNotFound;
    case EffectResult::Code::kError:
    case EffectResult::Code::kUnknown:
      break;
  }
  return WriteResult::Code::kError;
}

bool Works(const Binding& binding, uint8_t plugin) {
  return std::any_of(binding.runs.begin(), binding.runs.end(),
                     [&](const PreBindRun& run) { return run.work.plugin == plugin; });
}

bool IsGivenUp(const Binding& binding) {
  return binding.failure.has_value() || !binding.preemptors.empty();
}

}  // namespace

// --- Observer callbacks

// Plugins without work for this pod answer Skip.
void Bindings::TellPreFlight(const Binding& binding) {
  using framework::Code;
  PointBegan(binding, framework::Point::kPreBindPreFlight);
  for (const auto& served : c_.runtimes[binding.profile].profile->pre_bind) {
    PluginEnded(binding, framework::Point::kPreBindPreFlight, served.index,
                Works(binding, served.index) ? Code::kSuccess : Code::kSkip);
  }
  PointEnded(binding, framework::Point::kPreBindPreFlight,
             binding.runs.empty() ? Code::kSkip : Code::kSuccess);
}

// Plugins that have nothing to do for this pod are done with it at once. After PreBindPreFlight
// they are not run at all.
void Bindings::TellIdlePreBinds(const Binding& binding) {
  if (c_.options.behaviour.nominate_before_binding) return;
  for (const auto& served : c_.runtimes[binding.profile].profile->pre_bind) {
    if (Works(binding, served.index)) continue;
    PluginEnded(binding, framework::Point::kPreBind, served.index, framework::Code::kSuccess);
  }
}

// --- Groups

void Bindings::BeginPreBind(Binding& binding) {
  binding.stage = Binding::Stage::kPreBind;
  PointBegan(binding, framework::Point::kPreBind);
  if (binding.watched) TellIdlePreBinds(binding);
  Settle(binding);
}

bool Bindings::NextGroup(Binding& binding) {
  binding.group = binding.group_end;
  if (binding.group == binding.runs.size()) return false;
  const auto parallel = [&](const PreBindRun& run) {
    const auto& served = c_.runtimes[binding.profile].profile->pre_bind;
    return c_.options.behaviour.parallel_pre_bind &&
           std::any_of(served.begin(), served.end(), [&](const auto& pre_bind) {
             return pre_bind.index == run.work.plugin && pre_bind.plugin->AllowsParallel();
           });
  };
  const bool several = parallel(binding.runs[binding.group]);
  do {
    ++binding.group_end;
  } while (several && binding.group_end < binding.runs.size() &&
           parallel(binding.runs[binding.group_end]));
  for (size_t run = binding.group; run < binding.group_end; ++run) {
    if (!IsGivenUp(binding)) RunPlugin(binding, run);
  }
  return true;
}

void Bindings::Settle(Binding& binding) {
  for (;;) {
    bool answers_to_come = false;
    bool done = true;
    std::optional<api::Time> first;
    for (size_t i = binding.group; i < binding.group_end; ++i) {
      const PreBindRun& run = binding.runs[i];
      answers_to_come |= run.sent || run.resend;
      done &= run.done;
      if (run.wake && (!first || *run.wake < *first)) first = run.wake;
    }
    if (IsGivenUp(binding) && !answers_to_come) return FailPreBind(binding);
    if (!done) {
      if (first && binding.wake != first) WakeAt(binding, *first);
      return;
    }
    if (!NextGroup(binding)) return SendBind(binding);
  }
}

void Bindings::FailPreBind(Binding& binding) {
  const framework::Profile& profile = *c_.runtimes[binding.profile].profile;
  if (!binding.failure) {  // preempted: the first that has not ended says so
    size_t run = binding.group;
    while (run + 1 < binding.group_end && binding.runs[run].done) ++run;
    binding.failure = {binding.runs[run].work.plugin,
                       framework::Status::Error("preempted by DefaultPreemption")};
  }
  const Binding::PreBindFailure failure = *binding.failure;
  const framework::Code code = failure.status.code();
  const std::string_view plugin = profile.At(failure.plugin).Name();
  const bool rejected = framework::IsRejected(code);
  PluginEnded(binding, framework::Point::kPreBind, failure.plugin, code);
  PointEnded(binding, framework::Point::kPreBind, code);
  if (c_.observer != nullptr && !rejected) {
    c_.observer->PluginFailed(binding.ref, framework::Point::kPreBind, plugin, binding.node_name,
                              failure.status.Message());
  }
  BindingFailed(
      binding, rejected,
      rejected ? failure.status.Message()
               : fmt::format("running PreBind plugin \"{}\": {}", plugin, failure.status.Message()),
      failure.plugin);
}

// --- One plugin

void Bindings::RunPlugin(Binding& binding, size_t index) {
  PreBindRun& run = binding.runs[index];
  run.wake.reset();
  for (;;) {
    const std::vector<WriteResult> results = std::exchange(run.results, {});
    PreBindStep step = run.work.task->Next(c_.cluster, c_.now, results);
    for (const WriteResult& result : results) AnnounceWritten(result);
    TellOfPod(binding, run);
    switch (step.kind) {
      case PreBindStep::Kind::kDone:
        PluginEnded(binding, framework::Point::kPreBind, run.work.plugin,
                    framework::Code::kSuccess);
        run.done = true;
        return;
      case PreBindStep::Kind::kWait:
        run.wake = After(c_.now, kSecond);
        return;
      case PreBindStep::Kind::kFail:
        run.done = true;
        if (!binding.failure) binding.failure = {run.work.plugin, std::move(step.failure)};
        return;
      case PreBindStep::Kind::kWrite:
        run.writes = std::move(step.writes);
        run.write = 0;
        if (run.writes.empty() && !run.pod_status) continue;
        SendNextWrite(binding, index);
        return;
    }
  }
}

void Bindings::Learn(Binding& binding, PreBindRun& run) {
  const std::vector<WriteResult> results = std::exchange(run.results, {});
  static_cast<void>(run.work.task->Next(c_.cluster, c_.now, results));
  for (const WriteResult& result : results) AnnounceWritten(result);
  TellOfPod(binding, run);
}

void Bindings::TellOfPod(Binding& binding, PreBindRun& run) {
  auto* task = dynamic_cast<framework::PodPreBindTask*>(run.work.task.get());
  if (task == nullptr) return;
  run.pod_status = task->TakePodStatus();
  if (const auto event = task->TakeEvent()) {
    c_.outbox.Record(binding.ref, std::nullopt, "Normal", event->reason, "Scheduling", event->note,
                     c_.runtimes[binding.profile].profile->Name());
  }
  const auto wait = task->TakeWait();
  if (wait && c_.observer != nullptr) {
    c_.observer->DevicesAwaited(c_.runtimes[binding.profile].profile->Name(), *wait);
  }
}

// Pods that share a claim wait until it is allocated. The watch may have shown that while it still
// counted as being allocated, and has nothing new to say once the answer is in.
void Bindings::AnnounceWritten(const WriteResult& result) {
  if (!result.written) return;
  const auto* claim = std::get_if<api::ResourceClaim>(&*result.written);
  if (claim == nullptr || !claim->status.allocation) return;
  c_.Move({queue::EventResource::kResourceClaim, queue::kUpdate}, {},
          std::make_shared<const api::ResourceClaim>(*claim));
}

void Bindings::SendNextWrite(Binding& binding, size_t index) {
  PreBindRun& run = binding.runs[index];
  run.sent = true;
  const Awaited awaited{Awaited::For::kBinding, binding.key, 0, index};
  if (run.pod_status) {
    PatchPodStatus patch;
    patch.pod = binding.ref;
    patch.extended_resource_claim = run.pod_status;
    c_.outbox.EmitAwaited(std::move(patch), awaited);
    return;
  }
  c_.outbox.EmitAwaited(WriteObject{run.writes[run.write]}, awaited);
}

void Bindings::WriteDone(Binding& binding, size_t index, EffectResult result) {
  PreBindRun& run = binding.runs[index];
  run.sent = false;
  const bool creates = run.write < run.writes.size() &&
                       run.writes[run.write].verb == framework::ApiWrite::Verb::kCreate;
  if (creates && c_.observer != nullptr) {
    c_.observer->ClaimCreated(result.code == EffectResult::Code::kOk);
  }
  // One created twice would be two: the next attempt finds what is left of this one.
  if (result.code == EffectResult::Code::kUnknown && !creates) {
    // Given up now, a device that was allocated after all would be given to another pod as well.
    // The same write once more is refused if the first was carried out, and that is an answer.
    run.resend = true;
    run.wake = After(c_.now, RetryDelay(run.retries++));
    return Settle(binding);
  }
  WriteResult written;
  written.code = CodeOf(result.code);
  written.message = std::move(result.message);
  written.written = std::move(result.written);
  const bool ok = written.code == WriteResult::Code::kOk;
  run.results.push_back(std::move(written));
  if (IsGivenUp(binding)) {
    Learn(binding, run);
  } else if (ok && ++run.write < run.writes.size()) {
    SendNextWrite(binding, index);
  } else {
    RunPlugin(binding, index);
  }
  Settle(binding);
}

void Bindings::WakePreBind(Binding& binding) {
  for (size_t i = binding.group; i < binding.group_end; ++i) {
    PreBindRun& run = binding.runs[i];
    if (!run.wake || *run.wake > c_.now) continue;
    run.wake.reset();
    if (std::exchange(run.resend, false)) {
      SendNextWrite(binding, i);
    } else if (!IsGivenUp(binding)) {
      RunPlugin(binding, i);
    }
  }
  Settle(binding);
}

}  // namespace berth::scheduler
