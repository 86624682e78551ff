#include "sim/trace/openb.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace berth::sim {
namespace {

constexpr size_t kMaxRows = 1'000'000;
constexpr int64_t kMaxAmount = int64_t{1} << 40;
constexpr int64_t kMaxGpus = 1024;

std::vector<std::string_view> Split(std::string_view text, char by) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(by);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// A table whose first line names its columns.
class Csv {
 public:
  Csv(std::string_view what, std::string_view text) : what_(what), text_(text) {}

  // Reads the first line. `columns`: those that are needed.
  Result<void> Open(std::initializer_list<std::string_view> columns) {
    std::string_view head;
    if (!NextLine(&head)) return Fail(fmt::format("{}: the file is empty", what_));
    const std::vector<std::string_view> names = Split(head, ',');
    width_ = names.size();
    for (const std::string_view column : columns) {
      const auto at = std::find(names.begin(), names.end(), column);
      if (at == names.end()) return Fail(fmt::format("{}: there is no column {}", what_, column));
      places_.emplace_back(column, static_cast<size_t>(at - names.begin()));
    }
    return {};
  }
  // False: there is no further row, or it is broken (error()).
  bool Next() {
    std::string_view line;
    do {
      if (!NextLine(&line)) return false;
    } while (line.empty());
    if (++rows_ > kMaxRows) {
      Broken(fmt::format("more than {} rows", kMaxRows));
      return false;
    }
    values_ = Split(line, ',');
    if (values_.size() == width_) return true;
    Broken(
        fmt::format("it has {} values, the first line names {} columns", values_.size(), width_));
    return false;
  }
  std::string_view Text(std::string_view column) const {
    for (const auto& [name, place] : places_) {
      if (name == column) return values_[place];
    }
    return {};
  }
  // Whole numbers; the trace writes some of them as 8000.0.
  int64_t Number(std::string_view column, int64_t most = kMaxAmount) {
    std::string_view text = Text(column);
    if (text.ends_with(".0")) text.remove_suffix(2);
    int64_t number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && stop == end && !text.empty() && number >= 0 && number <= most) {
      return number;
    }
    Broken(fmt::format("{}: \"{}\" is no whole number from 0 to {}", column,
                       Text(column).substr(0, 64), most));
    return 0;
  }
  const Result<void>& error() const { return error_; }
  void Broken(const std::string& why) {
    if (error_) error_ = Fail(fmt::format("{}: line {}: {}", what_, line_, why));
  }

 private:
  bool NextLine(std::string_view* line) {
    if (at_ >= text_.size()) return false;
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    *line = text_.substr(at_, end - at_);
    if (line->ends_with('\r')) line->remove_suffix(1);
    at_ = end + 1;
    ++line_;
    return true;
  }

  const std::string_view what_;
  const std::string_view text_;
  size_t at_ = 0;
  size_t line_ = 0;
  size_t rows_ = 0;
  size_t width_ = 0;
  std::vector<std::pair<std::string_view, size_t>> places_;
  std::vector<std::string_view> values_;
  Result<void> error_;
};

api::Quantity Mebibytes(int64_t mib) {
  return api::Quantity::FromInt(mib * (int64_t{1} << 20), api::Quantity::Format::kBinarySI);
}

void SetAmount(api::ResourceList& list, std::string_view name, api::Quantity amount) {
  list[std::string(name)] = std::move(amount);
}

api::Node ReadNode(Csv& csv) {
  api::Node node;
  node.metadata.name = csv.Text("sn");
  if (node.metadata.name.empty()) csv.Broken("sn: a node has no name");
  const int64_t gpus = csv.Number("gpu", kMaxGpus);
  api::ResourceList& amounts = node.status.allocatable;
  SetAmount(amounts, "cpu", api::Quantity::FromMilli(csv.Number("cpu_milli")));
  SetAmount(amounts, "memory", Mebibytes(csv.Number("memory_mib")));
  SetAmount(amounts, "pods", api::Quantity::FromInt(1000));
  if (gpus > 0) {
    SetAmount(amounts, kGpuResource, api::Quantity::FromInt(gpus));
    SetAmount(amounts, kGpuShares, api::Quantity::FromInt(1000 * gpus));
  }
  node.status.capacity = amounts;
  auto& labels = node.metadata.labels;
  labels["kubernetes.io/hostname"] = node.metadata.name;
  const std::string model(csv.Text("model"));
  if (!model.empty()) {
    labels[std::string(kGpuModel)] = model;
    labels[std::string(kPowerClass)] = model;
  }
  return node;
}

void Require(api::Pod& pod, std::string_view models) {
  api::NodeSelectorRequirement rule;
  rule.key = kGpuModel;
  rule.operator_ = "In";
  for (const std::string_view model : Split(models, '|')) rule.values.emplace_back(model);
  api::NodeSelectorTerm term;
  term.match_expressions.push_back(std::move(rule));
  api::NodeAffinity& affinity = pod.spec.affinity.emplace().node_affinity.emplace();
  affinity.required_during_scheduling_ignored_during_execution.emplace().node_selector_terms = {
      std::move(term)};
}

api::Pod ReadPod(Csv& csv) {
  api::Pod pod;
  pod.metadata.namespace_ = "default";
  pod.metadata.name = csv.Text("name");
  if (pod.metadata.name.empty()) csv.Broken("name: a pod has no name");
  pod.spec.scheduler_name = "default-scheduler";
  api::Container& container = pod.spec.containers.emplace_back();
  container.name = "main";
  api::ResourceList& requests = container.resources.requests;
  SetAmount(requests, "cpu", api::Quantity::FromMilli(csv.Number("cpu_milli")));
  SetAmount(requests, "memory", Mebibytes(csv.Number("memory_mib")));
  const int64_t gpus = csv.Number("num_gpu", kMaxGpus);
  const int64_t share = csv.Number("gpu_milli", 1000);
  if (gpus == 1 && share > 0 && share < 1000) {
    SetAmount(requests, kGpuShares, api::Quantity::FromInt(share));
  } else if (gpus > 0) {
    SetAmount(requests, kGpuResource, api::Quantity::FromInt(gpus));
  }
  if (gpus > 0) container.resources.limits = requests;
  if (const std::string_view models = csv.Text("gpu_spec"); !models.empty()) Require(pod, models);
  return pod;
}

}  // namespace

Result<Trace> ReadOpenb(std::string_view nodes_csv, std::string_view pods_csv) {
  Trace trace;
  Csv nodes("nodes", nodes_csv);
  if (auto ok = nodes.Open({"sn", "cpu_milli", "memory_mib", "gpu", "model"}); !ok) {
    return Fail(ok.error());
  }
  while (nodes.Next()) trace.nodes.push_back(ReadNode(nodes));
  if (!nodes.error()) return Fail(nodes.error().error());
  Csv pods("pods", pods_csv);
  if (auto ok = pods.Open({"name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "gpu_spec"});
      !ok) {
    return Fail(ok.error());
  }
  while (pods.Next()) trace.pods.push_back(ReadPod(pods));
  if (!pods.error()) return Fail(pods.error().error());
  if (trace.nodes.empty()) return Fail("nodes: there are no rows");
  if (trace.pods.empty()) return Fail("pods: there are no rows");
  return trace;
}

}  // namespace berth::sim
