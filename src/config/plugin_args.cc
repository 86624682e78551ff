#include "config/plugin_args.h"

#include <type_traits>

#include "config/args_validation.h"
#include "config/config.h"
#include "config/scheduler_plugins.h"

namespace berth::config {

using api::Describe;
using api::TypeInfo;

const TypeInfo& DefaultPreemptionArgs::Type() {
  using T = DefaultPreemptionArgs;
  static const TypeInfo type =
      Describe<T>("DefaultPreemptionArgs")
          .Object(kApiVersion, "DefaultPreemptionArgs")
          .Always(0, "minCandidateNodesPercentage", &T::min_candidate_nodes_percentage)
          .Always(0, "minCandidateNodesAbsolute", &T::min_candidate_nodes_absolute)
          .Build();
  return type;
}

const TypeInfo& DynamicResourcesArgs::Type() {
  using T = DynamicResourcesArgs;
  static const TypeInfo type = Describe<T>("DynamicResourcesArgs")
                                   .Object(kApiVersion, "DynamicResourcesArgs")
                                   .Always(0, "filterTimeout", &T::filter_timeout)
                                   .Field(0, "bindingTimeout", &T::binding_timeout)
                                   .Build();
  return type;
}

const TypeInfo& InterPodAffinityArgs::Type() {
  using T = InterPodAffinityArgs;
  static const TypeInfo type = Describe<T>("InterPodAffinityArgs")
                                   .Object(kApiVersion, "InterPodAffinityArgs")
                                   .Always(0, "hardPodAffinityWeight", &T::hard_pod_affinity_weight)
                                   .Always(0, "ignorePreferredTermsOfExistingPods",
                                           &T::ignore_preferred_terms_of_existing_pods)
                                   .Build();
  return type;
}

const TypeInfo& NodeAffinityArgs::Type() {
  static const TypeInfo type = Describe<NodeAffinityArgs>("NodeAffinityArgs")
                                   .Object(kApiVersion, "NodeAffinityArgs")
                                   .Field(0, "addedAffinity", &NodeAffinityArgs::added_affinity)
                                   .Build();
  return type;
}

const TypeInfo& ResourceSpec::Type() {
  static const TypeInfo type = Describe<ResourceSpec>("ResourceSpec")
                                   .Always(0, "name", &ResourceSpec::name)
                                   .Field(0, "weight", &ResourceSpec::weight)
                                   .Build();
  return type;
}

const TypeInfo& NodeResourcesBalancedAllocationArgs::Type() {
  using T = NodeResourcesBalancedAllocationArgs;
  static const TypeInfo type = Describe<T>("NodeResourcesBalancedAllocationArgs")
                                   .Object(kApiVersion, "NodeResourcesBalancedAllocationArgs")
                                   .Field(0, "resources", &T::resources)
                                   .Build();
  return type;
}

const TypeInfo& UtilizationShapePoint::Type() {
  using T = UtilizationShapePoint;
  static const TypeInfo type = Describe<T>("UtilizationShapePoint")
                                   .Always(0, "utilization", &T::utilization)
                                   .Always(0, "score", &T::score)
                                   .Build();
  return type;
}

const TypeInfo& RequestedToCapacityRatioParam::Type() {
  using T = RequestedToCapacityRatioParam;
  static const TypeInfo type =
      Describe<T>("RequestedToCapacityRatioParam").Field(0, "shape", &T::shape).Build();
  return type;
}

const TypeInfo& ScoringStrategy::Type() {
  using T = ScoringStrategy;
  static const TypeInfo type =
      Describe<T>("ScoringStrategy")
          .Field(0, "type", &T::type)
          .Field(0, "resources", &T::resources)
          .Field(0, "requestedToCapacityRatio", &T::requested_to_capacity_ratio)
          .Build();
  return type;
}

const TypeInfo& NodeResourcesFitArgs::Type() {
  using T = NodeResourcesFitArgs;
  static const TypeInfo type = Describe<T>("NodeResourcesFitArgs")
                                   .Object(kApiVersion, "NodeResourcesFitArgs")
                                   .Field(0, "ignoredResources", &T::ignored_resources)
                                   .Field(0, "ignoredResourceGroups", &T::ignored_resource_groups)
                                   .Field(0, "scoringStrategy", &T::scoring_strategy)
                                   .Build();
  return type;
}

const TypeInfo& PodTopologySpreadArgs::Type() {
  using T = PodTopologySpreadArgs;
  static const TypeInfo type = Describe<T>("PodTopologySpreadArgs")
                                   .Object(kApiVersion, "PodTopologySpreadArgs")
                                   .Field(0, "defaultConstraints", &T::default_constraints)
                                   .Field(0, "defaultingType", &T::defaulting_type)
                                   .Build();
  return type;
}

const TypeInfo& VolumeBindingArgs::Type() {
  using T = VolumeBindingArgs;
  static const TypeInfo type = Describe<T>("VolumeBindingArgs")
                                   .Object(kApiVersion, "VolumeBindingArgs")
                                   .Always(0, "bindTimeoutSeconds", &T::bind_timeout_seconds)
                                   .Field(0, "shape", &T::shape)
                                   .Build();
  return type;
}

namespace {

constexpr int64_t kDefaultFilterTimeoutNs = 10'000'000'000;
constexpr int64_t kDefaultBindingTimeoutNs = 600'000'000'000;

std::vector<ResourceSpec> DefaultResources() { return {{"cpu", 1}, {"memory", 1}}; }

void DefaultWeights(std::vector<ResourceSpec>& resources) {
  if (resources.empty()) resources = DefaultResources();
  for (ResourceSpec& resource : resources) {
    if (resource.weight == 0) resource.weight = 1;
  }
}

void Fill(std::monostate&, const Behaviour&) {}
void Fill(DefaultPreemptionArgs&, const Behaviour&) {}
void Fill(InterPodAffinityArgs&, const Behaviour&) {}
void Fill(NodeAffinityArgs&, const Behaviour&) {}
// By default nodes with much free capacity score high.
void Fill(VolumeBindingArgs& args, const Behaviour& behaviour) {
  if (!behaviour.storage_capacity_scoring || (args.shape && !args.shape->empty())) return;
  args.shape = {{0, kMaxCustomPriorityScore}, {100, 0}};
}
void Fill(DynamicResourcesArgs& args, const Behaviour& behaviour) {
  if (behaviour.dra_filter_timeout && !args.filter_timeout) {
    args.filter_timeout = api::Duration{kDefaultFilterTimeoutNs};
  }
  if (behaviour.binding_timeout_allowed && !args.binding_timeout) {
    args.binding_timeout = api::Duration{kDefaultBindingTimeoutNs};
  }
}
void Fill(NodeResourcesBalancedAllocationArgs& args, const Behaviour&) {
  DefaultWeights(args.resources);
}
void Fill(NodeResourcesFitArgs& args, const Behaviour&) {
  if (!args.scoring_strategy) args.scoring_strategy = ScoringStrategy{"LeastAllocated", {}, {}};
  DefaultWeights(args.scoring_strategy->resources);
}
void Fill(OwnArgs& args, const Behaviour&) { args.row().set_defaults(args.data()); }
void Fill(PodTopologySpreadArgs& args, const Behaviour&) {
  if (args.defaulting_type.empty()) args.defaulting_type = "System";
}

PluginArgs EmptyArgsOf(std::string_view plugin) {
  if (plugin == "DefaultPreemption") return DefaultPreemptionArgs();
  if (plugin == "DynamicResources")
    return DynamicResourcesArgs{.filter_timeout = std::nullopt, .binding_timeout = std::nullopt};
  if (plugin == "InterPodAffinity") return InterPodAffinityArgs();
  if (plugin == "NodeAffinity") return NodeAffinityArgs();
  if (plugin == "NodeResourcesBalancedAllocation") return NodeResourcesBalancedAllocationArgs();
  if (plugin == "NodeResourcesFit") return NodeResourcesFitArgs();
  if (plugin == "PodTopologySpread") return PodTopologySpreadArgs();
  if (plugin == "VolumeBinding") return VolumeBindingArgs();
  if (const ArgsRow* row = SchedulerPluginArgs(plugin)) return OwnArgs(*row);
  return std::monostate();
}

}  // namespace

PluginArgs DefaultArgsOf(std::string_view plugin, const Behaviour& behaviour) {
  PluginArgs args = EmptyArgsOf(plugin);
  SetArgsDefaults(args, behaviour);
  return args;
}

PluginArgs NewArgsOf(std::string_view plugin) { return EmptyArgsOf(plugin); }

const TypeInfo& ArgsType(const PluginArgs& args) {
  return std::visit(
      [](const auto& value) -> const TypeInfo& {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return api::TypeOf<api::Presence>();
        } else if constexpr (std::is_same_v<T, OwnArgs>) {
          return value.row().type();
        } else {
          return T::Type();
        }
      },
      args);
}

void* ArgsData(PluginArgs& args) {
  if (auto* own = std::get_if<OwnArgs>(&args)) return own->data();
  return std::visit([](auto& value) -> void* { return &value; }, args);
}

const void* ArgsData(const PluginArgs& args) {
  if (const auto* own = std::get_if<OwnArgs>(&args)) return own->data();
  return std::visit([](const auto& value) -> const void* { return &value; }, args);
}

void SetArgsDefaults(PluginArgs& args, const Behaviour& behaviour) {
  std::visit([&](auto& value) { Fill(value, behaviour); }, args);
}

}  // namespace berth::config
