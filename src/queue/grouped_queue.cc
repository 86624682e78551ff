#include "queue/grouped_queue.h"

#include <algorithm>
#include <utility>

#include "cluster/pods/group_members.h"

namespace berth::queue {
namespace {

using State = QueuedGroup::State;

std::vector<QueuedPod>::iterator FindIn(std::vector<QueuedPod>& list, PodId pod) {
  return std::ranges::find(list, pod, &QueuedPod::pod);
}

bool Contains(const std::vector<QueuedPod>& list, PodId pod) {
  return std::ranges::find(list, pod, &QueuedPod::pod) != list.end();
}

bool Erase(std::vector<QueuedPod>& list, PodId pod) {
  const auto it = FindIn(list, pod);
  if (it == list.end()) return false;
  list.erase(it);
  return true;
}

uint32_t SizeOf(const QueuedGroup& group) { return static_cast<uint32_t>(group.members.size()); }

}  // namespace

bool GroupedQueue::IsMember(PodId pod) const {
  return cluster::GroupNameOf(cluster_.GetPod(pod)) != nullptr;
}

const std::vector<QueuedPod>* GroupedQueue::ListOf(PodId pod, const QueuedGroup& group) const {
  for (const auto* list : {&group.members, &group.pending, &group.incomplete}) {
    if (Contains(*list, pod)) return list;
  }
  return nullptr;
}

// --- Groups

void GroupedQueue::GroupAdded(std::string_view namespace_, std::string_view name,
                              const api::Time& now) {
  QueuedGroup* group = GroupTable::Find(namespace_, name);
  if (group == nullptr) return;
  for (QueuedPod& record : std::exchange(group->incomplete, {})) AddMember(record, now);
}

void GroupedQueue::GroupDeleted(std::string_view namespace_, std::string_view name) {
  QueuedGroup* group = GroupTable::Find(namespace_, name);
  if (group == nullptr) return;
  auto& waiting = group->state == State::kQueued ? group->members : group->pending;
  group->incomplete.insert(group->incomplete.end(), waiting.begin(), waiting.end());
  if (group->state == State::kQueued) {
    SchedulingQueue::Delete(group->id);
    group->state = State::kAbsent;
  }
  waiting.clear();
}

GroupedQueue::Popped GroupedQueue::PoppedGroup(PodId id) const {
  const QueuedGroup& group = At(id);
  return {group.namespace_, group.name, group.tried};
}

void GroupedQueue::EndAttempt(PodId id, GroupEnd end, const api::Time& now) {
  QueuedGroup& group = At(id);
  if (group.pending.empty()) {
    group.state = State::kAbsent;
    group.tried.clear();
    SchedulingQueue::Done(id);
    ReleaseIfEmpty(group);
    return;
  }
  bool tried = false;
  PluginMask rejected_by = 0;
  for (const QueuedPod& record : std::exchange(group.pending, {})) {
    rejected_by |= record.unschedulable_plugins | record.pending_plugins;
    tried = tried || std::ranges::find(group.tried, record.pod) != group.tried.end();
    Insert(record, &group.members);
  }
  group.tried.clear();
  group.state = State::kQueued;
  // A group of which some pods got nodes is tried for the others at once: preemption comes next.
  const bool keeps_timestamp = end == GroupEnd::kScheduled && tried;
  EndGroupAttempt(id, end, SizeOf(group), rejected_by, keeps_timestamp, now);
}

void GroupedQueue::AddMember(QueuedPod record, const api::Time& now) {
  QueuedGroup& group = GroupFor(record.pod);
  if (!IsKnown(group)) {
    group.incomplete.push_back(std::move(record));
    return;
  }
  switch (group.state) {
    case State::kInFlight:
      group.pending.push_back(std::move(record));
      return;
    case State::kQueued:
      Insert(record, &group.members);
      PutAgain(group, now);
      return;
    case State::kAbsent:
      break;
  }
  group.state = State::kQueued;
  QueuedPod entity;
  entity.pod = group.id;
  entity.profile = record.profile;
  entity.timestamp = record.timestamp;
  entity.members = 1;
  group.members.push_back(std::move(record));
  EnterNew(entity, now);
}

void GroupedQueue::PutAgain(const QueuedGroup& group, const api::Time& now) {
  set_leaves(QueueOf(group));
  EnterAgain(group.id, SizeOf(group), now);
  set_leaves(std::nullopt);
}

// --- Pods

void GroupedQueue::Add(PodId pod, uint8_t profile, const api::Time& now) {
  if (!IsMember(pod)) return SchedulingQueue::Add(pod, profile, now);
  const auto flying = in_flight_.find(pod);
  if (flying != in_flight_.end()) {
    flying->second.deleted = false;
    return;
  }
  if (Find(pod) != nullptr) return;
  QueuedPod record;
  record.pod = pod;
  record.profile = profile;
  record.timestamp = now;
  AddMember(std::move(record), now);
}

void GroupedQueue::Update(PodId pod, std::span<const ClusterEvent> changes,
                          const PodSnapshot& old_pod, const PodSnapshot& new_pod,
                          const api::Time& now) {
  if (!IsMember(pod)) return SchedulingQueue::Update(pod, changes, old_pod, new_pod, now);
  const QueuedGroup* group = GroupOfPod(pod);
  if (group == nullptr || group->state != State::kQueued || !Contains(group->members, pod)) return;
  SchedulingQueue::Update(group->id, changes, old_pod, new_pod, now);
}

void GroupedQueue::Delete(PodId pod) {
  if (!IsMember(pod)) return SchedulingQueue::Delete(pod);
  const auto flying = in_flight_.find(pod);
  if (flying != in_flight_.end()) {
    flying->second.deleted = true;
    return;
  }
  QueuedGroup* group = GroupOfPod(pod);
  if (group == nullptr || Erase(group->pending, pod)) return;
  if (Erase(group->incomplete, pod)) return ReleaseIfEmpty(*group);
  if (!Contains(group->members, pod)) return;
  if (group->gated_by == pod) group->gated_by = cluster::kNoPod;
  if (group->members.size() == 1) {
    SchedulingQueue::Delete(group->id);
    group->state = State::kAbsent;
    group->members.clear();
    return ReleaseIfEmpty(*group);
  }
  Erase(group->members, pod);
  PutAgain(*group, LastNow());
}

std::optional<PodId> GroupedQueue::Pop(const api::Time& now) {
  const std::optional<PodId> popped = SchedulingQueue::Pop(now);
  if (!popped || !IsGroup(*popped)) return popped;
  QueuedGroup& group = At(*popped);
  const QueuedPod* entity = SchedulingQueue::Find(*popped);
  group.state = State::kInFlight;
  group.gated_by = cluster::kNoPod;
  for (QueuedPod& record : std::exchange(group.members, {})) {
    ++record.attempts;
    record.unschedulable_plugins = record.pending_plugins = 0;
    record.gating_plugin = kNoPlugin;
    record.gated = false;
    if (!record.initial_attempt) record.initial_attempt = entity->initial_attempt;
    group.tried.push_back(record.pod);
    in_flight_[record.pod] = {record, false};
  }
  return popped;
}

const QueuedPod* GroupedQueue::Find(PodId pod) const {
  if (!IsMember(pod)) return SchedulingQueue::Find(pod);
  const auto flying = in_flight_.find(pod);
  if (flying != in_flight_.end()) return &flying->second.record;
  const QueuedGroup* group = GroupOfPod(pod);
  const auto* list = group == nullptr ? nullptr : ListOf(pod, *group);
  return list == nullptr ? nullptr : &*std::ranges::find(*list, pod, &QueuedPod::pod);
}

QueuedPod* GroupedQueue::FindInFlight(PodId pod) {
  if (!IsMember(pod)) return SchedulingQueue::FindInFlight(pod);
  const auto flying = in_flight_.find(pod);
  return flying == in_flight_.end() ? nullptr : &flying->second.record;
}

void GroupedQueue::Done(PodId pod) {
  if (!IsMember(pod)) return SchedulingQueue::Done(pod);
  in_flight_.erase(pod);
}

void GroupedQueue::AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                                    const api::Time& now) {
  if (!IsMember(pod)) {
    return SchedulingQueue::AddUnschedulable(pod, rejected_by, pending_by, now);
  }
  const auto flying = in_flight_.find(pod);
  if (flying == in_flight_.end()) return;
  QueuedPod record = flying->second.record;
  const bool deleted = flying->second.deleted;
  in_flight_.erase(flying);
  if (deleted) return;
  record.unschedulable_plugins = rejected_by;
  record.pending_plugins = pending_by;
  record.was_flushed = false;
  record.flushed.reset();
  record.timestamp = now;
  if ((rejected_by | pending_by) == 0) {
    ++record.consecutive_errors_count;
  } else {
    ++record.unschedulable_count;
    record.consecutive_errors_count = 0;
  }
  AddMember(std::move(record), now);
}

void GroupedQueue::AddFailed(const QueuedPod& failed, const api::Time& now) {
  if (!IsMember(failed.pod)) return SchedulingQueue::AddFailed(failed, now);
  if (Find(failed.pod) != nullptr) return;
  QueuedPod record = failed;
  record.unschedulable_plugins = record.pending_plugins = 0;
  record.was_flushed = false;
  record.flushed.reset();
  ++record.consecutive_errors_count;
  record.timestamp = now;
  AddMember(std::move(record), now);
}

void GroupedQueue::Activate(PodId pod, const api::Time& now) {
  if (!IsMember(pod)) return SchedulingQueue::Activate(pod, now);
  const QueuedGroup* group = GroupOfPod(pod);
  if (group != nullptr && group->state == State::kQueued) SchedulingQueue::Activate(group->id, now);
}

// --- What there is

std::optional<QueueName> GroupedQueue::QueueOf(const QueuedGroup& group) const {
  if (group.state != State::kQueued) return std::nullopt;
  std::string_view place = SchedulingQueue::WhereIs(group.id);
  if (place == "error-backoff") place = NameOf(QueueName::kBackoff);
  for (size_t i = 0; i < kQueueNames; ++i) {
    const auto queue = static_cast<QueueName>(i);
    if (place == NameOf(queue)) return queue;
  }
  return std::nullopt;
}

GroupedQueue::GroupCount GroupedQueue::CountGroups(QueueName queue) const {
  GroupCount count;
  for (const QueuedGroup& group : groups()) {
    if (QueueOf(group) != queue) continue;
    ++count.groups;
    count.pods += group.members.size();
  }
  return count;
}

size_t GroupedQueue::Count(QueueName queue) const {
  const auto [groups, pods] = CountGroups(queue);
  return SchedulingQueue::Count(queue) + pods - groups;
}

size_t GroupedQueue::InFlightCount() const {
  const auto under_way = static_cast<size_t>(std::ranges::count_if(
      groups(), [](const QueuedGroup& group) { return group.state == State::kInFlight; }));
  return SchedulingQueue::InFlightCount() - under_way + in_flight_.size();
}

void GroupedQueue::ForEach(FunctionRef<void(const QueuedPod&, std::string_view)> fn) const {
  SchedulingQueue::ForEach([&](const QueuedPod& record, std::string_view place) {
    if (!IsGroup(record.pod)) return fn(record, place);
    for (const QueuedPod& member : At(record.pod).members) fn(member, place);
  });
  for (const auto& [pod, flying] : in_flight_) fn(flying.record, "in-flight");
  for (const QueuedGroup& group : groups()) {
    for (const QueuedPod& member : group.pending) fn(member, "pending");
    for (const QueuedPod& member : group.incomplete) fn(member, "incomplete");
  }
}

std::string_view GroupedQueue::WhereIs(PodId pod) const {
  if (!IsMember(pod)) return SchedulingQueue::WhereIs(pod);
  if (in_flight_.contains(pod)) return "in-flight";
  const QueuedGroup* group = GroupOfPod(pod);
  const auto* list = group == nullptr ? nullptr : ListOf(pod, *group);
  if (list == nullptr) return "";
  if (list == &group->pending) return "pending";
  if (list == &group->incomplete) return "incomplete";
  return SchedulingQueue::WhereIs(group->id);
}

std::optional<api::Time> GroupedQueue::BackoffUntil(PodId pod) const {
  if (!IsMember(pod)) return SchedulingQueue::BackoffUntil(pod);
  const QueuedGroup* group = GroupOfPod(pod);
  if (group == nullptr || !Contains(group->members, pod)) return std::nullopt;
  return SchedulingQueue::BackoffUntil(group->id);
}

size_t GroupedQueue::IncompleteCount() const {
  size_t count = 0;
  for (const QueuedGroup& group : groups()) count += group.incomplete.size();
  return count;
}

size_t GroupedQueue::PendingCount() const {
  size_t count = 0;
  for (const QueuedGroup& group : groups()) count += group.pending.size();
  return count;
}

}  // namespace berth::queue
