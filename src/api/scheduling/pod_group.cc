#include "api/scheduling/pod_group.h"

namespace berth::api {

const TypeInfo& WorkloadReference::Type() {
  static const TypeInfo type = Describe<WorkloadReference>("WorkloadReference")
                                   .Always(1, "workloadName", &WorkloadReference::workload_name)
                                   .Always(2, "templateName", &WorkloadReference::template_name)
                                   .Build();
  return type;
}

const TypeInfo& BasicSchedulingPolicy::Type() {
  static const TypeInfo type = Describe<BasicSchedulingPolicy>("BasicSchedulingPolicy").Build();
  return type;
}

const TypeInfo& GangSchedulingPolicy::Type() {
  static const TypeInfo type = Describe<GangSchedulingPolicy>("GangSchedulingPolicy")
                                   .Always(1, "minCount", &GangSchedulingPolicy::min_count)
                                   .Build();
  return type;
}

const TypeInfo& PodGroupSchedulingPolicy::Type() {
  static const TypeInfo type = Describe<PodGroupSchedulingPolicy>("PodGroupSchedulingPolicy")
                                   .Field(1, "basic", &PodGroupSchedulingPolicy::basic)
                                   .Field(2, "gang", &PodGroupSchedulingPolicy::gang)
                                   .Build();
  return type;
}

const TypeInfo& TopologyConstraint::Type() {
  static const TypeInfo type = Describe<TopologyConstraint>("TopologyConstraint")
                                   .Always(1, "key", &TopologyConstraint::key)
                                   .Build();
  return type;
}

const TypeInfo& PodGroupSchedulingConstraints::Type() {
  static const TypeInfo type =
      Describe<PodGroupSchedulingConstraints>("PodGroupSchedulingConstraints")
          .Field(1, "topology", &PodGroupSchedulingConstraints::topology)
          .Build();
  return type;
}

const TypeInfo& PodGroupResourceClaim::Type() {
  static const TypeInfo type =
      Describe<PodGroupResourceClaim>("PodGroupResourceClaim")
          .Always(1, "name", &PodGroupResourceClaim::name)
          .Field(2, "resourceClaimName", &PodGroupResourceClaim::resource_claim_name)
          .Field(3, "resourceClaimTemplateName",
                 &PodGroupResourceClaim::resource_claim_template_name)
          .Build();
  return type;
}

const TypeInfo& SingleDisruptionMode::Type() {
  static const TypeInfo type = Describe<SingleDisruptionMode>("SingleDisruptionMode").Build();
  return type;
}

const TypeInfo& AllDisruptionMode::Type() {
  static const TypeInfo type = Describe<AllDisruptionMode>("AllDisruptionMode").Build();
  return type;
}

const TypeInfo& DisruptionMode::Type() {
  static const TypeInfo type = Describe<DisruptionMode>("DisruptionMode")
                                   .Field(1, "single", &DisruptionMode::single)
                                   .Field(2, "all", &DisruptionMode::all)
                                   .Build();
  return type;
}

const TypeInfo& PodGroupSpec::Type() {
  static const TypeInfo type =
      Describe<PodGroupSpec>("PodGroupSpec")
          .Field(1, "parentCompositePodGroupName", &PodGroupSpec::parent_composite_pod_group_name)
          .Field(2, "workloadRef", &PodGroupSpec::workload_ref)
          .Always(3, "schedulingPolicy", &PodGroupSpec::scheduling_policy)
          .Field(4, "schedulingConstraints", &PodGroupSpec::scheduling_constraints)
          .Field(5, "resourceClaims", &PodGroupSpec::resource_claims)
          .Field(6, "disruptionMode", &PodGroupSpec::disruption_mode)
          .Field(7, "priorityClassName", &PodGroupSpec::priority_class_name)
          .Field(8, "priority", &PodGroupSpec::priority)
          .Field(9, "preemptionPolicy", &PodGroupSpec::preemption_policy)
          .Build();
  return type;
}

const TypeInfo& PodGroupResourceClaimStatus::Type() {
  static const TypeInfo type =
      Describe<PodGroupResourceClaimStatus>("PodGroupResourceClaimStatus")
          .Always(1, "name", &PodGroupResourceClaimStatus::name)
          .Field(2, "resourceClaimName", &PodGroupResourceClaimStatus::resource_claim_name)
          .Build();
  return type;
}

const TypeInfo& PodGroupStatus::Type() {
  static const TypeInfo type =
      Describe<PodGroupStatus>("PodGroupStatus")
          .Field(1, "conditions", &PodGroupStatus::conditions)
          .Field(2, "resourceClaimStatuses", &PodGroupStatus::resource_claim_statuses)
          .Build();
  return type;
}

const TypeInfo& PodGroup::Type() {
  static const TypeInfo type = Describe<PodGroup>("PodGroup")
                                   .Always(1, "metadata", &PodGroup::metadata)
                                   .Always(2, "spec", &PodGroup::spec)
                                   .Always(3, "status", &PodGroup::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
