// The quality of service class of a pod.
#pragma once

#include <cstdint>

namespace berth::api {

struct Pod;

// In order of precedence, lowest first.
enum class QosClass : uint8_t { kBestEffort, kBurstable, kGuaranteed };

// By the spec, as the API server derives status.qosClass from it. Only cpu and memory count:
// Guaranteed if every container has limits for both and its requests equal them, BestEffort if no
// container asks for any, Burstable otherwise. If the pod as a whole has resources, those count
// instead of its containers'.
QosClass QosOf(const Pod& pod);

}  // namespace berth::api
