// Dispatcher: effects, lanes and results. Links to hands are in dispatcher_links.cc.
#include "hands/dispatcher.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "hands/payload.h"

namespace berth::hands {

namespace {

using Code = scheduler::EffectResult::Code;

std::string_view PodOf(const scheduler::EffectAction& action) {
  return std::visit(
      [](const auto& value) -> std::string_view {
        if constexpr (requires { value.pod.uid; }) {
          return value.pod.uid;
        } else if constexpr (requires { value.group.uid; }) {
          return value.group.uid;
        } else {
          return {};
        }
      },
      action);
}

bool Binds(const scheduler::EffectAction& action) {
  return std::holds_alternative<scheduler::BindPod>(action);
}

// Writes that entries of the log do not describe: volumes, claims, and bindings by extenders.
bool IsUndescribed(const scheduler::EffectAction& action) {
  const auto* call = std::get_if<scheduler::CallExtender>(&action);
  return std::holds_alternative<scheduler::WriteObject>(action) ||
         (call != nullptr && call->verb == scheduler::CallExtender::Verb::kBind);
}

}  // namespace

void Dispatcher::Begin(int64_t epoch, std::vector<Entry> adopted) {
  epoch_ = epoch;
  for (Entry& entry : adopted) {
    const scheduler::EffectId id = ++last_adopted_;
    Pending& pending = pending_[id];
    pending.action = scheduler::BindPod{{entry.namespace_, entry.name, entry.uid, ""}, entry.node};
    pending.uid = entry.uid;
    pending.sequence = ++sequence_;
    pending.adopted = true;
    entry.sequence = sequence_;
    log_[sequence_] = std::move(entry);
    ++lanes_[pending.uid].in_flight;
    adopting_.insert(id);
    waiting_.push_back(id);
  }
}

void Dispatcher::NoteUndescribed() {
  if (undescribed_ != 0) return;
  undescribed_ = ++sequence_;
  log_[sequence_] = {.sequence = sequence_};
}

// --- Effects of the engine

void Dispatcher::Run(scheduler::Effect&& effect) {
  if (const auto* event = std::get_if<scheduler::RecordEvent>(&effect.action)) {
    return RunEvent(*event);
  }
  const std::string_view uid = PodOf(effect.action);
  std::string carrier = Choose(effect.action, uid);
  if (!uid.empty()) {
    const auto found = lanes_.find(uid);
    if (found != lanes_.end()) {
      Lane& lane = found->second;
      const bool follows = !lane.blocked && lane.waiting.empty() && lane.carrier == carrier;
      if (!follows) {
        lane.waiting.push_back(std::move(effect));
        ++queued_;
        return;
      }
    }
  }
  Start(std::move(effect), std::move(carrier));
}

// The hand, by the pod's uid, or nothing: this process.
std::string Dispatcher::Choose(const scheduler::EffectAction& action, std::string_view uid) const {
  if (uid.empty() || !IsShared(action)) return {};
  size_t count = 0;
  for (const auto& [id, link] : links_) count += link.role == Role::kInSync ? 1 : 0;
  if (count == 0) return {};
  size_t chosen = StringHash()(uid) % count;
  for (const auto& [id, link] : links_) {
    if (link.role == Role::kInSync && chosen-- == 0) return id;
  }
  return {};
}

void Dispatcher::RunEvent(const scheduler::RecordEvent& event) {
  scheduler::EffectAction action = event;
  const std::string carrier = Choose(action, event.regarding.uid);
  if (!carrier.empty()) {
    Task task{.kind = Task::Kind::kEvent, .payload = EncodePayload(action)};
    if (task.payload.size() <= kMaxText) {
      links_[carrier].queue.push_back(std::move(task));
      return;
    }
  }
  outputs_.local.push_back({0, std::move(action)});
}

void Dispatcher::Start(scheduler::Effect&& effect, std::string carrier) {
  Pending& pending = pending_[effect.id];
  pending = {};
  pending.uid = PodOf(effect.action);
  pending.carrier = std::move(carrier);
  pending.action = std::move(effect.action);
  if (const auto* bind = std::get_if<scheduler::BindPod>(&pending.action)) {
    pending.sequence = ++sequence_;
    log_[sequence_] = {sequence_, bind->pod.uid, bind->pod.namespace_, bind->pod.name, bind->node};
  } else if (IsUndescribed(pending.action)) {
    NoteUndescribed();
    pending.sequence = undescribed_;
  }
  if (!pending.uid.empty()) {
    Lane& lane = lanes_[pending.uid];
    lane.carrier = pending.carrier;
    ++lane.in_flight;
  }
  Assign(effect.id, pending);
}

void Dispatcher::Assign(scheduler::EffectId id, Pending& pending) {
  Link* link = pending.carrier.empty() ? nullptr : &links_[pending.carrier];
  Task task{.id = id};
  if (const auto* bind = std::get_if<scheduler::BindPod>(&pending.action)) {
    task.sequence = pending.sequence;
    task.resource_version = bind->pod.resource_version;
  } else if (link != nullptr) {
    task.kind = Task::Kind::kPatch;
    task.payload = EncodePayload(pending.action);
    if (task.payload.size() > kMaxText) link = nullptr;
  }
  if (link == nullptr) {
    pending.carrier.clear();
    pending.phase = Phase::kWaiting;
    waiting_.push_back(id);
    return;
  }
  pending.phase = Phase::kQueued;
  link->queue.push_back(std::move(task));
  link->tasks_held.insert(id);
  ++link->tasks;
}

// Effects of this process leave as soon as their entries are in all required logs.
void Dispatcher::RunWaiting(Outputs& out) {
  const uint64_t committed = Committed("");
  std::deque<scheduler::EffectId> rest;
  for (const scheduler::EffectId id : waiting_) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) continue;
    Pending& pending = found->second;
    if (pending.sequence > committed && options_.mistake != Mistake::kSendBeforeAck) {
      rest.push_back(id);
      continue;
    }
    pending.phase = pending.phase == Phase::kResend ? Phase::kResent : Phase::kLocal;
    out.local.push_back({id, pending.action});
  }
  waiting_.swap(rest);
}

// --- Results

void Dispatcher::OnLocal(scheduler::EffectResult&& result, Nanoseconds now) {
  const auto found = pending_.find(result.id);
  if (found == pending_.end()) {
    outputs_.results.push_back(std::move(result));
    return;
  }
  const scheduler::EffectId id = result.id;
  Pending& pending = found->second;
  if (pending.adopted) return OnAdopted(id, pending, std::move(result));
  if (pending.phase == Phase::kResent) {
    return OnLocalAfterDrop(id, pending, std::move(result), now);
  }
  Finish(id, std::move(result));
}

// The same binding may still be carried out for the hand that was dropped.
void Dispatcher::OnLocalAfterDrop(scheduler::EffectId id, Pending& pending,
                                  scheduler::EffectResult&& result, Nanoseconds now) {
  if (result.code == Code::kOk || options_.mistake == Mistake::kEarlyFailure) {
    return Finish(id, std::move(result));
  }
  pending.phase = Phase::kVoid;
  pending.resends = false;
  pending.message = std::move(result.message);
  voids_.insert(id);
  EndVoid(now);
}

// The binding first, then the pod as it is.
void Dispatcher::OnAdopted(scheduler::EffectId id, Pending& pending,
                           scheduler::EffectResult&& result) {
  const bool read = pending.phase == Phase::kReading;
  if (read && result.pod) outputs_.adopted.push_back(std::move(*result.pod));
  if (read && (result.code == Code::kOk || result.code == Code::kNotFound)) {
    log_.erase(pending.sequence);
    adopting_.erase(id);
    const std::string uid = std::move(pending.uid);
    pending_.erase(id);
    return Release(uid);
  }
  const auto* bind = std::get_if<scheduler::BindPod>(&pending.action);
  if (bind != nullptr) pending.action = scheduler::ReadPod{bind->pod};
  pending.phase = Phase::kReading;
  outputs_.local.push_back({id, pending.action});
}

void Dispatcher::Finish(scheduler::EffectId id, scheduler::EffectResult result) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  Pending pending = std::move(found->second);
  pending_.erase(found);
  voids_.erase(id);
  NoteOutcome(pending, result);
  if (const auto link = links_.find(pending.carrier); link != links_.end()) {
    link->second.tasks_held.erase(id);
  }
  result.id = id;
  outputs_.results.push_back(std::move(result));
  if (!pending.uid.empty()) Release(pending.uid);
}

// A decision that was not carried out leaves the logs before another one uses what it held: hands
// take a batch's refusals and entries together.
void Dispatcher::NoteOutcome(const Pending& pending, const scheduler::EffectResult& result) {
  const bool refused = result.code == Code::kConflict || result.code == Code::kNotFound ||
                       result.code == Code::kError;
  if (const auto* bind = std::get_if<scheduler::BindPod>(&pending.action)) {
    log_.erase(pending.sequence);
    if (refused) Refuse(pending.sequence);
    if (result.code == Code::kUnknown) {
      unsure_[pending.uid] = {.sequence = pending.sequence, .node = bind->node};
    } else {
      unsure_.erase(pending.uid);
    }
    return;
  }
  if (!std::holds_alternative<scheduler::ReadPod>(pending.action)) return;
  const auto unsure = unsure_.find(pending.uid);
  if (unsure == unsure_.end() || (!result.pod && result.code != Code::kNotFound)) return;
  const bool bound = result.pod && result.pod->spec.node_name == unsure->second.node;
  if (!bound) Refuse(unsure->second.sequence);
  unsure_.erase(unsure);
}

void Dispatcher::Refuse(uint64_t sequence) {
  if (options_.mistake == Mistake::kKeepRefused) return;
  for (auto& [name, link] : links_) {
    if (IsUp(link)) link.refused.push_back(sequence);
  }
}

// One effect about the pod has ended; those that waited for it start.
void Dispatcher::Release(const std::string& uid) {
  const auto found = lanes_.find(uid);
  if (found == lanes_.end() || --found->second.in_flight > 0) return;
  std::deque<scheduler::Effect> waiting = std::move(found->second.waiting);
  lanes_.erase(found);
  queued_ -= waiting.size();
  for (scheduler::Effect& effect : waiting) Run(std::move(effect));
}

// Its hand does not carry it out any more.
void Dispatcher::MoveHere(scheduler::EffectId id, Pending& pending, Phase phase) {
  pending.carrier.clear();
  pending.phase = phase;
  if (!pending.uid.empty()) lanes_[pending.uid].blocked = true;
  if (phase == Phase::kVoid) {
    voids_.insert(id);
  } else {
    waiting_.push_back(id);
  }
}

void Dispatcher::OnResult(Link& link, const TaskResult& result) {
  const auto found = pending_.find(result.id);
  if (found == pending_.end() || found->second.phase != Phase::kSent) return;
  if (result.code == TaskResult::Code::kNotSent) {
    link.tasks_held.erase(result.id);
    return MoveHere(result.id, found->second, Phase::kWaiting);
  }
  const bool reached =
      result.code != TaskResult::Code::kError && result.code != TaskResult::Code::kUnknown;
  link.failures = reached ? 0 : link.failures + 1;
  Finish(result.id, {.code = static_cast<Code>(result.code), .message = result.message});
}

// --- After a hand was dropped

// A task that the hand holds, or held.
void Dispatcher::TakeBack(Link& link, scheduler::EffectId id, Nanoseconds now) {
  const auto found = pending_.find(id);
  if (found == pending_.end()) return;
  Pending& pending = found->second;
  if (pending.phase == Phase::kQueued) {  // the hand has never seen it
    MoveHere(id, pending, Phase::kWaiting);
  } else if (options_.mistake == Mistake::kEarlyFailure) {
    Finish(id, {.code = Code::kError, .message = "the replica does not answer"});
  } else if (Binds(pending.action)) {
    pending.void_at = link.void_at;
    MoveHere(id, pending, Phase::kResend);
  } else {
    pending.void_at = link.void_at;
    pending.resends = true;
    MoveHere(id, pending, Phase::kVoid);
    EndVoid(now);
  }
}

void Dispatcher::EndVoid(Nanoseconds now) {
  std::vector<scheduler::EffectId> over;
  for (const scheduler::EffectId id : voids_) {
    if (pending_[id].void_at <= now) over.push_back(id);
  }
  for (const scheduler::EffectId id : over) {
    voids_.erase(id);
    Pending& pending = pending_[id];
    if (pending.resends) {
      pending.phase = Phase::kWaiting;
      waiting_.push_back(id);
    } else {
      Finish(id, {.code = Code::kUnknown, .message = pending.message});
    }
  }
}

}  // namespace berth::hands
