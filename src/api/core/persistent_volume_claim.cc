#include "api/core/persistent_volume_claim.h"

namespace berth::api {

const TypeInfo& PersistentVolumeClaimSpec::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeClaimSpec>("PersistentVolumeClaimSpec")
          .Field(1, "accessModes", &PersistentVolumeClaimSpec::access_modes)
          .Field(4, "selector", &PersistentVolumeClaimSpec::selector)
          .Always(2, "resources", &PersistentVolumeClaimSpec::resources)
          .Field(3, "volumeName", &PersistentVolumeClaimSpec::volume_name)
          .Field(5, "storageClassName", &PersistentVolumeClaimSpec::storage_class_name)
          .Field(6, "volumeMode", &PersistentVolumeClaimSpec::volume_mode)
          .Field(7, "dataSource", &PersistentVolumeClaimSpec::data_source)
          .Field(8, "dataSourceRef", &PersistentVolumeClaimSpec::data_source_ref)
          .Field(9, "volumeAttributesClassName",
                 &PersistentVolumeClaimSpec::volume_attributes_class_name)
          .Build();
  return type;
}

const TypeInfo& PersistentVolumeClaimCondition::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeClaimCondition>("PersistentVolumeClaimCondition")
          .Always(1, "type", &PersistentVolumeClaimCondition::type)
          .Always(2, "status", &PersistentVolumeClaimCondition::status)
          .Field(3, "lastProbeTime", &PersistentVolumeClaimCondition::last_probe_time)
          .Field(4, "lastTransitionTime", &PersistentVolumeClaimCondition::last_transition_time)
          .Field(5, "reason", &PersistentVolumeClaimCondition::reason)
          .Field(6, "message", &PersistentVolumeClaimCondition::message)
          .Build();
  return type;
}

const TypeInfo& PersistentVolumeClaimStatus::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeClaimStatus>("PersistentVolumeClaimStatus")
          .Field(1, "phase", &PersistentVolumeClaimStatus::phase)
          .Field(2, "accessModes", &PersistentVolumeClaimStatus::access_modes)
          .Field(3, "capacity", &PersistentVolumeClaimStatus::capacity)
          .Field(4, "conditions", &PersistentVolumeClaimStatus::conditions)
          .Field(8, "currentVolumeAttributesClassName",
                 &PersistentVolumeClaimStatus::current_volume_attributes_class_name)
          .Ignore({"allocatedResources", "allocatedResourceStatuses", "modifyVolumeStatus"})
          .Build();
  return type;
}

const TypeInfo& PersistentVolumeClaim::Type() {
  static const TypeInfo type = Describe<PersistentVolumeClaim>("PersistentVolumeClaim")
                                   .Always(1, "metadata", &PersistentVolumeClaim::metadata)
                                   .Always(2, "spec", &PersistentVolumeClaim::spec)
                                   .Always(3, "status", &PersistentVolumeClaim::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

const TypeInfo& PersistentVolumeClaimTemplate::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeClaimTemplate>("PersistentVolumeClaimTemplate")
          .Always(1, "metadata", &PersistentVolumeClaimTemplate::metadata)
          .Always(2, "spec", &PersistentVolumeClaimTemplate::spec)
          .Build();
  return type;
}

}  // namespace berth::api
