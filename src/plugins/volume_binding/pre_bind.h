// The PreBind task of VolumeBinding: writes what Reserve decided, then waits until the API server's
// controllers have bound every claim.
//
// What its writes change, against the objects of the same resourceVersion:
//
// - PersistentVolume: spec.claimRef, metadata.annotations["pv.kubernetes.io/bound-by-controller"]
// - PersistentVolumeClaim: metadata.annotations["volume.kubernetes.io/selected-node"]
//
// An object that already has all of that is written nevertheless: the API server refuses the write
// if the object has changed since it was read. Nothing is reverted when the pod is not bound: the
// volumes stay with their claims for the pod's next attempt.
#pragma once

#include <memory>
#include <string>

#include "framework/points/pre_bind.h"
#include "plugins/volume_binding/volume_binding.h"

namespace berth::plugins::volume_binding {

// Releases the reservation in `plugin` once all claims are bound; until then Unreserve reverts it.
std::unique_ptr<framework::PreBindTask> MakePreBindTask(VolumeBinding& plugin,
                                                        const ReservedVolumes& reserved,
                                                        std::string pod_uid, std::string pod_name);

}  // namespace berth::plugins::volume_binding
