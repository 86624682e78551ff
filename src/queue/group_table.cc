#include "queue/group_table.h"

#include <algorithm>

#include "cluster/objects/object_store.h"
#include "cluster/pods/group_state.h"

namespace berth::queue {
namespace {

std::string KeyOf(std::string_view namespace_, std::string_view name) {
  std::string key(namespace_);
  return key.append("/").append(name);
}

}  // namespace

QueuedGroup* GroupTable::Find(std::string_view namespace_, std::string_view name) {
  const auto it = by_name_.find(KeyOf(namespace_, name));
  return it == by_name_.end() ? nullptr : &At(it->second);
}

QueuedGroup* GroupTable::GroupOfPod(PodId id) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  const std::string* name = cluster::GroupNameOf(pod);
  return name == nullptr ? nullptr : Find(pod.namespace_(), *name);
}

const QueuedGroup* GroupTable::GroupOfPod(PodId id) const {
  const cluster::Pod& pod = cluster_.GetPod(id);
  const std::string* name = cluster::GroupNameOf(pod);
  if (name == nullptr) return nullptr;
  const auto it = by_name_.find(KeyOf(pod.namespace_(), *name));
  return it == by_name_.end() ? nullptr : &At(it->second);
}

QueuedGroup& GroupTable::GroupFor(PodId id) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  const std::string& name = *cluster::GroupNameOf(pod);
  const bool reuses = !free_.empty();
  const auto next = reuses ? free_.back() : static_cast<PodId>(kFirstGroup + groups_.size());
  const auto [it, added] = by_name_.try_emplace(KeyOf(pod.namespace_(), name), next);
  if (!added) return At(it->second);
  if (reuses) {
    free_.pop_back();
  } else {
    groups_.emplace_back();
  }
  QueuedGroup& group = At(next);
  group.id = next;
  group.namespace_ = pod.namespace_();
  group.name = name;
  return group;
}

void GroupTable::ReleaseIfEmpty(QueuedGroup& group) {
  const bool empty = group.members.empty() && group.pending.empty() && group.incomplete.empty();
  if (!empty || group.state != QueuedGroup::State::kAbsent) return;
  by_name_.erase(KeyOf(group.namespace_, group.name));
  free_.push_back(group.id);
  group = QueuedGroup();
}

bool GroupTable::IsKnown(const QueuedGroup& group) const {
  return cluster_.Objects().pod_groups.Find(group.namespace_, group.name) != nullptr;
}

// By priority, then those tried more often, then those that wait for longer.
bool GroupTable::Before(const QueuedPod& a, const QueuedPod& b) const {
  const int32_t priority_a = host_.Priority(a.pod);
  const int32_t priority_b = host_.Priority(b.pod);
  if (priority_a != priority_b) return priority_a > priority_b;
  if (a.attempts != b.attempts) return a.attempts > b.attempts;
  if (a.timestamp != b.timestamp) return a.timestamp < b.timestamp;
  return cluster_.GetPod(a.pod).name < cluster_.GetPod(b.pod).name;
}

void GroupTable::Insert(const QueuedPod& pod, std::vector<QueuedPod>* members) const {
  const auto at =
      std::upper_bound(members->begin(), members->end(), pod,
                       [&](const QueuedPod& a, const QueuedPod& b) { return Before(a, b); });
  members->insert(at, pod);
}

// --- QueueHost

PodId GroupTable::StandIn(PodId id) const {
  if (!IsGroup(id)) return id;
  const QueuedGroup& group = At(id);
  if (group.gated_by != cluster::kNoPod) return group.gated_by;
  return group.members.empty() ? cluster::kNoPod : group.members.front().pod;
}

QueuedPod GroupTable::StandIn(const QueuedPod& record) const {
  QueuedPod pod = record;
  pod.pod = At(record.pod).members.front().pod;
  return pod;
}

// A group comes where its first pod would, at the group's time.
bool GroupTable::Less(const QueuedPod& a, const QueuedPod& b) const {
  if (!IsGroup(a.pod) && !IsGroup(b.pod)) return host_.Less(a, b);
  return host_.Less(IsGroup(a.pod) ? StandIn(a) : a, IsGroup(b.pod) ? StandIn(b) : b);
}

Gate GroupTable::AskMember(QueuedPod& member) const {
  const Gate gate = host_.PreEnqueue(member, member.gating_plugin);
  member.gating_plugin = gate.plugin;
  member.gated = gate.plugin != kNoPlugin;
  if (member.gated) member.unschedulable_plugins |= MaskOf(gate.plugin);
  return gate;
}

// One pod that is gated gates the group: that pod is asked first.
Gate GroupTable::PreEnqueue(const QueuedPod& pod, PluginId first) const {
  if (!IsGroup(pod.pod)) return host_.PreEnqueue(pod, first);
  QueuedGroup& group = groups_[pod.pod - kFirstGroup];
  const auto gated = std::ranges::find(group.members, group.gated_by, &QueuedPod::pod);
  if (gated != group.members.end()) {
    const Gate gate = AskMember(*gated);
    if (gate.plugin != kNoPlugin) return gate;
  }
  for (QueuedPod& member : group.members) {
    const Gate gate = AskMember(member);
    if (gate.plugin == kNoPlugin) continue;
    group.gated_by = member.pod;
    return gate;
  }
  group.gated_by = cluster::kNoPod;
  return {};
}

bool GroupTable::MayHelp(const QueuedPod& pod, PluginId plugin, const Event& event) const {
  if (!IsGroup(pod.pod)) return host_.MayHelp(pod, plugin, event);
  return std::ranges::any_of(At(pod.pod).members, [&](const QueuedPod& member) {
    const PluginMask rejected_by = member.unschedulable_plugins | member.pending_plugins;
    return (rejected_by & MaskOf(plugin)) != 0 && host_.MayHelp(member, plugin, event);
  });
}

int32_t GroupTable::Priority(PodId id) const {
  if (!IsGroup(id)) return host_.Priority(id);
  const QueuedGroup& group = At(id);
  const api::PodGroup* object = cluster_.Objects().pod_groups.Find(group.namespace_, group.name);
  return object == nullptr ? 0 : cluster::PriorityOf(cluster_, *object);
}

void GroupTable::Moved(const QueuedPod& pod, QueueName queue, std::string_view event, bool is_new) {
  if (!IsGroup(pod.pod)) return host_.Moved(pod, queue, event, is_new);
  const std::vector<QueuedPod>& members = At(pod.pod).members;
  GroupMoves& moves = MovesBecauseOf(event);
  const auto to = static_cast<size_t>(queue);
  moves.pods[to] += members.size();
  // kube-scheduler has one queue for groups that are gated and those that wait for an event.
  const auto parks = [](QueueName name) {
    return name == QueueName::kUnschedulable || name == QueueName::kGated;
  };
  const bool stays = leaves_ && (*leaves_ == queue || (parks(*leaves_) && parks(queue)));
  if (!stays) ++moves.groups[to];
  for (const QueuedPod& member : members) host_.Moved(member, queue, event, is_new);
}

// There are some dozens of events.
GroupMoves& GroupTable::MovesBecauseOf(std::string_view event) {
  const auto known = std::ranges::find(moves_, event, &GroupMoves::event);
  if (known != moves_.end()) return *known;
  moves_.push_back({.event = std::string(event)});
  return moves_.back();
}

}  // namespace berth::queue
