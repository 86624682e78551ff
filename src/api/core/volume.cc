#include "api/core/volume.h"

namespace berth::api {

const TypeInfo& PersistentVolumeClaimVolumeSource::Type() {
  static const TypeInfo type =
      Describe<PersistentVolumeClaimVolumeSource>("PersistentVolumeClaimVolumeSource")
          .Always(1, "claimName", &PersistentVolumeClaimVolumeSource::claim_name)
          .Field(2, "readOnly", &PersistentVolumeClaimVolumeSource::read_only)
          .Build();
  return type;
}

const TypeInfo& EphemeralVolumeSource::Type() {
  static const TypeInfo type =
      Describe<EphemeralVolumeSource>("EphemeralVolumeSource")
          .Field(1, "volumeClaimTemplate", &EphemeralVolumeSource::volume_claim_template)
          .Build();
  return type;
}

const TypeInfo& ImageVolumeSource::Type() {
  static const TypeInfo type = Describe<ImageVolumeSource>("ImageVolumeSource")
                                   .Field(1, "reference", &ImageVolumeSource::reference)
                                   .Ignore({"pullPolicy"})
                                   .Build();
  return type;
}

const TypeInfo& Volume::Type() {
  static const TypeInfo type =
      Describe<Volume>("Volume")
          .Always(1, "name", &Volume::name)
          .Inline(2)
          .Field(1, "hostPath", &Volume::host_path)
          .Field(2, "emptyDir", &Volume::empty_dir)
          .Field(3, "gcePersistentDisk", &Volume::gce_persistent_disk)
          .Field(4, "awsElasticBlockStore", &Volume::aws_elastic_block_store)
          .Field(6, "secret", &Volume::secret)
          .Field(7, "nfs", &Volume::nfs)
          .Field(8, "iscsi", &Volume::iscsi)
          .Field(10, "persistentVolumeClaim", &Volume::persistent_volume_claim)
          .Field(11, "rbd", &Volume::rbd)
          .Field(13, "cinder", &Volume::cinder)
          .Field(16, "downwardAPI", &Volume::downward_api)
          .Field(18, "azureFile", &Volume::azure_file)
          .Field(19, "configMap", &Volume::config_map)
          .Field(20, "vsphereVolume", &Volume::vsphere_volume)
          .Field(22, "azureDisk", &Volume::azure_disk)
          .Field(26, "projected", &Volume::projected)
          .Field(24, "portworxVolume", &Volume::portworx_volume)
          .Field(28, "csi", &Volume::csi)
          .Field(29, "ephemeral", &Volume::ephemeral)
          .Field(30, "image", &Volume::image)
          .EndInline()
          .Ignore({"gitRepo", "glusterfs", "flexVolume", "cephfs", "flocker", "fc", "quobyte",
                   "photonPersistentDisk", "scaleIO", "storageos"})
          .Build();
  return type;
}

}  // namespace berth::api
