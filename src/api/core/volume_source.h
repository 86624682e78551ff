// Volume sources shared by pods and persistent volumes: as far as VolumeRestrictions, volume limits
// and CSI migration look into them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "api/string_map.h"

namespace berth::api {

// A Google Compute Engine disk.
struct GCEPersistentDiskVolumeSource {
  std::string pd_name;
  std::string fs_type;
  int32_t partition = 0;
  bool read_only = false;

  bool operator==(const GCEPersistentDiskVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An AWS EBS volume.
struct AWSElasticBlockStoreVolumeSource {
  std::string volume_id;
  std::string fs_type;
  int32_t partition = 0;
  bool read_only = false;

  bool operator==(const AWSElasticBlockStoreVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An Azure data disk.
struct AzureDiskVolumeSource {
  std::string disk_name;
  std::string disk_uri;
  std::optional<std::string> caching_mode;
  std::optional<std::string> fs_type;
  std::optional<bool> read_only;
  std::optional<std::string> kind;

  bool operator==(const AzureDiskVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An Azure file share, as a pod names it.
struct AzureFileVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;

  bool operator==(const AzureFileVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An Azure file share, as a persistent volume names it.
struct AzureFilePersistentVolumeSource {
  std::string secret_name;
  std::string share_name;
  bool read_only = false;
  std::optional<std::string> secret_namespace;

  bool operator==(const AzureFilePersistentVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An OpenStack volume, as a pod names it.
struct CinderVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;

  bool operator==(const CinderVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An OpenStack volume, as a persistent volume names it.
struct CinderPersistentVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;

  bool operator==(const CinderPersistentVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A vSphere virtual disk.
struct VsphereVirtualDiskVolumeSource {
  std::string volume_path;
  std::string fs_type;
  std::string storage_policy_name;
  std::string storage_policy_id;

  bool operator==(const VsphereVirtualDiskVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A Portworx volume.
struct PortworxVolumeSource {
  std::string volume_id;
  std::string fs_type;
  bool read_only = false;

  bool operator==(const PortworxVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An iSCSI disk, as a pod names it.
struct ISCSIVolumeSource {
  std::string target_portal;
  std::string iqn;
  int32_t lun = 0;
  std::string iscsi_interface;
  std::string fs_type;
  bool read_only = false;
  std::optional<std::string> initiator_name;

  bool operator==(const ISCSIVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An iSCSI disk, as a persistent volume names it.
struct ISCSIPersistentVolumeSource {
  std::string target_portal;
  std::string iqn;
  int32_t lun = 0;
  std::string iscsi_interface;
  std::string fs_type;
  bool read_only = false;
  std::optional<std::string> initiator_name;

  bool operator==(const ISCSIPersistentVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A Ceph block device, as a pod names it.
struct RBDVolumeSource {
  std::vector<std::string> monitors;
  std::string image;
  std::string fs_type;
  std::string pool;
  std::string user;
  bool read_only = false;

  bool operator==(const RBDVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A Ceph block device, as a persistent volume names it.
struct RBDPersistentVolumeSource {
  std::vector<std::string> monitors;
  std::string image;
  std::string fs_type;
  std::string pool;
  std::string user;
  bool read_only = false;

  bool operator==(const RBDPersistentVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An inline (ephemeral) CSI volume of a pod.
struct CSIVolumeSource {
  std::string driver;
  std::optional<bool> read_only;
  std::optional<std::string> fs_type;
  StringMap volume_attributes;

  bool operator==(const CSIVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A volume managed by a CSI driver.
struct CSIPersistentVolumeSource {
  std::string driver;
  std::string volume_handle;
  bool read_only = false;
  std::string fs_type;
  StringMap volume_attributes;

  bool operator==(const CSIPersistentVolumeSource&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
