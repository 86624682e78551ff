#include "api/core/volume_source.h"

namespace berth::api {

const TypeInfo& GCEPersistentDiskVolumeSource::Type() {
  static const TypeInfo type =
      Describe<GCEPersistentDiskVolumeSource>("GCEPersistentDiskVolumeSource")
          .Always(1, "pdName", &GCEPersistentDiskVolumeSource::pd_name)
          .Field(2, "fsType", &GCEPersistentDiskVolumeSource::fs_type)
          .Field(3, "partition", &GCEPersistentDiskVolumeSource::partition)
          .Field(4, "readOnly", &GCEPersistentDiskVolumeSource::read_only)
          .Build();
  return type;
}

const TypeInfo& AWSElasticBlockStoreVolumeSource::Type() {
  static const TypeInfo type =
      Describe<AWSElasticBlockStoreVolumeSource>("AWSElasticBlockStoreVolumeSource")
          .Always(1, "volumeID", &AWSElasticBlockStoreVolumeSource::volume_id)
          .Field(2, "fsType", &AWSElasticBlockStoreVolumeSource::fs_type)
          .Field(3, "partition", &AWSElasticBlockStoreVolumeSource::partition)
          .Field(4, "readOnly", &AWSElasticBlockStoreVolumeSource::read_only)
          .Build();
  return type;
}

const TypeInfo& AzureDiskVolumeSource::Type() {
  static const TypeInfo type = Describe<AzureDiskVolumeSource>("AzureDiskVolumeSource")
                                   .Always(1, "diskName", &AzureDiskVolumeSource::disk_name)
                                   .Always(2, "diskURI", &AzureDiskVolumeSource::disk_uri)
                                   .Field(3, "cachingMode", &AzureDiskVolumeSource::caching_mode)
                                   .Field(4, "fsType", &AzureDiskVolumeSource::fs_type)
                                   .Field(5, "readOnly", &AzureDiskVolumeSource::read_only)
                                   .Field(6, "kind", &AzureDiskVolumeSource::kind)
                                   .Build();
  return type;
}

const TypeInfo& AzureFileVolumeSource::Type() {
  static const TypeInfo type = Describe<AzureFileVolumeSource>("AzureFileVolumeSource")
                                   .Always(1, "secretName", &AzureFileVolumeSource::secret_name)
                                   .Always(2, "shareName", &AzureFileVolumeSource::share_name)
                                   .Field(3, "readOnly", &AzureFileVolumeSource::read_only)
                                   .Build();
  return type;
}

const TypeInfo& AzureFilePersistentVolumeSource::Type() {
  static const TypeInfo type =
      Describe<AzureFilePersistentVolumeSource>("AzureFilePersistentVolumeSource")
          .Always(1, "secretName", &AzureFilePersistentVolumeSource::secret_name)
          .Always(2, "shareName", &AzureFilePersistentVolumeSource::share_name)
          .Field(3, "readOnly", &AzureFilePersistentVolumeSource::read_only)
          .Always(4, "secretNamespace", &AzureFilePersistentVolumeSource::secret_namespace)
          .Build();
  return type;
}

const TypeInfo& CinderVolumeSource::Type() {
  static const TypeInfo type = Describe<CinderVolumeSource>("CinderVolumeSource")
                                   .Always(1, "volumeID", &CinderVolumeSource::volume_id)
                                   .Field(2, "fsType", &CinderVolumeSource::fs_type)
                                   .Field(3, "readOnly", &CinderVolumeSource::read_only)
                                   .Ignore({"secretRef"})
                                   .Build();
  return type;
}

const TypeInfo& CinderPersistentVolumeSource::Type() {
  static const TypeInfo type =
      Describe<CinderPersistentVolumeSource>("CinderPersistentVolumeSource")
          .Always(1, "volumeID", &CinderPersistentVolumeSource::volume_id)
          .Field(2, "fsType", &CinderPersistentVolumeSource::fs_type)
          .Field(3, "readOnly", &CinderPersistentVolumeSource::read_only)
          .Ignore({"secretRef"})
          .Build();
  return type;
}

const TypeInfo& VsphereVirtualDiskVolumeSource::Type() {
  static const TypeInfo type =
      Describe<VsphereVirtualDiskVolumeSource>("VsphereVirtualDiskVolumeSource")
          .Always(1, "volumePath", &VsphereVirtualDiskVolumeSource::volume_path)
          .Field(2, "fsType", &VsphereVirtualDiskVolumeSource::fs_type)
          .Field(3, "storagePolicyName", &VsphereVirtualDiskVolumeSource::storage_policy_name)
          .Field(4, "storagePolicyID", &VsphereVirtualDiskVolumeSource::storage_policy_id)
          .Build();
  return type;
}

const TypeInfo& PortworxVolumeSource::Type() {
  static const TypeInfo type = Describe<PortworxVolumeSource>("PortworxVolumeSource")
                                   .Always(1, "volumeID", &PortworxVolumeSource::volume_id)
                                   .Field(2, "fsType", &PortworxVolumeSource::fs_type)
                                   .Field(3, "readOnly", &PortworxVolumeSource::read_only)
                                   .Build();
  return type;
}

const TypeInfo& ISCSIVolumeSource::Type() {
  static const TypeInfo type =
      Describe<ISCSIVolumeSource>("ISCSIVolumeSource")
          .Always(1, "targetPortal", &ISCSIVolumeSource::target_portal)
          .Always(2, "iqn", &ISCSIVolumeSource::iqn)
          .Always(3, "lun", &ISCSIVolumeSource::lun)
          .Field(4, "iscsiInterface", &ISCSIVolumeSource::iscsi_interface)
          .Field(5, "fsType", &ISCSIVolumeSource::fs_type)
          .Field(6, "readOnly", &ISCSIVolumeSource::read_only)
          .Field(12, "initiatorName", &ISCSIVolumeSource::initiator_name)
          .Ignore({"portals", "chapAuthDiscovery", "chapAuthSession", "secretRef"})
          .Build();
  return type;
}

const TypeInfo& ISCSIPersistentVolumeSource::Type() {
  static const TypeInfo type =
      Describe<ISCSIPersistentVolumeSource>("ISCSIPersistentVolumeSource")
          .Always(1, "targetPortal", &ISCSIPersistentVolumeSource::target_portal)
          .Always(2, "iqn", &ISCSIPersistentVolumeSource::iqn)
          .Always(3, "lun", &ISCSIPersistentVolumeSource::lun)
          .Field(4, "iscsiInterface", &ISCSIPersistentVolumeSource::iscsi_interface)
          .Field(5, "fsType", &ISCSIPersistentVolumeSource::fs_type)
          .Field(6, "readOnly", &ISCSIPersistentVolumeSource::read_only)
          .Field(12, "initiatorName", &ISCSIPersistentVolumeSource::initiator_name)
          .Ignore({"portals", "chapAuthDiscovery", "chapAuthSession", "secretRef"})
          .Build();
  return type;
}

const TypeInfo& RBDVolumeSource::Type() {
  static const TypeInfo type = Describe<RBDVolumeSource>("RBDVolumeSource")
                                   .Always(1, "monitors", &RBDVolumeSource::monitors)
                                   .Always(2, "image", &RBDVolumeSource::image)
                                   .Field(3, "fsType", &RBDVolumeSource::fs_type)
                                   .Field(4, "pool", &RBDVolumeSource::pool)
                                   .Field(5, "user", &RBDVolumeSource::user)
                                   .Field(8, "readOnly", &RBDVolumeSource::read_only)
                                   .Ignore({"keyring", "secretRef"})
                                   .Build();
  return type;
}

const TypeInfo& RBDPersistentVolumeSource::Type() {
  static const TypeInfo type = Describe<RBDPersistentVolumeSource>("RBDPersistentVolumeSource")
                                   .Always(1, "monitors", &RBDPersistentVolumeSource::monitors)
                                   .Always(2, "image", &RBDPersistentVolumeSource::image)
                                   .Field(3, "fsType", &RBDPersistentVolumeSource::fs_type)
                                   .Field(4, "pool", &RBDPersistentVolumeSource::pool)
                                   .Field(5, "user", &RBDPersistentVolumeSource::user)
                                   .Field(8, "readOnly", &RBDPersistentVolumeSource::read_only)
                                   .Ignore({"keyring", "secretRef"})
                                   .Build();
  return type;
}

const TypeInfo& CSIVolumeSource::Type() {
  static const TypeInfo type =
      Describe<CSIVolumeSource>("CSIVolumeSource")
          .Always(1, "driver", &CSIVolumeSource::driver)
          .Field(2, "readOnly", &CSIVolumeSource::read_only)
          .Field(3, "fsType", &CSIVolumeSource::fs_type)
          .Field(4, "volumeAttributes", &CSIVolumeSource::volume_attributes)
          .Ignore({"nodePublishSecretRef"})
          .Build();
  return type;
}

const TypeInfo& CSIPersistentVolumeSource::Type() {
  static const TypeInfo type =
      Describe<CSIPersistentVolumeSource>("CSIPersistentVolumeSource")
          .Always(1, "driver", &CSIPersistentVolumeSource::driver)
          .Always(2, "volumeHandle", &CSIPersistentVolumeSource::volume_handle)
          .Field(3, "readOnly", &CSIPersistentVolumeSource::read_only)
          .Field(4, "fsType", &CSIPersistentVolumeSource::fs_type)
          .Field(5, "volumeAttributes", &CSIPersistentVolumeSource::volume_attributes)
          .Ignore({"controllerPublishSecretRef", "nodeStageSecretRef", "nodePublishSecretRef",
                   "controllerExpandSecretRef", "nodeExpandSecretRef"})
          .Build();
  return type;
}

}  // namespace berth::api
