// What DynamicResources knows during a cycle; of its own files only.
#pragma once

#include <algorithm>
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

struct DynamicResources::State final : framework::PluginState {
  std::vector<ClaimInfo> claims;
  bool restricted = false;  // some claim is not available everywhere
  bool to_allocate = false;
  // Of the claim for extended resources, which is the last of the claims if there is one.
  ExtendedResources extended;
  std::shared_ptr<const api::ResourceClaim> extended_claim;  // to be made
  bool old_extended_claim = false;                           // made by an earlier attempt
  Plan plan;
  std::shared_ptr<Verdicts> verdicts;
  mutable std::vector<WordNotes> notes;  // by word of nodes

  // By Reserve.
  std::vector<std::shared_ptr<const api::ResourceClaim>> reserved;

  void Clear() {
    claims.clear();
    restricted = false;
    to_allocate = false;
    extended = {};
    extended_claim = nullptr;
    old_extended_claim = false;
    verdicts = nullptr;
    reserved.clear();
  }

  // Nothing but extended resources, and the node has all of them itself.
  bool LeftToNode(const cluster::Cluster& cluster, cluster::NodeIndex n) const {
    return extended_claim && claims.size() == 1 &&
           std::all_of(extended.of_devices.begin(), extended.of_devices.end(),
                       [&](cluster::ResourceId id) { return NodeHas(cluster, n, id); });
  }
};

}  // namespace berth::plugins::dynamic_resources
