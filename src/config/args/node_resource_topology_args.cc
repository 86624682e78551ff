#include "config/args/node_resource_topology_args.h"

#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {

const api::TypeInfo& NumaScoringStrategy::Type() {
  using T = NumaScoringStrategy;
  static const api::TypeInfo type = api::Describe<T>("ScoringStrategy")
                                        .Field(0, "type", &T::type)
                                        .Field(0, "resources", &T::resources)
                                        .Build();
  return type;
}

const api::TypeInfo& NumaCacheArgs::Type() {
  using T = NumaCacheArgs;
  static const api::TypeInfo type = api::Describe<T>("NodeResourceTopologyCache")
                                        .Field(0, "foreignPodsDetect", &T::foreign_pods_detect)
                                        .Field(0, "resyncMethod", &T::resync_method)
                                        .Field(0, "informerMode", &T::informer_mode)
                                        .Field(0, "resyncScope", &T::resync_scope)
                                        .Build();
  return type;
}

const api::TypeInfo& NodeResourceTopologyMatchArgs::Type() {
  using T = NodeResourceTopologyMatchArgs;
  static const api::TypeInfo type =
      api::Describe<T>("NodeResourceTopologyMatchArgs")
          .Object(kApiVersion, "NodeResourceTopologyMatchArgs")
          .Field(0, "scoringStrategy", &T::scoring_strategy)
          .Always(0, "cacheResyncPeriodSeconds", &T::cache_resync_period_seconds)
          .Field(0, "discardReservedNodes", &T::discard_reserved_nodes)
          .Field(0, "cache", &T::cache)
          .Field(0, "accuracy", &T::accuracy)
          .Build();
  return type;
}

void NodeResourceTopologyMatchArgs::SetDefaults() {
  if (!scoring_strategy) scoring_strategy = NumaScoringStrategy{"LeastAllocated", {}};
  if (scoring_strategy->resources.empty()) {
    scoring_strategy->resources = {{"cpu", 1}, {"memory", 1}};
  }
  for (ResourceSpec& resource : scoring_strategy->resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
  if (!cache) cache.emplace();
  if (!cache->foreign_pods_detect) cache->foreign_pods_detect = "All";
  if (!cache->resync_method) cache->resync_method = "Autodetect";
  if (!cache->informer_mode) cache->informer_mode = "Dedicated";
}

void NodeResourceTopologyMatchArgs::Validate(std::vector<std::string>& errors) const {
  const std::string type = scoring_strategy ? scoring_strategy->type : "";
  if (type != "MostAllocated" && type != "BalancedAllocation" && type != "LeastAllocated" &&
      type != "LeastNUMANodes") {
    errors.push_back(
        api::InvalidString("scoringStrategy.type", type, "invalid ScoringStrategyType"));
  }
  if (accuracy.empty()) return;
  if (accuracy != "Exact") {
    errors.push_back(api::InvalidString("accuracy", accuracy, "must be Exact, or absent"));
  } else if (discard_reserved_nodes || cache_resync_period_seconds > 0) {
    errors.push_back(api::InvalidString(
        "accuracy", accuracy,
        "keeps a ledger of its own: leave out discardReservedNodes and cacheResyncPeriodSeconds"));
  }
}

}  // namespace berth::config
