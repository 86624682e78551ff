#include "apiserver/registry/defaults.h"

#include <string>
#include <string_view>
#include <utility>

namespace berth::apiserver {
namespace {

constexpr int kFileMode = 420;  // 0644

void SetProbeDefaults(Json& container, std::string_view name) {
  Json* probe = container.Find(name);
  if (!probe || !probe->IsObject()) return;
  probe->Default("timeoutSeconds", 1);
  probe->Default("periodSeconds", 10);
  probe->Default("successThreshold", 1);
  probe->Default("failureThreshold", 3);
  if (Json* http = probe->Find("httpGet"); http && http->IsObject()) {
    http->Default("path", "/");
    http->Default("scheme", "HTTP");
  }
}

// "nginx", "nginx:latest" and "host:5000/nginx" are pulled always, "nginx:1" and digests once.
bool IsLatest(std::string_view image) {
  if (image.find('@') != std::string_view::npos) return false;
  const size_t slash = image.rfind('/');
  const size_t colon = image.rfind(':');
  if (colon == std::string_view::npos || (slash != std::string_view::npos && colon < slash)) {
    return true;
  }
  return image.substr(colon + 1) == "latest";
}

void SetContainerDefaults(Json& container) {
  if (!container.IsObject()) return;
  container.Default("imagePullPolicy",
                    IsLatest(container["image"].Str()) ? "Always" : "IfNotPresent");
  container.Default("terminationMessagePath", "/dev/termination-log");
  container.Default("terminationMessagePolicy", "File");
  container.Default("resources", Json::MakeObject());
  if (Json* ports = container.Find("ports"); ports && ports->IsArray()) {
    for (Json& port : ports->MutableItems()) {
      if (port.IsObject()) port.Default("protocol", "TCP");
    }
  }
  for (std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"}) {
    SetProbeDefaults(container, probe);
  }
  // Limits are requests where nothing was requested.
  const Json limits = container["resources"]["limits"];
  for (const auto& [name, amount] : limits.Members()) {
    container.At("resources").At("requests").Default(name, amount);
  }
}

void SetVolumeDefaults(Json& volume) {
  if (!volume.IsObject()) return;
  if (volume.Members().size() <= 1) volume.Default("emptyDir", Json::MakeObject());
  for (std::string_view source : {"secret", "configMap", "projected", "downwardAPI"}) {
    if (Json* at = volume.Find(source); at && at->IsObject()) at->Default("defaultMode", kFileMode);
  }
  if (Json* host = volume.Find("hostPath"); host && host->IsObject()) host->Default("type", "");
}

void ForEach(Json& object, std::string_view list, void (*change)(Json&)) {
  Json* items = object.Find(list);
  if (!items || !items->IsArray()) return;
  for (Json& item : items->MutableItems()) change(item);
}

void SetTemplateDefaults(Json& spec) {
  Json& template_ = spec.At("template");
  template_.Default("metadata", Json::MakeObject());
  SetPodSpecDefaults(template_.At("spec"));
}

void SetPodDefaults(Json& pod) {
  Json& spec = pod.At("spec");
  SetPodSpecDefaults(spec);
  spec.Default("enableServiceLinks", true);
  if (spec["hostNetwork"].Bool()) {
    for (std::string_view list : {"containers", "initContainers"}) {
      ForEach(spec, list, [](Json& container) {
        ForEach(container, "ports", [](Json& port) {
          if (port.IsObject()) port.Default("hostPort", port["containerPort"]);
        });
      });
    }
  }
}

void SetRollingUpdate(Json& strategy, std::string_view surge) {
  strategy.Default("type", "RollingUpdate");
  if (strategy["type"].Str() != "RollingUpdate") return;
  Json& rolling = strategy.At("rollingUpdate");
  rolling.Default("maxUnavailable", surge == "0" ? Json(1) : Json(surge));
  rolling.Default("maxSurge", surge == "0" ? Json(0) : Json(surge));
}

void SetDeploymentDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("replicas", 1);
  SetRollingUpdate(spec.At("strategy"), "25%");
  spec.Default("revisionHistoryLimit", 10);
  spec.Default("progressDeadlineSeconds", 600);
  SetTemplateDefaults(spec);
}

void SetReplicaSetDefaults(Json& object) {
  object.At("spec").Default("replicas", 1);
  SetTemplateDefaults(object.At("spec"));
}

void SetReplicationControllerDefaults(Json& object) {
  SetReplicaSetDefaults(object);
  const Json labels = object["spec"]["template"]["metadata"]["labels"];
  if (labels.Empty()) return;
  if (object["spec"]["selector"].Empty()) object.At("spec").Set("selector", labels);
  if (object["metadata"]["labels"].Empty()) object.At("metadata").Set("labels", labels);
}

void SetDaemonSetDefaults(Json& object) {
  Json& spec = object.At("spec");
  SetRollingUpdate(spec.At("updateStrategy"), "0");
  spec.Default("revisionHistoryLimit", 10);
  SetTemplateDefaults(spec);
}

void SetClaimDefaults(Json& claim) {
  claim.At("spec").Default("volumeMode", "Filesystem");
  claim.At("status").Default("phase", "Pending");
}

void SetStatefulSetDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("podManagementPolicy", "OrderedReady");
  Json& strategy = spec.At("updateStrategy");
  strategy.Default("type", "RollingUpdate");
  if (strategy["type"].Str() == "RollingUpdate") {
    strategy.At("rollingUpdate").Default("partition", 0);
  }
  spec.Default("replicas", 1);
  spec.Default("revisionHistoryLimit", 10);
  Json& retention = spec.At("persistentVolumeClaimRetentionPolicy");
  retention.Default("whenDeleted", "Retain");
  retention.Default("whenScaled", "Retain");
  SetTemplateDefaults(spec);
  ForEach(spec, "volumeClaimTemplates", [](Json& claim) {
    claim.Default("kind", "PersistentVolumeClaim");
    claim.Default("apiVersion", "v1");
    SetClaimDefaults(claim);
  });
}

void SetJobSpecDefaults(Json& spec) {
  if (!spec.Has("completions") && !spec.Has("parallelism")) {
    spec.Set("completions", 1);
    spec.Set("parallelism", 1);
  }
  spec.Default("parallelism", 1);
  spec.Default("backoffLimit", 6);
  spec.Default("completionMode", "NonIndexed");
  spec.Default("suspend", false);
  spec.Default("podReplacementPolicy",
               spec.Has("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
  SetTemplateDefaults(spec);
}

void SetCronJobDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("concurrencyPolicy", "Allow");
  spec.Default("suspend", false);
  spec.Default("successfulJobsHistoryLimit", 3);
  spec.Default("failedJobsHistoryLimit", 1);
  spec.At("jobTemplate").Default("metadata", Json::MakeObject());
  SetTemplateDefaults(spec.At("jobTemplate").At("spec"));
}

void SetAutoscalerDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("minReplicas", 1);
  if (!spec["metrics"].Empty()) return;
  Json target = Json::MakeObject({{"type", "Utilization"}, {"averageUtilization", 80}});
  Json resource = Json::MakeObject({{"name", "cpu"}, {"target", std::move(target)}});
  spec.At("metrics").Append(
      Json::MakeObject({{"type", "Resource"}, {"resource", std::move(resource)}}));
}

void SetServiceDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("type", "ClusterIP");
  spec.Default("sessionAffinity", "None");
  if (spec["type"].Str() != "ExternalName") {
    spec.Default("internalTrafficPolicy", "Cluster");
    spec.Default("ipFamilyPolicy", "SingleStack");
    spec.Default("ipFamilies", Json::MakeArray({"IPv4"}));
  }
  ForEach(spec, "ports", [](Json& port) {
    port.Default("protocol", "TCP");
    if (port["targetPort"].IsNull()) port.Set("targetPort", port["port"]);
  });
  object.At("status").Default("loadBalancer", Json::MakeObject());
}

void SetNodeDefaults(Json& object) {
  object.Default("spec", Json::MakeObject());
  Json& status = object.At("status");
  if (status.IsNull()) status = Json::MakeObject();
  if (status["allocatable"].Empty() && !status["capacity"].Empty()) {
    status.Set("allocatable", status["capacity"]);
  }
}

void SetNamespaceDefaults(Json& object) {
  Json& finalizers = object.At("spec").At("finalizers");
  if (finalizers.Empty()) finalizers = Json::MakeArray({"kubernetes"});
  object.At("status").Default("phase", "Active");
  object.At("metadata").At("labels").Set("kubernetes.io/metadata.name", object["metadata"]["name"]);
}

void SetVolumeObjectDefaults(Json& object) {
  Json& spec = object.At("spec");
  spec.Default("persistentVolumeReclaimPolicy", "Retain");
  spec.Default("volumeMode", "Filesystem");
  object.At("status").Default("phase", "Pending");
}

void SetStorageClassDefaults(Json& object) {
  object.Default("reclaimPolicy", "Delete");
  object.Default("volumeBindingMode", "Immediate");
}

void SetDeviceRequestDefaults(Json& spec) {
  Json* devices = spec.Find("devices");
  if (!devices || !devices->IsObject()) return;
  ForEach(*devices, "requests", [](Json& request) {
    const auto fill = [](Json& exact) {
      exact.Default("allocationMode", "ExactCount");
      if (exact["allocationMode"].Str() == "ExactCount") exact.Default("count", 1);
    };
    if (Json* exact = request.Find("exactly"); exact && exact->IsObject()) fill(*exact);
    if (Json* list = request.Find("firstAvailable"); list && list->IsArray()) {
      for (Json& option : list->MutableItems()) fill(option);
    }
  });
}

// Times that are not set are written as null: clients sort by them.
void SetEventDefaults(Json& event) {
  for (std::string_view field : {"eventTime", "firstTimestamp", "lastTimestamp"}) {
    if (!event.Has(field)) event.Set(field, Json());
  }
}

struct KindDefaults {
  std::string_view group;
  std::string_view kind;
  void (*set)(Json& object);
};

constexpr KindDefaults kDefaults[] = {
    {"", "Pod", SetPodDefaults},
    {"", "Event", SetEventDefaults},
    {"", "Node", SetNodeDefaults},
    {"", "Namespace", SetNamespaceDefaults},
    {"", "Service", SetServiceDefaults},
    {"", "PersistentVolume", SetVolumeObjectDefaults},
    {"", "PersistentVolumeClaim", SetClaimDefaults},
    {"", "ReplicationController", SetReplicationControllerDefaults},
    {"", "Secret", [](Json& object) { object.Default("type", "Opaque"); }},
    {"apps", "Deployment", SetDeploymentDefaults},
    {"apps", "ReplicaSet", SetReplicaSetDefaults},
    {"apps", "StatefulSet", SetStatefulSetDefaults},
    {"apps", "DaemonSet", SetDaemonSetDefaults},
    {"autoscaling", "HorizontalPodAutoscaler", SetAutoscalerDefaults},
    {"batch", "Job", [](Json& object) { SetJobSpecDefaults(object.At("spec")); }},
    {"batch", "CronJob", SetCronJobDefaults},
    {"storage.k8s.io", "StorageClass", SetStorageClassDefaults},
    {"scheduling.k8s.io", "PriorityClass",
     [](Json& object) { object.Default("preemptionPolicy", "PreemptLowerPriority"); }},
    {"resource.k8s.io", "ResourceClaim",
     [](Json& object) { SetDeviceRequestDefaults(object.At("spec")); }},
    {"resource.k8s.io", "ResourceClaimTemplate",
     [](Json& object) { SetDeviceRequestDefaults(object.At("spec").At("spec")); }},
};

}  // namespace

void SetPodSpecDefaults(Json& spec) {
  if (!spec.IsObject()) spec = Json::MakeObject();
  spec.Default("dnsPolicy", "ClusterFirst");
  spec.Default("restartPolicy", "Always");
  spec.Default("schedulerName", "default-scheduler");
  spec.Default("securityContext", Json::MakeObject());
  spec.Default("terminationGracePeriodSeconds", 30);
  for (std::string_view list : {"containers", "initContainers", "ephemeralContainers"}) {
    ForEach(spec, list, SetContainerDefaults);
  }
  ForEach(spec, "volumes", SetVolumeDefaults);
  if (!spec["serviceAccountName"].Empty()) spec.Set("serviceAccount", spec["serviceAccountName"]);
  ForEach(spec, "topologySpreadConstraints", [](Json& constraint) {
    if (!constraint.IsObject() || constraint["labelSelector"].IsNull()) return;
    constraint.Default("labelSelector", Json::MakeObject());
  });
}

void SetDefaults(const Resource& resource, Json& object) {
  for (const KindDefaults& row : kDefaults) {
    if (row.kind == resource.kind && row.group == resource.group) row.set(object);
  }
}

std::string_view QosClass(const Json& pod_spec) {
  bool any = false;
  bool all_limited = true;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const Json& container : pod_spec[list].Items()) {
      const Json& requests = container["resources"]["requests"];
      const Json& limits = container["resources"]["limits"];
      for (std::string_view name : {"cpu", "memory"}) {
        if (!requests[name].IsNull() || !limits[name].IsNull()) any = true;
        if (limits[name].IsNull() || requests[name].Dump() != limits[name].Dump()) {
          all_limited = false;
        }
      }
    }
  }
  if (!any) return "BestEffort";
  return all_limited ? "Guaranteed" : "Burstable";
}

}  // namespace berth::apiserver
