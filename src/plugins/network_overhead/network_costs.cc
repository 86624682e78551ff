#include "plugins/network_overhead/network_costs.h"

#include <algorithm>

#include "api/codec/json.h"
#include "api/codec/schema.h"

namespace berth::plugins::network_overhead {
namespace {

constexpr std::string_view kRegion = "topology.kubernetes.io/region";
constexpr std::string_view kZone = "topology.kubernetes.io/zone";
// Measured weights are written in order; others are sorted here.
constexpr std::string_view kMeasured = "NetperfCosts";

struct CostInfo {
  std::string destination;
  int64_t network_cost = 0;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<CostInfo>("CostInfo")
                                          .Always(0, "destination", &CostInfo::destination)
                                          .Always(0, "networkCost", &CostInfo::network_cost)
                                          .Build();
    return type;
  }
};

struct OriginInfo {
  std::string origin;
  std::vector<CostInfo> cost_list;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<OriginInfo>("OriginInfo")
                                          .Always(0, "origin", &OriginInfo::origin)
                                          .Field(0, "costList", &OriginInfo::cost_list)
                                          .Build();
    return type;
  }
};

struct TopologyInfo {
  std::string topology_key;
  std::vector<OriginInfo> origin_list;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<TopologyInfo>("TopologyInfo")
                                          .Always(0, "topologyKey", &TopologyInfo::topology_key)
                                          .Always(0, "originList", &TopologyInfo::origin_list)
                                          .Build();
    return type;
  }
};

struct WeightInfo {
  std::string name;
  std::vector<TopologyInfo> topology_list;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<WeightInfo>("WeightInfo")
                                          .Always(0, "name", &WeightInfo::name)
                                          .Always(0, "topologyList", &WeightInfo::topology_list)
                                          .Build();
    return type;
  }
};

struct Spec {
  std::vector<WeightInfo> weights;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<Spec>("NetworkTopologySpec").Always(0, "weights", &Spec::weights).Build();
    return type;
  }
};

struct Object {
  Spec spec;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<Object>("NetworkTopology").Field(0, "spec", &Object::spec).Build();
    return type;
  }
};

// A binary search as in the original: in a list that is not sorted it may miss.
template <class T, class Key>
const T* Search(const std::vector<T>& list, std::string_view want, Key key) {
  size_t low = 0;
  size_t end = list.size();
  while (low < end) {
    const size_t middle = (low + end - 1) / 2;
    const std::string& there = key(list[middle]);
    if (there == want) return &list[middle];
    if (there < want) {
      low = middle + 1;
    } else {
      end = middle;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<NetworkCosts> NetworkCosts::Parse(std::string_view json, std::string_view weights) {
  const auto object = api::FromJson<Object>(json);
  if (!object) return std::nullopt;
  NetworkCosts costs;
  for (const WeightInfo& info : object->spec.weights) {
    if (info.name != weights) continue;
    Weights& set = costs.sets_.emplace_back();
    for (const TopologyInfo& topology : info.topology_list) {
      Level& level = set.emplace_back(Level{topology.topology_key, {}});
      for (const OriginInfo& from : topology.origin_list) {
        Origin& origin = level.origins.emplace_back(Origin{from.origin, {}});
        for (const CostInfo& cost : from.cost_list) {
          origin.costs.push_back({cost.destination, cost.network_cost});
        }
      }
      if (weights == kMeasured) continue;
      std::stable_sort(level.origins.begin(), level.origins.end(),
                       [](const Origin& a, const Origin& b) { return a.name < b.name; });
    }
    if (weights == kMeasured) continue;
    std::stable_sort(set.begin(), set.end(),
                     [](const Level& a, const Level& b) { return a.key < b.key; });
  }
  return costs;
}

const NetworkCosts::Level* NetworkCosts::FindLevel(const Weights& weights, std::string_view key) {
  return Search(weights, key, [](const Level& level) -> const std::string& { return level.key; });
}

void NetworkCosts::AddFrom(const Weights& weights, std::string_view key, const std::string& name,
                           Table* table) {
  const Level* level = name.empty() ? nullptr : FindLevel(weights, key);
  if (level == nullptr) return;
  const Origin* origin =
      Search(level->origins, name, [](const Origin& o) -> const std::string& { return o.name; });
  if (origin == nullptr) return;
  for (const Cost& cost : origin->costs) {
    table->insert_or_assign({name, cost.destination}, cost.cost);
  }
}

NetworkCosts::Table NetworkCosts::From(const std::string& region, const std::string& zone) const {
  Table table;
  for (const Weights& weights : sets_) {
    AddFrom(weights, kRegion, region, &table);
    AddFrom(weights, kZone, zone, &table);
  }
  return table;
}

}  // namespace berth::plugins::network_overhead
