// AppGroup (appgroup.diktyo.x-k8s.io/v1alpha1): workloads that talk to each other, in which order
// they are placed, and what their connections may cost.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "cluster/cluster.h"
#include "cluster/objects/custom_kinds.h"

namespace berth::plugins {

inline constexpr std::string_view kAppGroupLabel = "appgroup.diktyo.x-k8s.io";
inline constexpr std::string_view kWorkloadLabel = "appgroup.diktyo.x-k8s.io.workload";

inline const cluster::CustomKind& AppGroupKind() {
  static const cluster::CustomKind kKind{"appgroup.diktyo.x-k8s.io", "v1alpha1", "AppGroup",
                                         "appgroups", true};
  return kKind;
}

struct AppWorkload {
  std::string selector;  // the label value of its pods

  bool operator==(const AppWorkload&) const = default;
  static const api::TypeInfo& Type();
};

struct AppDependency {
  AppWorkload workload;
  int64_t max_network_cost = 0;

  bool operator==(const AppDependency&) const = default;
  static const api::TypeInfo& Type();
};

struct AppGroupMember {
  AppWorkload workload;
  std::vector<AppDependency> dependencies;

  bool operator==(const AppGroupMember&) const = default;
  static const api::TypeInfo& Type();
};

struct AppGroupSpec {
  std::vector<AppGroupMember> workloads;

  bool operator==(const AppGroupSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct AppGroupPosition {
  AppWorkload workload;
  int32_t index = 0;

  bool operator==(const AppGroupPosition&) const = default;
  static const api::TypeInfo& Type();
};

struct AppGroupStatus {
  std::vector<AppGroupPosition> topology_order;  // sorted by selector by whoever writes it

  bool operator==(const AppGroupStatus&) const = default;
  static const api::TypeInfo& Type();
};

struct AppGroup {
  AppGroupSpec spec;
  AppGroupStatus status;

  // The position of a workload; -1 when it has none.
  int32_t OrderOf(std::string_view selector) const;

  bool operator==(const AppGroup&) const = default;
  static const api::TypeInfo& Type();
};

// The AppGroups of a cluster, parsed once per change.
class AppGroups {
 public:
  // The group of this name in the first of `namespaces` that has one; null: there is none. With
  // `needs_uid` a group without a uid does not count.
  const AppGroup* Find(const cluster::Cluster& cluster, const std::vector<std::string>& namespaces,
                       const std::string& name, bool needs_uid);

 private:
  std::map<std::string, std::optional<AppGroup>, std::less<>> parsed_;  // by "namespace/name"
  uint64_t generation_ = UINT64_MAX;
};

}  // namespace berth::plugins
