#include "apiserver/resource.h"

#include <algorithm>

#include "api/object.h"

namespace berth::apiserver {
namespace {

using config::Gate;
using config::Release;

enum Traits : unsigned {
  kCluster = 1,
  kStatus = 2,
  kScale = 4,
  kCreateOnly = 8,
  kAll = 16,  // shown by `kubectl get all`
};

struct Row {
  const char* group;
  const char* version;
  const char* kind;
  const char* plural;
  unsigned traits;
  std::vector<std::string> short_names = {};
  std::vector<std::string> selectable = {};
  // Releases that have the resource, and the gates that must be on for it.
  Release first = Release::k1_34;
  Release last = Release::k1_37;
  std::vector<config::Gate> gates = {};
};

Row In(Release first, Release last, std::vector<config::Gate> gates, Row row) {
  row.first = first;
  row.last = last;
  row.gates = std::move(gates);
  return row;
}

const std::vector<std::string> kEventFields = {"involvedObject.kind",
                                               "involvedObject.namespace",
                                               "involvedObject.name",
                                               "involvedObject.uid",
                                               "involvedObject.apiVersion",
                                               "involvedObject.resourceVersion",
                                               "involvedObject.fieldPath",
                                               "reason",
                                               "reportingComponent",
                                               "source",
                                               "type"};

// In the order of discovery: core first, then groups.
std::vector<Row> BuiltIn() {
  return {
      {"", "v1", "Binding", "bindings", kCreateOnly},
      {"", "v1", "ConfigMap", "configmaps", 0, {"cm"}},
      {"", "v1", "Endpoints", "endpoints", 0, {"ep"}},
      {"", "v1", "Event", "events", 0, {"ev"}, kEventFields},
      {"", "v1", "LimitRange", "limitranges", 0, {"limits"}},
      {"", "v1", "Namespace", "namespaces", kCluster | kStatus, {"ns"}, {"status.phase"}},
      {"", "v1", "Node", "nodes", kCluster | kStatus, {"no"}, {"spec.unschedulable"}},
      {"", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", kStatus, {"pvc"}},
      {"", "v1", "PersistentVolume", "persistentvolumes", kCluster | kStatus, {"pv"}},
      {"",
       "v1",
       "Pod",
       "pods",
       kStatus | kAll,
       {"po"},
       {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName"}},
      {"", "v1", "PodTemplate", "podtemplates", 0},
      {"",
       "v1",
       "ReplicationController",
       "replicationcontrollers",
       kStatus | kScale | kAll,
       {"rc"},
       {"status.replicas"}},
      {"", "v1", "ResourceQuota", "resourcequotas", kStatus, {"quota"}},
      {"", "v1", "Secret", "secrets", 0, {}, {"type"}},
      {"", "v1", "ServiceAccount", "serviceaccounts", 0, {"sa"}},
      {"", "v1", "Service", "services", kStatus | kAll, {"svc"}, {"spec.clusterIP", "spec.type"}},
      {"apiregistration.k8s.io", "v1", "APIService", "apiservices", kCluster | kStatus},
      {"apps", "v1", "ControllerRevision", "controllerrevisions", 0},
      {"apps", "v1", "DaemonSet", "daemonsets", kStatus | kAll, {"ds"}},
      {"apps", "v1", "Deployment", "deployments", kStatus | kScale | kAll, {"deploy"}},
      {"apps",
       "v1",
       "ReplicaSet",
       "replicasets",
       kStatus | kScale | kAll,
       {"rs"},
       {"status.replicas"}},
      {"apps", "v1", "StatefulSet", "statefulsets", kStatus | kScale | kAll, {"sts"}},
      {"events.k8s.io",
       "v1",
       "Event",
       "events",
       0,
       {"ev"},
       {"reason", "reportingController", "regarding.kind", "regarding.namespace", "regarding.name",
        "regarding.uid", "regarding.apiVersion", "regarding.resourceVersion", "regarding.fieldPath",
        "type"}},
      {"authentication.k8s.io", "v1", "TokenReview", "tokenreviews", kCluster | kCreateOnly},
      {"authentication.k8s.io", "v1", "SelfSubjectReview", "selfsubjectreviews",
       kCluster | kCreateOnly},
      {"authorization.k8s.io", "v1", "LocalSubjectAccessReview", "localsubjectaccessreviews",
       kCreateOnly},
      {"authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews",
       kCluster | kCreateOnly},
      {"authorization.k8s.io", "v1", "SelfSubjectRulesReview", "selfsubjectrulesreviews",
       kCluster | kCreateOnly},
      {"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews",
       kCluster | kCreateOnly},
      {"autoscaling",
       "v2",
       "HorizontalPodAutoscaler",
       "horizontalpodautoscalers",
       kStatus | kAll,
       {"hpa"}},
      {"autoscaling",
       "v1",
       "HorizontalPodAutoscaler",
       "horizontalpodautoscalers",
       kStatus | kAll,
       {"hpa"}},
      {"batch", "v1", "CronJob", "cronjobs", kStatus | kAll, {"cj"}},
      {"batch", "v1", "Job", "jobs", kStatus | kAll, {}, {"status.successful"}},
      {"certificates.k8s.io",
       "v1",
       "CertificateSigningRequest",
       "certificatesigningrequests",
       kCluster | kStatus,
       {"csr"}},
      In(Release::k1_37, Release::k1_37, {Gate::kClusterTrustBundle},
         {"certificates.k8s.io",
          "v1",
          "ClusterTrustBundle",
          "clustertrustbundles",
          kCluster,
          {},
          {"spec.signerName"}}),
      In(Release::k1_37, Release::k1_37, {Gate::kPodCertificateRequest},
         {"certificates.k8s.io", "v1", "PodCertificateRequest", "podcertificaterequests", kStatus}),
      {"networking.k8s.io", "v1", "IngressClass", "ingressclasses", kCluster},
      {"networking.k8s.io", "v1", "Ingress", "ingresses", kStatus, {"ing"}},
      {"networking.k8s.io", "v1", "IPAddress", "ipaddresses", kCluster, {"ip"}},
      {"networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", 0, {"netpol"}},
      {"networking.k8s.io", "v1", "ServiceCIDR", "servicecidrs", kCluster | kStatus},
      {"policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", kStatus, {"pdb"}},
      {"rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", kCluster},
      {"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", kCluster},
      {"rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", 0},
      {"rbac.authorization.k8s.io", "v1", "Role", "roles", 0},
      {"storage.k8s.io", "v1", "CSIDriver", "csidrivers", kCluster},
      {"storage.k8s.io", "v1", "CSINode", "csinodes", kCluster},
      {"storage.k8s.io", "v1", "CSIStorageCapacity", "csistoragecapacities", 0},
      {"storage.k8s.io", "v1", "StorageClass", "storageclasses", kCluster, {"sc"}},
      {"storage.k8s.io", "v1", "VolumeAttachment", "volumeattachments", kCluster | kStatus},
      {"storage.k8s.io",
       "v1",
       "VolumeAttributesClass",
       "volumeattributesclasses",
       kCluster,
       {"vac"}},
      {"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
       "mutatingwebhookconfigurations", kCluster},
      {"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
       "validatingwebhookconfigurations", kCluster},
      {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicy",
       "validatingadmissionpolicies", kCluster | kStatus},
      {"admissionregistration.k8s.io", "v1", "ValidatingAdmissionPolicyBinding",
       "validatingadmissionpolicybindings", kCluster},
      In(Release::k1_36, Release::k1_37, {Gate::kMutatingAdmissionPolicy},
         {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicy",
          "mutatingadmissionpolicies", kCluster}),
      In(Release::k1_36, Release::k1_37, {Gate::kMutatingAdmissionPolicy},
         {"admissionregistration.k8s.io", "v1", "MutatingAdmissionPolicyBinding",
          "mutatingadmissionpolicybindings", kCluster}),
      {"apiextensions.k8s.io",
       "v1",
       "CustomResourceDefinition",
       "customresourcedefinitions",
       kCluster | kStatus,
       {"crd", "crds"}},
      {"scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", kCluster, {"pc"}},
      In(Release::k1_37, Release::k1_37, {Gate::kGenericWorkload},
         {"scheduling.k8s.io", "v1beta1", "PodGroup", "podgroups", kStatus}),
      In(Release::k1_37, Release::k1_37, {Gate::kGenericWorkload},
         {"scheduling.k8s.io", "v1beta1", "Workload", "workloads", 0}),
      In(Release::k1_37, Release::k1_37, {Gate::kCompositePodGroup},
         {"scheduling.k8s.io", "v1alpha3", "CompositePodGroup", "compositepodgroups", kStatus}),
      In(Release::k1_37, Release::k1_37, {Gate::kCompositePodGroup},
         {"scheduling.k8s.io", "v1alpha3", "PodGroup", "podgroups", kStatus}),
      In(Release::k1_37, Release::k1_37, {Gate::kCompositePodGroup},
         {"scheduling.k8s.io", "v1alpha3", "Workload", "workloads", 0}),
      In(Release::k1_36, Release::k1_36, {Gate::kGenericWorkload},
         {"scheduling.k8s.io", "v1alpha2", "PodGroup", "podgroups", kStatus}),
      In(Release::k1_36, Release::k1_36, {Gate::kGenericWorkload},
         {"scheduling.k8s.io", "v1alpha2", "Workload", "workloads", 0}),
      In(Release::k1_35, Release::k1_35, {Gate::kGenericWorkload},
         {"scheduling.k8s.io", "v1alpha1", "Workload", "workloads", 0}),
      {"coordination.k8s.io", "v1", "Lease", "leases", 0},
      {"node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", kCluster},
      {"discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", 0},
      {"resource.k8s.io", "v1", "DeviceClass", "deviceclasses", kCluster},
      {"resource.k8s.io", "v1", "ResourceClaim", "resourceclaims", kStatus},
      {"resource.k8s.io", "v1", "ResourceClaimTemplate", "resourceclaimtemplates", 0},
      {"resource.k8s.io",
       "v1",
       "ResourceSlice",
       "resourceslices",
       kCluster,
       {},
       {"spec.nodeName", "spec.driver"}},
      In(Release::k1_37, Release::k1_37, {Gate::kDRADeviceTaintRules},
         {"resource.k8s.io", "v1", "DeviceTaintRule", "devicetaintrules", kCluster | kStatus}),
      In(Release::k1_36, Release::k1_36, {Gate::kDRADeviceTaintRules},
         {"resource.k8s.io", "v1beta2", "DeviceTaintRule", "devicetaintrules", kCluster | kStatus}),
      In(Release::k1_35, Release::k1_35, {Gate::kDRADeviceTaintRules},
         {"resource.k8s.io", "v1alpha3", "DeviceTaintRule", "devicetaintrules",
          kCluster | kStatus}),
      In(Release::k1_34, Release::k1_34, {Gate::kDRADeviceTaints},
         {"resource.k8s.io", "v1alpha3", "DeviceTaintRule", "devicetaintrules", kCluster}),
      {"flowcontrol.apiserver.k8s.io", "v1", "FlowSchema", "flowschemas", kCluster | kStatus},
      {"flowcontrol.apiserver.k8s.io", "v1", "PriorityLevelConfiguration",
       "prioritylevelconfigurations", kCluster | kStatus},
      In(Release::k1_37, Release::k1_37, {Gate::kStorageVersionMigrator},
         {"storagemigration.k8s.io", "v1", "StorageVersionMigration", "storageversionmigrations",
          kCluster | kStatus}),
  };
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool Serves(const Row& row, const config::Behaviour& behaviour, const config::FeatureGates& gates) {
  return row.first <= behaviour.release && behaviour.release <= row.last &&
         std::all_of(row.gates.begin(), row.gates.end(),
                     [&](config::Gate gate) { return gates.Enabled(gate); });
}

}  // namespace

Catalog::Catalog(const config::FeatureGates& gates) : behaviour_(gates), fields_(gates) {
  for (Row& row : BuiltIn()) {
    if (!Serves(row, behaviour_, gates)) continue;
    Resource resource{.group = row.group,
                      .version = row.version,
                      .kind = row.kind,
                      .plural = row.plural,
                      .singular = Lower(row.kind),
                      .short_names = std::move(row.short_names),
                      .namespaced = (row.traits & kCluster) == 0,
                      .status = (row.traits & kStatus) != 0,
                      .scale = (row.traits & kScale) != 0,
                      .create_only = (row.traits & kCreateOnly) != 0,
                      .selectable = std::move(row.selectable)};
    if (row.traits & kAll) resource.categories.push_back("all");
    const api::ObjectKind* kind = api::FindObjectKind(resource.ApiVersion(), resource.kind);
    if (kind) resource.type = &kind->type();
    resource.wire = wire::FindMessage(resource.group, resource.version, resource.kind);
    Add(std::move(resource));
  }
  // Events of both groups are the same objects, kept in the form of the core group; so are objects
  // of a group's versions, kept in the form of the preferred one.
  Resource* events = const_cast<Resource*>(Find("events.k8s.io", "v1", "events"));
  events->storage_id = Find("", "v1", "events")->id;
  for (auto& resource : resources_) {
    if (resource.get() == events) continue;
    resource->storage_id = Named(resource->group, resource->plural).id;
  }
}

std::string_view Catalog::GitVersion() const {
  static constexpr std::string_view kVersions[] = {"v1.34.10", "v1.35.8", "v1.36.4", "v1.37.1"};
  return kVersions[static_cast<size_t>(behaviour_.release)];
}

const Resource& Catalog::Add(Resource resource) {
  resource.id = static_cast<uint32_t>(resources_.size());
  resource.storage_id = resource.id;
  resources_.push_back(std::make_unique<Resource>(std::move(resource)));
  served_.push_back(resources_.back().get());
  return *resources_.back();
}

const Resource* Catalog::Find(std::string_view group, std::string_view version,
                              std::string_view plural) const {
  for (const Resource* resource : served_) {
    if (resource->plural == plural && resource->group == group && resource->version == version) {
      return resource;
    }
  }
  return nullptr;
}

const Resource* Catalog::FindKind(std::string_view api_version, std::string_view kind) const {
  for (const Resource* resource : served_) {
    if (resource->kind == kind && resource->ApiVersion() == api_version) return resource;
  }
  return nullptr;
}

const Resource& Catalog::Core(std::string_view plural) const { return Named("", plural); }

const Resource& Catalog::Named(std::string_view group, std::string_view plural) const {
  const auto it = std::find_if(served_.begin(), served_.end(), [&](const Resource* resource) {
    return resource->group == group && resource->plural == plural;
  });
  return **it;
}

const Resource& Catalog::AddCustom(Resource resource) {
  resource.custom = true;
  // A definition that comes back finds its objects, if any, under the number it had.
  for (auto& known : resources_) {
    if (known->group != resource.group || known->plural != resource.plural) continue;
    if (known->version == resource.version) {
      resource.id = known->id;
      resource.storage_id = known->storage_id;
      *known = std::move(resource);
      if (std::find(served_.begin(), served_.end(), known.get()) == served_.end()) {
        served_.push_back(known.get());
      }
      return *known;
    }
  }
  uint32_t storage = static_cast<uint32_t>(resources_.size());
  for (const auto& known : resources_) {
    if (known->group == resource.group && known->plural == resource.plural) {
      storage = known->storage_id;
      break;
    }
  }
  Resource& added = const_cast<Resource&>(Add(std::move(resource)));
  added.storage_id = storage;
  return added;
}

void Catalog::RemoveCustom(std::string_view group, std::string_view plural) {
  std::erase_if(served_, [&](const Resource* resource) {
    return resource->custom && resource->group == group && resource->plural == plural;
  });
}

}  // namespace berth::apiserver
