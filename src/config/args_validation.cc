#include "config/args_validation.h"

#include <algorithm>
#include <set>

#include "api/codec/json.h"
#include "api/rules/node_affinity.h"

namespace berth::config {
namespace {

void Check(std::string_view, const std::monostate&, const Behaviour&, FieldErrors&) {}
void Check(std::string_view, const NodeResourcesFitArgs&, const Behaviour&, FieldErrors&) {}
void Check(std::string_view, const OwnArgs&, const Behaviour&, FieldErrors&) {}

void Check(std::string_view path, const DefaultPreemptionArgs& args, const Behaviour&,
           FieldErrors& errors) {
  const int32_t percentage = args.min_candidate_nodes_percentage;
  const int32_t absolute = args.min_candidate_nodes_absolute;
  const std::string percentage_path = Child(path, "minCandidateNodesPercentage");
  const std::string absolute_path = Child(path, "minCandidateNodesAbsolute");
  if (percentage < 0 || percentage > 100) {
    errors.push_back(Invalid(percentage_path, percentage, "not in valid range [0, 100]"));
  }
  if (absolute < 0) {
    errors.push_back(Invalid(absolute_path, absolute, "not in valid range [0, inf)"));
  }
  if (percentage == 0 && absolute == 0) {
    errors.push_back(Invalid(percentage_path, percentage,
                             "cannot be zero at the same time as minCandidateNodesAbsolute"));
    errors.push_back(Invalid(absolute_path, absolute,
                             "cannot be zero at the same time as minCandidateNodesPercentage"));
  }
}

void Check(std::string_view path, const DynamicResourcesArgs& args, const Behaviour& behaviour,
           FieldErrors& errors) {
  if (args.filter_timeout && !behaviour.dra_filter_timeout) {
    errors.push_back(Child(path, "filterTimeout") +
                     ": Forbidden: DRASchedulingFilterTimeout feature gate is disabled");
  } else if (args.filter_timeout && args.filter_timeout->ns < 0) {
    errors.push_back(api::InvalidString(Child(path, "filterTimeout"), args.filter_timeout->Format(),
                                        "must be zero or positive"));
  }
  if (!args.binding_timeout) return;
  if (!behaviour.binding_timeout_allowed) {
    errors.push_back(Child(path, "bindingTimeout") +
                     ": Forbidden: DRADeviceBindingConditions or DRAResourceClaimDeviceStatus "
                     "feature gate is disabled");
  } else if (args.binding_timeout->ns < 1'000'000'000) {
    errors.push_back(api::InvalidString(Child(path, "bindingTimeout"),
                                        args.binding_timeout->Format(),
                                        "must be at least 1 second"));
  }
}

void Check(std::string_view path, const InterPodAffinityArgs& args, const Behaviour&,
           FieldErrors& errors) {
  if (args.hard_pod_affinity_weight < 0 || args.hard_pod_affinity_weight > 100) {
    errors.push_back(Invalid(Child(path, "hardPodAffinityWeight"), args.hard_pod_affinity_weight,
                             "not in valid range [0, 100]"));
  }
}

void CheckTerm(const api::NodeSelectorTerm& term, const std::string& path, FieldErrors& errors) {
  if (api::NodeTerm::IsEmpty(term)) return;
  const api::NodeTerm parsed(term, path);
  errors.insert(errors.end(), parsed.Errors().begin(), parsed.Errors().end());
}

void Check(std::string_view path, const NodeAffinityArgs& args, const Behaviour&,
           FieldErrors& errors) {
  if (!args.added_affinity) return;
  const std::string affinity = Child(path, "addedAffinity");
  if (const auto& required =
          args.added_affinity->required_during_scheduling_ignored_during_execution) {
    const std::string terms =
        Child(affinity, "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms");
    for (size_t i = 0; i < required->node_selector_terms.size(); ++i) {
      CheckTerm(required->node_selector_terms[i], Item(terms, i), errors);
    }
  }
  const std::string preferred = Child(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  const auto& terms = args.added_affinity->preferred_during_scheduling_ignored_during_execution;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].weight != 0) CheckTerm(terms[i].preference, Item(preferred, i), errors);
  }
}

void Check(std::string_view path, const NodeResourcesBalancedAllocationArgs& args, const Behaviour&,
           FieldErrors& errors) {
  std::set<std::string_view> seen;
  for (size_t i = 0; i < args.resources.size(); ++i) {
    const ResourceSpec& resource = args.resources[i];
    const std::string item = Item(Child(path, "resources"), i);
    if (!seen.insert(resource.name).second) {
      errors.push_back(Duplicate(Child(item, "name"), resource.name));
    }
    if (resource.weight != 1) {
      errors.push_back(Invalid(Child(item, "weight"), resource.weight, "must be 1"));
    }
  }
}

void CheckTopologyKey(const std::string& path, const std::string& key, const Behaviour& behaviour,
                      FieldErrors& errors) {
  if (key.empty()) {
    errors.push_back(Required(path, "can not be empty"));
  } else {
    CheckLabelName(path, key, behaviour, errors);
  }
}

void CheckWhenUnsatisfiable(const std::string& path, const std::string& action,
                            FieldErrors& errors) {
  if (action.empty()) {
    errors.push_back(Required(path, "can not be empty"));
  } else if (action != "DoNotSchedule" && action != "ScheduleAnyway") {
    errors.push_back(api::UnsupportedValue(path, action, {"DoNotSchedule", "ScheduleAnyway"}));
  }
}

void Check(std::string_view path, const PodTopologySpreadArgs& args, const Behaviour& behaviour,
           FieldErrors& errors) {
  const std::string& type = args.defaulting_type;
  const std::string type_path = Child(path, "defaultingType");
  if (type != "System" && type != "List") {
    errors.push_back(api::UnsupportedValue(type_path, type, {"System", "List"}));
  } else if (type == "System" && !args.default_constraints.empty()) {
    errors.push_back(api::InvalidString(type_path, type, "when .defaultConstraints are not empty"));
  }
  const std::string constraints = Child(path, "defaultConstraints");
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < args.default_constraints.size(); ++i) {
    const api::TopologySpreadConstraint& constraint = args.default_constraints[i];
    const std::string item = Item(constraints, i);
    if (constraint.max_skew <= 0) {
      errors.push_back(
          Invalid(Child(item, "maxSkew"), constraint.max_skew, "not in valid range (0, inf)"));
    }
    CheckTopologyKey(Child(item, "topologyKey"), constraint.topology_key, behaviour, errors);
    CheckWhenUnsatisfiable(Child(item, "whenUnsatisfiable"), constraint.when_unsatisfiable, errors);
    if (constraint.label_selector) {
      errors.push_back(fmt::format(
          "{}: Forbidden: constraint must not define a selector, as they deduced for each pod",
          Child(item, "labelSelector")));
    }
    if (!seen.emplace(constraint.topology_key, constraint.when_unsatisfiable).second) {
      errors.push_back(Duplicate(
          item, fmt::format("{{{}, {}}}", constraint.topology_key, constraint.when_unsatisfiable)));
    }
  }
}

void Check(std::string_view path, const VolumeBindingArgs& args, const Behaviour& behaviour,
           FieldErrors& errors) {
  if (args.bind_timeout_seconds < 0) {
    errors.push_back(Invalid(Child(path, "bindTimeoutSeconds"), args.bind_timeout_seconds,
                             "invalid BindTimeoutSeconds, should not be a negative value"));
  }
  if (!args.shape) return;
  if (behaviour.storage_capacity_scoring) {
    ValidateShape(*args.shape, Child(path, "shape"), errors);
    return;
  }
  std::vector<std::string> points;
  for (const UtilizationShapePoint& point : *args.shape) {
    points.push_back(
        fmt::format("{{\"Utilization\":{},\"Score\":{}}}", point.utilization, point.score));
  }
  errors.push_back(Invalid(Child(path, "shape"), fmt::format("[{}]", fmt::join(points, ",")),
                           "unexpected field `shape`, remove it or turn on the feature gate "
                           "StorageCapacityScoring"));
}

void CheckRatio(const ScoringStrategy& strategy, FieldErrors& errors) {
  const std::string path = "scoringStrategy.requestedToCapacityRatio";
  const auto& ratio = strategy.requested_to_capacity_ratio;
  if (strategy.type != "RequestedToCapacityRatio") {
    if (ratio) {
      errors.push_back(path + ": Forbidden: must be nil when type is not RequestedToCapacityRatio");
    }
  } else if (!ratio) {
    errors.push_back(Required(path, "must be specified when type is RequestedToCapacityRatio"));
  } else {
    ValidateShape(ratio->shape, path + ".shape", errors);
  }
}

void CheckStrategy(const ScoringStrategy& strategy, const Behaviour& behaviour,
                   FieldErrors& errors) {
  if (strategy.type != "LeastAllocated" && strategy.type != "MostAllocated" &&
      strategy.type != "RequestedToCapacityRatio") {
    errors.push_back(
        api::UnsupportedValue("scoringStrategy.type", strategy.type,
                              {"LeastAllocated", "MostAllocated", "RequestedToCapacityRatio"}));
  }
  for (size_t i = 0; i < strategy.resources.size(); ++i) {
    const ResourceSpec& resource = strategy.resources[i];
    if (resource.weight > 0 && resource.weight <= 100) continue;
    errors.push_back(
        Invalid(Child(Item("scoringStrategy.resources", i), "weight"), resource.weight,
                fmt::format("resource weight of {} not in valid range (0, 100]", resource.name)));
  }
  if (behaviour.strict_scoring_strategy) {
    CheckRatio(strategy, errors);
  } else if (strategy.requested_to_capacity_ratio) {
    ValidateShape(strategy.requested_to_capacity_ratio->shape, "scoringStrategy.shape", errors);
  } else if (strategy.type == "RequestedToCapacityRatio" && errors.empty()) {
    errors.push_back(Required("scoringStrategy.requestedToCapacityRatio",
                              "RequestedToCapacityRatio needs a shape"));
  }
}

}  // namespace

void ValidateShape(const std::vector<UtilizationShapePoint>& shape, const std::string& path,
                   FieldErrors& errors) {
  if (shape.empty()) {
    errors.push_back(Required(path, "at least one point must be specified"));
    return;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    if (shape[i - 1].utilization < shape[i].utilization) continue;
    errors.push_back(Invalid(Child(Item(path, i), "utilization"), shape[i].utilization,
                             "values must be sorted in increasing order"));
    break;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto [utilization, score] = shape[i];
    if (utilization < 0 || utilization > 100) {
      errors.push_back(
          Invalid(Child(Item(path, i), "utilization"), utilization, "not in valid range [0, 100]"));
    }
    if (score < 0 || score > kMaxCustomPriorityScore) {
      errors.push_back(Invalid(Child(Item(path, i), "score"), score, "not in valid range [0, 10]"));
    }
  }
}

void ValidateArgs(std::string_view path, const PluginArgs& args, const Behaviour& behaviour,
                  FieldErrors& errors) {
  std::visit([&](const auto& value) { Check(path, value, behaviour, errors); }, args);
}

void ValidateNodeResourcesFitArgs(const NodeResourcesFitArgs& args, const Behaviour& behaviour,
                                  FieldErrors& errors) {
  for (size_t i = 0; i < args.ignored_resources.size(); ++i) {
    CheckLabelName(Item("ignoredResources", i), args.ignored_resources[i], behaviour, errors);
  }
  for (size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
    const std::string& group = args.ignored_resource_groups[i];
    const std::string path = Item("ignoredResourceGroups", i);
    if (group.find('/') != std::string::npos) {
      errors.push_back(api::InvalidString(path, group, "resource group name can't contain '/'"));
    }
    CheckLabelName(path, group, behaviour, errors);
  }
  if (args.scoring_strategy) {
    CheckStrategy(*args.scoring_strategy, behaviour, errors);
  } else if (behaviour.strict_scoring_strategy) {
    errors.push_back(Required("scoringStrategy", "ScoringStrategy field is required"));
  }
}

}  // namespace berth::config
