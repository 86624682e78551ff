// Suite: a performance-config.yaml of kube-scheduler's scheduler_perf.
//
// A file is a list of test cases; a test case is a list of operations with parameters and a list of
// workloads that give the parameters values. Field names and meanings are that suite's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/storage/csi_node.h"
#include "api/string_map.h"
#include "api/values.h"
#include "base/error.h"
#include "config/feature_gates.h"

namespace berth::bench {

// What createNodes does to a node besides its template.
struct NodeAllocatable {
  api::Map<api::Quantity> node_allocatable;
  api::Map<api::VolumeNodeResources> csi_node_allocatable;
  std::vector<std::string> migrated_plugins;
  static const api::TypeInfo& Type();
};
struct NodeLabels {
  std::string label_key;
  std::vector<std::string> label_values;  // in turn
  static const api::TypeInfo& Type();
};
struct UniqueNodeLabel {
  std::string label_key;
  static const api::TypeInfo& Type();
};

// The fields of createPods, which createPodSets has inside.
struct PodsOp {
  std::string opcode;
  std::optional<int64_t> count;
  std::string count_param;
  bool steady_state = false;
  std::optional<api::Duration> duration;
  std::string duration_param;
  bool collect_metrics = false;
  std::optional<std::string> namespace_;
  std::string pod_template_path;
  bool skip_wait_to_completion = false;
  std::string persistent_volume_template_path;
  std::string persistent_volume_claim_template_path;
  static const api::TypeInfo& Type();
};

// An operation; `opcode` says which fields mean something.
struct PerfOp {
  std::string opcode;
  std::optional<int64_t> count;
  std::string count_param;
  std::optional<api::Duration> duration;
  std::string duration_param;
  std::optional<std::string> namespace_;
  std::vector<std::string> namespaces;
  api::StringMap label_selector;
  bool skip_wait_to_completion = false;
  // createNodes
  std::string node_template_path;
  std::optional<NodeAllocatable> node_allocatable;
  std::optional<NodeLabels> node_labels;
  std::optional<UniqueNodeLabel> unique_node_label;
  // createNamespaces
  std::string prefix;
  std::string namespace_template_path;
  // createPods
  bool steady_state = false;
  bool collect_metrics = false;
  std::string pod_template_path;
  std::string persistent_volume_template_path;
  std::string persistent_volume_claim_template_path;
  // createPodSets
  std::string namespace_prefix;
  std::optional<PodsOp> pods;
  // createAny, updateAny, createResourceClaims
  std::string template_path;
  int64_t update_per_second = 0;
  std::vector<std::string> subresources;
  // churn
  std::string mode;
  int64_t number = 0;
  int64_t interval_milliseconds = 0;
  std::vector<std::string> template_paths;
  // deletePods
  int64_t delete_pods_per_second = 0;
  // barrier
  std::string stage_requirement;
  // startCollectingMetrics
  std::string name;
  // createResourceDriver
  std::string driver_name;
  std::string nodes;
  std::optional<int64_t> max_claims_per_node;
  std::string max_claims_per_node_param;

  static const api::TypeInfo& Type();
};

struct PerfWorkload {
  std::string name;
  api::Map<api::RawJson> params;
  std::vector<std::string> labels;
  double threshold = 0;  // pods/s that kube-scheduler has to reach; 0: none
  api::RawJson threshold_metric_selector;
  api::Map<bool> feature_gates;
  static const api::TypeInfo& Type();
};

struct PerfCase {
  std::string name;
  api::Map<bool> feature_gates;
  api::RawJson metrics_collector_config;
  std::vector<PerfOp> workload_template;
  std::vector<PerfWorkload> workloads;
  std::string scheduler_config_path;
  std::string default_pod_template_path;
  std::vector<std::string> labels;
  api::RawJson default_threshold_metric_selector;
  static const api::TypeInfo& Type();
};

// Decodes strictly; every test case and workload has a name of its own, every opcode is known.
Result<std::vector<PerfCase>> ParseSuite(std::string_view yaml);

// The operations of the test case with the workload's values in place of parameters. Every count
// is set afterwards. Errors name the operation, counted from 0 as the suite does.
Result<std::vector<PerfOp>> Resolve(const PerfCase& test, const PerfWorkload& workload);

// "op 3 (createPods)"
std::string OpName(size_t index, const PerfOp& op);

// Why the workload cannot be run as its authors meant it: it wants a feature
// gate on that this minor does not know. Empty: it can.
std::string MissingGate(const PerfCase& test, const PerfWorkload& workload, int minor);
// `gates` with what the test case and then the workload set.
config::FeatureGates GatesOf(const PerfCase& test, const PerfWorkload& workload,
                             config::FeatureGates gates);

}  // namespace berth::bench
