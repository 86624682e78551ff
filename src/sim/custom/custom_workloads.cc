#include "sim/custom/custom_workloads.h"

#include <string_view>

namespace berth::sim {
namespace {

bool Is(const api::UnknownObject& object, std::string_view group, std::string_view kind) {
  return object.kind == kind && object.api_version.starts_with(group) &&
         object.api_version.size() > group.size() && object.api_version[group.size()] == '/';
}

bool IsJobSet(const api::UnknownObject& o) { return Is(o, "jobset.x-k8s.io", "JobSet"); }
bool IsLeaderWorkerSet(const api::UnknownObject& o) {
  return Is(o, "leaderworkerset.x-k8s.io", "LeaderWorkerSet");
}
bool IsSchedulingWorkload(const api::UnknownObject& o) {
  return Is(o, "scheduling.k8s.io", "Workload");
}

}  // namespace

bool IsCustomWorkload(const api::UnknownObject& object) {
  return IsJobSet(object) || IsLeaderWorkerSet(object) || IsSchedulingWorkload(object);
}

Result<std::vector<api::Object>> ExpandCustom(const api::UnknownObject& object) {
  if (IsJobSet(object)) return ExpandJobSet(object);
  if (IsLeaderWorkerSet(object)) return ExpandLeaderWorkerSet(object);
  return ExpandSchedulingWorkload(object);
}

}  // namespace berth::sim
