// KindTable: one row per kind that the scheduler reads or writes.
//
// A row has everything that is particular to a kind: its API path in each release, where its
// objects are kept, the events that its changes cause, whether it is watched, and the writes that
// need permission. The engine, simulations, watches of a real cluster and the RBAC rules are made
// from it. Adding a kind: its type in api/, a store in ObjectStore, a row here.
//
// Kinds that are not compiled in (custom resources) are named by plugins: see custom_kinds.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "api/coordination/lease.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/reference.h"
#include "api/events/event.h"
#include "cluster/objects/event_resource.h"
#include "cluster/objects/object_store.h"
#include "config/behaviour.h"

namespace berth::cluster {

// A kind as one release has it.
struct KindInfo {
  std::string_view kind;         // "Pod"
  std::string_view api_version;  // "v1"
  std::string_view plural;       // "pods"
  bool namespaced = true;
  std::string_view field_selector = "";  // encoded; of lists and watches
  // The API server may lack the kind; it then has no objects.
  bool optional = false;
  // A custom resource: it has no type and is decoded from JSON only.
  bool custom = false;
  // What its lists are called where `kind` alone would be another one's (ListNameOf).
  std::string_view list_name = "";
};

// A version of the API that replaces the earlier one from a release on.
struct KindVersion {
  config::Release since = config::Release::k1_34;
  std::string_view api_version = "";
};

// Events that a kind's changes cause.
struct KindEvents {
  EventResource resource;
  // The resource is another kind, which is updated by every change of this one.
  bool updates = false;
};

// Verbs beyond get, list and watch.
struct KindWrites {
  std::string_view subresource = "";
  std::string_view verbs = "";  // "patch, update"; empty: none
};

namespace watched {
inline bool Always(const config::Behaviour&) { return true; }
inline bool Never(const config::Behaviour&) { return false; }
inline bool WithDevices(const config::Behaviour& b) { return b.dynamic_resources; }
inline bool WithTaintRules(const config::Behaviour& b) { return b.dra.taint_rules; }
inline bool WithPodGroups(const config::Behaviour& b) { return b.pod_groups; }
}  // namespace watched

template <class T>
struct KindRow {
  using Type = T;

  std::string_view plural;
  bool namespaced = true;
  // Null: nodes and pods, which the table of the cluster holds, and kinds that are only written.
  Store<T> ObjectStore::*store = nullptr;
  std::optional<KindEvents> events = std::nullopt;
  bool (*watched)(const config::Behaviour&) = &watched::Always;
  std::string_view field_selector = "";
  bool optional = false;
  // Newer versions, in order; before them T::kApiVersion.
  std::array<KindVersion, 2> versions = {};
  std::array<KindWrites, 3> writes = {};

  constexpr KindInfo At(config::Release release) const {
    KindInfo info{T::kKind, T::kApiVersion, plural, namespaced, field_selector, optional};
    for (const KindVersion& version : versions) {
      if (!version.api_version.empty() && version.since <= release) {
        info.api_version = version.api_version;
      }
    }
    return info;
  }
};

// status.phase!=Succeeded,status.phase!=Failed
inline constexpr std::string_view kUnfinishedPods =
    "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed";

// In the order in which hosts list them.
inline constexpr auto kKindTable = std::tuple{
    KindRow<api::Namespace>{
        .plural = "namespaces", .namespaced = false, .store = &ObjectStore::namespaces},
    KindRow<api::Node>{.plural = "nodes", .namespaced = false},
    KindRow<api::Pod>{.plural = "pods",
                      .field_selector = kUnfinishedPods,
                      .writes = {{{"", "delete"}, {"binding", "create"}, {"status", "patch"}}}},
    KindRow<api::PersistentVolume>{.plural = "persistentvolumes",
                                   .namespaced = false,
                                   .store = &ObjectStore::persistent_volumes,
                                   .events = KindEvents{EventResource::kPersistentVolume},
                                   .writes = {{{"", "update"}}}},
    KindRow<api::StorageClass>{.plural = "storageclasses",
                               .namespaced = false,
                               .store = &ObjectStore::storage_classes,
                               .events = KindEvents{EventResource::kStorageClass}},
    KindRow<api::PersistentVolumeClaim>{.plural = "persistentvolumeclaims",
                                        .store = &ObjectStore::persistent_volume_claims,
                                        .events = KindEvents{EventResource::kPersistentVolumeClaim},
                                        .writes = {{{"", "update"}}}},
    KindRow<api::CSINode>{.plural = "csinodes",
                          .namespaced = false,
                          .store = &ObjectStore::csi_nodes,
                          .events = KindEvents{EventResource::kCSINode}},
    KindRow<api::CSIDriver>{.plural = "csidrivers",
                            .namespaced = false,
                            .store = &ObjectStore::csi_drivers,
                            .events = KindEvents{EventResource::kCSIDriver}},
    KindRow<api::CSIStorageCapacity>{.plural = "csistoragecapacities",
                                     .store = &ObjectStore::csi_storage_capacities,
                                     .events = KindEvents{EventResource::kCSIStorageCapacity}},
    KindRow<api::VolumeAttachment>{.plural = "volumeattachments",
                                   .namespaced = false,
                                   .store = &ObjectStore::volume_attachments,
                                   .events = KindEvents{EventResource::kVolumeAttachment}},
    KindRow<api::Service>{.plural = "services", .store = &ObjectStore::services},
    KindRow<api::PodDisruptionBudget>{.plural = "poddisruptionbudgets",
                                      .store = &ObjectStore::pod_disruption_budgets},
    KindRow<api::ReplicaSet>{.plural = "replicasets", .store = &ObjectStore::replica_sets},
    KindRow<api::ReplicationController>{.plural = "replicationcontrollers",
                                        .store = &ObjectStore::replication_controllers},
    KindRow<api::StatefulSet>{.plural = "statefulsets", .store = &ObjectStore::stateful_sets},
    KindRow<api::ResourceClaim>{.plural = "resourceclaims",
                                .store = &ObjectStore::resource_claims,
                                .events = KindEvents{EventResource::kResourceClaim},
                                .watched = &watched::WithDevices,
                                .optional = true,
                                .writes = {{{"", "create, delete, update"}, {"status", "update"}}}},
    KindRow<api::ResourceSlice>{.plural = "resourceslices",
                                .namespaced = false,
                                .store = &ObjectStore::resource_slices,
                                .events = KindEvents{EventResource::kResourceSlice},
                                .watched = &watched::WithDevices,
                                .optional = true},
    KindRow<api::DeviceClass>{.plural = "deviceclasses",
                              .namespaced = false,
                              .store = &ObjectStore::device_classes,
                              .events = KindEvents{EventResource::kDeviceClass},
                              .watched = &watched::WithDevices,
                              .optional = true},
    // A rule changes the slices whose devices it taints.
    KindRow<api::DeviceTaintRule>{.plural = "devicetaintrules",
                                  .namespaced = false,
                                  .store = &ObjectStore::device_taint_rules,
                                  .events = KindEvents{EventResource::kResourceSlice, true},
                                  .watched = &watched::WithTaintRules,
                                  .optional = true,
                                  .versions = {{{config::Release::k1_36, "resource.k8s.io/v1beta2"},
                                                {config::Release::k1_37, "resource.k8s.io/v1"}}}},
    KindRow<api::PodGroup>{.plural = "podgroups",
                           .store = &ObjectStore::pod_groups,
                           .events = KindEvents{EventResource::kPodGroup},
                           .watched = &watched::WithPodGroups,
                           .optional = true,
                           .writes = {{{"status", "patch"}}}},
    // Written only.
    KindRow<api::Lease>{
        .plural = "leases", .watched = &watched::Never, .writes = {{{"", "create, get, update"}}}},
    KindRow<api::Event>{.plural = "events",
                        .watched = &watched::Never,
                        .writes = {{{"", "create, patch, update"}}}},
    KindRow<api::Binding>{.plural = "bindings", .watched = &watched::Never},
};

// Calls f(const KindRow<T>&) for every row, in order.
template <class F>
constexpr void ForEachKind(F&& f) {
  std::apply([&](const auto&... row) { (f(row), ...); }, kKindTable);
}

namespace internal {
template <class T, class Table>
struct HasRow;
template <class T, class... Row>
struct HasRow<T, const std::tuple<Row...>>
    : std::bool_constant<(std::is_same_v<T, typename Row::Type> || ...)> {};
}  // namespace internal

template <class T>
constexpr bool HasStore() {
  if constexpr (internal::HasRow<T, decltype(kKindTable)>::value) {
    return std::get<KindRow<T>>(kKindTable).store != nullptr;
  } else {
    return false;
  }
}

// A kind whose objects have a store in ObjectStore.
template <class T>
concept StoredKind = HasStore<T>();

template <StoredKind T>
Store<T>& StoreOf(ObjectStore& objects) {
  return objects.*std::get<KindRow<T>>(kKindTable).store;
}
template <StoredKind T>
constexpr std::optional<KindEvents> EventsOf() {
  return std::get<KindRow<T>>(kKindTable).events;
}

// The kinds that are listed and watched, in order.
std::vector<KindInfo> WatchedKinds(const config::Behaviour& behaviour);
// Null for a kind without a row. The version is that of 1.34.
const KindInfo* FindKind(std::string_view kind);

// What the lists of a custom resource are called: its kind, followed by its group if a kind of the
// table has the same name.
std::string ListNameOf(const CustomKind& kind);
// The same for an object. REQUIRES: it has no type of its own, or no store.
bool IsOfList(std::string_view list_name, std::string_view api_version, std::string_view kind);

// One rule of a role: what the scheduler may do with a kind.
struct KindRights {
  std::string_view group;  // "" is core
  std::string_view plural;
  std::string_view subresource;
  std::string_view verbs;  // "get, list, watch"
};
// Everything that a scheduler with this behaviour does, with plugins that read `custom` resources.
// The rights refer to them.
std::vector<KindRights> RightsOf(const config::Behaviour& behaviour,
                                 std::span<const CustomKind> custom = {});

}  // namespace berth::cluster
