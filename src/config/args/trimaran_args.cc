#include "config/args/trimaran_args.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/go_number.h"
#include "config/config.h"

namespace berth::config {
namespace {

// The members that T inherits, in front of its own.
template <class T>
api::Describe<T>& WithSource(api::Describe<T>& describe) {
  return describe
      .Always(0, "metricProvider",
              static_cast<MetricProviderSpec T::*>(&TrimaranSpec::metric_provider))
      .Field(0, "watcherAddress",
             static_cast<std::optional<std::string> T::*>(&TrimaranSpec::watcher_address));
}

bool IsProvider(std::string_view type) {
  return type == "KubernetesMetricsServer" || type == "Prometheus" || type == "SignalFx";
}

}  // namespace

const api::TypeInfo& MetricProviderSpec::Type() {
  using T = MetricProviderSpec;
  static const api::TypeInfo type = api::Describe<T>("MetricProviderSpec")
                                        .Field(0, "type", &T::type)
                                        .Field(0, "address", &T::address)
                                        .Field(0, "token", &T::token)
                                        .Field(0, "insecureSkipVerify", &T::insecure_skip_verify)
                                        .Build();
  return type;
}

// --- The source

void TrimaranSpec::SetSourceDefaults() {
  if (!watcher_address && metric_provider.type.empty()) {
    metric_provider.type = "KubernetesMetricsServer";
  }
  if (metric_provider.type == "Prometheus" && !metric_provider.insecure_skip_verify) {
    metric_provider.insecure_skip_verify = true;
  }
  // They are written even when they are empty.
  if (!metric_provider.address) metric_provider.address.emplace();
  if (!metric_provider.token) metric_provider.token.emplace();
  if (!metric_provider.insecure_skip_verify) metric_provider.insecure_skip_verify = false;
  if (!watcher_address) watcher_address.emplace();
}

void TrimaranSpec::ValidateSource(std::vector<std::string>& errors) const {
  if (!watcher_address.value_or("").empty()) return;
  if (!IsProvider(metric_provider.type)) {
    errors.push_back("invalid MetricProvider.Type, got " + metric_provider.type);
  } else if (metric_provider.type == "SignalFx") {  // not a rule of the original
    errors.push_back(
        "MetricProvider.Type: berth does not read metrics from SignalFx; give the "
        "watcherAddress of a load-watcher that does");
  }
}

std::string TrimaranSpec::PrometheusAddress() const {
  const std::string address = metric_provider.address.value_or("");
  return address.empty() ? "http://prometheus-k8s:9090" : address;
}

std::string TrimaranSpec::SourceName() const {
  if (!watcher_address.value_or("").empty()) return "load-watcher " + *watcher_address;
  std::string name = metric_provider.type;
  if (metric_provider.type == "Prometheus") name += " " + PrometheusAddress();
  return name;
}

// --- TargetLoadPacking

const api::TypeInfo& TargetLoadPackingArgs::Type() {
  using T = TargetLoadPackingArgs;
  static const api::TypeInfo type = [] {
    api::Describe<T> describe("TargetLoadPackingArgs");
    return WithSource(describe)
        .Object(kApiVersion, "TargetLoadPackingArgs")
        .Field(0, "defaultRequests", &T::default_requests)
        .Field(0, "defaultRequestsMultiplier", &T::default_requests_multiplier)
        .Field(0, "targetUtilization", &T::target_utilization)
        .Build();
  }();
  return type;
}

void TargetLoadPackingArgs::SetDefaults() {
  SetSourceDefaults();
  if (!default_requests) {
    default_requests.emplace();
    // As Kubernetes parses "1000m".
    (*default_requests)["cpu"] = *api::Quantity::Parse("1");
  }
  if (!default_requests_multiplier) default_requests_multiplier = "1.5";
  if (target_utilization.value_or(0) <= 0) target_utilization = 40;
}

void TargetLoadPackingArgs::Validate(std::vector<std::string>& errors) const {
  ValidateSource(errors);
  const auto multiplier = ParseGoFloat(default_requests_multiplier.value_or(""));
  if (!multiplier) {
    errors.push_back("unable to parse DefaultRequestsMultiplier: " + multiplier.error().Message());
  }
}

// --- LoadVariationRiskBalancing

const api::TypeInfo& LoadVariationRiskBalancingArgs::Type() {
  using T = LoadVariationRiskBalancingArgs;
  static const api::TypeInfo type = [] {
    api::Describe<T> describe("LoadVariationRiskBalancingArgs");
    return WithSource(describe)
        .Object(kApiVersion, "LoadVariationRiskBalancingArgs")
        .Field(0, "safeVarianceMargin", &T::safe_variance_margin)
        .Field(0, "safeVarianceSensitivity", &T::safe_variance_sensitivity)
        .Build();
  }();
  return type;
}

void LoadVariationRiskBalancingArgs::SetDefaults() {
  SetSourceDefaults();
  if (safe_variance_margin.value_or(-1) < 0) safe_variance_margin = 1;
  if (safe_variance_sensitivity.value_or(-1) < 0) safe_variance_sensitivity = 1;
}

// --- LowRiskOverCommitment

const api::TypeInfo& LowRiskOverCommitmentArgs::Type() {
  using T = LowRiskOverCommitmentArgs;
  static const api::TypeInfo type = [] {
    api::Describe<T> describe("LowRiskOverCommitmentArgs");
    return WithSource(describe)
        .Object(kApiVersion, "LowRiskOverCommitmentArgs")
        .Field(0, "smoothingWindowSize", &T::smoothing_window_size)
        .Field(0, "riskLimitWeights", &T::risk_limit_weights)
        .Build();
  }();
  return type;
}

void LowRiskOverCommitmentArgs::SetDefaults() {
  SetSourceDefaults();
  if (smoothing_window_size.value_or(0) <= 0) smoothing_window_size = 5;
  if (risk_limit_weights.empty()) {
    risk_limit_weights["cpu"] = 0.5;
    risk_limit_weights["memory"] = 0.5;
  }
  for (auto& [resource, weight] : risk_limit_weights) {
    if (weight < 0 || weight > 1) weight = 0.5;
  }
}

// --- Peaks

const api::TypeInfo& PowerModel::Type() {
  using T = PowerModel;
  static const api::TypeInfo type = api::Describe<T>("PowerModel")
                                        .Always(0, "k0", &T::k0)
                                        .Always(0, "k1", &T::k1)
                                        .Always(0, "k2", &T::k2)
                                        .Build();
  return type;
}

// The names are the original's, whose tags are broken.
const api::TypeInfo& PeaksArgs::Type() {
  using T = PeaksArgs;
  static const api::TypeInfo type = api::Describe<T>("PeaksArgs")
                                        .Object(kApiVersion, "PeaksArgs")
                                        .Always(0, "WatcherAddress", &T::watcher_address)
                                        .Always(0, "NodePowerModel", &T::node_power_model)
                                        .Build();
  return type;
}

TrimaranSpec PeaksArgs::Source() const {
  TrimaranSpec source;
  source.watcher_address = watcher_address;
  return source;
}

void PeaksArgs::Validate(std::vector<std::string>& errors) const {
  Source().ValidateSource(errors);
  // The original reads the file that the environment names, and then uses nothing of it.
  if (node_power_model.empty()) {
    errors.push_back(
        "NodePowerModel: must not be empty; the file that the environment variable "
        "NODE_POWER_MODEL names is not read");
  }
}

}  // namespace berth::config
