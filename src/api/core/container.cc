#include "api/core/container.h"

namespace berth::api {

const TypeInfo& ContainerPort::Type() {
  static const TypeInfo type = Describe<ContainerPort>("ContainerPort")
                                   .Field(1, "name", &ContainerPort::name)
                                   .Field(2, "hostPort", &ContainerPort::host_port)
                                   .Always(3, "containerPort", &ContainerPort::container_port)
                                   .Field(4, "protocol", &ContainerPort::protocol)
                                   .Field(5, "hostIP", &ContainerPort::host_ip)
                                   .Build();
  return type;
}

const TypeInfo& ContainerResizePolicy::Type() {
  static const TypeInfo type =
      Describe<ContainerResizePolicy>("ContainerResizePolicy")
          .Always(1, "resourceName", &ContainerResizePolicy::resource_name)
          .Always(2, "restartPolicy", &ContainerResizePolicy::restart_policy)
          .Build();
  return type;
}

const TypeInfo& ContainerRestartRule::Type() {
  static const TypeInfo type = Describe<ContainerRestartRule>("ContainerRestartRule")
                                   .Field(1, "action", &ContainerRestartRule::action)
                                   .Ignore({"exitCodes"})
                                   .Build();
  return type;
}

const TypeInfo& SeccompProfile::Type() {
  static const TypeInfo type = Describe<SeccompProfile>("SeccompProfile")
                                   .Always(1, "type", &SeccompProfile::type)
                                   .Field(2, "localhostProfile", &SeccompProfile::localhost_profile)
                                   .Build();
  return type;
}

const TypeInfo& SecurityContext::Type() {
  static const TypeInfo type =
      Describe<SecurityContext>("SecurityContext")
          .Field(11, "seccompProfile", &SecurityContext::seccomp_profile)
          .Ignore({"capabilities", "privileged", "seLinuxOptions", "runAsUser", "runAsNonRoot",
                   "readOnlyRootFilesystem", "allowPrivilegeEscalation", "runAsGroup", "procMount",
                   "windowsOptions", "appArmorProfile"})
          .Build();
  return type;
}

const TypeInfo& Container::Type() {
  static const TypeInfo type =
      Describe<Container>("Container")
          .Always(1, "name", &Container::name)
          .Field(2, "image", &Container::image)
          .Field(6, "ports", &Container::ports)
          .Always(8, "resources", &Container::resources)
          .Field(15, "securityContext", &Container::security_context)
          .Field(23, "resizePolicy", &Container::resize_policy)
          .Field(24, "restartPolicy", &Container::restart_policy)
          .Field(25, "restartPolicyRules", &Container::restart_policy_rules)
          .Ignore({"command", "args", "workingDir", "envFrom", "env", "volumeMounts",
                   "volumeDevices", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle",
                   "terminationMessagePath", "terminationMessagePolicy", "imagePullPolicy", "stdin",
                   "stdinOnce", "tty"})
          .Build();
  return type;
}

const TypeInfo& EphemeralContainer::Type() {
  static const TypeInfo type =
      Describe<EphemeralContainer>("EphemeralContainer")
          .Inline(1)
          .Always(1, "name", &EphemeralContainer::name)
          .Field(2, "image", &EphemeralContainer::image)
          .Field(6, "ports", &EphemeralContainer::ports)
          .Always(8, "resources", &EphemeralContainer::resources)
          .Field(24, "restartPolicy", &EphemeralContainer::restart_policy)
          .EndInline()
          .Field(2, "targetContainerName", &EphemeralContainer::target_container_name)
          .Ignore({"command",
                   "args",
                   "workingDir",
                   "envFrom",
                   "env",
                   "resizePolicy",
                   "restartPolicyRules",
                   "volumeMounts",
                   "volumeDevices",
                   "livenessProbe",
                   "readinessProbe",
                   "startupProbe",
                   "lifecycle",
                   "terminationMessagePath",
                   "terminationMessagePolicy",
                   "imagePullPolicy",
                   "securityContext",
                   "stdin",
                   "stdinOnce",
                   "tty"})
          .Build();
  return type;
}

const TypeInfo& ContainerStateRunning::Type() {
  static const TypeInfo type = Describe<ContainerStateRunning>("ContainerStateRunning")
                                   .Field(1, "startedAt", &ContainerStateRunning::started_at)
                                   .Build();
  return type;
}

const TypeInfo& ContainerStateTerminated::Type() {
  static const TypeInfo type = Describe<ContainerStateTerminated>("ContainerStateTerminated")
                                   .Always(1, "exitCode", &ContainerStateTerminated::exit_code)
                                   .Field(2, "signal", &ContainerStateTerminated::signal)
                                   .Field(3, "reason", &ContainerStateTerminated::reason)
                                   .Field(4, "message", &ContainerStateTerminated::message)
                                   .Field(5, "startedAt", &ContainerStateTerminated::started_at)
                                   .Field(6, "finishedAt", &ContainerStateTerminated::finished_at)
                                   .Field(7, "containerID", &ContainerStateTerminated::container_id)
                                   .Build();
  return type;
}

const TypeInfo& ContainerStateWaiting::Type() {
  static const TypeInfo type = Describe<ContainerStateWaiting>("ContainerStateWaiting")
                                   .Field(1, "reason", &ContainerStateWaiting::reason)
                                   .Field(2, "message", &ContainerStateWaiting::message)
                                   .Build();
  return type;
}

const TypeInfo& ContainerState::Type() {
  static const TypeInfo type = Describe<ContainerState>("ContainerState")
                                   .Field(1, "waiting", &ContainerState::waiting)
                                   .Field(2, "running", &ContainerState::running)
                                   .Field(3, "terminated", &ContainerState::terminated)
                                   .Build();
  return type;
}

const TypeInfo& ContainerStatus::Type() {
  static const TypeInfo type =
      Describe<ContainerStatus>("ContainerStatus")
          .Always(1, "name", &ContainerStatus::name)
          .Always(2, "state", &ContainerStatus::state)
          .Always(4, "ready", &ContainerStatus::ready)
          .Always(5, "restartCount", &ContainerStatus::restart_count)
          .Always(6, "image", &ContainerStatus::image)
          .Always(7, "imageID", &ContainerStatus::image_id)
          .Field(8, "containerID", &ContainerStatus::container_id)
          .Field(9, "started", &ContainerStatus::started)
          .Field(10, "allocatedResources", &ContainerStatus::allocated_resources)
          .Field(11, "resources", &ContainerStatus::resources)
          .Ignore({"lastState", "volumeMounts", "user", "allocatedResourcesStatus", "stopSignal"})
          .Build();
  return type;
}

}  // namespace berth::api
