// HorizontalPodAutoscalers on simulated load.
//
// No container runs, so a workload says how much it would use: the annotation
// berth.dev/load-cpu (or -memory) of the scaled Deployment, StatefulSet or ReplicaSet is what all
// its pods use together. They share it evenly, so more of them use less each. Metrics of other
// kinds are not measured.
#pragma once

#include <cstdint>
#include <string_view>

namespace berth::apiserver {

class World;

inline constexpr std::string_view kLoadAnnotation = "berth.dev/load-";  // and the resource

void AddAutoscalers(World& world);

// How many replicas bring `usage`, spread over `replicas` of which `ready` are ready, to `target`
// each: kube-controller-manager's rule, with its tolerance of a tenth. All in the same unit.
// REQUIRES: target > 0.
int64_t ReplicasFor(int64_t usage, int64_t target, int64_t ready, int64_t replicas);

}  // namespace berth::apiserver
