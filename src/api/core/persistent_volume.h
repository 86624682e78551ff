// PersistentVolume: a piece of storage of the cluster.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/core/node_selector.h"
#include "api/core/reference.h"
#include "api/core/volume_source.h"
#include "api/meta.h"
#include "api/rules/resource_list.h"
#include "api/time.h"
#include "api/values.h"

namespace berth::api {

// The nodes that can reach the volume.
struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;

  bool operator==(const VolumeNodeAffinity&) const = default;
  static const TypeInfo& Type();
};

// Where the volume is, how big, and which claim has it.
struct PersistentVolumeSpec {
  ResourceList capacity;
  Box<GCEPersistentDiskVolumeSource> gce_persistent_disk;
  Box<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store;
  std::optional<Presence> host_path;
  std::optional<Presence> nfs;
  Box<RBDPersistentVolumeSource> rbd;
  Box<ISCSIPersistentVolumeSource> iscsi;
  Box<CinderPersistentVolumeSource> cinder;
  Box<AzureFilePersistentVolumeSource> azure_file;
  Box<VsphereVirtualDiskVolumeSource> vsphere_volume;
  Box<AzureDiskVolumeSource> azure_disk;
  Box<PortworxVolumeSource> portworx_volume;
  std::optional<Presence> local;
  Box<CSIPersistentVolumeSource> csi;
  std::vector<std::string> access_modes;
  Box<ObjectReference> claim_ref;
  std::string persistent_volume_reclaim_policy;
  std::string storage_class_name;
  std::optional<std::string> volume_mode;
  Box<VolumeNodeAffinity> node_affinity;
  std::optional<std::string> volume_attributes_class_name;

  bool operator==(const PersistentVolumeSpec&) const = default;
  static const TypeInfo& Type();
};

// Whether the volume is available, bound, released or failed.
struct PersistentVolumeStatus {
  std::string phase;
  std::string message;
  std::string reason;
  std::optional<Time> last_phase_transition_time;

  bool operator==(const PersistentVolumeStatus&) const = default;
  static const TypeInfo& Type();
};

// A volume of the cluster.
struct PersistentVolume {
  static constexpr std::string_view kApiVersion = "v1";
  static constexpr std::string_view kKind = "PersistentVolume";

  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;

  bool operator==(const PersistentVolume&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
