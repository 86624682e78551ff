#include "kube/metrics/load_answers.h"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/rules/resource_list.h"
#include "base/go_number.h"

namespace berth::kube {
namespace {

// --- metrics.k8s.io

struct UsedByNode {
  api::ObjectMeta metadata;
  api::Time timestamp;
  api::ResourceList usage;

  static const api::TypeInfo& Type() {
    using T = UsedByNode;
    static const api::TypeInfo type = api::Describe<T>("NodeMetrics")
                                          .Field(1, "metadata", &T::metadata)
                                          .Field(2, "timestamp", &T::timestamp)
                                          .Field(4, "usage", &T::usage)
                                          .Build();
    return type;
  }
};

struct UsedByNodes {
  std::vector<UsedByNode> items;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<UsedByNodes>("NodeMetricsList")
                                          .Field(2, "items", &UsedByNodes::items)
                                          .Build();
    return type;
  }
};

// --- Prometheus

struct Sample {
  api::StringMap metric;
  std::vector<api::RawJson> value;  // seconds, and the value as a string

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Sample>("Sample")
                                          .Field(0, "metric", &Sample::metric)
                                          .Field(0, "value", &Sample::value)
                                          .Build();
    return type;
  }
};

struct Vector {
  std::string result_type;
  api::RawJson result;  // of other types it has another form

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Vector>("Vector")
                                          .Field(0, "resultType", &Vector::result_type)
                                          .Field(0, "result", &Vector::result)
                                          .Build();
    return type;
  }
};

struct PrometheusAnswer {
  std::string status;
  std::string error;
  Vector data;

  static const api::TypeInfo& Type() {
    using T = PrometheusAnswer;
    static const api::TypeInfo type = api::Describe<T>("PrometheusAnswer")
                                          .Field(0, "status", &T::status)
                                          .Field(0, "error", &T::error)
                                          .Field(0, "data", &T::data)
                                          .Build();
    return type;
  }
};

// --- load-watcher

struct WatchedMetric {
  std::string type;
  std::string operator_;
  double value = 0;

  static const api::TypeInfo& Type() {
    using T = WatchedMetric;
    static const api::TypeInfo type = api::Describe<T>("Metric")
                                          .Field(0, "type", &T::type)
                                          .Field(0, "operator", &T::operator_)
                                          .Field(0, "value", &T::value)
                                          .Build();
    return type;
  }
};

struct WatchedNode {
  std::vector<WatchedMetric> metrics;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<WatchedNode>("Node").Field(0, "metrics", &WatchedNode::metrics).Build();
    return type;
  }
};

struct WatchedWindow {
  int64_t end = 0;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<WatchedWindow>("Window").Field(0, "end", &WatchedWindow::end).Build();
    return type;
  }
};

struct WatchedData {
  api::Map<WatchedNode> nodes;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<WatchedData>("Data").Field(0, "NodeMetricsMap", &WatchedData::nodes).Build();
    return type;
  }
};

struct WatcherAnswer {
  WatchedWindow window;
  WatchedData data;

  static const api::TypeInfo& Type() {
    using T = WatcherAnswer;
    static const api::TypeInfo type = api::Describe<T>("WatcherAnswer")
                                          .Field(0, "window", &T::window)
                                          .Field(0, "data", &T::data)
                                          .Build();
    return type;
  }
};

void Add(std::string_view type, std::string_view operator_, double percent,
         cluster::NodeLoad* load) {
  if (!std::isfinite(percent)) return;
  load->metrics.push_back({std::string(type), std::string(operator_), percent});
}

}  // namespace

Result<LoadByNode> ReadMetricsServer(std::string_view json, const NodeCapacities& nodes,
                                     int64_t now) {
  const auto answer = api::FromJson<UsedByNodes>(json);
  if (!answer) return Fail(answer.error());
  LoadByNode loads;
  for (const UsedByNode& item : answer->items) {
    const NodeCapacity* capacity = nodes.Find(item.metadata.name);
    if (capacity == nullptr) continue;
    cluster::NodeLoad& load = loads[item.metadata.name];
    load = {.window_end = now, .metrics = {}};
    if (!item.timestamp.IsZero()) load.measured_ns = item.timestamp.UnixNano();
    const auto cpu = item.usage.find("cpu");
    if (cpu != item.usage.end() && capacity->milli_cpu > 0) {
      Add("CPU", "Latest",
          100.0 * static_cast<double>(cpu->second.MilliValue()) /
              static_cast<double>(capacity->milli_cpu),
          &load);
    }
    const auto memory = item.usage.find("memory");
    if (memory != item.usage.end() && capacity->memory > 0) {
      Add("Memory", "Latest",
          100.0 * static_cast<double>(memory->second.Value()) /
              static_cast<double>(capacity->memory),
          &load);
    }
  }
  return loads;
}

Result<void> ReadPrometheus(std::string_view json, const config::MetricsQuery& query,
                            std::string_view node_label, int64_t now, LoadByNode* loads) {
  const auto answer = api::FromJson<PrometheusAnswer>(json);
  if (!answer) return Fail(answer.error());
  if (answer->status != "success") {
    return Fail(fmt::format("status \"{}\": {}", answer->status, answer->error));
  }
  if (answer->data.result_type != "vector") {
    return Fail(fmt::format("query {}: the result should be a vector, not \"{}\"", query.query,
                            answer->data.result_type));
  }
  const auto samples = api::FromJson<std::vector<Sample>>(answer->data.result.text);
  if (!samples) return Fail(samples.error());
  for (const Sample& sample : *samples) {
    const std::string* node = api::FindValue(sample.metric, node_label);
    if (node == nullptr || sample.value.size() != 2) continue;
    const auto text = api::FromJson<std::string>(sample.value[1].text);
    if (!text) return Fail(text.error());
    const auto value = ParseGoFloat(*text);
    if (!value) return Fail(value.error());
    cluster::NodeLoad& load = (*loads)[*node];
    load.window_end = now;
    Add(query.type, query.operator_, *value * 100, &load);
  }
  return {};
}

Result<LoadByNode> ReadLoadWatcher(std::string_view json) {
  const auto answer = api::FromJson<WatcherAnswer>(json);
  if (!answer) return Fail(answer.error());
  LoadByNode loads;
  for (const auto& [node, watched] : answer->data.nodes) {
    cluster::NodeLoad& load = loads[node];
    load.window_end = answer->window.end;
    for (const WatchedMetric& metric : watched.metrics) {
      Add(metric.type, metric.operator_, metric.value, &load);
    }
  }
  return loads;
}

}  // namespace berth::kube
