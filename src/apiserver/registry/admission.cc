#include "apiserver/registry/admission.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api/admission/defaults.h"
#include "api/codec/json.h"
#include "apiserver/registry/defaults.h"
#include "apiserver/registry/disruption.h"

namespace berth::apiserver {
namespace {

constexpr int64_t kTolerationSeconds = 300;

bool Tolerates(const Json& spec, std::string_view taint) {
  for (const Json& toleration : spec["tolerations"].Items()) {
    const std::string_view key = toleration["key"].Str();
    const std::string_view effect = toleration["effect"].Str();
    if ((key.empty() || key == taint) && (effect.empty() || effect == "NoExecute")) return true;
  }
  return false;
}

void AddDefaultTolerations(Json& spec) {
  for (std::string_view taint :
       {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
    if (Tolerates(spec, taint)) continue;
    spec.At("tolerations")
        .Append(Json::MakeObject({{"key", taint},
                                  {"operator", "Exists"},
                                  {"effect", "NoExecute"},
                                  {"tolerationSeconds", kTolerationSeconds}}));
  }
}

// The class a pod without one gets: the global default of the lowest value, if there is one.
std::optional<Json> GlobalDefaultClass(Registry& registry) {
  std::optional<Json> found;
  const uint32_t id = registry.Resources().Named("scheduling.k8s.io", "priorityclasses").storage_id;
  for (const auto& [key, object] : registry.Objects().All(id)) {
    if (object->text.find("\"globalDefault\":true") == std::string::npos) continue;
    Json value = object->Value();
    if (!value["globalDefault"].Bool()) continue;
    if (!found || value["value"].Int() < (*found)["value"].Int()) found = std::move(value);
  }
  return found;
}

// Of a pod or a pod group.
Answer<void> ResolvePriority(Registry& registry, const Resource& resource, Json& object) {
  Json& spec = object.At("spec");
  const Resource& classes = registry.Resources().Named("scheduling.k8s.io", "priorityclasses");
  const std::string name(spec["priorityClassName"].Str());
  Json found;
  if (!name.empty()) {
    const ObjectPtr priority_class = registry.Objects().Get(classes.storage_id, "", name);
    if (!priority_class) {
      return Refuse(Forbidden(resource, object["metadata"]["name"].Str(),
                              fmt::format("no PriorityClass with name {} was found", name)));
    }
    found = priority_class->Value();
  } else if (auto global = GlobalDefaultClass(registry)) {
    found = std::move(*global);
    spec.Set("priorityClassName", found["metadata"]["name"]);
  }
  const int64_t priority = found["value"].Int();
  const bool of_pod = resource.kind == "Pod";
  if (!spec["priority"].IsNull() && spec["priority"].Int() != priority) {
    constexpr std::string_view kOfPod =
        "the integer value of priority ({}) must not be provided in pod spec; priority admission "
        "controller computed {} from the given PriorityClass name";
    constexpr std::string_view kOfGroup =
        "priority set in the pod group ({}) must match the priority computed ({}) based on the "
        "priority class set in the spec";
    return Refuse(Forbidden(
        resource, object["metadata"]["name"].Str(),
        fmt::format(fmt::runtime(of_pod ? kOfPod : kOfGroup), spec["priority"].Int(), priority)));
  }
  spec.Set("priority", priority);
  if (!of_pod) return {};
  const std::string_view policy = found["preemptionPolicy"].Str();
  spec.Default("preemptionPolicy", policy.empty() ? "PreemptLowerPriority" : policy);
  return {};
}

// Rules berth knows of described pods: label keys of selectors, limit ranges.
Answer<void> ApplyTypedRules(Registry& registry, Json& pod) {
  const std::string_view namespace_ = pod["metadata"]["namespace"].Str();
  const uint32_t ranges = registry.Resources().Core("limitranges").storage_id;
  const auto [begin, end] = registry.Objects().Range(ranges, namespace_);
  bool keys = false;
  for (std::string_view field : {"affinity", "topologySpreadConstraints"}) {
    const Json& value = pod["spec"][field];
    keys = keys || (!value.IsNull() && value.Dump().find("atchLabelKeys\"") != std::string::npos);
  }
  if (begin == end && !keys) return {};
  const std::string text = pod.Dump();
  auto typed = api::FromJson<api::Pod>(text);
  if (!typed) return Refuse(BadRequest(typed.error().Message()));
  const std::string before = api::ToJson(*typed);
  api::Admission admission;
  for (auto at = begin; at != end; ++at) {
    if (auto range = api::DecodeObject(at->second->text)) admission.Learn(*range);
  }
  admission.ApplyLimitRanges(*typed);
  api::MergeLabelKeys(*typed);
  const auto from = Json::Parse(before);
  const auto to = Json::Parse(api::ToJson(*typed));
  if (!from || !to) return Refuse(InternalError("a pod could not be read back"));
  // Lists of described elements hide fields: take only what changed, element by element.
  const std::string_view lists[] = {"containers", "initContainers"};
  for (std::string_view list : lists) {
    const auto& items = (*to)["spec"][list].Items();
    Json* kept = pod.At("spec").Find(list);
    if (!kept) continue;
    for (size_t i = 0; i < items.size() && i < kept->Items().size(); ++i) {
      kept->MutableItems()[i].Set("resources", items[i]["resources"]);
    }
  }
  for (std::string_view field : {"affinity", "topologySpreadConstraints"}) {
    if (const Json* value = (*to)["spec"].Find(field)) pod.At("spec").Set(field, *value);
  }
  return {};
}

Answer<void> AdmitPod(Registry& registry, const Resource& pods, Json& pod) {
  Json& spec = pod.At("spec");
  if (spec["serviceAccountName"].Empty()) {
    spec.Set("serviceAccountName", "default");
    spec.Set("serviceAccount", "default");
  }
  if (auto ok = ResolvePriority(registry, pods, pod); !ok) return ok;
  if (auto ok = ApplyTypedRules(registry, pod); !ok) return ok;
  AddDefaultTolerations(spec);
  Json& status = pod.At("status");
  status = Json::MakeObject({{"phase", "Pending"}, {"qosClass", QosClass(spec)}});
  if (!spec["schedulingGates"].Empty()) {
    SetCondition(status,
                 Json::MakeObject({{"type", "PodScheduled"},
                                   {"status", "False"},
                                   {"reason", "SchedulingGated"},
                                   {"message",
                                    "Scheduling is blocked due to non-empty scheduling "
                                    "gates"}}),
                 registry.Now());
  }
  return {};
}

// A group stays as long as pods use it: sim/pod_groups takes the finalizer off.
Answer<void> AdmitPodGroup(Registry& registry, const Resource& resource, Json& group) {
  constexpr std::string_view kProtection = "scheduling.k8s.io/podgroup-protection";
  Json& finalizers = group.At("metadata").At("finalizers");
  const auto& known = finalizers.Items();
  const auto is_it = [&](const Json& finalizer) { return finalizer.Str() == kProtection; };
  if (std::none_of(known.begin(), known.end(), is_it)) finalizers.Append(kProtection);
  return ResolvePriority(registry, resource, group);
}

// An address for every service that wants one, none twice.
void AdmitService(Registry& registry, Json& service) {
  Json& spec = service.At("spec");
  if (spec["type"].Str() == "ExternalName" || !spec["clusterIP"].Empty()) {
    if (!spec["clusterIP"].Empty() && spec["clusterIPs"].Empty()) {
      spec.Set("clusterIPs", Json::MakeArray({spec["clusterIP"]}));
    }
    return;
  }
  const Resource& services = registry.Resources().Core("services");
  const auto& all = registry.Objects().All(services.storage_id);
  std::string address;
  for (bool taken = true; taken;) {
    const uint64_t host = registry.Chance().Below(65000) + 10;
    address = fmt::format("10.96.{}.{}", host >> 8, host & 255);
    taken = false;
    for (const auto& [key, other] : all) taken = taken || other->fields[0] == address;
  }
  spec.Set("clusterIP", address);
  spec.Set("clusterIPs", Json::MakeArray({address}));
}

void AdmitClaim(Registry& registry, Json& claim) {
  if (claim["spec"].Has("storageClassName")) return;
  const uint32_t id = registry.Resources().Named("storage.k8s.io", "storageclasses").storage_id;
  for (const auto& [key, object] : registry.Objects().All(id)) {
    const Json value = object->Value();
    const Json& annotations = value["metadata"]["annotations"];
    if (annotations["storageclass.kubernetes.io/is-default-class"].Str() == "true") {
      claim.At("spec").Set("storageClassName", object->name);
      return;
    }
  }
}

// The labels the job controller finds its pods by.
void AdmitJob(Json& job) {
  Json& spec = job.At("spec");
  if (spec["manualSelector"].Bool()) return;
  const Json uid = job["metadata"]["uid"];
  const Json name = job["metadata"]["name"];
  Json& labels = spec.At("template").At("metadata").At("labels");
  labels.Set("batch.kubernetes.io/controller-uid", uid);
  labels.Set("controller-uid", uid);
  labels.Set("batch.kubernetes.io/job-name", name);
  labels.Set("job-name", name);
  if (spec["selector"].IsNull()) {
    spec.At("selector").At("matchLabels").Set("batch.kubernetes.io/controller-uid", uid);
  }
}

void AdmitDefinition(Json& definition, const api::Time& now) {
  Json& names = definition.At("spec").At("names");
  std::string lower(names["kind"].Str());
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  names.Default("singular", lower);
  names.Default("listKind", std::string(names["kind"].Str()) + "List");
  Json& status = definition.At("status");
  status.Set("acceptedNames", names);
  Json stored = Json::MakeArray();
  for (const Json& version : definition["spec"]["versions"].Items()) {
    if (version["storage"].Bool()) stored.Append(version["name"]);
  }
  status.Set("storedVersions", std::move(stored));
  for (const auto& [type, reason] : {std::pair{"NamesAccepted", "NoConflicts"},
                                     std::pair{"Established", "InitialNamesAccepted"}}) {
    SetCondition(status, Json::MakeObject({{"type", type}, {"status", "True"}, {"reason", reason}}),
                 now);
  }
}

}  // namespace

Answer<void> AdmitNew(Registry& registry, const Resource& resource, Json& object) {
  if (resource.custom) return {};
  const std::string& kind = resource.kind;
  if (kind == "Pod") return AdmitPod(registry, resource, object);
  if (kind == "PodGroup") return AdmitPodGroup(registry, resource, object);
  if (kind == "Service") AdmitService(registry, object);
  if (kind == "PersistentVolumeClaim") AdmitClaim(registry, object);
  if (kind == "Job") AdmitJob(object);
  if (kind == "CustomResourceDefinition") AdmitDefinition(object, registry.Now());
  return {};
}

Answer<void> AdmitUpdate(Registry& registry, const Resource& resource, Json& object,
                         const Json& old) {
  if (resource.kind == "CustomResourceDefinition") AdmitDefinition(object, registry.Now());
  if (resource.kind == "Service" && object["spec"]["clusterIP"].Empty()) {
    for (std::string_view field : {"clusterIP", "clusterIPs"}) {
      if (old["spec"].Has(field)) object.At("spec").Set(field, old["spec"][field]);
    }
  }
  if (resource.kind == "Pod" && !resource.custom) {
    for (std::string_view field : {"serviceAccount", "serviceAccountName", "priority",
                                   "preemptionPolicy", "enableServiceLinks", "nodeName"}) {
      if (!object["spec"].Has(field) && old["spec"].Has(field)) {
        object.At("spec").Set(field, old["spec"][field]);
      }
    }
  }
  return {};
}

}  // namespace berth::apiserver
