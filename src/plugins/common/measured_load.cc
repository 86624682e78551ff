#include "plugins/common/measured_load.h"

#include <map>

#include "cluster/table/load_metrics.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kAverage = "AVG";
constexpr std::string_view kDeviation = "STD";
constexpr std::string_view kLatest = "Latest";
constexpr size_t kPositionLength = 3;  // "00/"

// An average counts before the latest value and before one without operator.
void AddTo(ResourceLoad* load, bool* has_average, std::string_view operator_, double percent) {
  load->known = true;
  if (operator_ == kAverage) {
    load->average = percent;
    *has_average = true;
  } else if (operator_ == kDeviation) {
    load->deviation = percent;
  } else if ((operator_.empty() || operator_ == kLatest) && !*has_average) {
    load->average = percent;
  }
}

bool ReadWith(std::string_view prefix, const cluster::NodeMetrics& metrics, MeasuredLoad* load) {
  bool found = false;
  bool cpu_average = false;
  bool memory_average = false;
  for (auto it = metrics.values.lower_bound(prefix); it != metrics.values.end(); ++it) {
    std::string_view key = it->first;
    if (!key.starts_with(prefix)) break;
    key.remove_prefix(prefix.size());
    found = true;
    if (key == cluster::kLoadEnd) {
      load->window_end = static_cast<int64_t>(it->second);
      continue;
    }
    if (key == cluster::kLoadMeasured) {
      load->measured = it->second;
      continue;
    }
    if (key.size() < kPositionLength) continue;
    key.remove_prefix(kPositionLength);
    const size_t slash = key.rfind('/');
    if (slash == std::string_view::npos) continue;
    const std::string_view operator_ = key.substr(slash + 1);
    const std::string_view type = key.substr(0, slash);
    if (type == "CPU") {
      AddTo(&load->cpu, &cpu_average, operator_, it->second);
      if (operator_ != kAverage && operator_ != kLatest) continue;
      if (!load->first_cpu) load->first_cpu = it->second;
      load->last_cpu = it->second;
    } else if (type == "Memory") {
      AddTo(&load->memory, &memory_average, operator_, it->second);
    }
  }
  return found;
}

}  // namespace

LoadReader::LoadReader(std::string_view source) : prefix_(cluster::LoadKeyPrefix(source)) {}

bool LoadReader::Read(const cluster::Cluster& cluster, cluster::NodeIndex node,
                      MeasuredLoad* load) const {
  const cluster::NodeMetrics* metrics = cluster.Metrics(node);
  if (metrics == nullptr) return false;
  *load = {};
  return ReadWith(prefix_, *metrics, load) || ReadWith("load:", *metrics, load);
}

}  // namespace berth::plugins
