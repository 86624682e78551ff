#include "apiserver/http/columns.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apiserver/http/columns_cells.h"

namespace berth::apiserver {
namespace {

using api::Time;

std::string SelectorText(const Json& selector) {
  std::string out;
  const Json& labels = selector.Has("matchLabels") ? selector["matchLabels"] : selector;
  for (const auto& [key, value] : labels.Members()) {
    if (!value.IsString()) continue;
    if (!out.empty()) out += ",";
    out += key + "=" + std::string(value.Str());
  }
  return OrNone(out);
}

std::string Containers(const Json& spec, std::string_view field) {
  std::string out;
  for (const Json& container : spec["containers"].Items()) {
    if (!out.empty()) out += ",";
    out += container[field].Str();
  }
  return out;
}

Json PodReadyCell(const Json& pod, const Time&) {
  int64_t ready = 0;
  for (const Json& status : pod["status"]["containerStatuses"].Items())
    ready += status["ready"].Bool();
  return fmt::format("{}/{}", ready, pod["spec"]["containers"].Items().size());
}

Json RestartsCell(const Json& pod, const Time&) {
  int64_t restarts = 0;
  for (const Json& status : pod["status"]["containerStatuses"].Items()) {
    restarts += status["restartCount"].Int();
  }
  return std::to_string(restarts);
}

std::string ReadinessGates(const Json& pod) {
  const auto& gates = pod["spec"]["readinessGates"].Items();
  if (gates.empty()) return "<none>";
  size_t true_count = 0;
  for (const Json& gate : gates) {
    for (const Json& condition : pod["status"]["conditions"].Items()) {
      if (condition["type"].Str() == gate["conditionType"].Str()) {
        true_count += condition["status"].Str() == "True";
      }
    }
  }
  return fmt::format("{}/{}", true_count, gates.size());
}

Json NodeStatusCell(const Json& node, const Time&) {
  std::string text = "Unknown";
  for (const Json& condition : node["status"]["conditions"].Items()) {
    if (condition["type"].Str() != "Ready") continue;
    const std::string_view status = condition["status"].Str();
    text = status == "True" ? "Ready" : "NotReady";
  }
  if (node["spec"]["unschedulable"].Bool()) text += ",SchedulingDisabled";
  return text;
}

Json NodeRolesCell(const Json& node, const Time&) {
  constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
  std::string out;
  for (const auto& [key, value] : node["metadata"]["labels"].Members()) {
    if (!std::string_view(key).starts_with(kPrefix)) continue;
    if (!out.empty()) out += ",";
    out += key.substr(kPrefix.size());
  }
  return OrNone(out);
}

std::string NodeAddress(const Json& node, std::string_view type) {
  for (const Json& address : node["status"]["addresses"].Items()) {
    if (address["type"].Str() == type) return std::string(address["address"].Str());
  }
  return "<none>";
}

std::string OrUnknown(const Json& value) {
  return value.Str().empty() ? "<unknown>" : std::string(value.Str());
}

std::string ServicePorts(const Json& service) {
  std::string out;
  for (const Json& port : service["spec"]["ports"].Items()) {
    if (!out.empty()) out += ",";
    out += std::to_string(port["port"].Int());
    if (port["nodePort"].Int() > 0) out += fmt::format(":{}", port["nodePort"].Int());
    out += "/" + std::string(port["protocol"].Str());
  }
  return OrNone(out);
}

std::string AccessModes(const Json& modes) {
  std::string out;
  for (const Json& mode : modes.Items()) {
    const std::string_view text = mode.Str();
    if (!out.empty()) out += ",";
    out += text == "ReadWriteOnce"      ? "RWO"
           : text == "ReadOnlyMany"     ? "ROX"
           : text == "ReadWriteMany"    ? "RWX"
           : text == "ReadWriteOncePod" ? "RWOP"
                                        : text;
  }
  return out;
}

Json JobStatusCell(const Json& job, const Time&) {
  for (const Json& condition : job["status"]["conditions"].Items()) {
    if (condition["status"].Str() != "True") continue;
    const std::string_view type = condition["type"].Str();
    if (type == "Complete" || type == "Failed" || type == "Suspended") return type;
  }
  return job["metadata"]["deletionTimestamp"].IsNull() ? "Running" : "Terminating";
}

Json JobDurationCell(const Json& job, const Time& now) {
  const std::string_view start = job["status"]["startTime"].Str();
  if (start.empty()) return "";
  const auto end = Time::Parse(job["status"]["completionTime"].Str());
  return Age(start, end ? *end : now);
}

Json EventObjectCell(const Json& event, const Time&) {
  const Json& about = event.Has("involvedObject") ? event["involvedObject"] : event["regarding"];
  std::string kind(about["kind"].Str());
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return kind + "/" + std::string(about["name"].Str());
}

Json EventLastSeenCell(const Json& event, const Time& now) {
  std::string_view when = event["series"]["lastObservedTime"].Str();
  for (std::string_view field : {"lastTimestamp", "deprecatedLastTimestamp", "eventTime"}) {
    if (when.empty()) when = event[field].Str();
  }
  if (when.empty()) when = event["metadata"]["creationTimestamp"].Str();
  return Age(when, now);
}

Json Number(const Json& value) { return value.Int(); }
Json OrAllZero(const Json& value) { return value.IsNull() ? Json("N/A") : value; }

// A column that is one expression of `object` (and `now`).
#define CELL(expression)                            \
  [](const Json& object, const Time& now) -> Json { \
    (void)now;                                      \
    (void)object;                                   \
    return expression;                              \
  }

const std::vector<Column> kPods = {
    kName,
    {"Ready", "string", false, PodReadyCell},
    {"Status", "string", false, CELL(PodStatusText(object))},
    {"Restarts", "string", false, RestartsCell},
    kAge,
    {"IP", "string", true, CELL(OrNone(object["status"]["podIP"].Str()))},
    {"Node", "string", true, CELL(OrNone(object["spec"]["nodeName"].Str()))},
    {"Nominated Node", "string", true, CELL(OrNone(object["status"]["nominatedNodeName"].Str()))},
    {"Readiness Gates", "string", true, CELL(ReadinessGates(object))},
};
const std::vector<Column> kNodes = {
    kName,
    {"Status", "string", false, NodeStatusCell},
    {"Roles", "string", false, NodeRolesCell},
    kAge,
    {"Version", "string", false, CELL(object["status"]["nodeInfo"]["kubeletVersion"].Str())},
    {"Internal-IP", "string", true, CELL(NodeAddress(object, "InternalIP"))},
    {"External-IP", "string", true, CELL(NodeAddress(object, "ExternalIP"))},
    {"OS-Image", "string", true, CELL(OrUnknown(object["status"]["nodeInfo"]["osImage"]))},
    {"Kernel-Version", "string", true,
     CELL(OrUnknown(object["status"]["nodeInfo"]["kernelVersion"]))},
    {"Container-Runtime", "string", true,
     CELL(OrUnknown(object["status"]["nodeInfo"]["containerRuntimeVersion"]))},
};
const std::vector<Column> kNamespaces = {
    kName, {"Status", "string", false, CELL(object["status"]["phase"].Str())}, kAge};
const std::vector<Column> kDeployments = {
    kName,
    {"Ready", "string", false,
     CELL(fmt::format("{}/{}", object["status"]["readyReplicas"].Int(),
                      object["spec"]["replicas"].Int()))},
    {"Up-to-date", "integer", false, CELL(Number(object["status"]["updatedReplicas"]))},
    {"Available", "integer", false, CELL(Number(object["status"]["availableReplicas"]))},
    kAge,
    {"Containers", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "name"))},
    {"Images", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "image"))},
    {"Selector", "string", true, CELL(SelectorText(object["spec"]["selector"]))},
};
const std::vector<Column> kReplicaSets = {
    kName,
    {"Desired", "integer", false, CELL(Number(object["spec"]["replicas"]))},
    {"Current", "integer", false, CELL(Number(object["status"]["replicas"]))},
    {"Ready", "integer", false, CELL(Number(object["status"]["readyReplicas"]))},
    kAge,
    {"Containers", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "name"))},
    {"Images", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "image"))},
    {"Selector", "string", true, CELL(SelectorText(object["spec"]["selector"]))},
};
const std::vector<Column> kStatefulSets = {
    kName,
    {"Ready", "string", false,
     CELL(fmt::format("{}/{}", object["status"]["readyReplicas"].Int(),
                      object["spec"]["replicas"].Int()))},
    kAge,
    {"Containers", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "name"))},
    {"Images", "string", true, CELL(Containers(object["spec"]["template"]["spec"], "image"))},
};
const std::vector<Column> kDaemonSets = {
    kName,
    {"Desired", "integer", false, CELL(Number(object["status"]["desiredNumberScheduled"]))},
    {"Current", "integer", false, CELL(Number(object["status"]["currentNumberScheduled"]))},
    {"Ready", "integer", false, CELL(Number(object["status"]["numberReady"]))},
    {"Up-to-date", "integer", false, CELL(Number(object["status"]["updatedNumberScheduled"]))},
    {"Available", "integer", false, CELL(Number(object["status"]["numberAvailable"]))},
    {"Node Selector", "string", false,
     CELL(SelectorText(object["spec"]["template"]["spec"]["nodeSelector"]))},
    kAge,
};
const std::vector<Column> kJobs = {
    kName,
    {"Status", "string", false, JobStatusCell},
    {"Completions", "string", false,
     CELL(fmt::format("{}/{}", object["status"]["succeeded"].Int(),
                      object["spec"]["completions"].Int(1)))},
    {"Duration", "string", false, JobDurationCell},
    kAge,
};
const std::vector<Column> kCronJobs = {
    kName,
    {"Schedule", "string", false, CELL(object["spec"]["schedule"].Str())},
    {"Timezone", "string", false, CELL(OrNone(object["spec"]["timeZone"].Str()))},
    {"Suspend", "string", false, CELL(object["spec"]["suspend"].Bool() ? "True" : "False")},
    {"Active", "integer", false,
     CELL(static_cast<int64_t>(object["status"]["active"].Items().size()))},
    {"Last Schedule", "string", false,
     CELL(object["status"]["lastScheduleTime"].Str().empty()
              ? "<none>"
              : Age(object["status"]["lastScheduleTime"].Str(), now))},
    kAge,
};
const std::vector<Column> kServices = {
    kName,
    {"Type", "string", false, CELL(object["spec"]["type"].Str())},
    {"Cluster-IP", "string", false, CELL(OrNone(object["spec"]["clusterIP"].Str()))},
    {"External-IP", "string", false, CELL("<none>")},
    {"Port(s)", "string", false, CELL(ServicePorts(object))},
    kAge,
    {"Selector", "string", true, CELL(SelectorText(object["spec"]["selector"]))},
};
const std::vector<Column> kConfigMaps = {
    kName,
    {"Data", "integer", false,
     CELL(static_cast<int64_t>(object["data"].Members().size() +
                               object["binaryData"].Members().size()))},
    kAge};
const std::vector<Column> kSecrets = {
    kName,
    {"Type", "string", false, CELL(object["type"].Str())},
    {"Data", "integer", false, CELL(static_cast<int64_t>(object["data"].Members().size()))},
    kAge};
const std::vector<Column> kServiceAccounts = {
    kName,
    {"Secrets", "integer", false, CELL(static_cast<int64_t>(object["secrets"].Items().size()))},
    kAge};
const std::vector<Column> kEvents = {
    {"Last Seen", "string", false, EventLastSeenCell},
    {"Type", "string", false, CELL(object["type"].Str())},
    {"Reason", "string", false, CELL(object["reason"].Str())},
    {"Object", "string", false, EventObjectCell},
    {"Message", "string", false,
     CELL(object.Has("message") ? object["message"].Str() : object["note"].Str())},
    {"Name", "string", true, NameCell},
};
const std::vector<Column> kVolumes = {
    kName,
    {"Capacity", "string", false, CELL(object["spec"]["capacity"]["storage"].Str())},
    {"Access Modes", "string", false, CELL(AccessModes(object["spec"]["accessModes"]))},
    {"Reclaim Policy", "string", false,
     CELL(object["spec"]["persistentVolumeReclaimPolicy"].Str())},
    {"Status", "string", false, CELL(object["status"]["phase"].Str())},
    {"Claim", "string", false,
     CELL(object["spec"]["claimRef"].IsNull()
              ? ""
              : fmt::format("{}/{}", object["spec"]["claimRef"]["namespace"].Str(),
                            object["spec"]["claimRef"]["name"].Str()))},
    {"StorageClass", "string", false, CELL(object["spec"]["storageClassName"].Str())},
    {"VolumeAttributesClass", "string", false, CELL("<unset>")},
    {"Reason", "string", false, CELL(object["status"]["reason"].Str())},
    kAge,
};
const std::vector<Column> kClaims = {
    kName,
    {"Status", "string", false, CELL(object["status"]["phase"].Str())},
    {"Volume", "string", false, CELL(object["spec"]["volumeName"].Str())},
    {"Capacity", "string", false, CELL(object["status"]["capacity"]["storage"].Str())},
    {"Access Modes", "string", false, CELL(AccessModes(object["status"]["accessModes"]))},
    {"StorageClass", "string", false, CELL(object["spec"]["storageClassName"].Str())},
    {"VolumeAttributesClass", "string", false, CELL("<unset>")},
    kAge,
};
const std::vector<Column> kStorageClasses = {
    kName,
    {"Provisioner", "string", false, CELL(object["provisioner"].Str())},
    {"ReclaimPolicy", "string", false, CELL(object["reclaimPolicy"].Str())},
    {"VolumeBindingMode", "string", false, CELL(object["volumeBindingMode"].Str())},
    {"AllowVolumeExpansion", "string", false,
     CELL(object["allowVolumeExpansion"].Bool() ? "true" : "false")},
    kAge,
};
const std::vector<Column> kBudgets = {
    kName,
    {"Min Available", "string", false, CELL(OrAllZero(object["spec"]["minAvailable"]))},
    {"Max Unavailable", "string", false, CELL(OrAllZero(object["spec"]["maxUnavailable"]))},
    {"Allowed Disruptions", "integer", false, CELL(Number(object["status"]["disruptionsAllowed"]))},
    kAge,
};
const std::vector<Column> kPriorityClasses = {
    kName,
    {"Value", "integer", false, CELL(Number(object["value"]))},
    {"Global-Default", "boolean", false, CELL(object["globalDefault"].Bool())},
    kAge,
    {"PreemptionPolicy", "string", false, CELL(object["preemptionPolicy"].Str())},
};
const std::vector<Column> kLeases = {
    kName, {"Holder", "string", false, CELL(object["spec"]["holderIdentity"].Str())}, kAge};
const std::vector<Column> kDefinitions = {
    kName, {"Created At", "string", false, CELL(object["metadata"]["creationTimestamp"].Str())}};
const std::vector<Column> kResourceClaims = {
    kName,
    {"State", "string", false,
     CELL(object["status"]["allocation"].IsNull()   ? "pending"
          : object["status"]["reservedFor"].Empty() ? "allocated"
                                                    : "allocated,reserved")},
    kAge};
const std::vector<Column> kResourceSlices = {
    kName,
    {"Node", "string", false, CELL(OrNone(object["spec"]["nodeName"].Str()))},
    {"Driver", "string", false, CELL(object["spec"]["driver"].Str())},
    {"Pool", "string", false, CELL(object["spec"]["pool"]["name"].Str())},
    kAge};
const std::vector<Column> kOthers = {kName, kAge};

#undef CELL

}  // namespace

std::string PodStatusText(const Json& pod) {
  const Json& status = pod["status"];
  std::string reason(status["phase"].Str());
  if (!status["reason"].Str().empty()) reason = status["reason"].Str();
  for (const Json& condition : status["conditions"].Items()) {
    if (condition["type"].Str() == "PodScheduled" &&
        condition["reason"].Str() == "SchedulingGated") {
      reason = "SchedulingGated";
    }
  }
  bool running = false;
  for (const Json& container : status["containerStatuses"].Items()) {
    const Json& state = container["state"];
    if (!state["waiting"]["reason"].Str().empty()) {
      reason = state["waiting"]["reason"].Str();
    } else if (!state["terminated"]["reason"].Str().empty()) {
      reason = state["terminated"]["reason"].Str();
    } else if (container["ready"].Bool() && state.Has("running")) {
      running = true;
    }
  }
  if (reason == "Completed" && running) reason = "Running";
  if (!pod["metadata"]["deletionTimestamp"].IsNull()) {
    reason = status["reason"].Str() == "NodeLost" ? "Unknown" : "Terminating";
  }
  return reason;
}

const std::vector<Column>& ColumnsOf(const Resource& resource) {
  static const std::map<std::string_view, const std::vector<Column>*> kByName = {
      {"pods", &kPods},
      {"nodes", &kNodes},
      {"namespaces", &kNamespaces},
      {"deployments.apps", &kDeployments},
      {"replicasets.apps", &kReplicaSets},
      {"replicationcontrollers", &kReplicaSets},
      {"statefulsets.apps", &kStatefulSets},
      {"daemonsets.apps", &kDaemonSets},
      {"jobs.batch", &kJobs},
      {"cronjobs.batch", &kCronJobs},
      {"services", &kServices},
      {"configmaps", &kConfigMaps},
      {"secrets", &kSecrets},
      {"serviceaccounts", &kServiceAccounts},
      {"events", &kEvents},
      {"events.events.k8s.io", &kEvents},
      {"persistentvolumes", &kVolumes},
      {"persistentvolumeclaims", &kClaims},
      {"storageclasses.storage.k8s.io", &kStorageClasses},
      {"poddisruptionbudgets.policy", &kBudgets},
      {"priorityclasses.scheduling.k8s.io", &kPriorityClasses},
      {"leases.coordination.k8s.io", &kLeases},
      {"customresourcedefinitions.apiextensions.k8s.io", &kDefinitions},
      {"resourceclaims.resource.k8s.io", &kResourceClaims},
      {"resourceslices.resource.k8s.io", &kResourceSlices},
  };
  const std::string name = resource.GroupResource();
  const auto it = kByName.find(name);
  if (it != kByName.end()) return *it->second;
  const std::vector<Column>* columns = ColumnsOfServices(name);
  return columns ? *columns : kOthers;
}

}  // namespace berth::apiserver
