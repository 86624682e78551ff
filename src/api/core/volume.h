// Volumes of a pod and the claims an ephemeral volume is made from.
#pragma once

#include <optional>
#include <string>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/volume_source.h"
#include "api/values.h"

namespace berth::api {

// The volume is whatever the named claim is bound to.
struct PersistentVolumeClaimVolumeSource {
  std::string claim_name;
  bool read_only = false;

  bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A claim is made for the pod from this template and lives as long as the pod.
struct EphemeralVolumeSource {
  Box<PersistentVolumeClaimTemplate> volume_claim_template;

  bool operator==(const EphemeralVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// An image whose content is mounted.
struct ImageVolumeSource {
  std::string reference;

  bool operator==(const ImageVolumeSource&) const = default;
  static const TypeInfo& Type();
};

// A named volume; exactly one source is set. Sources that never influence placement are known by
// presence.
struct Volume {
  std::string name;
  std::optional<Presence> host_path;
  std::optional<Presence> empty_dir;
  Box<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  Box<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<Presence> secret;
  std::optional<Presence> nfs;
  Box<ISCSIVolumeSource> iscsi;
  Box<PersistentVolumeClaimVolumeSource> persistent_volume_claim;
  Box<RBDVolumeSource> rbd;
  Box<CinderVolumeSource> cinder;
  std::optional<Presence> downward_api;
  Box<AzureFileVolumeSource> azure_file;
  std::optional<Presence> config_map;
  Box<VsphereVirtualDiskVolumeSource> vsphere_volume;
  Box<AzureDiskVolumeSource> azure_disk;
  std::optional<Presence> projected;
  Box<PortworxVolumeSource> portworx_volume;
  Box<CSIVolumeSource> csi;
  Box<EphemeralVolumeSource> ephemeral;
  Box<ImageVolumeSource> image;

  bool operator==(const Volume&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
