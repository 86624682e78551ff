#include "api/apps/deployment.h"

namespace berth::api {

const TypeInfo& DeploymentSpec::Type() {
  static const TypeInfo type =
      Describe<DeploymentSpec>("DeploymentSpec")
          .Field(1, "replicas", &DeploymentSpec::replicas)
          .Always(2, "selector", &DeploymentSpec::selector)
          .Always(3, "template", &DeploymentSpec::template_)
          .Field(5, "minReadySeconds", &DeploymentSpec::min_ready_seconds)
          .Field(6, "revisionHistoryLimit", &DeploymentSpec::revision_history_limit)
          .Field(7, "paused", &DeploymentSpec::paused)
          .Ignore({"strategy", "progressDeadlineSeconds"})
          .Build();
  return type;
}

const TypeInfo& DeploymentStatus::Type() {
  static const TypeInfo type =
      Describe<DeploymentStatus>("DeploymentStatus")
          .Field(1, "observedGeneration", &DeploymentStatus::observed_generation)
          .Field(2, "replicas", &DeploymentStatus::replicas)
          .Field(3, "updatedReplicas", &DeploymentStatus::updated_replicas)
          .Field(7, "readyReplicas", &DeploymentStatus::ready_replicas)
          .Field(4, "availableReplicas", &DeploymentStatus::available_replicas)
          .Field(5, "unavailableReplicas", &DeploymentStatus::unavailable_replicas)
          .Field(9, "terminatingReplicas", &DeploymentStatus::terminating_replicas)
          .Field(8, "collisionCount", &DeploymentStatus::collision_count)
          .Ignore({"conditions"})
          .Build();
  return type;
}

const TypeInfo& Deployment::Type() {
  static const TypeInfo type = Describe<Deployment>("Deployment")
                                   .Always(1, "metadata", &Deployment::metadata)
                                   .Always(2, "spec", &Deployment::spec)
                                   .Always(3, "status", &Deployment::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
