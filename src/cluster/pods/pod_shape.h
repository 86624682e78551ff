// PodShape: everything scheduling reads from a pod, but for its identity and its place.
//
// Pods made from one template have equal shapes and share one PodShape object, so what is derived
// from a pod (requests as integers, ports, images, what plugins compile from selectors) is derived
// once per template. Shapes are immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/rules/pod_requests.h"
#include "cluster/ids.h"
#include "cluster/pods/host_ports.h"
#include "cluster/table/amounts.h"
#include "cluster/table/dictionary.h"

namespace berth::cluster {

class ResourceNames;

// What not every pod has and not every plugin looks at. Bits combine.
enum ShapePart : uint32_t {
  kHasVolumes = 1u << 0,  // that scheduling reads
  kHasResourceClaims = 1u << 1,
  kHasHostPorts = 1u << 2,
  kHasNodeAffinity = 1u << 3,  // or a nodeSelector
};
inline constexpr size_t kShapePartSets = 1u << 4;  // combinations of parts

struct PodShape {
  uint32_t id = 0;  // dense: index for side tables. Reused after the last pod of the shape is gone.
  uint64_t serial = 0;  // never reused: tells a reused id from the old one
  // Equal for shapes that differ in labels, volumes and resource claims alone, as those of the pods
  // of a StatefulSet or of an indexed Job do. Never reused.
  uint64_t kind = 0;
  uint32_t parts = 0;  // those it has

  std::string namespace_;
  int32_t priority = 0;
  bool never_preempts = false;  // preemptionPolicy: Never

  Amounts fit;  // what NodeResourcesFit compares with the node's free amounts
  Amounts
      on_node;  // what the pod adds to its node once placed; also what balanced allocation scores
  int64_t nonzero_cpu = 0;     // as on_node, with 100m per container that asks for none
  int64_t nonzero_memory = 0;  // as on_node, with 200 MiB per container that asks for none
  Amounts fit_score;           // what the allocation scores of NodeResourcesFit add to a node

  std::vector<HostPort> host_ports;     // wanted on the node, port > 0
  std::vector<StringId> images;         // of init and main containers, normalised, in order
  std::vector<StringId> image_volumes;  // the images of volumes, the same way
  std::vector<std::string> scheduling_gates;
  // The pod's claims and disks in the VolumeUseTable, once per volume. Claims of ephemeral volumes
  // are not among them: their names differ from pod to pod.
  std::vector<StringId> volume_keys;

  // The pod this shape was first seen on: spec, labels and what scheduling reads of the status hold
  // for all its pods; name and uid do not. Parts that scheduling does not read are empty.
  api::Pod source;
};

// A pod's shape as bytes, in two halves; two pods have the same shape exactly when both are equal.
// The first is that of its kind: all but what is often one pod's own.
void AppendKindKey(const api::Pod& pod, std::string* key);
// The second: labels, volumes and resource claims.
void AppendOwnKey(const api::Pod& pod, std::string* key);

// What follows the first half where plugins read annotations: those of `keys` that the pod has.
void AppendAnnotationsKey(const api::Pod& pod, const std::vector<std::string>& keys,
                          std::string* out);

// Whether `status` says to scheduling what the status of the shape's pods says.
bool HasStatusOf(const PodShape& shape, const api::PodStatus& status);

// Derives the shape of `pod`; `id`, `serial` and `kind` are left to the caller.
PodShape CompileShape(const api::Pod& pod, const api::RequestRules& rules, Dictionary& strings,
                      ResourceNames& resources);

}  // namespace berth::cluster
