// The other objects of a cluster, by namespace and name: what the scheduler's listers hold.
#pragma once

#include "api/apps/replica_set.h"
#include "api/apps/stateful_set.h"
#include "api/core/namespace.h"
#include "api/core/persistent_volume.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/replication_controller.h"
#include "api/core/service.h"
#include "api/policy/pod_disruption_budget.h"
#include "api/resource/device_class.h"
#include "api/resource/device_taint_rule.h"
#include "api/resource/resource_claim.h"
#include "api/resource/resource_slice.h"
#include "api/scheduling/pod_group.h"
#include "api/storage/csi_driver.h"
#include "api/storage/csi_node.h"
#include "api/storage/csi_storage_capacity.h"
#include "api/storage/storage_class.h"
#include "api/storage/volume_attachment.h"
#include "cluster/objects/custom_kinds.h"
#include "cluster/objects/store.h"

namespace berth::cluster {

struct ObjectStore {
  Store<api::Namespace> namespaces;
  Store<api::Service> services;
  Store<api::ReplicationController> replication_controllers;
  Store<api::ReplicaSet> replica_sets;
  Store<api::StatefulSet> stateful_sets;
  Store<api::PersistentVolume> persistent_volumes;
  Store<api::PersistentVolumeClaim> persistent_volume_claims;
  Store<api::StorageClass> storage_classes;
  Store<api::CSINode> csi_nodes;
  Store<api::CSIDriver> csi_drivers;
  Store<api::CSIStorageCapacity> csi_storage_capacities;
  Store<api::VolumeAttachment> volume_attachments;
  Store<api::PodDisruptionBudget> pod_disruption_budgets;
  Store<api::ResourceClaim> resource_claims;
  // Claims with the allocation the scheduler has decided on, until resource_claims shows it.
  Store<api::ResourceClaim> in_flight_claims;
  Store<api::ResourceSlice> resource_slices;
  Store<api::DeviceClass> device_classes;
  Store<api::DeviceTaintRule> device_taint_rules;
  Store<api::PodGroup> pod_groups;
  CustomStores custom;
};

}  // namespace berth::cluster
