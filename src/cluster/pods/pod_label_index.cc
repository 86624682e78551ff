#include "cluster/pods/pod_label_index.h"

#include <algorithm>

#include "api/meta.h"

namespace berth::cluster {

std::span<const PodId> PodLabelIndex::Of(std::string_view key, std::string_view value) const {
  const auto values = keys_.find(key);
  if (values == keys_.end()) return {};
  const auto it = values->second.find(value);
  if (it == values->second.end()) return {};
  return it->second;
}

void PodLabelIndex::Add(const Pod& pod) {
  for (auto& [key, values] : keys_) {
    const std::string* value = api::FindValue(pod.shape->source.metadata.labels, key);
    if (value != nullptr) values[*value].push_back(pod.id);
  }
}

void PodLabelIndex::Remove(const Pod& pod) {
  for (auto& [key, values] : keys_) {
    const std::string* value = api::FindValue(pod.shape->source.metadata.labels, key);
    if (value == nullptr) continue;
    const auto it = values.find(*value);
    if (it == values.end()) continue;
    std::erase(it->second, pod.id);
    if (it->second.empty()) values.erase(it);
  }
}

}  // namespace berth::cluster
