// Object: a value of any kind berth knows, for manifests, snapshots and whatever else mixes kinds.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "api/apps/daemon_set.h"
#include "api/apps/deployment.h"
#include "api/apps/replica_set.h"
#include "api/apps/stateful_set.h"
#include "api/batch/cron_job.h"
#include "api/batch/job.h"
#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "api/coordination/lease.h"
#include "api/core/limit_range.h"
#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/core/persistent_volume.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/pod.h"
#include "api/core/reference.h"
#include "api/core/replication_controller.h"
#include "api/core/service.h"
#include "api/events/event.h"
#include "api/meta.h"
#include "api/policy/pod_disruption_budget.h"
#include "api/resource/device_class.h"
#include "api/resource/device_taint_rule.h"
#include "api/resource/resource_claim.h"
#include "api/resource/resource_claim_template.h"
#include "api/resource/resource_slice.h"
#include "api/scheduling/pod_group.h"
#include "api/scheduling/priority_class.h"
#include "api/storage/csi_driver.h"
#include "api/storage/csi_node.h"
#include "api/storage/csi_storage_capacity.h"
#include "api/storage/storage_class.h"
#include "api/storage/volume_attachment.h"
#include "api/unknown_object.h"
#include "base/error.h"

namespace berth::api {

using Object =
    std::variant<UnknownObject, Pod, Node, Namespace, Service, ReplicationController, ReplicaSet,
                 StatefulSet, Deployment, DaemonSet, Job, CronJob, PersistentVolume,
                 PersistentVolumeClaim, StorageClass, CSINode, CSIDriver, CSIStorageCapacity,
                 VolumeAttachment, PodDisruptionBudget, PriorityClass, ResourceClaim,
                 ResourceClaimTemplate, ResourceSlice, DeviceClass, DeviceTaintRule, PodGroup,
                 LimitRange, Lease, Event, Binding, Status>;

// A kind that has a type of its own in Object.
struct ObjectKind {
  std::string_view api_version;
  std::string_view kind;
  const TypeInfo& (*type)();
  void* (*emplace)(Object& object);  // the new, empty value
};

// Null for a kind that becomes an UnknownObject.
const ObjectKind* FindObjectKind(std::string_view api_version, std::string_view kind);

// Decodes the JSON of one object; apiVersion and kind inside it pick the type.
Result<Object> DecodeObject(std::string_view json, DecodeOptions options = {});

// The same when the type is already known, with a decoder to reuse.
Result<Object> DecodeObjectAs(std::string_view api_version, std::string_view kind,
                              std::string_view json, JsonDecoder& decoder);

// Decodes protobuf in its envelope.
Result<Object> DecodeObjectProto(std::string_view bytes);

std::string_view KindOf(const Object& object);
std::string_view ApiVersionOf(const Object& object);

// Metadata of the object; null for a Status, which has none.
const ObjectMeta* MetadataOf(const Object& object);
ObjectMeta* MetadataOf(Object& object);

}  // namespace berth::api
