#include "bench/perf/suite.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml.h"

namespace berth::bench {

using api::Describe;
using api::TypeInfo;

const TypeInfo& NodeAllocatable::Type() {
  static const TypeInfo type =
      Describe<NodeAllocatable>("NodeAllocatableStrategy")
          .Field(0, "nodeAllocatable", &NodeAllocatable::node_allocatable)
          .Field(0, "csiNodeAllocatable", &NodeAllocatable::csi_node_allocatable)
          .Field(0, "migratedPlugins", &NodeAllocatable::migrated_plugins)
          .Build();
  return type;
}

const TypeInfo& NodeLabels::Type() {
  static const TypeInfo type = Describe<NodeLabels>("LabelNodePrepareStrategy")
                                   .Field(0, "labelKey", &NodeLabels::label_key)
                                   .Field(0, "labelValues", &NodeLabels::label_values)
                                   .Build();
  return type;
}

const TypeInfo& UniqueNodeLabel::Type() {
  static const TypeInfo type = Describe<UniqueNodeLabel>("UniqueNodeLabelStrategy")
                                   .Field(0, "labelKey", &UniqueNodeLabel::label_key)
                                   .Build();
  return type;
}

const TypeInfo& PodsOp::Type() {
  static const TypeInfo type =
      Describe<PodsOp>("createPodsOp")
          .Field(0, "opcode", &PodsOp::opcode)
          .Field(0, "count", &PodsOp::count)
          .Field(0, "countParam", &PodsOp::count_param)
          .Field(0, "steadyState", &PodsOp::steady_state)
          .Field(0, "duration", &PodsOp::duration)
          .Field(0, "durationParam", &PodsOp::duration_param)
          .Field(0, "collectMetrics", &PodsOp::collect_metrics)
          .Field(0, "namespace", &PodsOp::namespace_)
          .Field(0, "podTemplatePath", &PodsOp::pod_template_path)
          .Field(0, "skipWaitToCompletion", &PodsOp::skip_wait_to_completion)
          .Field(0, "persistentVolumeTemplatePath", &PodsOp::persistent_volume_template_path)
          .Field(0, "persistentVolumeClaimTemplatePath",
                 &PodsOp::persistent_volume_claim_template_path)
          .Build();
  return type;
}

const TypeInfo& PerfOp::Type() {
  static const TypeInfo type =
      Describe<PerfOp>("op")
          .Field(0, "opcode", &PerfOp::opcode)
          .Field(0, "count", &PerfOp::count)
          .Field(0, "countParam", &PerfOp::count_param)
          .Field(0, "duration", &PerfOp::duration)
          .Field(0, "durationParam", &PerfOp::duration_param)
          .Field(0, "namespace", &PerfOp::namespace_)
          .Field(0, "namespaces", &PerfOp::namespaces)
          .Field(0, "labelSelector", &PerfOp::label_selector)
          .Field(0, "skipWaitToCompletion", &PerfOp::skip_wait_to_completion)
          .Field(0, "nodeTemplatePath", &PerfOp::node_template_path)
          .Field(0, "nodeAllocatableStrategy", &PerfOp::node_allocatable)
          .Field(0, "labelNodePrepareStrategy", &PerfOp::node_labels)
          .Field(0, "uniqueNodeLabelStrategy", &PerfOp::unique_node_label)
          .Field(0, "prefix", &PerfOp::prefix)
          .Field(0, "namespaceTemplatePath", &PerfOp::namespace_template_path)
          .Field(0, "steadyState", &PerfOp::steady_state)
          .Field(0, "collectMetrics", &PerfOp::collect_metrics)
          .Field(0, "podTemplatePath", &PerfOp::pod_template_path)
          .Field(0, "persistentVolumeTemplatePath", &PerfOp::persistent_volume_template_path)
          .Field(0, "persistentVolumeClaimTemplatePath",
                 &PerfOp::persistent_volume_claim_template_path)
          .Field(0, "namespacePrefix", &PerfOp::namespace_prefix)
          .Field(0, "createPodsOp", &PerfOp::pods)
          .Field(0, "templatePath", &PerfOp::template_path)
          .Field(0, "updatePerSecond", &PerfOp::update_per_second)
          .Field(0, "subresources", &PerfOp::subresources)
          .Field(0, "mode", &PerfOp::mode)
          .Field(0, "number", &PerfOp::number)
          .Field(0, "intervalMilliseconds", &PerfOp::interval_milliseconds)
          .Field(0, "templatePaths", &PerfOp::template_paths)
          .Field(0, "deletePodsPerSecond", &PerfOp::delete_pods_per_second)
          .Field(0, "stageRequirement", &PerfOp::stage_requirement)
          .Field(0, "name", &PerfOp::name)
          .Field(0, "driverName", &PerfOp::driver_name)
          .Field(0, "nodes", &PerfOp::nodes)
          .Field(0, "maxClaimsPerNode", &PerfOp::max_claims_per_node)
          .Field(0, "maxClaimsPerNodeParam", &PerfOp::max_claims_per_node_param)
          .Build();
  return type;
}

const TypeInfo& PerfWorkload::Type() {
  static const TypeInfo type =
      Describe<PerfWorkload>("workload")
          .Field(0, "name", &PerfWorkload::name)
          .Field(0, "params", &PerfWorkload::params)
          .Field(0, "labels", &PerfWorkload::labels)
          .Field(0, "threshold", &PerfWorkload::threshold)
          .Field(0, "thresholdMetricSelector", &PerfWorkload::threshold_metric_selector)
          .Field(0, "featureGates", &PerfWorkload::feature_gates)
          .Build();
  return type;
}

const TypeInfo& PerfCase::Type() {
  static const TypeInfo type =
      Describe<PerfCase>("testCase")
          .Field(0, "name", &PerfCase::name)
          .Field(0, "featureGates", &PerfCase::feature_gates)
          .Field(0, "metricsCollectorConfig", &PerfCase::metrics_collector_config)
          .Field(0, "workloadTemplate", &PerfCase::workload_template)
          .Field(0, "workloads", &PerfCase::workloads)
          .Field(0, "schedulerConfigPath", &PerfCase::scheduler_config_path)
          .Field(0, "defaultPodTemplatePath", &PerfCase::default_pod_template_path)
          .Field(0, "labels", &PerfCase::labels)
          .Field(0, "defaultThresholdMetricSelector", &PerfCase::default_threshold_metric_selector)
          .Build();
  return type;
}

namespace {

constexpr int64_t kMaxCount = 10'000'000;
constexpr int64_t kLongest = int64_t{24} * 3600 * 1'000'000'000;

constexpr std::string_view kOpcodes[] = {
    "createNodes",
    "createNamespaces",
    "createPods",
    "createPodSets",
    "deletePods",
    "createResourceClaims",
    "allocResourceClaims",
    "createResourceDriver",
    "createAny",
    "updateAny",
    "churn",
    "barrier",
    "sleep",
    "startCollectingMetrics",
    "stopCollectingMetrics",
};

bool NeedsCount(const std::string& opcode) {
  return opcode == "createNodes" || opcode == "createNamespaces" || opcode == "createPods" ||
         opcode == "createPodSets" || opcode == "createResourceClaims";
}

Result<void> CheckOp(const PerfOp& op) {
  if (std::find(std::begin(kOpcodes), std::end(kOpcodes), op.opcode) == std::end(kOpcodes)) {
    return Fail(op.opcode.empty() ? std::string("opcode is missing")
                                  : fmt::format("opcode {} is not known", op.opcode));
  }
  const auto missing = [&](std::string_view opcode, bool empty,
                           std::string_view field) -> Result<void> {
    if (op.opcode != opcode || !empty) return {};
    return Fail(fmt::format("{} is missing", field));
  };
  for (const auto& ok : {missing("createNamespaces", op.prefix.empty(), "prefix"),
                         missing("createPodSets", !op.pods, "createPodsOp"),
                         missing("createPodSets", op.namespace_prefix.empty(), "namespacePrefix"),
                         missing("createAny", op.template_path.empty(), "templatePath"),
                         missing("updateAny", op.template_path.empty(), "templatePath"),
                         missing("createResourceClaims", op.template_path.empty(), "templatePath"),
                         missing("createResourceClaims", !op.namespace_, "namespace"),
                         missing("deletePods", !op.namespace_, "namespace"),
                         missing("churn", op.template_paths.empty(), "templatePaths"),
                         missing("createResourceDriver", op.driver_name.empty(), "driverName"),
                         missing("createResourceDriver", op.nodes.empty(), "nodes")}) {
    if (!ok) return ok;
  }
  if (op.opcode == "churn" && op.mode != "create" && op.mode != "recreate") {
    return Fail(fmt::format("mode: \"{}\" is neither create nor recreate", op.mode));
  }
  if (op.opcode == "churn" &&
      (op.number < 0 || op.number > kMaxCount || (op.mode == "recreate" && op.number == 0))) {
    return Fail(fmt::format("number: {} does not go with mode {}", op.number, op.mode));
  }
  if (op.interval_milliseconds < 0 || op.interval_milliseconds > kLongest / 1'000'000) {
    return Fail(fmt::format("intervalMilliseconds: {} is out of range", op.interval_milliseconds));
  }
  if (op.opcode == "barrier" && !op.stage_requirement.empty() &&
      op.stage_requirement != "Attempted" && op.stage_requirement != "Scheduled") {
    return Fail(fmt::format("stageRequirement: \"{}\" is neither Attempted nor Scheduled",
                            op.stage_requirement));
  }
  if (op.node_labels && op.node_labels->label_values.empty()) {
    return Fail("labelNodePrepareStrategy.labelValues is missing");
  }
  constexpr int64_t kFastest = 1'000'000'000;
  if (op.delete_pods_per_second < 0 || op.update_per_second < 0 ||
      op.delete_pods_per_second > kFastest || op.update_per_second > kFastest) {
    return Fail("a number per second is out of range");
  }
  const bool skips = op.pods ? op.pods->skip_wait_to_completion : op.skip_wait_to_completion;
  const bool collects = op.pods ? op.pods->collect_metrics : op.collect_metrics;
  if (skips && collects) {
    return Fail("collectMetrics and skipWaitToCompletion do not go together");
  }
  return {};
}

// "$initNodes" to the JSON of the parameter.
Result<std::string> Lookup(const PerfWorkload& workload, const std::string& param) {
  if (!param.starts_with('$')) return Fail(fmt::format("\"{}\" does not start with $", param));
  const auto it = workload.params.find(param.substr(1));
  if (it == workload.params.end()) {
    return Fail(fmt::format("the workload has no parameter {}", param.substr(1)));
  }
  return it->second.text;
}

Result<void> Fill(const PerfWorkload& workload, std::string_view field, const std::string& param,
                  std::optional<int64_t>* value) {
  if (!param.empty()) {
    const auto text = Lookup(workload, param);
    if (!text) return Fail(text.error().In(std::string(field) + "Param"));
    const auto number = api::FromJson<std::vector<int64_t>>("[" + *text + "]");
    if (!number || number->size() != 1) {
      return Fail(fmt::format("{}Param: {} is {}, not an integer", field, param, *text));
    }
    *value = number->front();
  }
  if (*value && (**value < 0 || **value > kMaxCount)) {
    return Fail(fmt::format("{}: {} is not from 0 to {}", field, **value, kMaxCount));
  }
  return {};
}

Result<void> FillDuration(const PerfWorkload& workload, const std::string& param,
                          std::optional<api::Duration>* value) {
  if (!param.empty()) {
    const auto text = Lookup(workload, param);
    if (!text) return Fail(text.error().In("durationParam"));
    const auto length = api::FromJson<std::vector<api::Duration>>("[" + *text + "]");
    if (!length || length->size() != 1) {
      return Fail(fmt::format("durationParam: {} is {}, not a duration", param, *text));
    }
    *value = length->front();
  }
  if (*value && ((*value)->ns < 0 || (*value)->ns > kLongest)) {
    return Fail(fmt::format("duration: {} is not from 0 to {}", (*value)->Format(),
                            api::Duration{kLongest}.Format()));
  }
  return {};
}

Result<void> ResolveOp(const PerfWorkload& workload, PerfOp& op) {
  if (auto ok = Fill(workload, "count", op.count_param, &op.count); !ok) return ok;
  if (auto ok = FillDuration(workload, op.duration_param, &op.duration); !ok) return ok;
  if (auto ok =
          Fill(workload, "maxClaimsPerNode", op.max_claims_per_node_param, &op.max_claims_per_node);
      !ok) {
    return ok;
  }
  if (NeedsCount(op.opcode) && !op.count) return Fail("count is missing");
  if (!op.count) op.count = 1;
  if ((op.opcode == "sleep" || op.steady_state) && !op.duration) return Fail("duration is missing");
  if (op.steady_state && *op.count == 0) return Fail("count: a steady state needs pods");
  if (!op.pods) return {};
  PodsOp& pods = *op.pods;
  if (auto ok = Fill(workload, "createPodsOp.count", pods.count_param, &pods.count); !ok) return ok;
  if (auto ok = FillDuration(workload, pods.duration_param, &pods.duration); !ok) return ok;
  if (!pods.count) return Fail("createPodsOp.count is missing");
  if (pods.steady_state && (!pods.duration || *pods.count == 0)) {
    return Fail("createPodsOp: a steady state needs pods and a duration");
  }
  return {};
}

}  // namespace

Result<std::vector<PerfCase>> ParseSuite(std::string_view yaml) {
  const auto json = api::YamlToJson(yaml, {.strict = true});
  if (!json) return Fail(json.error());
  auto cases = api::FromJson<std::vector<PerfCase>>(*json, {.strict = true});
  if (!cases) return Fail(cases.error());
  std::set<std::string> names;
  for (const PerfCase& test : *cases) {
    if (test.name.empty()) return Fail("a test case has no name");
    if (!names.insert(test.name).second) {
      return Fail(fmt::format("test case {}: there are two of them", test.name));
    }
    for (size_t i = 0; i < test.workload_template.size(); ++i) {
      const PerfOp& op = test.workload_template[i];
      if (auto ok = CheckOp(op); !ok) {
        return Fail(ok.error().In(OpName(i, op)).In("test case " + test.name));
      }
    }
    std::set<std::string> workloads;
    for (const PerfWorkload& workload : test.workloads) {
      if (workload.name.empty() || !workloads.insert(workload.name).second) {
        return Fail(fmt::format("test case {}: workload \"{}\" needs a name of its own", test.name,
                                workload.name));
      }
    }
  }
  return cases;
}

Result<std::vector<PerfOp>> Resolve(const PerfCase& test, const PerfWorkload& workload) {
  std::vector<PerfOp> ops = test.workload_template;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (auto ok = ResolveOp(workload, ops[i]); !ok) {
      return Fail(ok.error().In(OpName(i, ops[i])));
    }
  }
  return ops;
}

std::string OpName(size_t index, const PerfOp& op) {
  return fmt::format("op {} ({})", index, op.opcode);
}

std::string MissingGate(const PerfCase& test, const PerfWorkload& workload, int minor) {
  for (const auto* wanted : {&test.feature_gates, &workload.feature_gates}) {
    for (const auto& [name, value] : *wanted) {
      const config::Feature* feature = config::FindFeature(name);
      if (value && (feature == nullptr || !feature->KnownIn(minor))) {
        return fmt::format("needs feature gate {}, which v1.{} does not have", name, minor);
      }
    }
  }
  return {};
}

config::FeatureGates GatesOf(const PerfCase& test, const PerfWorkload& workload,
                             config::FeatureGates gates) {
  for (const auto* wanted : {&test.feature_gates, &workload.feature_gates}) {
    for (const auto& [name, value] : *wanted) {
      // Refused is what this minor has for good, or does not have at all.
      static_cast<void>(gates.Set(fmt::format("{}={}", name, value)));
    }
  }
  return gates;
}

}  // namespace berth::bench
