// PlainFit: may a pod be on a node? Written down as plainly as possible, to be compared with what
// the scheduler's plugins say.
//
// Looks at resources, the number of pods, cordons, taints, node selectors and affinity, and host
// ports. For a pod for which IsPlain() holds, this is all there is to look at.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"

namespace berth::sim {

// cpu in thousandths, all else in units.
using PlainAmounts = std::map<std::string, int64_t, std::less<>>;
// Of the containers; the pods of the simulation have nothing else that asks for resources.
PlainAmounts RequestsOf(const api::Pod& pod);
PlainAmounts AllocatableOf(const api::Node& node);

// Does the pod go on the node besides `others`? Empty: yes; else what is in the way.
std::string WhyNot(const api::Pod& pod, const api::Node& node,
                   std::span<const api::Pod* const> others);
// The part of it about resources and the number of pods.
std::string WhatIsShort(const api::Pod& pod, const api::Node& node,
                        std::span<const api::Pod* const> others);

// Has the pod no rules about other pods, no claims on storage and none on devices?
bool IsPlain(const api::Pod& pod);
// Does `other` keep `pod` away from its topology domain (required anti-affinity)?
bool Repels(const api::Pod& other, const api::Pod& pod);

}  // namespace berth::sim
