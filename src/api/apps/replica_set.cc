#include "api/apps/replica_set.h"

namespace berth::api {

const TypeInfo& ReplicaSetSpec::Type() {
  static const TypeInfo type = Describe<ReplicaSetSpec>("ReplicaSetSpec")
                                   .Field(1, "replicas", &ReplicaSetSpec::replicas)
                                   .Field(4, "minReadySeconds", &ReplicaSetSpec::min_ready_seconds)
                                   .Always(2, "selector", &ReplicaSetSpec::selector)
                                   .Always(3, "template", &ReplicaSetSpec::template_)
                                   .Build();
  return type;
}

const TypeInfo& ReplicaSetStatus::Type() {
  static const TypeInfo type =
      Describe<ReplicaSetStatus>("ReplicaSetStatus")
          .Always(1, "replicas", &ReplicaSetStatus::replicas)
          .Field(2, "fullyLabeledReplicas", &ReplicaSetStatus::fully_labeled_replicas)
          .Field(4, "readyReplicas", &ReplicaSetStatus::ready_replicas)
          .Field(5, "availableReplicas", &ReplicaSetStatus::available_replicas)
          .Field(7, "terminatingReplicas", &ReplicaSetStatus::terminating_replicas)
          .Field(3, "observedGeneration", &ReplicaSetStatus::observed_generation)
          .Ignore({"conditions"})
          .Build();
  return type;
}

const TypeInfo& ReplicaSet::Type() {
  static const TypeInfo type = Describe<ReplicaSet>("ReplicaSet")
                                   .Always(1, "metadata", &ReplicaSet::metadata)
                                   .Always(2, "spec", &ReplicaSet::spec)
                                   .Always(3, "status", &ReplicaSet::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
