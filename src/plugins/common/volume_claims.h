// Claims of a pod's volumes: the claim behind a volume, and kube-scheduler's messages for invalid
// ones. Shared by the volume plugins.
#pragma once

#include <string>
#include <string_view>

#include "api/core/persistent_volume.h"
#include "api/core/persistent_volume_claim.h"
#include "api/core/volume.h"
#include "cluster/cluster.h"
#include "cluster/pods/pod.h"

namespace berth::plugins {

inline constexpr std::string_view kBetaClassAnnotation = "volume.beta.kubernetes.io/storage-class";
// On a claim: the binding with its volume is complete.
inline constexpr std::string_view kBindCompletedAnnotation = "pv.kubernetes.io/bind-completed";
// On a volume: it was bound by a controller, not by a user.
inline constexpr std::string_view kBoundByControllerAnnotation =
    "pv.kubernetes.io/bound-by-controller";
// On a claim: where its volume is to be provisioned.
inline constexpr std::string_view kSelectedNodeAnnotation = "volume.kubernetes.io/selected-node";

inline constexpr std::string_view kWaitForFirstConsumer = "WaitForFirstConsumer";

// The claim behind a volume of a pod.
struct VolumeClaim {
  enum class Kind : uint8_t { kNone, kClaim, kEphemeral };
  Kind kind = Kind::kNone;  // kNone: the volume has no claim
  std::string name;         // in the pod's namespace
};

VolumeClaim ClaimOf(const cluster::Pod& pod, const api::Volume& volume);

// Was the claim made for this pod? The claim of an ephemeral volume must be.
bool IsControlledBy(const api::PersistentVolumeClaim& claim, const cluster::Pod& pod);
std::string NotMadeForPod(const api::PersistentVolumeClaim& claim, const cluster::Pod& pod);

// The name of the storage class, empty for none.
std::string_view ClassOf(const api::PersistentVolumeClaim& claim);
std::string_view ClassOf(const api::PersistentVolume& volume);

// Bound to a volume, and both sides know.
bool IsFullyBound(const api::PersistentVolumeClaim& claim);

// Is the volume's claimRef this very claim, or the name of it before it existed?
bool IsBoundTo(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);

// A lister's error message: `persistentvolumeclaim "data" not found`.
std::string NotFound(std::string_view resource, std::string_view name);
inline constexpr std::string_view kClaimResource = "persistentvolumeclaim";
inline constexpr std::string_view kVolumeResource = "persistentvolume";
inline constexpr std::string_view kClassResource = "storageclass.storage.k8s.io";

}  // namespace berth::plugins
