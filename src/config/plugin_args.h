// The arguments of the in-tree plugins that take any, as pluginConfig gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/codec/schema.h"
#include "api/core/affinity.h"
#include "api/time.h"
#include "config/behaviour.h"
#include "config/own_args.h"

namespace berth::config {

struct DefaultPreemptionArgs {
  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  bool operator==(const DefaultPreemptionArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct DynamicResourcesArgs {
  std::optional<api::Duration> filter_timeout = api::Duration{10'000'000'000};  // zero: no limit
  std::optional<api::Duration> binding_timeout = std::nullopt;  // how long conditions are awaited

  bool operator==(const DynamicResourcesArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct InterPodAffinityArgs {
  int32_t hard_pod_affinity_weight = 1;
  bool ignore_preferred_terms_of_existing_pods = false;

  bool operator==(const InterPodAffinityArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct NodeAffinityArgs {
  std::optional<api::NodeAffinity> added_affinity;

  bool operator==(const NodeAffinityArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct ResourceSpec {
  std::string name;
  int64_t weight = 0;

  bool operator==(const ResourceSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct NodeResourcesBalancedAllocationArgs {
  std::vector<ResourceSpec> resources;

  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct UtilizationShapePoint {
  int32_t utilization = 0;
  int32_t score = 0;

  bool operator==(const UtilizationShapePoint&) const = default;
  static const api::TypeInfo& Type();
};

struct RequestedToCapacityRatioParam {
  std::vector<UtilizationShapePoint> shape;

  bool operator==(const RequestedToCapacityRatioParam&) const = default;
  static const api::TypeInfo& Type();
};

struct ScoringStrategy {
  std::string type;  // LeastAllocated, MostAllocated or RequestedToCapacityRatio
  std::vector<ResourceSpec> resources;
  std::optional<RequestedToCapacityRatioParam> requested_to_capacity_ratio;

  bool operator==(const ScoringStrategy&) const = default;
  static const api::TypeInfo& Type();
};

struct NodeResourcesFitArgs {
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  std::optional<ScoringStrategy> scoring_strategy;

  bool operator==(const NodeResourcesFitArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct PodTopologySpreadArgs {
  std::vector<api::TopologySpreadConstraint> default_constraints;
  std::string defaulting_type;  // System or List

  bool operator==(const PodTopologySpreadArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct VolumeBindingArgs {
  int64_t bind_timeout_seconds = 600;
  std::optional<std::vector<UtilizationShapePoint>> shape;

  bool operator==(const VolumeBindingArgs&) const = default;
  static const api::TypeInfo& Type();
};

// std::monostate: the plugin has no argument type.
using PluginArgs =
    std::variant<std::monostate, DefaultPreemptionArgs, DynamicResourcesArgs, InterPodAffinityArgs,
                 NodeAffinityArgs, NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
                 PodTopologySpreadArgs, VolumeBindingArgs, OwnArgs>;

// The arguments as a T of a row of their own; null if they are not of this type.
template <class T>
const T* OwnArgsAs(const PluginArgs& args) {
  const auto* own = std::get_if<OwnArgs>(&args);
  return own == nullptr ? nullptr : own->As<T>();
}

// The default arguments of `plugin`, std::monostate if it has no argument type.
PluginArgs DefaultArgsOf(std::string_view plugin, const Behaviour& behaviour);
// The same before SetArgsDefaults(): what decoding starts from.
PluginArgs NewArgsOf(std::string_view plugin);

// The description of the arguments held and where they are. REQUIRES: not std::monostate.
const api::TypeInfo& ArgsType(const PluginArgs& args);
void* ArgsData(PluginArgs& args);
const void* ArgsData(const PluginArgs& args);

// What v1 fills in for values that were absent or empty: weights of 0, empty
// resource lists, no defaulting type, and what feature gates add.
void SetArgsDefaults(PluginArgs& args, const Behaviour& behaviour);

}  // namespace berth::config
