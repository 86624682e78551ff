#include "sim/record/workload_name.h"

#include <fmt/format.h>

namespace berth::sim {
namespace {

// "batch-*" of "batch-17".
std::string WithoutNumber(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  const bool numbered = end != std::string::npos && end + 1 < name.size() && name[end] == '-';
  return numbered ? name.substr(0, end + 1) + "*" : name;
}

}  // namespace

const api::OwnerReference* ControllerOf(const api::ObjectMeta& metadata) {
  for (const api::OwnerReference& owner : metadata.owner_references) {
    if (owner.controller.value_or(false)) return &owner;
  }
  return nullptr;
}

std::string WorkloadName(const api::Pod& pod) {
  const api::ObjectMeta& metadata = pod.metadata;
  const api::OwnerReference* owner = ControllerOf(metadata);
  if (owner == nullptr) {
    return fmt::format("Pod {}/{}", metadata.namespace_, WithoutNumber(metadata.name));
  }
  const auto hash = metadata.labels.find("pod-template-hash");
  if (owner->kind == "ReplicaSet" && hash != metadata.labels.end()) {
    const std::string suffix = "-" + hash->second;
    if (owner->name.size() > suffix.size() && owner->name.ends_with(suffix)) {
      return fmt::format("Deployment {}/{}", metadata.namespace_,
                         owner->name.substr(0, owner->name.size() - suffix.size()));
    }
  }
  return fmt::format("{} {}/{}", owner->kind, metadata.namespace_, owner->name);
}

}  // namespace berth::sim
