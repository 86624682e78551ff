// MetricsSources: where the plugins of a configuration get the measured load of nodes from.
//
// Hosts poll them (kube/metrics); plugins read what was measured under the name of their source
// (cluster/table/load_metrics.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.h"

namespace berth::config {

// One query of Prometheus: its result has a sample per node.
struct MetricsQuery {
  std::string type;       // "CPU", "Memory"
  std::string operator_;  // "AVG", "STD", "Latest"
  std::string query;      // PromQL; values are ratios, 1 is the capacity of the node

  bool operator==(const MetricsQuery&) const = default;
};

struct MetricsSource {
  enum class Type : uint8_t { kMetricsServer, kPrometheus, kLoadWatcher };

  Type type = Type::kMetricsServer;
  std::string name;     // of the source in keys of load_metrics.h
  std::string address;  // http://host:port[/path]; of a metrics server: none
  std::string token;    // sent as a bearer token; empty: none
  bool insecure_skip_verify = false;
  std::vector<MetricsQuery> queries = {};  // of Prometheus, in the order of their metrics
  std::string node_label = "instance";     // of Prometheus: the label with the name of the node
  int64_t period_seconds = 30;
  int64_t max_age_seconds = 300;  // older samples do not count

  bool operator==(const MetricsSource&) const = default;
};

// What load-watcher asks a Prometheus for, over 15 minutes.
std::vector<MetricsQuery> DefaultMetricsQueries();

// Every source once, in the order of the configuration.
std::vector<MetricsSource> MetricsSourcesOf(std::span<const ResolvedProfile> profiles);

}  // namespace berth::config
