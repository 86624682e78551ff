// The arguments of LoadAware.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/rules/resource_list.h"
#include "config/metrics_sources.h"
#include "config/plugin_args.h"

namespace berth::config {

// A query of Prometheus, as a configuration has it.
struct LoadQuerySpec {
  std::string resource;  // cpu or memory
  std::string query;     // PromQL; a ratio per node, 1 is its capacity

  bool operator==(const LoadQuerySpec&) const = default;
  static const api::TypeInfo& Type();
};

// Where the load of nodes is read.
struct LoadSourceSpec {
  std::string type;     // KubernetesMetricsServer, Prometheus or LoadWatcher
  std::string address;  // of the last two
  std::string token;    // for Prometheus
  bool insecure_skip_verify = false;
  std::string node_label;              // of Prometheus: instance
  std::vector<LoadQuerySpec> queries;  // of Prometheus
  int64_t period_seconds = 0;          // 30
  int64_t max_age_seconds = 0;         // 180; older samples do not count

  MetricsSource Source() const;
  bool operator==(const LoadSourceSpec&) const = default;
  static const api::TypeInfo& Type();
};

// Pods from a priority on, until the next band.
struct LoadBandSpec {
  using Percents = boost::container::flat_map<std::string, double, std::less<>>;

  std::optional<int64_t> min_priority;  // absent: all below the other bands
  Percents thresholds;                  // by resource, percent of what is allocatable

  bool operator==(const LoadBandSpec&) const = default;
  static const api::TypeInfo& Type();
};

struct LoadAwareArgs {
  static constexpr std::string_view kPlugin = "LoadAware";
  static constexpr size_t kMaxBands = 16;
  using Percents = LoadBandSpec::Percents;

  LoadSourceSpec metrics;
  std::vector<LoadBandSpec> bands;   // empty: one, cpu 65 and memory 95
  std::optional<double> hysteresis;  // points; 5
  Percents estimated_percent;        // of requests that a pod uses; cpu 85, memory 70
  std::optional<api::ResourceList> estimated_default;  // without requests: cpu 250m, memory 200Mi
  std::optional<int64_t> unmeasured_seconds;  // before a sample: pods since then are added; 60
  Percents score_weights;                     // cpu 1, memory 1

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const LoadAwareArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
