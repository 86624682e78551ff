// Node: a machine pods are placed on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/rules/resource_list.h"
#include "api/time.h"

namespace berth::api {

// Keeps away pods that do not tolerate it.
struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<Time> time_added;

  bool operator==(const Taint&) const = default;
  static const TypeInfo& Type();
};

// Whether the node takes pods, and its taints.
struct NodeSpec {
  std::string pod_cidr;
  std::vector<std::string> pod_cidrs;
  std::string provider_id;
  bool unschedulable = false;
  std::vector<Taint> taints;

  bool operator==(const NodeSpec&) const = default;
  static const TypeInfo& Type();
};

// A condition of the node, such as Ready.
struct NodeCondition {
  std::string type;
  std::string status;
  Time last_heartbeat_time;
  Time last_transition_time;
  std::string reason;
  std::string message;

  bool operator==(const NodeCondition&) const = default;
  static const TypeInfo& Type();
};

// An address of the node.
struct NodeAddress {
  std::string type;
  std::string address;

  bool operator==(const NodeAddress&) const = default;
  static const TypeInfo& Type();
};

// An image the node has, under all its names.
struct ContainerImage {
  std::vector<std::string> names;
  int64_t size_bytes = 0;

  bool operator==(const ContainerImage&) const = default;
  static const TypeInfo& Type();
};

// A volume attached to the node.
struct AttachedVolume {
  std::string name;
  std::string device_path;

  bool operator==(const AttachedVolume&) const = default;
  static const TypeInfo& Type();
};

// What the machine runs.
struct NodeSystemInfo {
  std::string kernel_version;
  std::string os_image;
  std::string container_runtime_version;
  std::string kubelet_version;
  std::string operating_system;
  std::string architecture;

  bool operator==(const NodeSystemInfo&) const = default;
  static const TypeInfo& Type();
};

// What the container runtime of the node can do.
struct NodeFeatures {
  std::optional<bool> supplemental_groups_policy;

  bool operator==(const NodeFeatures&) const = default;
  static const TypeInfo& Type();
};

// What the node has and how it is.
struct NodeStatus {
  ResourceList capacity;
  ResourceList allocatable;
  std::string phase;
  std::vector<NodeCondition> conditions;
  std::vector<NodeAddress> addresses;
  NodeSystemInfo node_info;
  std::vector<ContainerImage> images;
  std::vector<std::string> volumes_in_use;
  std::vector<AttachedVolume> volumes_attached;
  std::optional<NodeFeatures> features;
  std::vector<std::string> declared_features;

  bool operator==(const NodeStatus&) const = default;
  static const TypeInfo& Type();
};

// A machine of the cluster.
struct Node {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "Node";

  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;

  bool operator==(const Node&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
