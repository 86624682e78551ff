#include "cluster/objects/load.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "cluster/objects/object_store.h"

namespace berth::cluster {
namespace {

// One overload per kind that has a store; the second argument only picks it.
Store<api::Namespace>& StoreFor(ObjectStore& s, const api::Namespace&) { return s.namespaces; }
Store<api::Service>& StoreFor(ObjectStore& s, const api::Service&) { return s.services; }
Store<api::ReplicationController>& StoreFor(ObjectStore& s, const api::ReplicationController&) {
  return s.replication_controllers;
}
Store<api::ReplicaSet>& StoreFor(ObjectStore& s, const api::ReplicaSet&) { return s.replica_sets; }
Store<api::StatefulSet>& StoreFor(ObjectStore& s, const api::StatefulSet&) {
  return s.stateful_sets;
}
Store<api::PersistentVolume>& StoreFor(ObjectStore& s, const api::PersistentVolume&) {
  return s.persistent_volumes;
}
Store<api::PersistentVolumeClaim>& StoreFor(ObjectStore& s, const api::PersistentVolumeClaim&) {
  return s.persistent_volume_claims;
}
Store<api::StorageClass>& StoreFor(ObjectStore& s, const api::StorageClass&) {
  return s.storage_classes;
}
Store<api::CSINode>& StoreFor(ObjectStore& s, const api::CSINode&) { return s.csi_nodes; }
Store<api::CSIDriver>& StoreFor(ObjectStore& s, const api::CSIDriver&) { return s.csi_drivers; }
Store<api::CSIStorageCapacity>& StoreFor(ObjectStore& s, const api::CSIStorageCapacity&) {
  return s.csi_storage_capacities;
}
Store<api::VolumeAttachment>& StoreFor(ObjectStore& s, const api::VolumeAttachment&) {
  return s.volume_attachments;
}
Store<api::PodDisruptionBudget>& StoreFor(ObjectStore& s, const api::PodDisruptionBudget&) {
  return s.pod_disruption_budgets;
}
Store<api::ResourceClaim>& StoreFor(ObjectStore& s, const api::ResourceClaim&) {
  return s.resource_claims;
}
Store<api::ResourceSlice>& StoreFor(ObjectStore& s, const api::ResourceSlice&) {
  return s.resource_slices;
}
Store<api::DeviceClass>& StoreFor(ObjectStore& s, const api::DeviceClass&) {
  return s.device_classes;
}

}  // namespace

bool Load(Cluster& cluster, api::Object&& object) {
  return std::visit(
      [&]<class T>(T&& value) {
        using Kind = std::remove_cvref_t<T>;
        if constexpr (std::is_same_v<Kind, api::Node>) {
          cluster.SetNode(value);
          return true;
        } else if constexpr (std::is_same_v<Kind, api::Pod>) {
          if (value.status.phase == "Succeeded" || value.status.phase == "Failed") return false;
          cluster.AddPod(value);
          return true;
        } else if constexpr (!requires { value.metadata.name; }) {
          return false;  // an answer of the API server, no object
        } else if constexpr (requires(ObjectStore & s) { StoreFor(s, value); }) {
          StoreFor(cluster.MutableObjects(), value).Set(std::forward<T>(value));
          return true;
        } else {
          return false;
        }
      },
      std::move(object));
}

}  // namespace berth::cluster
