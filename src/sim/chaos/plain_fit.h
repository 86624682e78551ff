// PlainFit: may a pod run on a node? As simple as possible, an independent check of the scheduler's
// plugins.
//
// Checks resources, the number of pods, cordons, taints, node selectors and affinity, and host
// ports. For a pod for which IsPlain() holds, this is complete.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"

namespace berth::sim {

// cpu in millicores, all else in units.
using PlainAmounts = std::map<std::string, int64_t, std::less<>>;
// Sum of the containers; the simulation's pods request nothing else.
PlainAmounts RequestsOf(const api::Pod& pod);
PlainAmounts AllocatableOf(const api::Node& node);

// Does the pod fit on the node beside `others`? Empty: yes; otherwise the obstacle.
std::string WhyNot(const api::Pod& pod, const api::Node& node,
                   std::span<const api::Pod* const> others);
// The check of resources and the number of pods alone.
std::string WhatIsShort(const api::Pod& pod, const api::Node& node,
                        std::span<const api::Pod* const> others);

// Has the pod no rules about other pods, no claims on storage and none on devices?
bool IsPlain(const api::Pod& pod);
// Does the required anti-affinity of `other` exclude `pod` from its topology domain?
bool Repels(const api::Pod& other, const api::Pod& pod);

}  // namespace berth::sim
