#include "plugins/node_resource_topology/pod_needs.h"

#include <algorithm>
#include <map>

#include "api/rules/resource_name.h"

namespace berth::plugins::node_resource_topology {
namespace {

using Sums = std::map<std::string, api::Quantity>;

Needs NeedsOf(const api::ResourceList& list) {
  Needs needs(list.begin(), list.end());
  std::sort(needs.begin(), needs.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  return needs;
}

void AddTo(Sums& sums, const api::ResourceList& list) {
  for (const auto& [name, quantity] : list) {
    const auto [it, inserted] = sums.try_emplace(name, quantity);
    if (!inserted) it->second.Add(quantity);
  }
}

// As a whole; init containers that stay are not told apart.
Needs EffectiveNeeds(const api::PodSpec& spec) {
  Sums sums;
  for (const api::Container& container : spec.containers) {
    AddTo(sums, container.resources.requests);
  }
  for (const api::Container& container : spec.init_containers) {
    for (const auto& [name, quantity] : container.resources.requests) {
      const auto [it, inserted] = sums.try_emplace(name, quantity);
      if (!inserted) it->second = std::max(it->second, quantity);
    }
  }
  AddTo(sums, spec.overhead);
  return {sums.begin(), sums.end()};
}

}  // namespace

PodNeeds::PodNeeds(const api::Pod& from) : qos(api::QosOf(from)), pod(EffectiveNeeds(from.spec)) {
  for (const api::Container& container : from.spec.init_containers) {
    const bool stays = container.restart_policy == "Always";
    containers.emplace_back(stays ? ContainerKind::kSidecar : ContainerKind::kInit,
                            NeedsOf(container.resources.requests));
  }
  for (const api::Container& container : from.spec.containers) {
    containers.emplace_back(ContainerKind::kApp, NeedsOf(container.resources.requests));
  }
  for (const auto& [kind, needs] : containers) {
    for (const auto& [name, quantity] : needs) has_non_native |= !IsNativeResource(name);
  }
}

bool PodNeeds::IsExclusive() const {
  const auto is_exclusive = [this](const auto& need) {
    const auto& [name, quantity] = need;
    if (!IsNativeResource(name)) return true;
    if (qos != api::QosClass::kGuaranteed || quantity.Value() <= 0) return false;
    if (name == "cpu") return quantity.MilliValue() % 1000 == 0;
    return IsNumaAffine(name);
  };
  return std::any_of(containers.begin(), containers.end(), [&](const auto& container) {
    return std::any_of(container.second.begin(), container.second.end(), is_exclusive);
  });
}

bool IsNativeResource(std::string_view name) {
  return name.find('/') == std::string_view::npos ||
         name.find("kubernetes.io/") != std::string_view::npos;
}

bool IsNumaAffine(std::string_view name) {
  return name == "cpu" || name == "memory" || api::IsHugePageResource(name);
}

bool IsHostLevel(std::string_view name) {
  return name == "ephemeral-storage" || name == "storage" || !IsNativeResource(name);
}

}  // namespace berth::plugins::node_resource_topology
