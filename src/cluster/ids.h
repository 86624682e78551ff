// Small integers that stand for things with names. Inside the core nothing is compared or hashed by
// name.
#pragma once

#include <cstdint>
#include <limits>

namespace berth::cluster {

// A row of the node table. Rows are stable while the node exists, and reused after it is gone.
using NodeIndex = uint32_t;
inline constexpr NodeIndex kNoNode = std::numeric_limits<NodeIndex>::max();

// A string in the cluster's dictionary. Equal ids mean equal strings.
using StringId = uint32_t;
inline constexpr StringId kNoString = std::numeric_limits<StringId>::max();

// A resource name. The first three are fixed; every other name (extended resources, hugepages, …)
// follows.
using ResourceId = uint32_t;
inline constexpr ResourceId kCpu = 0;               // in thousandths of a core
inline constexpr ResourceId kMemory = 1;            // in bytes
inline constexpr ResourceId kEphemeralStorage = 2;  // in bytes
inline constexpr ResourceId kFirstScalar = 3;
inline constexpr ResourceId kNoResource = std::numeric_limits<ResourceId>::max();

// A pod in the cluster's pod table, pending or placed.
using PodId = uint32_t;
inline constexpr PodId kNoPod = std::numeric_limits<PodId>::max();

}  // namespace berth::cluster
