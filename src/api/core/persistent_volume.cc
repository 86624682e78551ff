#include "api/core/persistent_volume.h"

namespace berth::api {

const TypeInfo& VolumeNodeAffinity::Type() {
  static const TypeInfo type = Describe<VolumeNodeAffinity>("VolumeNodeAffinity")
                                   .Field(1, "required", &VolumeNodeAffinity::required)
                                   .Build();
  return type;
}

const TypeInfo& PersistentVolumeSpec::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeSpec>("PersistentVolumeSpec")
          .Field(1, "capacity", &PersistentVolumeSpec::capacity)
          .Inline(2)
          .Field(1, "gcePersistentDisk", &PersistentVolumeSpec::gce_persistent_disk)
          .Field(2, "awsElasticBlockStore", &PersistentVolumeSpec::aws_elastic_block_store)
          .Field(3, "hostPath", &PersistentVolumeSpec::host_path)
          .Field(5, "nfs", &PersistentVolumeSpec::nfs)
          .Field(6, "rbd", &PersistentVolumeSpec::rbd)
          .Field(7, "iscsi", &PersistentVolumeSpec::iscsi)
          .Field(8, "cinder", &PersistentVolumeSpec::cinder)
          .Field(13, "azureFile", &PersistentVolumeSpec::azure_file)
          .Field(14, "vsphereVolume", &PersistentVolumeSpec::vsphere_volume)
          .Field(16, "azureDisk", &PersistentVolumeSpec::azure_disk)
          .Field(18, "portworxVolume", &PersistentVolumeSpec::portworx_volume)
          .Field(20, "local", &PersistentVolumeSpec::local)
          .Field(22, "csi", &PersistentVolumeSpec::csi)
          .EndInline()
          .Field(3, "accessModes", &PersistentVolumeSpec::access_modes)
          .Field(4, "claimRef", &PersistentVolumeSpec::claim_ref)
          .Field(5, "persistentVolumeReclaimPolicy",
                 &PersistentVolumeSpec::persistent_volume_reclaim_policy)
          .Field(6, "storageClassName", &PersistentVolumeSpec::storage_class_name)
          .Field(8, "volumeMode", &PersistentVolumeSpec::volume_mode)
          .Field(9, "nodeAffinity", &PersistentVolumeSpec::node_affinity)
          .Field(10, "volumeAttributesClassName",
                 &PersistentVolumeSpec::volume_attributes_class_name)
          .Ignore({"glusterfs", "cephfs", "fc", "flocker", "flexVolume", "quobyte",
                   "photonPersistentDisk", "scaleIO", "storageos", "mountOptions"})
          .Build();
  return type;
}

const TypeInfo& PersistentVolumeStatus::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeStatus>("PersistentVolumeStatus")
          .Field(1, "phase", &PersistentVolumeStatus::phase)
          .Field(2, "message", &PersistentVolumeStatus::message)
          .Field(3, "reason", &PersistentVolumeStatus::reason)
          .Field(4, "lastPhaseTransitionTime", &PersistentVolumeStatus::last_phase_transition_time)
          .Build();
  return type;
}

const TypeInfo& PersistentVolume::Type() {
  static const TypeInfo type = Describe<PersistentVolume>("PersistentVolume")
                                   .Always(1, "metadata", &PersistentVolume::metadata)
                                   .Always(2, "spec", &PersistentVolume::spec)
                                   .Always(3, "status", &PersistentVolume::status)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
