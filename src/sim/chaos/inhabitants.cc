#include "sim/chaos/inhabitants.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"

namespace berth::sim {
namespace {

constexpr int64_t kMi = 1024 * 1024;

// Texts of this file always parse.
template <class T>
T Parsed(const std::string& json) {
  return api::FromJson<T>(json).value_or(T{});
}

std::string ZoneOf(Dice& dice) { return fmt::format("zone-{}", dice.Between(0, 2)); }

void AddRules(const std::string& group, Dice& dice, api::PodSpec* spec) {
  api::LabelSelector own;
  own.match_labels[kGroupLabel] = group;
  switch (dice.Between(0, 6)) {
    case 0:
      spec->node_selector["disk"] = dice.PerMille(500) ? "ssd" : "hdd";
      break;
    case 1: {
      api::PodAffinityTerm term;
      term.label_selector = own;
      term.topology_key = "kubernetes.io/hostname";
      spec->affinity.emplace()
          .pod_anti_affinity.emplace()
          .required_during_scheduling_ignored_during_execution = {term};
      break;
    }
    case 2:
    case 3: {
      api::TopologySpreadConstraint spread;
      spread.max_skew = 1;
      spread.topology_key = "topology.kubernetes.io/zone";
      spread.when_unsatisfiable = dice.PerMille(600) ? "DoNotSchedule" : "ScheduleAnyway";
      spread.label_selector = own;
      spec->topology_spread_constraints = {spread};
      break;
    }
    case 4: {
      api::ContainerPort port;
      port.host_port = port.container_port = static_cast<int32_t>(dice.Between(8080, 8083));
      port.protocol = "TCP";
      spec->containers[0].ports = {port};
      break;
    }
    case 5: {
      api::Toleration toleration;
      toleration.key = "dedicated";
      toleration.operator_ = "Exists";
      spec->tolerations = {toleration};
      break;
    }
    default: {
      api::PodAffinityTerm term;
      term.label_selector = own;
      term.topology_key = "topology.kubernetes.io/zone";
      spec->affinity.emplace()
          .pod_affinity.emplace()
          .required_during_scheduling_ignored_during_execution = {term};
    }
  }
}

}  // namespace

api::Node MakeNode(const std::string& name, Dice& dice) {
  api::Node node;
  node.metadata.name = name;
  node.metadata.labels["kubernetes.io/hostname"] = name;
  node.metadata.labels["topology.kubernetes.io/zone"] = ZoneOf(dice);
  node.metadata.labels["disk"] = dice.PerMille(500) ? "ssd" : "hdd";
  auto& allocatable = node.status.allocatable;
  allocatable["cpu"] = api::Quantity::FromMilli(dice.Between(2, 8) * 1000);
  allocatable["memory"] = api::Quantity::FromInt(dice.Between(4, 16) * 1024 * kMi);
  allocatable["pods"] = api::Quantity::FromInt(dice.PerMille(100) ? dice.Between(3, 6) : 110);
  if (dice.PerMille(300)) {
    allocatable["example.com/gpu"] = api::Quantity::FromInt(dice.Between(1, 4));
  }
  node.status.capacity = allocatable;
  return node;
}

bool HasDevices(Dice& dice) { return dice.PerMille(300); }

api::ResourceSlice MakeSlice(const std::string& node) {
  return Parsed<api::ResourceSlice>(fmt::format(
      R"({{"metadata": {{"name": "slice-{0}"}}, "spec": {{"driver": "{1}", "nodeName": "{0}",
          "pool": {{"name": "{0}", "generation": 1, "resourceSliceCount": 1}},
          "devices": [{{"name": "d0"}}, {{"name": "d1"}}]}}}})",
      node, kDeviceDriver));
}

api::PersistentVolume MakeLocalVolume(const std::string& name, const std::string& node) {
  return Parsed<api::PersistentVolume>(fmt::format(
      R"({{"metadata": {{"name": "{0}"}}, "spec": {{"capacity": {{"storage": "10Gi"}},
          "accessModes": ["ReadWriteOnce"], "storageClassName": "{2}", "local": {{}},
          "volumeMode": "Filesystem",
          "nodeAffinity": {{"required": {{"nodeSelectorTerms": [{{"matchExpressions": [
            {{"key": "kubernetes.io/hostname", "operator": "In", "values": ["{1}"]}}]}}]}}}}}},
          "status": {{"phase": "Available"}}}})",
      name, node, kLocalClass));
}

std::vector<api::Object> MakeClasses() {
  std::vector<api::Object> classes;
  classes.push_back(
      Parsed<api::Namespace>(fmt::format(R"({{"metadata": {{"name": "{}"}}}})", kNamespace)));
  for (const auto& [name, provisioner] : {std::pair(kProvisionedClass, "csi.example.com"),
                                          std::pair(kLocalClass, "kubernetes.io/no-provisioner")}) {
    classes.push_back(Parsed<api::StorageClass>(fmt::format(
        R"({{"metadata": {{"name": "{}"}}, "provisioner": "{}",
            "volumeBindingMode": "WaitForFirstConsumer"}})",
        name, provisioner)));
  }
  classes.push_back(Parsed<api::DeviceClass>(fmt::format(
      R"({{"metadata": {{"name": "{0}"}}, "spec": {{"selectors": [
          {{"cel": {{"expression": "device.driver == '{0}'"}}}}]}}}})",
      kDeviceDriver)));
  return classes;
}

GroupTemplate MakeGroup(const std::string& name, const ChaosProfile& profile, Dice& dice) {
  GroupTemplate group;
  group.name = name;
  group.replicas = dice.Between(1, 8);
  api::Pod& pod = group.pod;
  pod.metadata.namespace_ = kNamespace;
  pod.metadata.labels[kGroupLabel] = name;
  pod.status.phase = "Pending";
  api::PodSpec& spec = pod.spec;
  spec.scheduler_name = dice.PerMille(profile.other_scheduler) ? kOtherScheduler : kOurScheduler;
  spec.priority = dice.Pick(profile.priorities);
  if (*spec.priority > 0 && dice.PerMille(60)) spec.preemption_policy = std::string("Never");
  api::Container& container = spec.containers.emplace_back();
  container.name = "main";
  auto& requests = container.resources.requests;
  if (!dice.PerMille(60)) {
    requests["cpu"] =
        api::Quantity::FromMilli(dice.Between(profile.cpu_low / 50, profile.cpu_high / 50) * 50);
    requests["memory"] = api::Quantity::FromInt(dice.Between(64, 2048) * kMi);
  }
  if (dice.PerMille(60)) requests["example.com/gpu"] = api::Quantity::FromInt(1);
  if (dice.PerMille(profile.rules)) AddRules(name, dice, &spec);
  if (dice.PerMille(profile.gated)) spec.scheduling_gates = {{"example.com/wait"}};
  if (dice.PerMille(profile.volumes)) {
    group.storage_class = dice.PerMille(500) ? kProvisionedClass : kLocalClass;
  }
  group.devices = dice.PerMille(profile.devices);
  return group;
}

void MakeGang(const ChaosProfile& profile, Dice& dice, GroupTemplate* group) {
  group->min_count = static_cast<int32_t>(dice.Between(1, group->replicas));
  group->storage_class.clear();
  group->devices = false;
  if (profile.coscheduling) {
    group->group_api = dice.PerMille(500) ? GroupApi::kSchedulerPlugins : GroupApi::kVolcano;
  }
  api::Pod& pod = group->pod;
  switch (group->group_api) {
    case GroupApi::kKubernetes:
      pod.spec.scheduling_group.emplace().pod_group_name = group->name;
      break;
    case GroupApi::kSchedulerPlugins:
      pod.metadata.labels["scheduling.x-k8s.io/pod-group"] = group->name;
      break;
    case GroupApi::kVolcano:
      pod.metadata.annotations["scheduling.k8s.io/group-name"] = group->name;
      break;
  }
}

api::Object MakePodGroup(const GroupTemplate& group, bool evicted_whole) {
  if (group.group_api != GroupApi::kKubernetes) {
    const bool volcano = group.group_api == GroupApi::kVolcano;
    return *api::DecodeObject(fmt::format(
        R"({{"apiVersion": "{}", "kind": "PodGroup", "metadata": {{"namespace": "{}",
            "name": "{}"}}, "spec": {{"minMember": {}}}}})",
        volcano ? "scheduling.volcano.sh/v1beta1" : "scheduling.x-k8s.io/v1alpha1", kNamespace,
        group.name, group.min_count));
  }
  api::PodGroup object;
  object.metadata.namespace_ = kNamespace;
  object.metadata.name = group.name;
  object.spec.priority = group.pod.spec.priority;
  object.spec.scheduling_policy.gang.emplace().min_count = group.min_count;
  if (evicted_whole) object.spec.disruption_mode.emplace().all.emplace();
  return object;
}

api::Pod MakePodOf(const GroupTemplate& group, const std::string& name) {
  api::Pod pod = group.pod;
  pod.metadata.name = name;
  if (!group.storage_class.empty()) {
    api::Volume& volume = pod.spec.volumes.emplace_back();
    volume.name = "data";
    volume.persistent_volume_claim.emplace().claim_name = name;
  }
  if (group.devices) pod.spec.resource_claims.push_back({"device", name, std::nullopt});
  return pod;
}

api::PersistentVolumeClaim MakeVolumeClaim(const std::string& name,
                                           const std::string& storage_class) {
  return Parsed<api::PersistentVolumeClaim>(fmt::format(
      R"({{"metadata": {{"namespace": "{}", "name": "{}"}}, "spec": {{
          "accessModes": ["ReadWriteOnce"], "storageClassName": "{}", "volumeMode": "Filesystem",
          "resources": {{"requests": {{"storage": "1Gi"}}}}}}, "status": {{"phase": "Pending"}}}})",
      kNamespace, name, storage_class));
}

api::ResourceClaim MakeDeviceClaim(const std::string& name) {
  return Parsed<api::ResourceClaim>(fmt::format(
      R"({{"metadata": {{"namespace": "{}", "name": "{}"}}, "spec": {{"devices": {{"requests": [
          {{"name": "one", "exactly": {{"deviceClassName": "{}", "allocationMode": "ExactCount",
            "count": 1}}}}]}}}}}})",
      kNamespace, name, kDeviceDriver));
}

api::PodDisruptionBudget MakeBudget(const std::string& group, Dice& dice) {
  api::PodDisruptionBudget budget;
  budget.metadata.namespace_ = kNamespace;
  budget.metadata.name = group;
  budget.spec.selector.emplace().match_labels[kGroupLabel] = group;
  budget.spec.max_unavailable = api::IntOrString::Int(1);
  budget.status.disruptions_allowed = static_cast<int32_t>(dice.Between(0, 2));
  return budget;
}

}  // namespace berth::sim
