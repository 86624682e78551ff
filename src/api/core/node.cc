#include "api/core/node.h"

namespace berth::api {

const TypeInfo& Taint::Type() {
  static const TypeInfo type = Describe<Taint>("Taint")
                                   .Always(1, "key", &Taint::key)
                                   .Field(2, "value", &Taint::value)
                                   .Always(3, "effect", &Taint::effect)
                                   .Field(4, "timeAdded", &Taint::time_added)
                                   .Build();
  return type;
}

const TypeInfo& NodeSpec::Type() {
  static const TypeInfo type = Describe<NodeSpec>("NodeSpec")
                                   .Field(1, "podCIDR", &NodeSpec::pod_cidr)
                                   .Field(7, "podCIDRs", &NodeSpec::pod_cidrs)
                                   .Field(3, "providerID", &NodeSpec::provider_id)
                                   .Field(4, "unschedulable", &NodeSpec::unschedulable)
                                   .Field(5, "taints", &NodeSpec::taints)
                                   .Ignore({"configSource", "externalID"})
                                   .Build();
  return type;
}

const TypeInfo& NodeCondition::Type() {
  static const TypeInfo type =
      Describe<NodeCondition>("NodeCondition")
          .Always(1, "type", &NodeCondition::type)
          .Always(2, "status", &NodeCondition::status)
          .Field(3, "lastHeartbeatTime", &NodeCondition::last_heartbeat_time)
          .Field(4, "lastTransitionTime", &NodeCondition::last_transition_time)
          .Field(5, "reason", &NodeCondition::reason)
          .Field(6, "message", &NodeCondition::message)
          .Build();
  return type;
}

const TypeInfo& NodeAddress::Type() {
  static const TypeInfo type = Describe<NodeAddress>("NodeAddress")
                                   .Always(1, "type", &NodeAddress::type)
                                   .Always(2, "address", &NodeAddress::address)
                                   .Build();
  return type;
}

const TypeInfo& ContainerImage::Type() {
  static const TypeInfo type = Describe<ContainerImage>("ContainerImage")
                                   .Always(1, "names", &ContainerImage::names)
                                   .Field(2, "sizeBytes", &ContainerImage::size_bytes)
                                   .Build();
  return type;
}

const TypeInfo& AttachedVolume::Type() {
  static const TypeInfo type = Describe<AttachedVolume>("AttachedVolume")
                                   .Always(1, "name", &AttachedVolume::name)
                                   .Always(2, "devicePath", &AttachedVolume::device_path)
                                   .Build();
  return type;
}

const TypeInfo& NodeSystemInfo::Type() {
  static const TypeInfo type =
      Describe<NodeSystemInfo>("NodeSystemInfo")
          .Always(4, "kernelVersion", &NodeSystemInfo::kernel_version)
          .Always(5, "osImage", &NodeSystemInfo::os_image)
          .Always(6, "containerRuntimeVersion", &NodeSystemInfo::container_runtime_version)
          .Always(7, "kubeletVersion", &NodeSystemInfo::kubelet_version)
          .Always(9, "operatingSystem", &NodeSystemInfo::operating_system)
          .Always(10, "architecture", &NodeSystemInfo::architecture)
          .Ignore({"machineID", "systemUUID", "bootID", "kubeProxyVersion", "swap"})
          .Build();
  return type;
}

const TypeInfo& NodeFeatures::Type() {
  static const TypeInfo type =
      Describe<NodeFeatures>("NodeFeatures")
          .Field(1, "supplementalGroupsPolicy", &NodeFeatures::supplemental_groups_policy)
          .Build();
  return type;
}

const TypeInfo& NodeStatus::Type() {
  static const TypeInfo type = Describe<NodeStatus>("NodeStatus")
                                   .Field(1, "capacity", &NodeStatus::capacity)
                                   .Field(2, "allocatable", &NodeStatus::allocatable)
                                   .Field(3, "phase", &NodeStatus::phase)
                                   .Field(4, "conditions", &NodeStatus::conditions)
                                   .Field(5, "addresses", &NodeStatus::addresses)
                                   .Always(7, "nodeInfo", &NodeStatus::node_info)
                                   .Field(8, "images", &NodeStatus::images)
                                   .Field(9, "volumesInUse", &NodeStatus::volumes_in_use)
                                   .Field(10, "volumesAttached", &NodeStatus::volumes_attached)
                                   .Field(13, "features", &NodeStatus::features)
                                   .Field(14, "declaredFeatures", &NodeStatus::declared_features)
                                   .Ignore({"daemonEndpoints", "config", "runtimeHandlers"})
                                   .Build();
  return type;
}

const TypeInfo& Node::Type() {
  static const TypeInfo type = Describe<Node>("Node")
                                   .Always(1, "metadata", &Node::metadata)
                                   .Always(2, "spec", &Node::spec)
                                   .Always(3, "status", &Node::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
