// Kinds of resource names.
#pragma once

#include <string_view>

namespace berth::api {

inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kPods = "pods";

bool IsHugePageResource(std::string_view name);

// Qualified by a domain other than kubernetes.io: "example.com/gpu".
bool IsExtendedResource(std::string_view name);

// Scheduling counts it beside cpu, memory and ephemeral storage: extended resources, huge pages,
// names with kubernetes.io/, attachable volumes.
bool IsScalarResource(std::string_view name);

// May be requested for the pod as a whole: cpu, memory, huge pages.
bool IsPodLevelResource(std::string_view name);

}  // namespace berth::api
