#include "sim/example.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace berth::sim {
namespace {

api::Quantity Amount(std::string_view text) { return *api::Quantity::Parse(text); }

struct NodeKind {
  std::string_view name;
  std::string_view cpu;
  std::string_view memory;
  std::string_view gpus;
  size_t share;  // of 20 nodes
};

constexpr NodeKind kNodeKinds[] = {
    {"general", "16", "64Gi", "", 12},
    {"compute", "32", "64Gi", "", 4},
    {"memory", "16", "128Gi", "", 3},
    {"gpu", "32", "256Gi", "8", 1},
};

api::Node MakeNode(size_t i) {
  size_t slot = i % 20;
  const NodeKind* kind = kNodeKinds;
  for (; slot >= kind->share; ++kind) slot -= kind->share;
  api::Node node;
  node.metadata.name = fmt::format("{}-{:05}", kind->name, i);
  node.metadata.labels = {
      {"kubernetes.io/hostname", node.metadata.name},
      {"kubernetes.io/arch", "amd64"},
      {"kubernetes.io/os", "linux"},
      {"node.kubernetes.io/instance-type", std::string(kind->name)},
      {"topology.kubernetes.io/region", "here"},
      {"topology.kubernetes.io/zone", fmt::format("zone-{}", static_cast<char>('a' + i % 3))},
  };
  node.status.capacity = {{"cpu", Amount(kind->cpu)},
                          {"memory", Amount(kind->memory)},
                          {"ephemeral-storage", Amount("200Gi")},
                          {"pods", Amount("110")}};
  if (!kind->gpus.empty()) {
    node.status.capacity["example.com/gpu"] = Amount(kind->gpus);
    api::Taint taint;
    taint.key = "example.com/gpu";
    taint.effect = "NoSchedule";
    node.spec.taints.push_back(std::move(taint));
  }
  node.status.allocatable = node.status.capacity;
  return node;
}

struct WorkloadKind {
  std::string_view name;
  std::string_view cpu;
  std::string_view memory;
  std::string_view gpus;
  std::string_view instance_type;  // wanted, empty: any
  std::string_view priority_class;
  size_t share;  // of 100 pods
};

constexpr WorkloadKind kWorkloadKinds[] = {
    {"web", "250m", "512Mi", "", "", "", 40},
    {"api", "500m", "1Gi", "", "", "", 25},
    {"batch", "1", "2Gi", "", "compute", "", 15},
    {"cache", "500m", "8Gi", "", "memory", "", 10},
    {"training", "3", "24Gi", "1", "", "important", 3},
    {"sidekick", "", "", "", "", "", 7},
};

api::Deployment MakeDeployment(const WorkloadKind& kind, int32_t replicas) {
  api::Deployment d;
  d.metadata.name = kind.name;
  d.metadata.namespace_ = "demo";
  d.spec.replicas = replicas;
  d.spec.selector.emplace().match_labels["app"] = kind.name;
  d.spec.template_.metadata.labels["app"] = kind.name;
  api::PodSpec& spec = d.spec.template_.spec;
  api::Container& container = spec.containers.emplace_back();
  container.name = "main";
  container.image = fmt::format("registry.example.com/{}:v1", kind.name);
  if (!kind.cpu.empty()) {
    container.resources.requests = {{"cpu", Amount(kind.cpu)}, {"memory", Amount(kind.memory)}};
  }
  spec.priority_class_name = kind.priority_class;
  if (!kind.gpus.empty()) {
    container.resources.requests["example.com/gpu"] = Amount(kind.gpus);
    container.resources.limits["example.com/gpu"] = Amount(kind.gpus);
    api::Toleration& toleration = spec.tolerations.emplace_back();
    toleration.key = "example.com/gpu";
    toleration.operator_ = "Exists";
  }
  if (!kind.instance_type.empty()) {
    auto& affinity = spec.affinity.emplace().node_affinity.emplace();
    auto& preferred = affinity.preferred_during_scheduling_ignored_during_execution.emplace_back();
    preferred.weight = 50;
    auto& wanted = preferred.preference.match_expressions.emplace_back();
    wanted.key = "node.kubernetes.io/instance-type";
    wanted.operator_ = "In";
    wanted.values = {std::string(kind.instance_type)};
  }
  return d;
}

}  // namespace

Result<void> ExampleCluster(size_t nodes, size_t pods,
                            const std::function<Result<void>(api::Object)>& consume) {
  api::PriorityClass important;
  important.metadata.name = "important";
  important.value = 1000;
  if (auto ok = consume(api::Object(std::move(important))); !ok) return ok;
  for (size_t i = 0; i < nodes; ++i) {
    if (auto ok = consume(api::Object(MakeNode(i))); !ok) return ok;
  }
  size_t left = pods;
  for (const WorkloadKind& kind : kWorkloadKinds) {
    const bool last = &kind == std::end(kWorkloadKinds) - 1;
    const size_t replicas = last ? left : std::min(left, pods * kind.share / 100);
    left -= replicas;
    if (auto ok = consume(api::Object(MakeDeployment(kind, static_cast<int32_t>(replicas)))); !ok) {
      return ok;
    }
  }
  return {};
}

}  // namespace berth::sim
