// What DynamicResources knows during a cycle; of its own files only.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "plugins/common/extended_resource.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/extended_resources.h"

namespace berth::plugins::dynamic_resources {

// One claim of the pod.
struct ClaimInfo {
  const api::ResourceClaim* claim = nullptr;
  // Where an allocated claim can be used: everywhere, on one node, or on nodes that the selector
  // matches. Nowhere, if its devices will not get ready for binding.
  bool nowhere = false;
  bool anywhere = true;
  cluster::NodeIndex only_node = cluster::kNoNode;
  std::optional<NodeMatcher> matcher;

  bool AvailableOn(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    if (nowhere) return false;
    return anywhere || (matcher ? matcher->Matches(cluster, n) : n == only_node);
  }
};

// What Filter notes down about 64 nodes.
struct WordNotes {
  std::vector<size_t> unavailable;  // allocated claims that were out of reach of some node
  std::vector<std::pair<cluster::NodeIndex, std::string>> errors;

  void Clear() {
    unavailable.clear();
    errors.clear();
  }
};

// The answers for one kind of claims on all nodes, kept from pod to pod: a node is decided again
// only after something about its devices has changed.
struct DynamicResources::Verdicts {
  uint64_t serial = 0;  // of the kind: never used for two of them
  uint64_t pools_version = 0;
  uint64_t use_generation = 0;
  uint64_t last_use = 0;
  cluster::NodeSet possible;
  cluster::NodeSet impossible;
};

// What has to be allocated on some nodes: all claims without an allocation, the one for extended
// resources with requests for what these nodes do not provide themselves.
struct DynamicResources::Variant {
  uint64_t provided = 0;  // bits of ExtendedResources::of_devices
  std::shared_ptr<const api::ResourceClaim> extended_claim;
  Plan plan;
  std::shared_ptr<Verdicts> verdicts;
};

struct DynamicResources::State final : framework::PluginState {
  std::vector<ClaimInfo> claims;
  bool restricted = false;  // some claim is not available everywhere
  bool to_allocate = false;
  // Of the claim for extended resources, which is the last of the claims if there is one.
  ExtendedResources extended;
  const config::DraFeatures* features = nullptr;
  bool new_extended_claim = false;  // to be made
  bool old_extended_claim = false;  // made by an earlier attempt
  // If there is something to allocate: the first one for nodes that provide nothing.
  std::vector<Variant> variants;
  mutable std::vector<WordNotes> notes;  // by word of nodes

  // By Reserve.
  std::vector<std::shared_ptr<const api::ResourceClaim>> reserved;

  void Clear() {
    claims.clear();
    restricted = false;
    to_allocate = false;
    extended = {};
    new_extended_claim = false;
    old_extended_claim = false;
    variants.clear();
    reserved.clear();
  }

  // The extended resources of devices that the node provides itself.
  uint64_t ProvidedBy(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    uint64_t provided = 0;
    for (size_t i = 0; i < extended.of_devices.size(); ++i) {
      if (NodeProvides(*features, cluster, n, extended.of_devices[i])) provided |= uint64_t{1} << i;
    }
    return provided;
  }
  // Nothing but extended resources, and the node has all of them itself.
  bool LeftToNode(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    return new_extended_claim && claims.size() == 1 &&
           std::popcount(ProvidedBy(cluster, n)) == static_cast<int>(extended.of_devices.size());
  }
  // REQUIRES: to_allocate, and not LeftToNode.
  size_t VariantOf(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    if (variants.size() == 1) return 0;
    const uint64_t provided = ProvidedBy(cluster, n);
    const auto it = std::ranges::find(variants, provided, &Variant::provided);
    return static_cast<size_t>(it - variants.begin());
  }
};

}  // namespace berth::plugins::dynamic_resources
