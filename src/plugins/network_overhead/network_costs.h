// NetworkTopology (networktopology.diktyo.x-k8s.io/v1alpha1): what it costs to talk from one region
// or zone to another.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cluster/objects/custom_kinds.h"

namespace berth::plugins::network_overhead {

inline const cluster::CustomKind& NetworkTopologyKind() {
  static const cluster::CustomKind kKind{"networktopology.diktyo.x-k8s.io", "v1alpha1",
                                         "NetworkTopology", "networktopologies", true};
  return kKind;
}

// The costs of one set of weights.
class NetworkCosts {
 public:
  // By origin and destination.
  using Table = std::map<std::pair<std::string, std::string>, int64_t>;

  // Nothing when the text is no such object. `weights`: the name of the set.
  static std::optional<NetworkCosts> Parse(std::string_view json, std::string_view weights);

  // The costs from a region and a zone to all others; an empty name has none.
  Table From(const std::string& region, const std::string& zone) const;

 private:
  struct Cost {
    std::string destination;
    int64_t cost = 0;
  };
  struct Origin {
    std::string name;
    std::vector<Cost> costs;
  };
  struct Level {
    std::string key;  // "topology.kubernetes.io/zone"
    std::vector<Origin> origins;
  };
  using Weights = std::vector<Level>;

  static const Level* FindLevel(const Weights& weights, std::string_view key);
  static void AddFrom(const Weights& weights, std::string_view key, const std::string& origin,
                      Table* table);

  std::vector<Weights> sets_;  // of the name; mostly one
};

}  // namespace berth::plugins::network_overhead
