#include "api/core/pod.h"

namespace berth::api {

const TypeInfo& PodOS::Type() {
  static const TypeInfo type = Describe<PodOS>("PodOS").Always(1, "name", &PodOS::name).Build();
  return type;
}

const TypeInfo& PodSchedulingGate::Type() {
  static const TypeInfo type = Describe<PodSchedulingGate>("PodSchedulingGate")
                                   .Always(1, "name", &PodSchedulingGate::name)
                                   .Build();
  return type;
}

const TypeInfo& PodReadinessGate::Type() {
  static const TypeInfo type = Describe<PodReadinessGate>("PodReadinessGate")
                                   .Always(1, "conditionType", &PodReadinessGate::condition_type)
                                   .Build();
  return type;
}

const TypeInfo& PodResourceClaim::Type() {
  static const TypeInfo type =
      Describe<PodResourceClaim>("PodResourceClaim")
          .Always(1, "name", &PodResourceClaim::name)
          .Field(3, "resourceClaimName", &PodResourceClaim::resource_claim_name)
          .Field(4, "resourceClaimTemplateName", &PodResourceClaim::resource_claim_template_name)
          .Build();
  return type;
}

const TypeInfo& PodSchedulingGroup::Type() {
  static const TypeInfo type = Describe<PodSchedulingGroup>("PodSchedulingGroup")
                                   .Field(1, "podGroupName", &PodSchedulingGroup::pod_group_name)
                                   .Build();
  return type;
}

const TypeInfo& PodSecurityContext::Type() {
  static const TypeInfo type =
      Describe<PodSecurityContext>("PodSecurityContext")
          .Field(10, "seccompProfile", &PodSecurityContext::seccomp_profile)
          .Ignore({"seLinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
                   "supplementalGroups", "supplementalGroupsPolicy", "fsGroup", "sysctls",
                   "fsGroupChangePolicy", "appArmorProfile", "seLinuxChangePolicy"})
          .Build();
  return type;
}

const TypeInfo& PodSpec::Type() {
  static const TypeInfo type =
      Describe<PodSpec>("PodSpec")
          .Field(1, "volumes", &PodSpec::volumes)
          .Field(20, "initContainers", &PodSpec::init_containers)
          .Always(2, "containers", &PodSpec::containers)
          .Field(34, "ephemeralContainers", &PodSpec::ephemeral_containers)
          .Field(3, "restartPolicy", &PodSpec::restart_policy)
          .Field(4, "terminationGracePeriodSeconds", &PodSpec::termination_grace_period_seconds)
          .Field(5, "activeDeadlineSeconds", &PodSpec::active_deadline_seconds)
          .Field(7, "nodeSelector", &PodSpec::node_selector)
          .Field(8, "serviceAccountName", &PodSpec::service_account_name)
          .Field(10, "nodeName", &PodSpec::node_name)
          .Field(11, "hostNetwork", &PodSpec::host_network)
          .Field(14, "securityContext", &PodSpec::security_context)
          .Field(18, "affinity", &PodSpec::affinity)
          .Field(19, "schedulerName", &PodSpec::scheduler_name)
          .Field(22, "tolerations", &PodSpec::tolerations)
          .Field(24, "priorityClassName", &PodSpec::priority_class_name)
          .Field(25, "priority", &PodSpec::priority)
          .Field(28, "readinessGates", &PodSpec::readiness_gates)
          .Field(29, "runtimeClassName", &PodSpec::runtime_class_name)
          .Field(31, "preemptionPolicy", &PodSpec::preemption_policy)
          .Field(32, "overhead", &PodSpec::overhead)
          .Field(33, "topologySpreadConstraints", &PodSpec::topology_spread_constraints)
          .Field(36, "os", &PodSpec::os)
          .Field(38, "schedulingGates", &PodSpec::scheduling_gates)
          .Field(39, "resourceClaims", &PodSpec::resource_claims)
          .Field(40, "resources", &PodSpec::resources)
          .Field(37, "hostUsers", &PodSpec::host_users)
          .Field(43, "schedulingGroup", &PodSpec::scheduling_group)
          .Ignore({"dnsPolicy", "serviceAccount", "automountServiceAccountToken", "hostPID",
                   "hostIPC", "shareProcessNamespace", "imagePullSecrets", "hostname", "subdomain",
                   "hostAliases", "dnsConfig", "enableServiceLinks", "setHostnameAsFQDN",
                   "hostnameOverride"})
          .Build();
  return type;
}

const TypeInfo& PodCondition::Type() {
  static const TypeInfo type =
      Describe<PodCondition>("PodCondition")
          .Always(1, "type", &PodCondition::type)
          .Field(7, "observedGeneration", &PodCondition::observed_generation)
          .Always(2, "status", &PodCondition::status)
          .Field(3, "lastProbeTime", &PodCondition::last_probe_time)
          .Field(4, "lastTransitionTime", &PodCondition::last_transition_time)
          .Field(5, "reason", &PodCondition::reason)
          .Field(6, "message", &PodCondition::message)
          .Build();
  return type;
}

const TypeInfo& PodResourceClaimStatus::Type() {
  static const TypeInfo type =
      Describe<PodResourceClaimStatus>("PodResourceClaimStatus")
          .Always(1, "name", &PodResourceClaimStatus::name)
          .Field(2, "resourceClaimName", &PodResourceClaimStatus::resource_claim_name)
          .Build();
  return type;
}

const TypeInfo& ContainerExtendedResourceRequest::Type() {
  static const TypeInfo type =
      Describe<ContainerExtendedResourceRequest>("ContainerExtendedResourceRequest")
          .Always(1, "containerName", &ContainerExtendedResourceRequest::container_name)
          .Always(2, "resourceName", &ContainerExtendedResourceRequest::resource_name)
          .Always(3, "requestName", &ContainerExtendedResourceRequest::request_name)
          .Build();
  return type;
}

const TypeInfo& PodExtendedResourceClaimStatus::Type() {
  static const TypeInfo type =
      Describe<PodExtendedResourceClaimStatus>("PodExtendedResourceClaimStatus")
          .Always(1, "requestMappings", &PodExtendedResourceClaimStatus::request_mappings)
          .Always(2, "resourceClaimName", &PodExtendedResourceClaimStatus::resource_claim_name)
          .Build();
  return type;
}

const TypeInfo& HostIP::Type() {
  static const TypeInfo type = Describe<HostIP>("HostIP").Always(1, "ip", &HostIP::ip).Build();
  return type;
}

const TypeInfo& PodIP::Type() {
  static const TypeInfo type = Describe<PodIP>("PodIP").Always(1, "ip", &PodIP::ip).Build();
  return type;
}

const TypeInfo& PodStatus::Type() {
  static const TypeInfo type =
      Describe<PodStatus>("PodStatus")
          .Field(17, "observedGeneration", &PodStatus::observed_generation)
          .Field(1, "phase", &PodStatus::phase)
          .Field(2, "conditions", &PodStatus::conditions)
          .Field(3, "message", &PodStatus::message)
          .Field(4, "reason", &PodStatus::reason)
          .Field(11, "nominatedNodeName", &PodStatus::nominated_node_name)
          .Field(5, "hostIP", &PodStatus::host_ip)
          .Field(16, "hostIPs", &PodStatus::host_ips)
          .Field(6, "podIP", &PodStatus::pod_ip)
          .Field(12, "podIPs", &PodStatus::pod_ips)
          .Field(7, "startTime", &PodStatus::start_time)
          .Field(10, "initContainerStatuses", &PodStatus::init_container_statuses)
          .Field(8, "containerStatuses", &PodStatus::container_statuses)
          .Field(9, "qosClass", &PodStatus::qos_class)
          .Field(13, "ephemeralContainerStatuses", &PodStatus::ephemeral_container_statuses)
          .Field(14, "resize", &PodStatus::resize)
          .Field(15, "resourceClaimStatuses", &PodStatus::resource_claim_statuses)
          .Field(18, "extendedResourceClaimStatus", &PodStatus::extended_resource_claim_status)
          .Field(19, "allocatedResources", &PodStatus::allocated_resources)
          .Field(20, "resources", &PodStatus::resources)
          .Build();
  return type;
}

const TypeInfo& Pod::Type() {
  static const TypeInfo type = Describe<Pod>("Pod")
                                   .Always(1, "metadata", &Pod::metadata)
                                   .Always(2, "spec", &Pod::spec)
                                   .Always(3, "status", &Pod::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

const TypeInfo& PodTemplateSpec::Type() {
  static const TypeInfo type = Describe<PodTemplateSpec>("PodTemplateSpec")
                                   .Always(1, "metadata", &PodTemplateSpec::metadata)
                                   .Always(2, "spec", &PodTemplateSpec::spec)
                                   .Build();
  return type;
}

const TypeInfo& PodTemplate::Type() {
  static const TypeInfo type = Describe<PodTemplate>("PodTemplate")
                                   .Always(1, "metadata", &PodTemplate::metadata)
                                   .Always(2, "template", &PodTemplate::template_)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
