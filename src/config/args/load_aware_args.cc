#include "config/args/load_aware_args.h"

#include <set>

#include <fmt/format.h>

#include "config/config.h"
#include "config/field_error.h"

namespace berth::config {
namespace {

constexpr std::string_view kMetricsServer = "KubernetesMetricsServer";
constexpr std::string_view kPrometheus = "Prometheus";
constexpr std::string_view kLoadWatcher = "LoadWatcher";

bool IsCounted(std::string_view resource) { return resource == "cpu" || resource == "memory"; }

void CheckResource(const std::string& path, const std::string& resource,
                   std::vector<std::string>& errors) {
  if (IsCounted(resource)) return;
  errors.push_back(fmt::format(
      "{}: Unsupported value: \"{}\": supported values: \"cpu\", \"memory\"", path, resource));
}

void CheckPercents(const std::string& path, const LoadAwareArgs::Percents& percents, double most,
                   std::vector<std::string>& errors) {
  for (const auto& [resource, percent] : percents) {
    CheckResource(path, resource, errors);
    if (percent >= 0 && percent <= most) continue;
    errors.push_back(fmt::format("{}[{}]: Invalid value: {}: must be from 0 to {}", path, resource,
                                 percent, most));
  }
}

void CheckSeconds(const std::string& path, int64_t seconds, int64_t least,
                  std::vector<std::string>& errors) {
  if (seconds >= least && seconds <= 86400) return;
  errors.push_back(
      fmt::format("{}: Invalid value: {}: must be from {} to 86400", path, seconds, least));
}

}  // namespace

const api::TypeInfo& LoadQuerySpec::Type() {
  using T = LoadQuerySpec;
  static const api::TypeInfo type = api::Describe<T>("LoadQuery")
                                        .Field(0, "resource", &T::resource)
                                        .Field(0, "query", &T::query)
                                        .Build();
  return type;
}

const api::TypeInfo& LoadSourceSpec::Type() {
  using T = LoadSourceSpec;
  static const api::TypeInfo type = api::Describe<T>("LoadSource")
                                        .Field(0, "type", &T::type)
                                        .Field(0, "address", &T::address)
                                        .Field(0, "token", &T::token)
                                        .Field(0, "insecureSkipVerify", &T::insecure_skip_verify)
                                        .Field(0, "nodeLabel", &T::node_label)
                                        .Field(0, "queries", &T::queries)
                                        .Field(0, "periodSeconds", &T::period_seconds)
                                        .Field(0, "maxAgeSeconds", &T::max_age_seconds)
                                        .Build();
  return type;
}

const api::TypeInfo& LoadBandSpec::Type() {
  using T = LoadBandSpec;
  static const api::TypeInfo type = api::Describe<T>("LoadBand")
                                        .Field(0, "minPriority", &T::min_priority)
                                        .Field(0, "thresholds", &T::thresholds)
                                        .Build();
  return type;
}

const api::TypeInfo& LoadAwareArgs::Type() {
  using T = LoadAwareArgs;
  static const api::TypeInfo type = api::Describe<T>("LoadAwareArgs")
                                        .Object(kApiVersion, "LoadAwareArgs")
                                        .Field(0, "metrics", &T::metrics)
                                        .Field(0, "bands", &T::bands)
                                        .Field(0, "hysteresis", &T::hysteresis)
                                        .Field(0, "estimatedPercent", &T::estimated_percent)
                                        .Field(0, "estimatedDefault", &T::estimated_default)
                                        .Field(0, "unmeasuredSeconds", &T::unmeasured_seconds)
                                        .Field(0, "scoreWeights", &T::score_weights)
                                        .Build();
  return type;
}

MetricsSource LoadSourceSpec::Source() const {
  MetricsSource source;
  source.name = type;
  if (!address.empty()) source.name += " " + address;
  source.address = address;
  source.token = token;
  source.insecure_skip_verify = insecure_skip_verify;
  if (!node_label.empty()) source.node_label = node_label;
  if (period_seconds > 0) source.period_seconds = period_seconds;
  if (max_age_seconds > 0) source.max_age_seconds = max_age_seconds;
  if (type == kPrometheus) {
    source.type = MetricsSource::Type::kPrometheus;
    for (const LoadQuerySpec& query : queries) {
      source.queries.push_back({query.resource == "cpu" ? "CPU" : "Memory", "AVG", query.query});
      source.name += " " + query.query;  // another answer than to other queries
    }
    if (queries.empty()) source.queries = DefaultMetricsQueries();
  } else if (type == kLoadWatcher) {
    source.type = MetricsSource::Type::kLoadWatcher;
    source.name = "load-watcher " + address;
  }
  return source;
}

void LoadAwareArgs::SetDefaults() {
  if (metrics.type.empty()) metrics.type = kMetricsServer;
  if (metrics.node_label.empty()) metrics.node_label = "instance";
  if (metrics.period_seconds == 0) metrics.period_seconds = 30;
  if (metrics.max_age_seconds == 0) metrics.max_age_seconds = 180;
  if (bands.empty()) {
    bands.emplace_back();
    bands.back().thresholds["cpu"] = 65;
    bands.back().thresholds["memory"] = 95;
  }
  if (!hysteresis) hysteresis = 5;
  if (estimated_percent.empty()) {
    estimated_percent["cpu"] = 85;
    estimated_percent["memory"] = 70;
  }
  if (!estimated_default) {
    estimated_default.emplace();
    (*estimated_default)["cpu"] = *api::Quantity::Parse("250m");
    (*estimated_default)["memory"] = *api::Quantity::Parse("200Mi");
  }
  if (!unmeasured_seconds) unmeasured_seconds = 60;
  if (score_weights.empty()) {
    score_weights["cpu"] = 1;
    score_weights["memory"] = 1;
  }
}

void LoadAwareArgs::Validate(std::vector<std::string>& errors) const {
  const bool has_address = metrics.type == kPrometheus || metrics.type == kLoadWatcher;
  if (!has_address && metrics.type != kMetricsServer) {
    errors.push_back(
        fmt::format("metrics.type: Unsupported value: \"{}\": supported values: "
                    "\"KubernetesMetricsServer\", \"LoadWatcher\", \"Prometheus\"",
                    metrics.type));
  }
  if (has_address && metrics.address.empty()) {
    errors.emplace_back("metrics.address: Required value: of " + metrics.type);
  }
  if (metrics.type != kPrometheus && !metrics.queries.empty()) {
    errors.emplace_back("metrics.queries: Forbidden: only Prometheus takes queries");
  }
  for (size_t i = 0; i < metrics.queries.size(); ++i) {
    const std::string path = Item("metrics.queries", i);
    CheckResource(path + ".resource", metrics.queries[i].resource, errors);
    if (metrics.queries[i].query.empty()) errors.push_back(path + ".query: Required value");
  }
  CheckSeconds("metrics.periodSeconds", metrics.period_seconds, 1, errors);
  CheckSeconds("metrics.maxAgeSeconds", metrics.max_age_seconds, 1, errors);
  if (bands.size() > kMaxBands) {
    errors.push_back(
        fmt::format("bands: Too many: {}: must have at most {} items", bands.size(), kMaxBands));
  }
  std::set<std::optional<int64_t>> starts;
  for (size_t i = 0; i < bands.size(); ++i) {
    if (!starts.insert(bands[i].min_priority).second) {
      errors.push_back(Item("bands", i) + ".minPriority: Duplicate value");
    }
    CheckPercents(Item("bands", i) + ".thresholds", bands[i].thresholds, 100, errors);
  }
  if (!(hysteresis.value_or(0) >= 0 && hysteresis.value_or(0) <= 100)) {
    errors.push_back(
        fmt::format("hysteresis: Invalid value: {}: must be from 0 to 100", *hysteresis));
  }
  CheckPercents("estimatedPercent", estimated_percent, 1000, errors);
  CheckPercents("scoreWeights", score_weights, 1000, errors);
  CheckSeconds("unmeasuredSeconds", unmeasured_seconds.value_or(0), 0, errors);
}

}  // namespace berth::config
