#include "plugins/node_resource_topology/node_topology.h"

#include <algorithm>
#include <array>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "api/go/go_int.h"

namespace berth::plugins::node_resource_topology {
namespace {

constexpr int64_t kMostCells = 64;
constexpr int64_t kMostNumaNodes = 1024;

struct Attribute {
  std::string name;
  std::string value;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Attribute>("AttributeInfo")
                                          .Always(0, "name", &Attribute::name)
                                          .Always(0, "value", &Attribute::value)
                                          .Build();
    return type;
  }
};

struct Cost {
  std::string name;
  int64_t value = 0;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Cost>("CostInfo")
                                          .Always(0, "name", &Cost::name)
                                          .Always(0, "value", &Cost::value)
                                          .Build();
    return type;
  }
};

struct Resource {
  std::string name;
  api::Quantity capacity;
  api::Quantity allocatable;
  api::Quantity available;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Resource>("ResourceInfo")
                                          .Always(0, "name", &Resource::name)
                                          .Always(0, "capacity", &Resource::capacity)
                                          .Always(0, "allocatable", &Resource::allocatable)
                                          .Always(0, "available", &Resource::available)
                                          .Build();
    return type;
  }
};

struct Zone {
  std::string name;
  std::string type;
  std::vector<Cost> costs;
  std::vector<Resource> resources;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo info = api::Describe<Zone>("Zone")
                                          .Always(0, "name", &Zone::name)
                                          .Always(0, "type", &Zone::type)
                                          .Field(0, "costs", &Zone::costs)
                                          .Field(0, "resources", &Zone::resources)
                                          .Build();
    return info;
  }
};

struct TopologyObject {
  std::vector<std::string> policies;  // deprecated: the first one counts
  std::vector<Zone> zones;
  std::vector<Attribute> attributes;

  static const api::TypeInfo& Type() {
    using T = TopologyObject;
    static const api::TypeInfo type = api::Describe<T>("NodeResourceTopology")
                                          .Field(0, "topologyPolicies", &T::policies)
                                          .Always(0, "zones", &T::zones)
                                          .Field(0, "attributes", &T::attributes)
                                          .Build();
    return type;
  }
};

// The number in "node-3".
std::optional<int> CellOf(std::string_view name) {
  constexpr std::string_view kPrefix = "node-";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  const auto id = api::ParseGoInt(name.substr(kPrefix.size()));
  if (!id || *id < 0 || *id >= kMostCells) return std::nullopt;
  return static_cast<int>(*id);
}

void TakePolicy(std::string_view name, NodeTopology* topology) {
  struct Known {
    std::string_view name;
    Policy policy;
    Scope scope;
  };
  static constexpr std::array kKnown = {
      Known{"SingleNUMANodePodLevel", Policy::kSingleNumaNode, Scope::kPod},
      Known{"SingleNUMANodeContainerLevel", Policy::kSingleNumaNode, Scope::kContainer},
      Known{"BestEffortPodLevel", Policy::kBestEffort, Scope::kPod},
      Known{"BestEffortContainerLevel", Policy::kBestEffort, Scope::kContainer},
      Known{"RestrictedPodLevel", Policy::kRestricted, Scope::kPod},
      Known{"RestrictedContainerLevel", Policy::kRestricted, Scope::kContainer},
  };
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    topology->policy = known.policy;
    topology->scope = known.scope;
  }
}

// Values that the kubelet does not know change nothing.
void TakeAttribute(const Attribute& attribute, NodeTopology* topology) {
  const std::string& value = attribute.value;
  if (attribute.name == "topologyManagerScope") {
    if (value == "pod") topology->scope = Scope::kPod;
    if (value == "container") topology->scope = Scope::kContainer;
  } else if (attribute.name == "topologyManagerPolicy") {
    if (value == "none") topology->policy = Policy::kNone;
    if (value == "best-effort") topology->policy = Policy::kBestEffort;
    if (value == "restricted") topology->policy = Policy::kRestricted;
    if (value == "single-numa-node") topology->policy = Policy::kSingleNumaNode;
  } else if (attribute.name == "topologyManagerMaxNUMANodes") {
    const auto most = api::ParseGoInt(value);
    if (most && *most > 1) {
      topology->max_numa_nodes = static_cast<int>(std::min(*most, kMostNumaNodes));
    }
  } else if (attribute.name == "nodeTopologyPodsFingerprint") {
    if (!topology->has_fingerprint) topology->fingerprint = value;
    topology->has_fingerprint = true;
  } else if (attribute.name == "nodeTopologyPodsFingerprintMethod") {
    topology->fingerprint_is_of_exclusive = value == "with-exclusive-resources";
  }
}

// Of two zones with one number, each keeps its resources and both get the costs of the last.
void TakeCosts(const std::vector<Zone>& zones, NodeTopology* topology) {
  std::map<int, std::map<int, int64_t>> costs;
  for (const Zone& zone : zones) {
    const auto id = zone.type == "Node" ? CellOf(zone.name) : std::nullopt;
    if (!id) continue;
    auto& own = costs[*id];
    own.clear();
    for (const Cost& cost : zone.costs) {
      if (const auto to = CellOf(cost.name)) own[*to] = cost.value;
    }
  }
  for (NumaCell& cell : topology->cells) cell.costs = costs[cell.id];
}

}  // namespace

std::optional<NodeTopology> NodeTopology::Parse(std::string_view json) {
  const auto object = api::FromJson<TopologyObject>(json);
  if (!object) return std::nullopt;
  NodeTopology topology;
  if (!object->policies.empty()) TakePolicy(object->policies.front(), &topology);
  for (const Attribute& attribute : object->attributes) TakeAttribute(attribute, &topology);
  for (const Zone& zone : object->zones) {
    const auto id = zone.type == "Node" ? CellOf(zone.name) : std::nullopt;
    if (!id) continue;
    NumaCell& cell = topology.cells.emplace_back();
    cell.id = *id;
    for (const Resource& resource : zone.resources) {
      cell.available.insert_or_assign(resource.name, resource.available);
      cell.allocatable.insert_or_assign(resource.name, resource.allocatable);
      cell.capacity.insert_or_assign(resource.name, resource.capacity);
    }
  }
  TakeCosts(object->zones, &topology);
  return topology;
}

}  // namespace berth::plugins::node_resource_topology
