// PodNeeds: what alignment with NUMA cells reads from a pod, derived once per pod shape.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "api/rules/pod_qos.h"
#include "api/rules/quantity.h"

namespace berth::plugins::node_resource_topology {

// Resources by name, in order of names.
using Needs = std::vector<std::pair<std::string, api::Quantity>>;

enum class ContainerKind : uint8_t { kInit, kSidecar, kApp };

struct PodNeeds {
  api::QosClass qos = api::QosClass::kBestEffort;
  bool has_non_native = false;  // some container asks for a resource with a domain
  std::vector<std::pair<ContainerKind, Needs>> containers;  // init containers first
  Needs pod;  // the containers together or the largest init container, and the overhead

  explicit PodNeeds(const api::Pod& pod);

  // Every node suits it.
  bool FitsAnywhere() const { return qos == api::QosClass::kBestEffort && !has_non_native; }
  // Some container gets devices, CPUs or memory that no other container may use.
  bool IsExclusive() const;
};

bool IsNativeResource(std::string_view name);
// cpu, memory and huge pages: NUMA cells have their own. Only Guaranteed pods get them from there.
bool IsNumaAffine(std::string_view name);
// May be there without belonging to a cell.
bool IsHostLevel(std::string_view name);

}  // namespace berth::plugins::node_resource_topology
