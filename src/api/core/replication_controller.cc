#include "api/core/replication_controller.h"

namespace berth::api {

const TypeInfo& ReplicationControllerSpec::Type() {
  static const TypeInfo type =
      Describe<ReplicationControllerSpec>("ReplicationControllerSpec")
          .Field(1, "replicas", &ReplicationControllerSpec::replicas)
          .Field(4, "minReadySeconds", &ReplicationControllerSpec::min_ready_seconds)
          .Field(2, "selector", &ReplicationControllerSpec::selector)
          .Field(3, "template", &ReplicationControllerSpec::template_)
          .Build();
  return type;
}

const TypeInfo& ReplicationControllerStatus::Type() {
  static const TypeInfo type =
      Describe<ReplicationControllerStatus>("ReplicationControllerStatus")
          .Always(1, "replicas", &ReplicationControllerStatus::replicas)
          .Field(4, "readyReplicas", &ReplicationControllerStatus::ready_replicas)
          .Field(5, "availableReplicas", &ReplicationControllerStatus::available_replicas)
          .Field(3, "observedGeneration", &ReplicationControllerStatus::observed_generation)
          .Ignore({"fullyLabeledReplicas", "conditions"})
          .Build();
  return type;
}

const TypeInfo& ReplicationController::Type() {
  static const TypeInfo type = Describe<ReplicationController>("ReplicationController")
                                   .Always(1, "metadata", &ReplicationController::metadata)
                                   .Always(2, "spec", &ReplicationController::spec)
                                   .Always(3, "status", &ReplicationController::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
