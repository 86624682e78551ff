#include "api/apps/stateful_set.h"

namespace berth::api {

const TypeInfo& StatefulSetOrdinals::Type() {
  static const TypeInfo type = Describe<StatefulSetOrdinals>("StatefulSetOrdinals")
                                   .Always(1, "start", &StatefulSetOrdinals::start)
                                   .Build();
  return type;
}

const TypeInfo& StatefulSetSpec::Type() {
  static const TypeInfo type =
      Describe<StatefulSetSpec>("StatefulSetSpec")
          .Field(1, "replicas", &StatefulSetSpec::replicas)
          .Always(2, "selector", &StatefulSetSpec::selector)
          .Always(3, "template", &StatefulSetSpec::template_)
          .Field(4, "volumeClaimTemplates", &StatefulSetSpec::volume_claim_templates)
          .Always(5, "serviceName", &StatefulSetSpec::service_name)
          .Field(6, "podManagementPolicy", &StatefulSetSpec::pod_management_policy)
          .Field(8, "revisionHistoryLimit", &StatefulSetSpec::revision_history_limit)
          .Field(9, "minReadySeconds", &StatefulSetSpec::min_ready_seconds)
          .Field(11, "ordinals", &StatefulSetSpec::ordinals)
          .Ignore({"updateStrategy", "persistentVolumeClaimRetentionPolicy"})
          .Build();
  return type;
}

const TypeInfo& StatefulSetStatus::Type() {
  static const TypeInfo type =
      Describe<StatefulSetStatus>("StatefulSetStatus")
          .Field(1, "observedGeneration", &StatefulSetStatus::observed_generation)
          .Always(2, "replicas", &StatefulSetStatus::replicas)
          .Field(3, "readyReplicas", &StatefulSetStatus::ready_replicas)
          .Field(4, "currentReplicas", &StatefulSetStatus::current_replicas)
          .Field(5, "updatedReplicas", &StatefulSetStatus::updated_replicas)
          .Field(6, "currentRevision", &StatefulSetStatus::current_revision)
          .Field(7, "updateRevision", &StatefulSetStatus::update_revision)
          .Field(9, "collisionCount", &StatefulSetStatus::collision_count)
          .Always(11, "availableReplicas", &StatefulSetStatus::available_replicas)
          .Ignore({"conditions"})
          .Build();
  return type;
}

const TypeInfo& StatefulSet::Type() {
  static const TypeInfo type = Describe<StatefulSet>("StatefulSet")
                                   .Always(1, "metadata", &StatefulSet::metadata)
                                   .Always(2, "spec", &StatefulSet::spec)
                                   .Always(3, "status", &StatefulSet::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
