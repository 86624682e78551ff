// Containers of a pod, as far as scheduling sees them: image, ports, resources.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/resources.h"
#include "api/rules/resource_list.h"
#include "api/time.h"

namespace berth::api {

// A port of a container; a host port occupies that port of the node.
struct ContainerPort {
  std::string name;
  int32_t host_port = 0;
  int32_t container_port = 0;
  std::string protocol;
  std::string host_ip;

  bool operator==(const ContainerPort&) const = default;
  static const TypeInfo& Type();
};

// Whether a resource can change without a restart of the container.
struct ContainerResizePolicy {
  std::string resource_name;
  std::string restart_policy;

  bool operator==(const ContainerResizePolicy&) const = default;
  static const TypeInfo& Type();
};

// What happens when the container exits; only the action matters to scheduling.
struct ContainerRestartRule {
  std::string action;  // Restart, RestartAllContainers

  bool operator==(const ContainerRestartRule&) const = default;
  static const TypeInfo& Type();
};

// Which system calls a container may make.
struct SeccompProfile {
  std::string type;  // Unconfined, RuntimeDefault, Localhost
  std::optional<std::string> localhost_profile;

  bool operator==(const SeccompProfile&) const = default;
  static const TypeInfo& Type();
};

// What a container may do. Only its seccomp profile matters to scheduling, and only to SySched.
struct SecurityContext {
  Box<SeccompProfile> seccomp_profile;

  bool operator==(const SecurityContext&) const = default;
  static const TypeInfo& Type();
};

// One container. An init container with restartPolicy Always is a sidecar.
struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  std::vector<ContainerResizePolicy> resize_policy;
  std::optional<std::string> restart_policy;
  std::vector<ContainerRestartRule> restart_policy_rules;
  Box<SecurityContext> security_context;

  bool operator==(const Container&) const = default;
  static const TypeInfo& Type();
};

// A debugging container added to a running pod; it has no resources of its own.
struct EphemeralContainer {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  std::optional<std::string> restart_policy;
  std::string target_container_name;

  bool operator==(const EphemeralContainer&) const = default;
  static const TypeInfo& Type();
};

// Since when the container runs.
struct ContainerStateRunning {
  Time started_at;

  bool operator==(const ContainerStateRunning&) const = default;
  static const TypeInfo& Type();
};

// How the container ended.
struct ContainerStateTerminated {
  int32_t exit_code = 0;
  int32_t signal = 0;
  std::string reason;
  std::string message;
  Time started_at;
  Time finished_at;
  std::string container_id;

  bool operator==(const ContainerStateTerminated&) const = default;
  static const TypeInfo& Type();
};

// Why the container does not run yet.
struct ContainerStateWaiting {
  std::string reason;
  std::string message;

  bool operator==(const ContainerStateWaiting&) const = default;
  static const TypeInfo& Type();
};

// Exactly one is set.
struct ContainerState {
  Box<ContainerStateWaiting> waiting;
  Box<ContainerStateRunning> running;
  Box<ContainerStateTerminated> terminated;

  bool operator==(const ContainerState&) const = default;
  static const TypeInfo& Type();
};

// What the kubelet reports of a container; allocated and actual resources differ from the spec
// during a resize.
struct ContainerStatus {
  std::string name;
  ContainerState state;
  bool ready = false;
  int32_t restart_count = 0;
  std::string image;
  std::string image_id;
  std::string container_id;
  std::optional<bool> started;
  ResourceList allocated_resources;
  Box<ResourceRequirements> resources;

  bool operator==(const ContainerStatus&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
