#include "api/admission/defaults.h"

#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

namespace berth::api {

namespace {

constexpr int32_t kSystemClusterCritical = 2'000'000'000;
constexpr int32_t kSystemNodeCritical = 2'000'001'000;
constexpr std::string_view kPreemptLowerPriority = "PreemptLowerPriority";

// Kinds that live in no namespace.
template <class T>
constexpr bool kClusterScoped =
    std::is_same_v<T, Node> || std::is_same_v<T, Namespace> ||
    std::is_same_v<T, PersistentVolume> || std::is_same_v<T, StorageClass> ||
    std::is_same_v<T, CSINode> || std::is_same_v<T, CSIDriver> ||
    std::is_same_v<T, VolumeAttachment> || std::is_same_v<T, PriorityClass> ||
    std::is_same_v<T, ResourceSlice> || std::is_same_v<T, DeviceClass> ||
    std::is_same_v<T, DeviceTaintRule> || std::is_same_v<T, Status> ||
    std::is_same_v<T, UnknownObject>;

template <class T, class V>
void Default(T& field, V value) {
  if (!field) field = value;
}

void DefaultText(std::string& field, std::string_view value) {
  if (field.empty()) field = value;
}

void SetTemplate(PodTemplateSpec& pod_template) { SetPodSpecDefaults(pod_template.spec); }

// One overload per kind; the fallback is for kinds without defaults that matter.
template <class T>
void SetKind(T&) {}

void SetKind(Pod& pod) { SetDefaults(pod); }

void SetKind(Node& node) {
  if (node.status.allocatable.empty()) node.status.allocatable = node.status.capacity;
}

void SetKind(Namespace& ns) {
  ns.metadata.labels.emplace("kubernetes.io/metadata.name", ns.metadata.name);
  DefaultText(ns.status.phase, "Active");
}

void SetKind(Service& service) {
  DefaultText(service.spec.type, "ClusterIP");
  for (ServicePort& port : service.spec.ports) DefaultText(port.protocol, "TCP");
}

void SetKind(ReplicationController& rc) {
  Default(rc.spec.replicas, 1);
  if (!rc.spec.template_) return;
  SetTemplate(*rc.spec.template_);
  const StringMap& labels = rc.spec.template_->metadata.labels;
  if (rc.spec.selector.empty()) rc.spec.selector = labels;
  if (rc.metadata.labels.empty()) rc.metadata.labels = labels;
}

void SetKind(ReplicaSet& set) {
  Default(set.spec.replicas, 1);
  SetTemplate(set.spec.template_);
}

void SetKind(Deployment& deployment) {
  Default(deployment.spec.replicas, 1);
  SetTemplate(deployment.spec.template_);
}

void SetKind(StatefulSet& set) {
  Default(set.spec.replicas, 1);
  DefaultText(set.spec.pod_management_policy, "OrderedReady");
  SetTemplate(set.spec.template_);
  for (PersistentVolumeClaim& claim : set.spec.volume_claim_templates) {
    Default(claim.spec.volume_mode, "Filesystem");
    DefaultText(claim.status.phase, "Pending");
  }
}

void SetKind(DaemonSet& set) { SetTemplate(set.spec.template_); }

void SetJob(JobSpec& spec) {
  if (!spec.completions && !spec.parallelism) spec.completions = 1;
  Default(spec.parallelism, 1);
  Default(spec.backoff_limit,
          spec.backoff_limit_per_index ? std::numeric_limits<int32_t>::max() : 6);
  Default(spec.completion_mode, "NonIndexed");
  Default(spec.suspend, false);
  SetTemplate(spec.template_);
}

void SetKind(Job& job) {
  SetJob(job.spec);
  if (job.metadata.labels.empty()) job.metadata.labels = job.spec.template_.metadata.labels;
}

void SetKind(CronJob& cron) {
  DefaultText(cron.spec.concurrency_policy, "Allow");
  Default(cron.spec.suspend, false);
  SetTemplate(cron.spec.job_template.spec.template_);
}

void SetKind(PersistentVolume& volume) {
  DefaultText(volume.status.phase, "Pending");
  DefaultText(volume.spec.persistent_volume_reclaim_policy, "Retain");
  Default(volume.spec.volume_mode, "Filesystem");
}

void SetKind(PersistentVolumeClaim& claim) {
  DefaultText(claim.status.phase, "Pending");
  Default(claim.spec.volume_mode, "Filesystem");
}

void SetKind(StorageClass& storage) {
  Default(storage.reclaim_policy, "Delete");
  Default(storage.volume_binding_mode, "Immediate");
}

void SetKind(CSIDriver& driver) {
  Default(driver.spec.attach_required, true);
  Default(driver.spec.pod_info_on_mount, false);
  Default(driver.spec.storage_capacity, false);
  if (driver.spec.volume_lifecycle_modes.empty()) {
    driver.spec.volume_lifecycle_modes = {"Persistent"};
  }
}

void SetKind(PriorityClass& priority) {
  Default(priority.preemption_policy, std::string(kPreemptLowerPriority));
}

void SetKind(LimitRange& range) {
  for (LimitRangeItem& item : range.spec.limits) {
    if (item.type != "Container") continue;
    item.default_.insert(item.max.begin(), item.max.end());
    item.default_request.insert(item.default_.begin(), item.default_.end());
    item.default_request.insert(item.min.begin(), item.min.end());
  }
}

template <class Request>
void SetRequest(Request& request) {
  DefaultText(request.allocation_mode, "ExactCount");
  if (request.allocation_mode == "ExactCount" && request.count == 0) request.count = 1;
}

void SetClaim(ResourceClaimSpec& spec) {
  for (DeviceRequest& request : spec.devices.requests) {
    if (request.exactly) SetRequest(*request.exactly);
    for (DeviceSubRequest& alternative : request.first_available) SetRequest(alternative);
  }
}

void SetKind(ResourceClaim& claim) { SetClaim(claim.spec); }
void SetKind(ResourceClaimTemplate& claim) { SetClaim(claim.spec.spec); }

bool IsDefaultClass(const StorageClass& storage) {
  for (std::string_view name : {"storageclass.kubernetes.io/is-default-class",
                                "storageclass.beta.kubernetes.io/is-default-class"}) {
    const auto it = storage.metadata.annotations.find(name);
    if (it != storage.metadata.annotations.end() && it->second == "true") return true;
  }
  return false;
}

void ApplyItem(const LimitRangeItem& item, std::vector<Container>& containers) {
  for (Container& container : containers) {
    container.resources.limits.insert(item.default_.begin(), item.default_.end());
    container.resources.requests.insert(item.default_request.begin(), item.default_request.end());
  }
}

}  // namespace

bool FromApiServer(const ObjectMeta& metadata) {
  return !metadata.uid.empty() || !metadata.creation_timestamp.IsZero();
}

void SetDefaults(Object& object) {
  std::visit(
      [](auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<decltype(value.metadata), ObjectMeta>) {
          if (FromApiServer(value.metadata)) return;
          if constexpr (!kClusterScoped<T>) DefaultText(value.metadata.namespace_, "default");
          SetKind(value);
        }
      },
      object);
}

Admission::Admission() {
  const std::string policy(kPreemptLowerPriority);
  priority_classes_["system-cluster-critical"] = {kSystemClusterCritical, policy, false};
  priority_classes_["system-node-critical"] = {kSystemNodeCritical, policy, false};
}

void Admission::Learn(const Object& object) {
  if (!std::holds_alternative<PriorityClass>(object) &&
      !std::holds_alternative<StorageClass>(object) &&
      !std::holds_alternative<LimitRange>(object)) {
    return;
  }
  Object known = object;
  SetDefaults(known);
  if (const auto* priority = std::get_if<PriorityClass>(&known)) {
    priority_classes_[priority->metadata.name] = {priority->value, priority->preemption_policy,
                                                  priority->global_default};
  } else if (const auto* storage = std::get_if<StorageClass>(&known)) {
    storage_classes_[storage->metadata.name] = *storage;
  } else if (const auto* range = std::get_if<LimitRange>(&known)) {
    limit_ranges_[range->metadata.namespace_][range->metadata.name] = *range;
  }
}

Result<void> Admission::Apply(Object& object) const {
  const ObjectMeta* metadata = MetadataOf(object);
  if (!metadata || FromApiServer(*metadata)) return {};
  SetDefaults(object);
  if (auto* pod = std::get_if<Pod>(&object)) {
    ApplyLimitRanges(*pod);
    return ResolvePriority(pod->spec);
  }
  if (auto* claim = std::get_if<PersistentVolumeClaim>(&object)) ChooseStorageClass(*claim);
  if (auto* group = std::get_if<PodGroup>(&object)) {
    PodSpec spec;  // has the same fields, with the same rule
    spec.priority_class_name = group->spec.priority_class_name;
    spec.priority = group->spec.priority;
    if (auto ok = ResolvePriority(spec); !ok) return ok;
    group->spec.priority_class_name = spec.priority_class_name;
    group->spec.priority = spec.priority;
  }
  return {};
}

Result<void> Admission::ResolvePriority(PodSpec& spec) const {
  Priority found{0, std::string(kPreemptLowerPriority), false};
  if (!spec.priority_class_name.empty()) {
    const auto it = priority_classes_.find(spec.priority_class_name);
    if (it == priority_classes_.end()) {
      return Fail(fmt::format("no PriorityClass with name {} was found", spec.priority_class_name));
    }
    found = it->second;
  } else if (spec.priority) {
    // The API server wants a class; a pod written for a simulation may just state its priority.
    found.value = *spec.priority;
    found.preemption_policy = std::nullopt;
    if (!spec.preemption_policy) found.preemption_policy = std::string(kPreemptLowerPriority);
  } else {
    for (const auto& [name, priority] : priority_classes_) {
      if (!priority.global_default) continue;
      if (!spec.priority_class_name.empty() && found.value <= priority.value) continue;
      spec.priority_class_name = name;
      found = priority;
    }
  }
  if (spec.priority && *spec.priority != found.value) {
    return Fail(fmt::format(
        "the integer value of priority ({}) must not be provided in pod spec; priority admission "
        "controller computed {} from the given PriorityClass name",
        *spec.priority, found.value));
  }
  spec.priority = found.value;
  if (!found.preemption_policy) return {};
  if (spec.preemption_policy && *spec.preemption_policy != *found.preemption_policy) {
    return Fail(fmt::format(
        "the string value of PreemptionPolicy ({}) must not be provided in pod spec; priority "
        "admission controller computed {} from the given PriorityClass name",
        *spec.preemption_policy, *found.preemption_policy));
  }
  spec.preemption_policy = *found.preemption_policy;
  return {};
}

void Admission::ApplyLimitRanges(Pod& pod) const {
  const auto ranges = limit_ranges_.find(pod.metadata.namespace_);
  if (ranges == limit_ranges_.end()) return;
  for (const auto& [name, range] : ranges->second) {
    for (const LimitRangeItem& item : range.spec.limits) {
      if (item.type != "Container") continue;
      ApplyItem(item, pod.spec.init_containers);
      ApplyItem(item, pod.spec.containers);
    }
  }
}

void Admission::ChooseStorageClass(PersistentVolumeClaim& claim) const {
  if (claim.spec.storage_class_name) return;
  if (claim.metadata.annotations.contains("volume.beta.kubernetes.io/storage-class")) return;
  // The newest default class; of equally old ones the first by name.
  const StorageClass* chosen = nullptr;
  for (const auto& [name, storage] : storage_classes_) {
    if (!IsDefaultClass(storage)) continue;
    if (!chosen || storage.metadata.creation_timestamp > chosen->metadata.creation_timestamp) {
      chosen = &storage;
    }
  }
  if (chosen) claim.spec.storage_class_name = chosen->metadata.name;
}

}  // namespace berth::api
