// The arguments of the plugins that score by measured load: TargetLoadPacking,
// LoadVariationRiskBalancing, LowRiskOverCommitment and Peaks.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/rules/resource_list.h"
#include "config/plugin_args.h"

namespace berth::config {

// Where metrics come from when there is no load-watcher.
struct MetricProviderSpec {
  std::string type;  // KubernetesMetricsServer, Prometheus or SignalFx
  std::optional<std::string> address;
  std::optional<std::string> token;
  std::optional<bool> insecure_skip_verify;  // of the certificate of a Prometheus

  bool operator==(const MetricProviderSpec&) const = default;
  static const api::TypeInfo& Type();
};

// What these plugins have in common.
struct TrimaranSpec {
  MetricProviderSpec metric_provider;
  std::optional<std::string> watcher_address;  // of a load-watcher; counts before the provider

  void SetSourceDefaults();
  void ValidateSource(std::vector<std::string>& errors) const;
  // Names the source: equal for plugins that read the same metrics.
  std::string SourceName() const;
  // With its default.
  std::string PrometheusAddress() const;
  bool operator==(const TrimaranSpec&) const = default;
};

struct TargetLoadPackingArgs : TrimaranSpec {
  static constexpr std::string_view kPlugin = "TargetLoadPacking";

  // Of a container without requests and limits.
  std::optional<api::ResourceList> default_requests;
  // Of the requests of a container without limits: what it is expected to use.
  std::optional<std::string> default_requests_multiplier;
  std::optional<int64_t> target_utilization;  // percent of the CPUs

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const TargetLoadPackingArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct LoadVariationRiskBalancingArgs : TrimaranSpec {
  static constexpr std::string_view kPlugin = "LoadVariationRiskBalancing";

  std::optional<double> safe_variance_margin;       // multiplies the deviation
  std::optional<double> safe_variance_sensitivity;  // the root of the deviation that counts

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const { ValidateSource(errors); }
  bool operator==(const LoadVariationRiskBalancingArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct LowRiskOverCommitmentArgs : TrimaranSpec {
  static constexpr std::string_view kPlugin = "LowRiskOverCommitment";
  using Weights = boost::container::flat_map<std::string, double, std::less<>>;

  std::optional<int64_t> smoothing_window_size;  // samples that the measured deviation is over
  Weights risk_limit_weights;                    // by resource; the rest weighs the measured load

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const { ValidateSource(errors); }
  bool operator==(const LowRiskOverCommitmentArgs&) const = default;
  static const api::TypeInfo& Type();
};

// Power = k0 + k1 * e^(k2 * utilization in percent).
struct PowerModel {
  double k0 = 0;
  double k1 = 0;
  double k2 = 0;

  bool operator==(const PowerModel&) const = default;
  static const api::TypeInfo& Type();
};

struct PeaksArgs {
  static constexpr std::string_view kPlugin = "Peaks";
  using Models = boost::container::flat_map<std::string, PowerModel, std::less<>>;

  std::string watcher_address;
  Models node_power_model;  // by node

  TrimaranSpec Source() const;
  void SetDefaults() {}
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const PeaksArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
