#include "plugins/common/app_group.h"

#include "api/codec/json.h"
#include "cluster/objects/object_store.h"

namespace berth::plugins {

using api::Describe;
using api::TypeInfo;

const TypeInfo& AppWorkload::Type() {
  static const TypeInfo type =
      Describe<AppWorkload>("Workload").Always(0, "selector", &AppWorkload::selector).Build();
  return type;
}

const TypeInfo& AppDependency::Type() {
  using T = AppDependency;
  static const TypeInfo type = Describe<T>("DependenciesInfo")
                                   .Always(0, "workload", &T::workload)
                                   .Field(0, "maxNetworkCost", &T::max_network_cost)
                                   .Build();
  return type;
}

const TypeInfo& AppGroupMember::Type() {
  using T = AppGroupMember;
  static const TypeInfo type = Describe<T>("AppGroupWorkload")
                                   .Always(0, "workload", &T::workload)
                                   .Field(0, "dependencies", &T::dependencies)
                                   .Build();
  return type;
}

const TypeInfo& AppGroupSpec::Type() {
  static const TypeInfo type = Describe<AppGroupSpec>("AppGroupSpec")
                                   .Always(0, "workloads", &AppGroupSpec::workloads)
                                   .Build();
  return type;
}

const TypeInfo& AppGroupPosition::Type() {
  using T = AppGroupPosition;
  static const TypeInfo type = Describe<T>("AppGroupTopologyInfo")
                                   .Field(0, "workload", &T::workload)
                                   .Field(0, "index", &T::index)
                                   .Build();
  return type;
}

const TypeInfo& AppGroupStatus::Type() {
  static const TypeInfo type = Describe<AppGroupStatus>("AppGroupStatus")
                                   .Field(0, "topologyOrder", &AppGroupStatus::topology_order)
                                   .Build();
  return type;
}

const TypeInfo& AppGroup::Type() {
  static const TypeInfo type = Describe<AppGroup>("AppGroup")
                                   .Field(0, "spec", &AppGroup::spec)
                                   .Field(0, "status", &AppGroup::status)
                                   .Build();
  return type;
}

// A binary search, as in the original: in a list that is not sorted it may miss.
int32_t AppGroup::OrderOf(std::string_view selector) const {
  const auto& order = status.topology_order;
  size_t low = 0;
  size_t end = order.size();
  while (low < end) {
    const size_t middle = (low + end - 1) / 2;
    const std::string& there = order[middle].workload.selector;
    if (there == selector) return order[middle].index;
    if (there < selector) {
      low = middle + 1;
    } else {
      end = middle;
    }
  }
  return -1;
}

const AppGroup* AppGroups::Find(const cluster::Cluster& cluster,
                                const std::vector<std::string>& namespaces, const std::string& name,
                                bool needs_uid) {
  const cluster::CustomKind& kind = AppGroupKind();
  const auto* store = cluster.Objects().custom.Find(kind.ApiVersion(), kind.kind);
  if (store == nullptr) return nullptr;
  if (store->Generation() != generation_) {
    parsed_.clear();
    generation_ = store->Generation();
  }
  for (const std::string& ns : namespaces) {
    const auto* object = store->Find(ns, name);
    if (object == nullptr || (needs_uid && object->metadata.uid.empty())) continue;
    const auto [it, inserted] = parsed_.try_emplace(ns + "/" + name);
    if (inserted) {
      if (auto group = api::FromJson<AppGroup>(object->json)) it->second = std::move(*group);
    }
    if (it->second) return &*it->second;
  }
  return nullptr;
}

}  // namespace berth::plugins
