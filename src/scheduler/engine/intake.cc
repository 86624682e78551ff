#include "scheduler/engine/intake.h"

#include <algorithm>

#include "config/disabled_fields.h"
#include "scheduler/engine/attempts.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/group_attempts.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {
namespace {

using cluster::StoredKind;
using queue::EventResource;

constexpr cluster::KindEvents kCustomEvents{EventResource::kCustomResource};

bool IsOlder(std::string_view version, std::string_view than) {
  const int64_t number = VersionNumber(version);
  return number >= 0 && number < VersionNumber(than);
}

bool IsTerminal(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

std::string NameKey(std::string_view namespace_, std::string_view name) {
  std::string key;
  key.reserve(namespace_.size() + 1 + name.size());
  key += namespace_;
  key += '/';
  key += name;
  return key;
}

// Is it one of the objects that the list called `list` has?
bool IsOf(std::string_view list, const api::Object& object) {
  const auto* custom = std::get_if<api::UnknownObject>(&object);
  return custom == nullptr ? api::KindOf(object) == list
                           : cluster::IsOfList(list, custom->api_version, custom->kind);
}

void AddKeys(std::string_view kind, const std::vector<api::Object>& objects, ListKeys* keys) {
  for (const api::Object& object : objects) {
    const api::ObjectMeta* metadata = api::MetadataOf(object);
    if (metadata == nullptr || !IsOf(kind, object)) continue;
    keys->insert(kind == api::Pod::kKind ? metadata->uid
                                         : NameKey(metadata->namespace_, metadata->name));
  }
}

}  // namespace

// --- All kinds

// An object's change is taken up between these two. All that it means is told, each under its name.
bool Intake::EventBegan() {
  handled_events_.clear();
  timing_event_ =
      c_.observer != nullptr && IsDue(c_.wants->skip_events) && c_.observer->EventBegan();
  return timing_event_;
}

void Intake::Handled(queue::ClusterEvent what) {
  if (timing_event_) handled_events_.push_back(what);
}

void Intake::EventEnded() {
  timing_event_ = false;
  if (handled_events_.empty()) c_.observer->EventEnded({});
  for (const queue::ClusterEvent& what : handled_events_) c_.observer->EventEnded(what.Label());
}

void Intake::HandleMove(queue::ClusterEvent what, queue::EventObject old_object,
                        queue::EventObject new_object) {
  Handled(what);
  c_.Move(what, std::move(old_object), std::move(new_object));
}

void Intake::Upsert(api::Object&& object) {
  const bool timed = EventBegan();
  std::visit(
      [this]<class T>(T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          config::HideDisabledFields(c_.options.behaviour, value);
          JoinGroup(value);
          UpsertPod(value);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          UpsertNode(std::move(value));
        } else if constexpr (StoredKind<T>) {
          UpsertOther(cluster::StoreOf<T>(c_.cluster.MutableObjects()), std::move(value),
                      cluster::EventsOf<T>());
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          if (auto* store =
                  c_.cluster.MutableObjects().custom.Find(value.api_version, value.kind)) {
            UpsertOther(*store, std::move(value), kCustomEvents);
          }
        } else if constexpr (cluster::NamedObject<T>) {
          if (auto* store = c_.cluster.MutableObjects().custom.Find(T::kApiVersion, T::kKind)) {
            UpsertOther(*store, cluster::AsUnknown(value), kCustomEvents);
          }
        }
      },
      object);
  if (timed) EventEnded();
}

void Intake::UpdateStatus(api::Pod&& pod) {
  const PodId id = c_.cluster.FindPod(pod.metadata.uid);
  if (id == cluster::kNoPod) return;
  const bool timed = EventBegan();
  config::HideDisabledFields(c_.options.behaviour, pod);
  if (const auto& newer = c_.pods.Of(id).newer) {  // the last version is not the one decided about
    std::string node = std::move(pod.spec.node_name);
    pod.spec = newer->spec;
    pod.spec.node_name = std::move(node);
    UpsertPod(pod);
  } else {
    UpsertPod(pod, /*status_only=*/true);
  }
  if (timed) EventEnded();
}

void Intake::Delete(const api::Object& object) {
  const bool timed = EventBegan();
  std::visit(
      [this]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          const PodId id = c_.cluster.FindPod(value.metadata.uid);
          if (id != cluster::kNoPod) DeletePod(id);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          DeleteNode(value.metadata.name);
        } else if constexpr (StoredKind<T>) {
          DeleteOther(cluster::StoreOf<T>(c_.cluster.MutableObjects()), value.metadata.namespace_,
                      value.metadata.name, cluster::EventsOf<T>());
        } else if constexpr (std::is_same_v<T, api::UnknownObject>) {
          if (auto* store =
                  c_.cluster.MutableObjects().custom.Find(value.api_version, value.kind)) {
            DeleteOther(*store, value.metadata.namespace_, value.metadata.name, kCustomEvents);
          }
        } else if constexpr (cluster::NamedObject<T>) {
          if (auto* store = c_.cluster.MutableObjects().custom.Find(T::kApiVersion, T::kKind)) {
            DeleteOther(*store, value.metadata.namespace_, value.metadata.name, kCustomEvents);
          }
        }
      },
      object);
  if (timed) EventEnded();
}

// What is gone goes first when that is known, so that its place is free for what came.
void Intake::Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part) {
  if (part == ListPart::kWhole || part == ListPart::kFirst) {
    listed_.erase(std::string(kind));
    if (KnowsAny(kind)) listed_.try_emplace(std::string(kind));  // else nothing can be missing
  }
  const auto list = listed_.find(std::string(kind));
  ListKeys* there = list != listed_.end() ? &list->second : nullptr;
  if (there != nullptr) AddKeys(kind, objects, there);
  if (there != nullptr && part == ListPart::kWhole) RemoveMissing(kind, *there);
  for (api::Object& object : objects) {
    if (IsOf(kind, object)) Upsert(std::move(object));
  }
  if (there == nullptr) return;
  if (part == ListPart::kLast) RemoveMissing(kind, *there);
  if (part == ListPart::kWhole || part == ListPart::kLast) listed_.erase(list);
}

// False is sure.
bool Intake::KnowsAny(std::string_view kind) const {
  if (kind == api::Pod::kKind) return c_.cluster.PodCountTotal() > 0;
  return kind != api::Node::kKind || !nodes_.empty();
}

void Intake::RemoveMissing(std::string_view kind, const ListKeys& there) {
  if (kind == api::Pod::kKind) {
    std::vector<PodId> gone;
    for (PodId id = 0; id < c_.pods.records.size(); ++id) {
      if (!c_.pods.records[id].known || c_.pods.records[id].deleted) continue;
      if (!there.contains(c_.cluster.GetPod(id).uid)) gone.push_back(id);
    }
    for (const PodId id : gone) DeletePod(id);
    return;
  }
  if (kind == api::Node::kKind) {
    std::vector<std::string> gone;
    for (const auto& [name, node] : nodes_) {
      if (!there.contains(NameKey("", name))) gone.push_back(name);
    }
    std::sort(gone.begin(), gone.end());
    for (const std::string& name : gone) DeleteNode(name);
    return;
  }
  cluster::ObjectStore& objects = c_.cluster.MutableObjects();
  cluster::ForEachKind([&]<class T>(const cluster::KindRow<T>&) {
    if constexpr (StoredKind<T>) {
      if (kind == T::kKind) Sweep(cluster::StoreOf<T>(objects), there, cluster::EventsOf<T>());
    }
  });
  objects.custom.ForEach([&](std::string_view api_version, std::string_view custom, auto& store) {
    if (cluster::IsOfList(kind, api_version, custom)) Sweep(store, there, kCustomEvents);
  });
}

template <class T>
void Intake::Sweep(cluster::Store<T>& store, const ListKeys& there, Events events) {
  std::vector<std::pair<std::string, std::string>> gone;
  store.ForEach([&](const T& object) {
    const auto& metadata = object.metadata;
    if constexpr (std::is_same_v<T, api::PodGroup>) {
      if (cluster::IsAdoptedGroup(metadata.name)) return;  // the list of another kind has it
    }
    if (there.contains(NameKey(metadata.namespace_, metadata.name))) return;
    gone.emplace_back(metadata.namespace_, metadata.name);
  });
  for (const auto& [namespace_, name] : gone) DeleteOther(store, namespace_, name, events);
}

template <class T>
void Intake::UpsertOther(cluster::Store<T>& store, T object, Events events) {
  const auto old = store.Share(object.metadata.namespace_, object.metadata.name);
  if (old && IsOlder(object.metadata.resource_version, old->metadata.resource_version)) return;
  auto made = std::make_shared<const T>(std::move(object));
  store.Set(made);
  if constexpr (std::is_same_v<T, api::PodGroup>) {
    GroupAttempts* groups = c_.attempts->groups();
    if (groups != nullptr && !old) groups->ObjectAdded(*made);
  }
  if (events) {
    const bool updates = old || events->updates;
    const uint16_t action = updates ? uint16_t{queue::kUpdate} : uint16_t{queue::kAdd};
    HandleMove({events->resource, action}, old, made);
  }
  if constexpr (std::is_same_v<T, api::UnknownObject>) FollowGroup(*made, /*gone=*/false);
}

template <class T>
void Intake::DeleteOther(cluster::Store<T>& store, const std::string& namespace_,
                         const std::string& name, Events events) {
  const auto old = store.Share(namespace_, name);
  if (!old) return;
  store.Remove(namespace_, name);
  if constexpr (std::is_same_v<T, api::PodGroup>) {
    if (GroupAttempts* groups = c_.attempts->groups()) groups->ObjectDeleted(*old);
  }
  if (events) {
    const uint16_t action = events->updates ? uint16_t{queue::kUpdate} : uint16_t{queue::kDelete};
    HandleMove({events->resource, action}, old, {});
  }
  if constexpr (std::is_same_v<T, api::UnknownObject>) FollowGroup(*old, /*gone=*/true);
}

// --- Groups of other APIs

void Intake::JoinGroup(api::Pod& pod) const {
  if (c_.groups.Empty()) return;
  const PodId known = c_.cluster.FindPod(pod.metadata.uid);
  if (known == cluster::kNoPod) return c_.groups.Join(pod);
  pod.spec.scheduling_group = c_.cluster.GetPod(known).shape->source.spec.scheduling_group;
}

void Intake::FollowGroup(const api::UnknownObject& object, bool gone) {
  if (c_.groups.Empty()) return;
  if (c_.groups.Adopts(object.api_version, object.kind)) return AdoptGroup(object, gone);
  if (object.kind != api::PriorityClass::kKind) return;
  for (const cluster::AdoptedGroupKind& adopted : c_.groups.Kinds()) {
    const auto* store =
        c_.cluster.Objects().custom.Find(adopted.kind.ApiVersion(), adopted.kind.kind);
    if (store == nullptr) continue;
    store->ForEach([&](const api::UnknownObject& group) { AdoptGroup(group, /*gone=*/false); });
  }
}

void Intake::AdoptGroup(const api::UnknownObject& object, bool gone) {
  cluster::ObjectStore& objects = c_.cluster.MutableObjects();
  const std::string& namespace_ = object.metadata.namespace_;
  const std::string name = cluster::AdoptedGroups::NameOf(object.api_version, object.metadata.name);
  constexpr Events kEvents = cluster::EventsOf<api::PodGroup>();
  std::optional<api::PodGroup> group;
  if (!gone) group = c_.groups.Adopt(object, objects);
  if (!group) return DeleteOther(objects.pod_groups, namespace_, name, kEvents);
  const api::PodGroup* old = objects.pod_groups.Find(namespace_, name);
  if (old != nullptr && *old == *group) return;
  UpsertOther(objects.pod_groups, std::move(*group), kEvents);
}

// --- Nodes

void Intake::UpsertNode(api::Node node) {
  auto& slot = nodes_[node.metadata.name];
  const std::shared_ptr<const api::Node> old = slot;
  if (old && IsOlder(node.metadata.resource_version, old->metadata.resource_version)) return;
  c_.cluster.SetNode(node);
  // What no hint looks at is not kept.
  node.status.images.clear();
  node.status.images.shrink_to_fit();
  slot = std::make_shared<const api::Node>(std::move(node));
  const std::shared_ptr<const api::Node> made = slot;
  if (c_.observer != nullptr) c_.observer->NodeChanged(old ? Change::kUpdate : Change::kAdd, *made);
  if (!old) {
    HandleMove({EventResource::kNode, queue::kAdd}, {}, made);
    return;
  }
  for (const queue::ClusterEvent& change : queue::NodeChanges(*old, *made, c_.events)) {
    HandleMove(change, old, made);
  }
}

void Intake::DeleteNode(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return;
  const std::shared_ptr<const api::Node> old = it->second;
  if (c_.observer != nullptr) c_.observer->NodeChanged(Change::kDelete, *old);
  HandleMove({EventResource::kNode, queue::kDelete}, old, {});
  nodes_.erase(name);
  c_.cluster.RemoveNode(old->metadata.name);
}

// --- Pods

void Intake::TellPod(Change change, PodId id, bool assigned) {
  if (c_.wants->pods) c_.observer->PodChanged(change, c_.cluster.GetPod(id), assigned);
}

void Intake::UpsertPod(const api::Pod& pod, bool status_only) {
  PodId id = c_.cluster.FindPod(pod.metadata.uid);
  if (IsTerminal(pod)) {
    if (id != cluster::kNoPod) DeletePod(id);
    return;
  }
  if (id == cluster::kNoPod) {
    const auto named = c_.pods.by_name.find(NameKey(pod.metadata.namespace_, pod.metadata.name));
    // Made anew under the same name: the old one is gone.
    if (named != c_.pods.by_name.end()) DeletePod(named->second);
    AddPod(pod);
    return;
  }
  PodRecord& record = c_.pods.Of(id);
  const int64_t version = VersionNumber(pod.metadata.resource_version);
  if (record.deleted || (version >= 0 && version <= record.version)) return;
  record.version = version;
  record.generation = pod.metadata.generation;
  record.condition_types = c_.pods.NumberConditionTypes(pod);
  const bool assigned = !pod.spec.node_name.empty();
  if (record.assigned && !assigned) return;  // a node is for life
  if (!assigned) {
    PendingUpdated(id, pod);
  } else if (record.assigned) {
    PodUpdated(id, pod, status_only);
  } else {
    PodAssigned(id, pod, status_only);
  }
}

void Intake::NoteConditions(PodRecord& record, const api::Pod& pod) {
  record.scheduled.reset();
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type != "PodScheduled") continue;
    record.scheduled = std::make_unique<api::PodCondition>(condition);
  }
}

void Intake::AddPod(const api::Pod& pod) {
  const bool assigned = !pod.spec.node_name.empty();
  uint8_t profile = 0;
  while (profile < c_.runtimes.size() &&
         c_.runtimes[profile].profile->Name() != pod.spec.scheduler_name) {
    ++profile;
  }
  if (!assigned && profile == c_.runtimes.size()) return;  // another scheduler's
  const PodId id = c_.cluster.AddPod(pod);
  PodRecord& record = c_.pods.Of(id);
  record = PodRecord();
  record.known = true;
  record.assigned = assigned;
  record.version = VersionNumber(pod.metadata.resource_version);
  record.generation = pod.metadata.generation;
  record.condition_types = c_.pods.NumberConditionTypes(pod);
  c_.pods.by_name[NameKey(pod.metadata.namespace_, pod.metadata.name)] = id;
  TellPod(Change::kAdd, id, assigned);
  if (assigned) {
    HandleMove({EventResource::kAssignedPod, queue::kAdd}, {}, c_.cluster.Snapshot(id));
    return;
  }
  record.profile = profile;
  if (!c_.options.behaviour.pod_groups) Handled({c_.events.PendingPod(), queue::kAdd});
  record.extenders = c_.extenders.InterestedIn(pod);
  NoteConditions(record, pod);
  c_.queue->Add(id, profile, c_.now);
  const bool counts = c_.options.behaviour.nominator_knows_gated_pods || !c_.queue->Find(id)->gated;
  if (counts && !pod.status.nominated_node_name.empty()) {
    c_.cluster.MutableNominations().Set(
        id, c_.cluster.Strings().Intern(pod.status.nominated_node_name));
  }
  // A gang may be complete with it.
  if (c_.options.behaviour.pod_groups) {
    HandleMove({c_.events.PendingPod(), queue::kAdd}, {}, c_.cluster.Snapshot(id));
  }
}

// The API server has given the pod a node, ours or somebody else's.
void Intake::PodAssigned(PodId id, const api::Pod& pod, bool status_only) {
  PodRecord& record = c_.pods.Of(id);
  PodSnapshot nominated;  // as it was, if it was nominated
  if (record.newer && !record.newer->status.nominated_node_name.empty()) {
    nominated = c_.cluster.Snapshot(*record.newer);
  } else if (!record.newer && !c_.cluster.GetPod(id).nominated_node_name.empty()) {
    nominated = c_.cluster.Snapshot(id);
  }
  record.assigned = true;
  record.scheduled.reset();
  record.newer.reset();
  c_.cluster.MutablePod(id).preempting = false;
  c_.cluster.MutableNominations().Clear(id);
  Binding* binding = c_.bindings->FindBinding(c_.cluster.GetPod(id).key());
  // Of a binding nothing else is to be cleaned up from 1.35 on.
  const bool cleans_up = !c_.options.behaviour.binding_is_no_deletion;
  const bool rejects =
      cleans_up && binding != nullptr && binding->stage == Binding::Stage::kWaiting;
  TellPod(Change::kAdd, id, true);
  TellPod(Change::kDelete, id, false);
  if (!rejects) c_.queue->Delete(id);
  UpdateInCluster(id, pod, status_only);
  // A pod that waits for permission to go elsewhere gives up what it holds.
  if (rejects) c_.bindings->BindingFailed(*binding, true, "", binding->waits.front().plugin);
  Handled({c_.events.PendingPod(), queue::kDelete});
  HandleMove({EventResource::kAssignedPod, queue::kAdd}, {}, c_.cluster.Snapshot(id));
  // Pods of its priority and below have kept off the node it was nominated to.
  if (cleans_up && !rejects && nominated) NominatedPodLeft(nominated);
}

void Intake::NominatedPodLeft(const PodSnapshot& pod) {
  if (pod->nominated_node_name.empty()) return;
  c_.queue->Move({{EventResource::kAssignedPod, queue::kDelete}, pod, {}}, c_.now,
                 pod->shape->priority);
}

void Intake::UpdateInCluster(PodId id, const api::Pod& pod, bool status_only) {
  status_only ? c_.cluster.UpdateStatus(id, pod) : c_.cluster.UpdatePod(id, pod);
}

void Intake::PodUpdated(PodId id, const api::Pod& pod, bool status_only) {
  TellPod(Change::kUpdate, id, true);
  const PodSnapshot old = c_.cluster.Snapshot(id);
  UpdateInCluster(id, pod, status_only);
  const PodSnapshot made = c_.cluster.Snapshot(id);
  if (made->terminating && !old->terminating) c_.preemptions->VictimLeaves(*made);
  Handled({EventResource::kAssignedPod, queue::kUpdate});
  for (const queue::ClusterEvent& change : queue::PodChanges(*old, *made, c_.events)) {
    HandleMove(change, old, made);
  }
}

void Intake::PendingUpdated(PodId id, const api::Pod& pod) {
  PodRecord& record = c_.pods.Of(id);
  Handled({c_.events.PendingPod(), queue::kUpdate});
  NoteConditions(record, pod);
  if (c_.cluster.GetPod(id).node != cluster::kNoNode) {  // assumed: its node was chosen for what it
    const bool left = record.newer && record.newer->metadata.deletion_timestamp;  // was
    record.newer = std::make_unique<api::Pod>(pod);
    if (pod.metadata.deletion_timestamp && !left) AssumedPodLeaves(id);
    return;
  }
  TellPod(Change::kUpdate, id, false);
  const PodSnapshot old = c_.cluster.Snapshot(id);
  TakeUp(id, pod);
  const PodSnapshot made = c_.cluster.Snapshot(id);
  const std::vector<queue::ClusterEvent> changes = queue::PodChanges(*old, *made, c_.events);
  for (const queue::ClusterEvent& change : changes) {
    if (change.action != queue::kUpdate) Handled({c_.events.PendingPod(), change.action});
  }
  if (c_.queue->Find(id) != nullptr) {
    c_.queue->Update(id, changes, old, made, c_.now);
  } else if (!made->terminating) {
    c_.queue->Add(id, record.profile, c_.now);
  }
  if (!old->nominated_node_name.empty() && old->nominated_node_name != made->nominated_node_name) {
    // Others had to leave it room on that node; now they need not.
    c_.queue->Move({{EventResource::kAssignedPod, queue::kDelete}, old, {}}, c_.now,
                   old->shape->priority);
  }
}

void Intake::TakeUp(PodId id, const api::Pod& pod) {
  const std::string before = c_.cluster.GetPod(id).nominated_node_name;
  const bool preempting = c_.cluster.GetPod(id).preempting;
  c_.cluster.UpdatePod(id, pod);
  c_.pods.Of(id).extenders = c_.extenders.InterestedIn(pod);
  c_.cluster.MutablePod(id).preempting = preempting;
  // A nomination made here that the API server does not show yet stays.
  if (before.empty() && pod.status.nominated_node_name.empty()) return;
  if (pod.status.nominated_node_name.empty()) {
    c_.cluster.MutableNominations().Clear(id);
  } else {
    c_.cluster.MutableNominations().Set(
        id, c_.cluster.Strings().Intern(pod.status.nominated_node_name));
  }
}

void Intake::DeletePod(PodId id) {
  PodRecord& record = c_.pods.Of(id);
  if (record.deleted) return;
  TellPod(Change::kDelete, id, record.assigned);
  const PodSnapshot old = c_.cluster.Snapshot(id);
  if (record.assigned) {
    ForgetPod(id);
    c_.preemptions->VictimLeaves(*old);
    HandleMove({EventResource::kAssignedPod, queue::kDelete}, old, {});
    return;
  }
  c_.pods.by_name.erase(NameKey(old->namespace_(), old->name));
  Handled({c_.events.PendingPod(), queue::kDelete});
  record.deleted = true;
  c_.preemptions->VictimLeaves(*old);
  Binding* binding = c_.bindings->FindBinding(old->key());
  if (binding != nullptr && c_.options.behaviour.forgets_terminating_assumed_pods) {
    AssumedPodLeaves(id);
    return;
  }
  if (binding != nullptr) {
    // Its binding will fail, or has succeeded already: then the node is given back at its end.
    // Until then it is on its node as one that goes, which tells plugins that wait for something.
    if (old->node != cluster::kNoNode && c_.cluster.Nodes().Contains(old->node)) {
      c_.cluster.Unplace(id);
      c_.cluster.MutablePod(id).terminating = true;
      c_.cluster.Place(id, old->node, old->assumed);
    }
    if (binding->stage == Binding::Stage::kWaiting) {
      c_.bindings->Reject(
          old->key(),
          c_.runtimes[binding->profile].profile->At(binding->waits.front().plugin).Name(),
          "removed");
    }
    return;
  }
  const bool assumed = old->node != cluster::kNoNode;
  ForgetPod(id);
  if (assumed) {
    c_.Move({EventResource::kAssignedPod, queue::kDelete}, old, {});
  } else {
    NominatedPodLeft(old);
  }
}

// An assumed pod is deleted, or terminates. The API server binds no such pod, so its node is free
// at once, whatever becomes of its binding. Until 1.34 it stayed there until the binding failed.
void Intake::AssumedPodLeaves(PodId id) {
  if (!c_.options.behaviour.forgets_terminating_assumed_pods) return;
  const PodSnapshot old = c_.cluster.Snapshot(id);
  Binding* binding = c_.bindings->FindBinding(old->key());
  if (binding != nullptr && binding->stage == Binding::Stage::kWaiting) {
    c_.bindings->BindingFailed(*binding, true, "removed", binding->waits.front().plugin);
    c_.Move({EventResource::kAssignedPod, queue::kDelete}, old, {});
    return;
  }
  if (old->assumed) c_.cluster.Forget(id);
  if (const std::unique_ptr<api::Pod> newer = std::move(c_.pods.Of(id).newer)) TakeUp(id, *newer);
  c_.cluster.MutableNominations().Clear(id);
  c_.cluster.MutablePod(id).terminating = true;
  c_.Move({EventResource::kAssignedPod, queue::kDelete}, old, {});
}

void Intake::ForgetPod(PodId id) {
  const cluster::Pod& pod = c_.cluster.GetPod(id);
  c_.queue->Delete(id);
  c_.queue->Done(id);
  if (Binding* binding = c_.bindings->FindBinding(pod.key())) binding->pod = cluster::kNoPod;
  const auto named = c_.pods.by_name.find(NameKey(pod.namespace_(), pod.name));
  if (named != c_.pods.by_name.end() && named->second == id) c_.pods.by_name.erase(named);
  c_.cluster.RemovePod(id);
  c_.log.Forget(id);
  c_.pods.records[id] = PodRecord();
}

}  // namespace berth::scheduler
