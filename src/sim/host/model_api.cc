#include "sim/host/model_api.h"

#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

namespace berth::sim {
namespace {

using scheduler::PodRef;

ApiAnswer NotFound(std::string_view kind, std::string_view name) {
  return {404, fmt::format("{} \"{}\" not found", kind, name)};
}

ApiAnswer Conflict(std::string_view kind, std::string_view name, std::string_view why) {
  return {409, fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind, name, why)};
}

// Does spec (or whatever else is not metadata and status) differ?
template <class T>
bool SpecDiffers(const T& a, const T& b) {
  if constexpr (requires { a.spec; }) {
    return !(a.spec == b.spec);
  } else {
    return false;
  }
}

// The object with only `given`'s status, or with all but its status, as the two endpoints do.
template <class T>
void TakePart(const T& current, bool status, T* given) {
  if constexpr (requires {
                  given->status;
                  given->metadata;
                }) {
    if (status) {
      T merged = current;
      merged.status = std::move(given->status);
      *given = std::move(merged);
    } else {
      given->status = current.status;
    }
  }
}

void SetCondition(const api::PodCondition& condition, const api::Time& now, api::Pod* pod) {
  auto& conditions = pod->status.conditions;
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [&](const auto& c) { return c.type == condition.type; });
  if (it == conditions.end()) {
    conditions.push_back(condition);
    if (conditions.back().last_transition_time.IsZero()) {
      conditions.back().last_transition_time = now;
    }
    return;
  }
  const api::Time transition = it->status == condition.status ? it->last_transition_time : now;
  *it = condition;
  if (it->last_transition_time.IsZero()) it->last_transition_time = transition;
}

}  // namespace

bool IsFinished(const api::Pod& pod) {
  return pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
}

std::string ModelApi::Key(std::string_view namespace_, std::string_view name) {
  return fmt::format("{}/{}", namespace_, name);
}

std::string ModelApi::KeyOf(const api::Object& object) {
  const api::ObjectMeta* metadata = api::MetadataOf(object);
  return metadata == nullptr ? "" : Key(metadata->namespace_, metadata->name);
}

ObjectPtr ModelApi::Get(std::string_view kind, std::string_view key) const {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return nullptr;
  const auto it = objects->second.find(key);
  return it == objects->second.end() ? nullptr : it->second;
}

std::vector<ObjectPtr> ModelApi::List(std::string_view kind) const {
  std::vector<ObjectPtr> list;
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return list;
  list.reserve(objects->second.size());
  for (const auto& [key, object] : objects->second) list.push_back(object);
  return list;
}

void ModelApi::Tell(ApiChange::Type type, ObjectPtr object, ObjectPtr old_object) {
  const std::string_view kind = api::KindOf(*object);
  const ApiChange change{type, kind, std::move(object), std::move(old_object)};
  for (const Subscriber& subscriber : subscribers_) subscriber(change);
}

ApiAnswer ModelApi::Create(api::Object object) {
  api::ObjectMeta* metadata = api::MetadataOf(object);
  if (metadata == nullptr || metadata->name.empty()) return {422, "name is required"};
  const std::string_view kind = api::KindOf(object);
  const std::string key = KeyOf(object);
  Objects& objects = kinds_.try_emplace(std::string(kind)).first->second;
  if (objects.contains(key)) return Conflict(kind, metadata->name, "already exists");
  metadata->uid = fmt::format("uid-{}", next_uid_++);
  metadata->resource_version = std::to_string(++version_);
  metadata->generation = 1;
  metadata->creation_timestamp = loop_.Time();
  const auto stored = std::make_shared<const api::Object>(std::move(object));
  objects.emplace(key, stored);
  Tell(ApiChange::Type::kAdded, stored, nullptr);
  return {.object = stored};
}

ApiAnswer ModelApi::CreateClaim(api::ResourceClaim claim) {
  claim.metadata.name = fmt::format("{}{}", claim.metadata.generate_name, next_uid_);
  return Create(std::move(claim));
}

ApiAnswer ModelApi::RemoveClaim(const api::ResourceClaim& claim) {
  const api::ObjectMeta& metadata = claim.metadata;
  const auto* current = Find<api::ResourceClaim>(metadata.namespace_, metadata.name);
  if (current == nullptr || current->metadata.uid != metadata.uid) {
    return NotFound(api::ResourceClaim::kKind, metadata.name);
  }
  return Delete(api::ResourceClaim::kKind, metadata.namespace_, metadata.name);
}

ApiAnswer ModelApi::Write(const framework::ApiWrite& write) {
  using Verb = framework::ApiWrite::Verb;
  switch (write.verb) {
    case Verb::kCreate:
      return CreateClaim(std::get<api::ResourceClaim>(write.object));
    case Verb::kDelete:
      return RemoveClaim(std::get<api::ResourceClaim>(write.object));
    case Verb::kUpdate:
    case Verb::kUpdateStatus:
      break;
  }
  const bool status = write.verb == Verb::kUpdateStatus;
  return std::visit([&](const auto& object) { return Update(object, status); }, write.object);
}

ApiAnswer ModelApi::Update(api::Object object, bool status) {
  const api::ObjectMeta* given = api::MetadataOf(object);
  if (given == nullptr) return {422, "metadata is required"};
  const std::string_view kind = api::KindOf(object);
  const ObjectPtr current = Get(kind, KeyOf(object));
  if (current == nullptr) return NotFound(kind, given->name);
  const api::ObjectMeta& metadata = *api::MetadataOf(*current);
  if (!given->uid.empty() && given->uid != metadata.uid) {
    return Conflict(kind, given->name, "the UID in the precondition does not match");
  }
  if (!given->resource_version.empty() && given->resource_version != metadata.resource_version) {
    return Conflict(kind, given->name,
                    "the object has been modified; please apply your changes to the latest "
                    "version and try again");
  }
  std::visit(
      [&](auto& value) {
        using T = std::decay_t<decltype(value)>;
        TakePart(std::get<T>(*current), status, &value);
      },
      object);
  return Store(std::move(object));
}

ApiAnswer ModelApi::Store(api::Object object) {
  const std::string key = KeyOf(object);
  const std::string_view kind = api::KindOf(object);
  ObjectPtr& slot = kinds_.find(kind)->second.find(key)->second;
  const ObjectPtr old_object = slot;
  // What the server keeps of an object whatever is written.
  const api::ObjectMeta& old_meta = *api::MetadataOf(*old_object);
  api::ObjectMeta& metadata = *api::MetadataOf(object);
  metadata.uid = old_meta.uid;
  metadata.creation_timestamp = old_meta.creation_timestamp;
  metadata.resource_version = old_meta.resource_version;
  metadata.generation = old_meta.generation;
  if (object == *old_object) return {.object = old_object};
  const bool spec_differs = std::visit(
      [&](const auto& value) {
        return SpecDiffers(value, std::get<std::decay_t<decltype(value)>>(*old_object));
      },
      object);
  if (spec_differs) ++metadata.generation;
  metadata.resource_version = std::to_string(++version_);
  slot = std::make_shared<const api::Object>(std::move(object));
  const ObjectPtr stored = slot;
  Tell(ApiChange::Type::kModified, stored, old_object);
  return {.object = stored};
}

ApiAnswer ModelApi::Remove(std::string_view kind, const std::string& key) {
  const auto objects = kinds_.find(kind);
  if (objects == kinds_.end()) return NotFound(kind, key);
  const auto it = objects->second.find(key);
  if (it == objects->second.end()) return NotFound(kind, key);
  const ObjectPtr old_object = it->second;
  objects->second.erase(it);
  // A deletion is a version of its own.
  api::Object last = *old_object;
  api::MetadataOf(last)->resource_version = std::to_string(++version_);
  const auto gone = std::make_shared<const api::Object>(std::move(last));
  Tell(ApiChange::Type::kDeleted, gone, old_object);
  return {.object = gone};
}

ApiAnswer ModelApi::Delete(std::string_view kind, std::string_view namespace_,
                           std::string_view name) {
  return Remove(kind, Key(namespace_, name));
}

const api::Pod* ModelApi::CheckedPod(const PodRef& ref, ApiAnswer* refusal) const {
  const auto* pod = Find<api::Pod>(ref.namespace_, ref.name);
  if (pod == nullptr) {
    *refusal = NotFound("pods", ref.name);
  } else if (!ref.uid.empty() && pod->metadata.uid != ref.uid) {
    *refusal = Conflict("pods", ref.name, "the UID in the precondition does not match");
    pod = nullptr;
  }
  return pod;
}

ApiAnswer ModelApi::Bind(const PodRef& ref, const std::string& node) {
  ApiAnswer refusal;
  const api::Pod* pod = CheckedPod(ref, &refusal);
  if (pod == nullptr) return refusal;
  const auto refuse = [&](std::string_view why) {
    return Conflict("pods/binding", ref.name, fmt::format("pod {} {}", ref.name, why));
  };
  if (pod->metadata.deletion_timestamp) {
    return refuse("is being deleted, cannot be assigned to a host");
  }
  if (!pod->spec.node_name.empty()) {
    return refuse(fmt::format("is already assigned to node \"{}\"", pod->spec.node_name));
  }
  if (!pod->spec.scheduling_gates.empty()) return refuse("has non-empty .spec.schedulingGates");
  api::Pod bound = *pod;
  bound.spec.node_name = node;
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "True";
  SetCondition(condition, loop_.Time(), &bound);
  return Store(std::move(bound));
}

ApiAnswer ModelApi::PatchStatus(const scheduler::PatchPodStatus& patch) {
  ApiAnswer refusal;
  const api::Pod* pod = CheckedPod(patch.pod, &refusal);
  if (pod == nullptr) return refusal;
  api::Pod patched = *pod;
  if (patch.condition) SetCondition(*patch.condition, loop_.Time(), &patched);
  if (patch.extended_resource_claim) {
    patched.status.extended_resource_claim_status = *patch.extended_resource_claim;
  }
  if (patch.nominated_node_name) patched.status.nominated_node_name = *patch.nominated_node_name;
  return Store(std::move(patched));
}

// By name alone, as kube-scheduler does.
ApiAnswer ModelApi::PatchStatus(const scheduler::PatchPodGroupStatus& patch) {
  const auto* group = Find<api::PodGroup>(patch.group.namespace_, patch.group.name);
  if (group == nullptr) return NotFound("podgroups", patch.group.name);
  api::PodGroup patched = *group;
  std::erase_if(patched.status.conditions, [&](const api::Condition& condition) {
    return condition.type == patch.condition.type;
  });
  patched.status.conditions.push_back(patch.condition);
  return Store(std::move(patched));
}

ApiAnswer ModelApi::DeletePod(const PodRef& ref, Nanos grace) {
  ApiAnswer refusal;
  const api::Pod* pod = CheckedPod(ref, &refusal);
  if (pod == nullptr) return refusal;
  const std::string key = Key(ref.namespace_, ref.name);
  if (pod->spec.node_name.empty() || IsFinished(*pod) || grace <= 0) return Remove("Pod", key);
  if (pod->metadata.deletion_timestamp) return {.object = Get("Pod", key)};
  api::Pod leaving = *pod;
  leaving.metadata.deletion_timestamp = loop_.Time();
  leaving.metadata.deletion_grace_period_seconds = (grace + kSecond - 1) / kSecond;
  const std::string uid = pod->metadata.uid;
  loop_.After(grace, [this, key, uid] {
    const ObjectPtr object = Get("Pod", key);
    if (object != nullptr && api::MetadataOf(*object)->uid == uid) Remove("Pod", key);
  });
  return Store(std::move(leaving));
}

ApiAnswer ModelApi::ReadPod(const PodRef& ref) const {
  ApiAnswer refusal;
  if (CheckedPod({ref.namespace_, ref.name, {}}, &refusal) == nullptr) return refusal;
  return {.object = Get("Pod", Key(ref.namespace_, ref.name))};
}

}  // namespace berth::sim
