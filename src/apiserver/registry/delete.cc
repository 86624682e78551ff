// Deletion: at once, after a grace period, or when finalizers have gone.
#include <fmt/format.h>

#include "apiserver/registry/registry.h"

namespace berth::apiserver {
namespace {

// The seconds a pod has to end, 0: it goes at once.
int64_t PodGrace(const Json& pod, const DeleteOptions& options) {
  const std::string_view phase = pod["status"]["phase"].Str();
  if (pod["spec"]["nodeName"].Empty() || phase == "Succeeded" || phase == "Failed") return 0;
  int64_t grace =
      options.grace_period_seconds.value_or(pod["spec"]["terminationGracePeriodSeconds"].Int(30));
  if (grace < 0) grace = 1;
  return grace;
}

// Namespaces that every cluster has. kube-apiserver lets kube-node-lease go and makes it again.
bool IsImmortal(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public" ||
         name == "kube-node-lease";
}

bool AddFinalizer(Json& metadata, std::string_view finalizer) {
  for (const Json& known : metadata["finalizers"].Items()) {
    if (known.Str() == finalizer) return false;
  }
  metadata.At("finalizers").Append(finalizer);
  return true;
}

}  // namespace

Answer<DeleteOptions> DeleteOptions::From(const Json& options) {
  DeleteOptions result;
  if (const Json* grace = options.Find("gracePeriodSeconds"); grace && !grace->IsNull()) {
    if (!grace->IsInt() || grace->Int() < 0) {
      return Refuse(BadRequest(fmt::format("invalid gracePeriodSeconds: {}", grace->Dump())));
    }
    result.grace_period_seconds = grace->Int();
  }
  result.propagation_policy = options["propagationPolicy"].Str();
  if (options["orphanDependents"].Bool()) result.propagation_policy = "Orphan";
  const std::string& policy = result.propagation_policy;
  if (!policy.empty() && policy != "Background" && policy != "Foreground" && policy != "Orphan") {
    return Refuse(BadRequest(fmt::format("invalid propagationPolicy: {}", policy)));
  }
  result.uid = options["preconditions"]["uid"].Str();
  result.resource_version = options["preconditions"]["resourceVersion"].Str();
  result.dry_run = !options["dryRun"].Empty();
  return result;
}

Answer<Deleted> Registry::Delete(const Resource& resource, std::string_view namespace_,
                                 std::string_view name, const DeleteOptions& options) {
  const ObjectPtr old = store_.Get(resource.storage_id, namespace_, name);
  if (!old) return Refuse(NotFound(resource, name));
  if (&resource == &namespaces_ && IsImmortal(name)) {
    return Refuse(Forbidden(resource, name, "this namespace may not be deleted"));
  }
  if (!options.uid.empty() && options.uid != old->uid) {
    return Refuse(Conflict(resource, name,
                           fmt::format("Precondition failed: UID in precondition: {}, UID in "
                                       "object meta: {}",
                                       options.uid, old->uid)));
  }
  if (!options.resource_version.empty() &&
      options.resource_version != std::to_string(old->version)) {
    return Refuse(Conflict(
        resource, name,
        fmt::format("Precondition failed: ResourceVersion in precondition: {}, ResourceVersion in "
                    "object meta: {}",
                    options.resource_version, old->version)));
  }
  if (options.dry_run) return Deleted{old, true};
  Json object = old->Value();
  Json& metadata = object.At("metadata");
  const bool deleting = !metadata["deletionTimestamp"].IsNull();
  bool changed = false;
  if (options.propagation_policy == "Foreground") {
    changed |= AddFinalizer(metadata, "foregroundDeletion");
  }
  if (options.propagation_policy == "Orphan") changed |= AddFinalizer(metadata, "orphan");

  int64_t grace = 0;
  if (resource.kind == "Pod" && resource.group.empty() && !options_.no_kubelets) {
    grace = PodGrace(object, options);
  }
  const bool namespace_content =
      resource.kind == "Namespace" && !object["spec"]["finalizers"].Empty();
  const bool waits = grace > 0 || !metadata["finalizers"].Empty() || namespace_content;
  if (!waits) {
    if (resource.kind == "CustomResourceDefinition") {
      const Resource* served = nullptr;
      for (const Resource& custom : ResourcesOf(object)) {
        served = catalog_.Find(custom.group, custom.version, custom.plural);
      }
      if (served) {
        const uint32_t id = served->storage_id;
        while (!store_.All(id).empty()) {
          const ObjectPtr one = store_.All(id).begin()->second;
          store_.Remove(id, one->namespace_, one->name);
        }
      }
      Learn(resource, object, true);
    }
    return Deleted{store_.Remove(resource.storage_id, namespace_, name), true};
  }
  if (!deleting) {
    api::Time when = options_.now();
    when.seconds += grace;
    metadata.Set("deletionTimestamp", when.Format());
    metadata.Set("deletionGracePeriodSeconds", grace);
    if (HasGeneration(resource)) metadata.Set("generation", metadata["generation"].Int() + 1);
    if (resource.kind == "Namespace") object.At("status").Set("phase", "Terminating");
    changed = true;
  } else if (grace < metadata["deletionGracePeriodSeconds"].Int()) {
    api::Time when = options_.now();
    when.seconds += grace;
    metadata.Set("deletionTimestamp", when.Format());
    metadata.Set("deletionGracePeriodSeconds", grace);
    changed = true;
  }
  if (!changed) return Deleted{old, false};
  return Deleted{store_.Put(resource.storage_id, std::move(object)), false};
}

}  // namespace berth::apiserver
