// The arguments of NodeResourceTopologyMatch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct NumaScoringStrategy {
  std::string type;  // LeastAllocated, MostAllocated, BalancedAllocation or LeastNUMANodes
  std::vector<ResourceSpec> resources;

  bool operator==(const NumaScoringStrategy&) const = default;
  static const api::TypeInfo& Type();
};

// How the cache of assumed resources works.
struct NumaCacheArgs {
  std::optional<std::string> foreign_pods_detect;
  std::optional<std::string> resync_method;
  std::optional<std::string> informer_mode;
  std::optional<std::string> resync_scope;

  bool operator==(const NumaCacheArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct NodeResourceTopologyMatchArgs {
  static constexpr std::string_view kPlugin = "NodeResourceTopologyMatch";

  std::optional<NumaScoringStrategy> scoring_strategy;
  int64_t cache_resync_period_seconds = 0;
  bool discard_reserved_nodes = false;
  std::optional<NumaCacheArgs> cache;
  std::string accuracy;  // Exact; empty: the original's. The original has no such field.

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const NodeResourceTopologyMatchArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
