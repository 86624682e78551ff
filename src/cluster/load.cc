#include "cluster/load.h"

#include <type_traits>
#include <utility>
#include <variant>

#include "cluster/object_store.h"

namespace berth::cluster {
namespace {

template <class T>
Store<T>* StoreFor(ObjectStore& s) {
  if constexpr (std::is_same_v<T, api::Namespace>) return &s.namespaces;
  if constexpr (std::is_same_v<T, api::Service>) return &s.services;
  if constexpr (std::is_same_v<T, api::ReplicationController>) return &s.replication_controllers;
  if constexpr (std::is_same_v<T, api::ReplicaSet>) return &s.replica_sets;
  if constexpr (std::is_same_v<T, api::StatefulSet>) return &s.stateful_sets;
  if constexpr (std::is_same_v<T, api::PersistentVolume>) return &s.persistent_volumes;
  if constexpr (std::is_same_v<T, api::PersistentVolumeClaim>) return &s.persistent_volume_claims;
  if constexpr (std::is_same_v<T, api::StorageClass>) return &s.storage_classes;
  if constexpr (std::is_same_v<T, api::CSINode>) return &s.csi_nodes;
  if constexpr (std::is_same_v<T, api::CSIDriver>) return &s.csi_drivers;
  if constexpr (std::is_same_v<T, api::CSIStorageCapacity>) return &s.csi_storage_capacities;
  if constexpr (std::is_same_v<T, api::VolumeAttachment>) return &s.volume_attachments;
  if constexpr (std::is_same_v<T, api::PodDisruptionBudget>) return &s.pod_disruption_budgets;
  if constexpr (std::is_same_v<T, api::ResourceClaim>) return &s.resource_claims;
  if constexpr (std::is_same_v<T, api::ResourceSlice>) return &s.resource_slices;
  if constexpr (std::is_same_v<T, api::DeviceClass>) return &s.device_classes;
  return nullptr;
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
        } else {
          auto* store = StoreFor<Kind>(cluster.MutableObjects());
          if (store == nullptr) return false;
          if constexpr (requires { store->Set(std::forward<T>(value)); }) {
            store->Set(std::forward<T>(value));
          }
          return true;
        }
      },
      std::move(object));
}

}  // namespace berth::cluster
