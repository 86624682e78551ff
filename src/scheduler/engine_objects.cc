// Engine: what happens to the cluster and the queue when an object changes.
#include <algorithm>

#include "config/disabled_fields.h"
#include "scheduler/engine_impl.h"

namespace berth::scheduler {
namespace {

using cluster::ObjectStore;
using queue::EventResource;

// Where objects of a type are kept, and the events they give.
template <class T>
struct Kept;
template <auto Member, EventResource Resource>
struct KeptWithEvents {
  static auto& Store(ObjectStore& objects) { return objects.*Member; }
  static constexpr std::optional<EventResource> kResource = Resource;
};
template <auto Member>
struct KeptSilently {
  static auto& Store(ObjectStore& objects) { return objects.*Member; }
  static constexpr std::optional<EventResource> kResource = std::nullopt;
};
template <>
struct Kept<api::Namespace> : KeptSilently<&ObjectStore::namespaces> {};
template <>
struct Kept<api::Service> : KeptSilently<&ObjectStore::services> {};
template <>
struct Kept<api::ReplicationController> : KeptSilently<&ObjectStore::replication_controllers> {};
template <>
struct Kept<api::ReplicaSet> : KeptSilently<&ObjectStore::replica_sets> {};
template <>
struct Kept<api::StatefulSet> : KeptSilently<&ObjectStore::stateful_sets> {};
template <>
struct Kept<api::PodDisruptionBudget> : KeptSilently<&ObjectStore::pod_disruption_budgets> {};
template <>
struct Kept<api::PersistentVolume>
    : KeptWithEvents<&ObjectStore::persistent_volumes, EventResource::kPersistentVolume> {};
template <>
struct Kept<api::PersistentVolumeClaim> : KeptWithEvents<&ObjectStore::persistent_volume_claims,
                                                         EventResource::kPersistentVolumeClaim> {};
template <>
struct Kept<api::StorageClass>
    : KeptWithEvents<&ObjectStore::storage_classes, EventResource::kStorageClass> {};
template <>
struct Kept<api::CSINode> : KeptWithEvents<&ObjectStore::csi_nodes, EventResource::kCSINode> {};
template <>
struct Kept<api::CSIDriver> : KeptWithEvents<&ObjectStore::csi_drivers, EventResource::kCSIDriver> {
};
template <>
struct Kept<api::CSIStorageCapacity>
    : KeptWithEvents<&ObjectStore::csi_storage_capacities, EventResource::kCSIStorageCapacity> {};
template <>
struct Kept<api::VolumeAttachment>
    : KeptWithEvents<&ObjectStore::volume_attachments, EventResource::kVolumeAttachment> {};
template <>
struct Kept<api::ResourceClaim>
    : KeptWithEvents<&ObjectStore::resource_claims, EventResource::kResourceClaim> {};
template <>
struct Kept<api::ResourceSlice>
    : KeptWithEvents<&ObjectStore::resource_slices, EventResource::kResourceSlice> {};
template <>
struct Kept<api::DeviceClass>
    : KeptWithEvents<&ObjectStore::device_classes, EventResource::kDeviceClass> {};

template <class T>
concept IsKept = requires(ObjectStore& objects) {
  Kept<T>::Store(objects);
};

bool IsOlder(std::string_view version, std::string_view than) {
  const int64_t number = VersionNumber(version);
  return number >= 0 && number < VersionNumber(than);
}

constexpr size_t kMaxConditionLists = 256;  // searched one by one

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

void AddKeys(std::string_view kind, const std::vector<api::Object>& objects, ListKeys* keys) {
  for (const api::Object& object : objects) {
    const api::ObjectMeta* metadata = api::MetadataOf(object);
    if (metadata == nullptr || api::KindOf(object) != kind) continue;
    keys->insert(kind == api::Pod::kKind ? metadata->uid
                                         : NameKey(metadata->namespace_, metadata->name));
  }
}

}  // namespace

void Engine::Impl::Move(queue::ClusterEvent what, queue::EventObject old_object,
                        queue::EventObject new_object) {
  queue_->Move({what, std::move(old_object), std::move(new_object)}, now_);
}

// --- All kinds

// An object's change is taken up between these two. All that it means is told, each under its name.
bool Engine::Impl::EventBegan() {
  handled_events_.clear();
  timing_event_ = observer_ != nullptr && IsDue(wants_->skip_events) && observer_->EventBegan();
  return timing_event_;
}

void Engine::Impl::Handled(queue::ClusterEvent what) {
  if (timing_event_) handled_events_.push_back(what);
}

void Engine::Impl::EventEnded() {
  timing_event_ = false;
  if (handled_events_.empty()) observer_->EventEnded({});
  for (const queue::ClusterEvent& what : handled_events_) observer_->EventEnded(what.Label());
}

void Engine::Impl::HandleMove(queue::ClusterEvent what, queue::EventObject old_object,
                              queue::EventObject new_object) {
  Handled(what);
  Move(what, std::move(old_object), std::move(new_object));
}

void Engine::Impl::Upsert(api::Object&& object) {
  const bool timed = EventBegan();
  std::visit(
      [this]<class T>(T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          config::HideDisabledFields(options_.behaviour, value);
          UpsertPod(value);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          UpsertNode(std::move(value));
        } else if constexpr (IsKept<T>) {
          UpsertOther(std::move(value));
        }
      },
      object);
  if (timed) EventEnded();
}

void Engine::Impl::UpdateStatus(api::Pod&& pod) {
  const PodId id = cluster_.FindPod(pod.metadata.uid);
  if (id == cluster::kNoPod) return;
  const bool timed = EventBegan();
  config::HideDisabledFields(options_.behaviour, pod);
  if (const auto& newer = RecordOf(id).newer) {  // the last version is not the one decided about
    std::string node = std::move(pod.spec.node_name);
    pod.spec = newer->spec;
    pod.spec.node_name = std::move(node);
    UpsertPod(pod);
  } else {
    UpsertPod(pod, /*status_only=*/true);
  }
  if (timed) EventEnded();
}

void Engine::Impl::Delete(const api::Object& object) {
  const bool timed = EventBegan();
  std::visit(
      [this]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, api::Pod>) {
          const PodId id = cluster_.FindPod(value.metadata.uid);
          if (id != cluster::kNoPod) DeletePod(id);
        } else if constexpr (std::is_same_v<T, api::Node>) {
          DeleteNode(value.metadata.name);
        } else if constexpr (IsKept<T>) {
          DeleteOther<T>(value.metadata.namespace_, value.metadata.name);
        }
      },
      object);
  if (timed) EventEnded();
}

// What is gone goes first when that is known, so that its place is free for what came.
void Engine::Impl::Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part) {
  if (part == ListPart::kWhole || part == ListPart::kFirst) {
    listed_.erase(std::string(kind));
    if (KnowsAny(kind)) listed_.try_emplace(std::string(kind));  // else nothing can be missing
  }
  const auto list = listed_.find(std::string(kind));
  ListKeys* there = list != listed_.end() ? &list->second : nullptr;
  if (there != nullptr) AddKeys(kind, objects, there);
  if (there != nullptr && part == ListPart::kWhole) RemoveMissing(kind, *there);
  for (api::Object& object : objects) {
    if (api::KindOf(object) == kind) Upsert(std::move(object));
  }
  if (there == nullptr) return;
  if (part == ListPart::kLast) RemoveMissing(kind, *there);
  if (part == ListPart::kWhole || part == ListPart::kLast) listed_.erase(list);
}

// False is sure.
bool Engine::Impl::KnowsAny(std::string_view kind) const {
  if (kind == api::Pod::kKind) return cluster_.PodCountTotal() > 0;
  return kind != api::Node::kKind || !nodes_.empty();
}

void Engine::Impl::RemoveMissing(std::string_view kind, const ListKeys& there) {
  if (kind == api::Pod::kKind) {
    std::vector<PodId> gone;
    for (PodId id = 0; id < records_.size(); ++id) {
      if (!records_[id].known || records_[id].deleted) continue;
      if (!there.contains(cluster_.GetPod(id).uid)) gone.push_back(id);
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
  const auto sweep = [&]<class T>(std::in_place_type_t<T>) {
    if (kind != T::kKind) return;
    std::vector<std::pair<std::string, std::string>> gone;
    Kept<T>::Store(cluster_.MutableObjects()).ForEach([&](const T& object) {
      const auto& metadata = object.metadata;
      if (there.contains(NameKey(metadata.namespace_, metadata.name))) return;
      gone.emplace_back(metadata.namespace_, metadata.name);
    });
    for (const auto& [namespace_, name] : gone) DeleteOther<T>(namespace_, name);
  };
  const auto sweep_all = [&]<class... T>(std::in_place_type_t<std::variant<T...>>) {
    (
        [&] {
          if constexpr (IsKept<T>) sweep(std::in_place_type<T>);
        }(),
        ...);
  };
  sweep_all(std::in_place_type<api::Object>);
}

template <class T>
void Engine::Impl::UpsertOther(T object) {
  auto& store = Kept<T>::Store(cluster_.MutableObjects());
  const auto old = store.Share(object.metadata.namespace_, object.metadata.name);
  if (old && IsOlder(object.metadata.resource_version, old->metadata.resource_version)) return;
  auto made = std::make_shared<const T>(std::move(object));
  store.Set(made);
  if constexpr (Kept<T>::kResource.has_value()) {
    const queue::ClusterEvent what{*Kept<T>::kResource,
                                   old ? uint16_t{queue::kUpdate} : uint16_t{queue::kAdd}};
    HandleMove(what, old ? queue::EventObject(old) : queue::EventObject(), made);
  }
}

template <class T>
void Engine::Impl::DeleteOther(const std::string& namespace_, const std::string& name) {
  auto& store = Kept<T>::Store(cluster_.MutableObjects());
  const auto old = store.Share(namespace_, name);
  if (!old) return;
  store.Remove(namespace_, name);
  if constexpr (Kept<T>::kResource.has_value()) {
    HandleMove({*Kept<T>::kResource, queue::kDelete}, old, {});
  }
}

// --- Nodes

void Engine::Impl::UpsertNode(api::Node node) {
  auto& slot = nodes_[node.metadata.name];
  const std::shared_ptr<const api::Node> old = slot;
  if (old && IsOlder(node.metadata.resource_version, old->metadata.resource_version)) return;
  cluster_.SetNode(node);
  // What no hint looks at is not kept.
  node.status.images.clear();
  node.status.images.shrink_to_fit();
  slot = std::make_shared<const api::Node>(std::move(node));
  const std::shared_ptr<const api::Node> made = slot;
  if (observer_ != nullptr) observer_->NodeChanged(old ? Change::kUpdate : Change::kAdd, *made);
  if (!old) {
    HandleMove({EventResource::kNode, queue::kAdd}, {}, made);
    return;
  }
  for (const queue::ClusterEvent& change : queue::NodeChanges(*old, *made)) {
    HandleMove(change, old, made);
  }
}

void Engine::Impl::DeleteNode(const std::string& name) {
  const auto it = nodes_.find(name);
  if (it == nodes_.end()) return;
  const std::shared_ptr<const api::Node> old = it->second;
  if (observer_ != nullptr) observer_->NodeChanged(Change::kDelete, *old);
  HandleMove({EventResource::kNode, queue::kDelete}, old, {});
  nodes_.erase(name);
  cluster_.RemoveNode(old->metadata.name);
}

// --- Pods

void Engine::Impl::TellPod(Change change, PodId id, bool assigned) {
  if (wants_->pods) observer_->PodChanged(change, cluster_.GetPod(id), assigned);
}

void Engine::Impl::UpsertPod(const api::Pod& pod, bool status_only) {
  PodId id = cluster_.FindPod(pod.metadata.uid);
  if (IsTerminal(pod)) {
    if (id != cluster::kNoPod) DeletePod(id);
    return;
  }
  if (id == cluster::kNoPod) {
    const auto named = pod_of_name_.find(NameKey(pod.metadata.namespace_, pod.metadata.name));
    // Made anew under the same name: the old one is gone.
    if (named != pod_of_name_.end()) DeletePod(named->second);
    AddPod(pod);
    return;
  }
  PodRecord& record = RecordOf(id);
  const int64_t version = VersionNumber(pod.metadata.resource_version);
  if (record.deleted || (version >= 0 && version <= record.version)) return;
  record.version = version;
  record.generation = pod.metadata.generation;
  record.condition_types = NumberConditionTypes(pod);
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

// Lists beyond what a number holds count as empty: then a patch says nothing of the order.
uint16_t Engine::Impl::NumberConditionTypes(const api::Pod& pod) {
  const auto& conditions = pod.status.conditions;
  for (size_t i = 0; i < condition_types_.size(); ++i) {
    const auto same = [](const std::string& type, const api::PodCondition& condition) {
      return type == condition.type;
    };
    if (std::equal(condition_types_[i].begin(), condition_types_[i].end(), conditions.begin(),
                   conditions.end(), same)) {
      return static_cast<uint16_t>(i);
    }
  }
  if (condition_types_.size() >= kMaxConditionLists) return 0;
  std::vector<std::string>& types = condition_types_.emplace_back();
  for (const api::PodCondition& condition : conditions) types.push_back(condition.type);
  return static_cast<uint16_t>(condition_types_.size() - 1);
}

void Engine::Impl::NoteConditions(PodRecord& record, const api::Pod& pod) {
  record.scheduled.reset();
  for (const api::PodCondition& condition : pod.status.conditions) {
    if (condition.type != "PodScheduled") continue;
    record.scheduled = std::make_unique<api::PodCondition>(condition);
  }
}

void Engine::Impl::AddPod(const api::Pod& pod) {
  const bool assigned = !pod.spec.node_name.empty();
  uint8_t profile = 0;
  while (profile < runtimes_.size() &&
         runtimes_[profile].profile->Name() != pod.spec.scheduler_name) {
    ++profile;
  }
  if (!assigned && profile == runtimes_.size()) return;  // another scheduler's
  const PodId id = cluster_.AddPod(pod);
  PodRecord& record = RecordOf(id);
  record = PodRecord();
  record.known = true;
  record.assigned = assigned;
  record.version = VersionNumber(pod.metadata.resource_version);
  record.generation = pod.metadata.generation;
  record.condition_types = NumberConditionTypes(pod);
  pod_of_name_[NameKey(pod.metadata.namespace_, pod.metadata.name)] = id;
  TellPod(Change::kAdd, id, assigned);
  if (assigned) {
    HandleMove({EventResource::kAssignedPod, queue::kAdd}, {}, cluster_.Snapshot(id));
    return;
  }
  record.profile = profile;
  Handled({EventResource::kUnschedulablePod, queue::kAdd});
  record.extenders = extenders_.InterestedIn(pod);
  NoteConditions(record, pod);
  if (!pod.status.nominated_node_name.empty()) {
    cluster_.MutableNominations().Set(id,
                                      cluster_.Strings().Intern(pod.status.nominated_node_name));
  }
  queue_->Add(id, profile, now_);
}

// The API server has given the pod a node, ours or somebody else's.
void Engine::Impl::PodAssigned(PodId id, const api::Pod& pod, bool status_only) {
  PodRecord& record = RecordOf(id);
  PodSnapshot nominated;  // as it was, if it was nominated
  if (record.newer && !record.newer->status.nominated_node_name.empty()) {
    nominated = cluster_.Snapshot(*record.newer);
  } else if (!record.newer && !cluster_.GetPod(id).nominated_node_name.empty()) {
    nominated = cluster_.Snapshot(id);
  }
  record.assigned = true;
  record.scheduled.reset();
  record.newer.reset();
  cluster_.MutablePod(id).preempting = false;
  cluster_.MutableNominations().Clear(id);
  Binding* binding = FindBinding(cluster_.GetPod(id).key());
  const bool waiting = binding != nullptr && binding->stage == Binding::Stage::kWaiting;
  TellPod(Change::kAdd, id, true);
  TellPod(Change::kDelete, id, false);
  if (!waiting) queue_->Delete(id);
  UpdateInCluster(id, pod, status_only);
  // A pod that waits for permission to go elsewhere gives up what it holds.
  if (waiting) BindingFailed(*binding, true, "", binding->waits.front().plugin);
  Handled({EventResource::kUnschedulablePod, queue::kDelete});
  HandleMove({EventResource::kAssignedPod, queue::kAdd}, {}, cluster_.Snapshot(id));
  // Pods of its priority and below have kept off the node it was nominated to.
  if (!waiting && nominated) NominatedPodLeft(nominated);
}

void Engine::Impl::NominatedPodLeft(const PodSnapshot& pod) {
  if (pod->nominated_node_name.empty()) return;
  queue_->Move({{EventResource::kAssignedPod, queue::kDelete}, pod, {}}, now_,
               pod->shape->priority);
}

void Engine::Impl::UpdateInCluster(PodId id, const api::Pod& pod, bool status_only) {
  status_only ? cluster_.UpdateStatus(id, pod) : cluster_.UpdatePod(id, pod);
}

void Engine::Impl::PodUpdated(PodId id, const api::Pod& pod, bool status_only) {
  TellPod(Change::kUpdate, id, true);
  const PodSnapshot old = cluster_.Snapshot(id);
  UpdateInCluster(id, pod, status_only);
  const PodSnapshot made = cluster_.Snapshot(id);
  Handled({EventResource::kAssignedPod, queue::kUpdate});
  for (const queue::ClusterEvent& change : queue::PodChanges(*old, *made)) {
    HandleMove(change, old, made);
  }
}

void Engine::Impl::PendingUpdated(PodId id, const api::Pod& pod) {
  PodRecord& record = RecordOf(id);
  Handled({EventResource::kUnschedulablePod, queue::kUpdate});
  NoteConditions(record, pod);
  if (cluster_.GetPod(id).node != cluster::kNoNode) {  // assumed: its node was chosen for what it
    record.newer = std::make_unique<api::Pod>(pod);    // was
    return;
  }
  TellPod(Change::kUpdate, id, false);
  const PodSnapshot old = cluster_.Snapshot(id);
  TakeUp(id, pod);
  const PodSnapshot made = cluster_.Snapshot(id);
  const std::vector<queue::ClusterEvent> changes = queue::PodChanges(*old, *made);
  for (const queue::ClusterEvent& change : changes) {
    if (change.action != queue::kUpdate) Handled(change);
  }
  if (queue_->Find(id) != nullptr) {
    queue_->Update(id, changes, old, made, now_);
  } else if (!made->terminating) {
    queue_->Add(id, record.profile, now_);
  }
  if (!old->nominated_node_name.empty() && old->nominated_node_name != made->nominated_node_name) {
    // Others had to leave it room on that node; now they need not.
    queue_->Move({{EventResource::kAssignedPod, queue::kDelete}, old, {}}, now_,
                 old->shape->priority);
  }
}

void Engine::Impl::TakeUp(PodId id, const api::Pod& pod) {
  const std::string before = cluster_.GetPod(id).nominated_node_name;
  const bool preempting = cluster_.GetPod(id).preempting;
  cluster_.UpdatePod(id, pod);
  RecordOf(id).extenders = extenders_.InterestedIn(pod);
  cluster_.MutablePod(id).preempting = preempting;
  // A nomination made here that the API server does not show yet stays.
  if (before.empty() && pod.status.nominated_node_name.empty()) return;
  if (pod.status.nominated_node_name.empty()) {
    cluster_.MutableNominations().Clear(id);
  } else {
    cluster_.MutableNominations().Set(id,
                                      cluster_.Strings().Intern(pod.status.nominated_node_name));
  }
}

void Engine::Impl::DeletePod(PodId id) {
  PodRecord& record = RecordOf(id);
  if (record.deleted) return;
  TellPod(Change::kDelete, id, record.assigned);
  const PodSnapshot old = cluster_.Snapshot(id);
  if (record.assigned) {
    ForgetPod(id);
    HandleMove({EventResource::kAssignedPod, queue::kDelete}, old, {});
    return;
  }
  pod_of_name_.erase(NameKey(old->namespace_(), old->name));
  Handled({EventResource::kUnschedulablePod, queue::kDelete});
  record.deleted = true;
  Binding* binding = FindBinding(old->key());
  if (binding != nullptr) {
    // Its binding will fail, or has succeeded already: then the node is given back at its end.
    // Until then it is on its node as one that goes, which tells plugins that wait for something.
    if (old->node != cluster::kNoNode && cluster_.Nodes().Contains(old->node)) {
      cluster_.Unplace(id);
      cluster_.MutablePod(id).terminating = true;
      cluster_.Place(id, old->node, old->assumed);
    }
    if (binding->stage == Binding::Stage::kWaiting) {
      Reject(old->key(),
             runtimes_[binding->profile].profile->At(binding->waits.front().plugin).Name(),
             "removed");
    }
    return;
  }
  const bool assumed = old->node != cluster::kNoNode;
  ForgetPod(id);
  if (assumed) {
    Move({EventResource::kAssignedPod, queue::kDelete}, old, {});
  } else {
    NominatedPodLeft(old);
  }
}

void Engine::Impl::ForgetPod(PodId id) {
  const cluster::Pod& pod = cluster_.GetPod(id);
  queue_->Delete(id);
  queue_->Done(id);
  if (Binding* binding = FindBinding(pod.key())) binding->pod = cluster::kNoPod;
  const auto named = pod_of_name_.find(NameKey(pod.namespace_(), pod.name));
  if (named != pod_of_name_.end() && named->second == id) pod_of_name_.erase(named);
  cluster_.RemovePod(id);
  log_.Forget(id);
  records_[id] = PodRecord();
}

}  // namespace berth::scheduler
