// What an attempt costs for a pod as large as the API server takes (1 MB), written to be expensive:
// thousands of spread constraints, affinity terms, requirements, tolerations. Each iteration is a
// pod whose shape was never seen, tried once. docs/security-scheduler.md has the figures;
// `berth-bench` measures ordinary pods.
#include <functional>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "api/rules/quantity.h"
#include "scheduler/engine.h"

namespace berth::scheduler {
namespace {

const api::Time kNow = api::Time::FromUnixNano(1'700'000'000'000'000'000);

std::string Number(int64_t n) { return std::to_string(n); }

// Some 100 nodes per zone, and one pod of the tenant on each.
std::unique_ptr<Engine> MakeCluster(int64_t nodes) {
  auto engine = std::move(*Engine::Make(config::Default(), {}, kNow));
  for (int64_t i = 0; i < nodes; ++i) {
    api::Node node;
    node.metadata.name = "node-" + Number(i);
    node.metadata.labels["kubernetes.io/hostname"] = node.metadata.name;
    node.metadata.labels["topology.kubernetes.io/zone"] = "zone-" + Number(i % (nodes / 100));
    node.metadata.labels["size"] = Number(i % 7);
    node.status.allocatable["cpu"] = *api::Quantity::Parse("64");
    node.status.allocatable["memory"] = *api::Quantity::Parse("64Gi");
    node.status.allocatable["pods"] = *api::Quantity::Parse("1000");
    if (i % 3 == 0) node.spec.taints = {{"a", "b", "PreferNoSchedule", std::nullopt}};
    engine->Upsert(std::move(node));
    api::Pod pod;
    pod.metadata.namespace_ = "tenant";
    pod.metadata.name = pod.metadata.uid = "placed-" + Number(i);
    pod.metadata.labels["app"] = "placed";
    pod.metadata.labels["kind"] = Number(i % 50);
    pod.spec.scheduler_name = "default-scheduler";
    pod.spec.node_name = "node-" + Number(i);
    pod.spec.containers.emplace_back();
    engine->Upsert(std::move(pod));
  }
  return engine;
}

api::LabelSelector Not(const std::string& value) {
  api::LabelSelector selector;
  selector.match_expressions = {{"app", "NotIn", {value}}};
  return selector;
}

api::PodAffinityTerm Term(std::string topology_key, const std::string& unlike) {
  api::PodAffinityTerm term;
  term.label_selector = Not(unlike);
  term.topology_key = std::move(topology_key);
  return term;
}

// `i` makes every pod one of a kind, `k` counts the parts of a pod.
using Fill = std::function<void(api::PodSpec&, int64_t i)>;
constexpr int64_t kParts = 9'000;

void Spread(api::PodSpec& spec, int64_t i, const char* action, bool own_keys) {
  for (int64_t k = 0; k < kParts; ++k) {
    api::TopologySpreadConstraint constraint;
    constraint.max_skew = 1;
    constraint.topology_key =
        own_keys ? "k" + Number(i * kParts + k) : "topology.kubernetes.io/zone";
    constraint.when_unsatisfiable = action;
    constraint.label_selector = Not("x" + Number(i * kParts + k));
    spec.topology_spread_constraints.push_back(std::move(constraint));
  }
}

void SpreadByPolicy(api::PodSpec& spec, int64_t i) {
  Spread(spec, i, "ScheduleAnyway", true);
  spec.topology_spread_constraints.resize(kParts / 2);
  for (auto& constraint : spec.topology_spread_constraints) constraint.node_taints_policy = "Honor";
  auto& required = spec.affinity.emplace()
                       .node_affinity.emplace()
                       .required_during_scheduling_ignored_during_execution;
  required.emplace();
  for (int64_t k = 0; k < kParts / 2; ++k) {
    api::NodeSelectorTerm term;
    term.match_expressions = {{"size", "NotIn", {"y" + Number(i * kParts + k)}}};
    required->node_selector_terms.push_back(std::move(term));
  }
}

void SpreadByNodeLabels(api::PodSpec& spec, int64_t i) {
  SpreadByPolicy(spec, i);
  auto& list = spec.topology_spread_constraints;
  list.resize(3);
  list[0].topology_key = "kubernetes.io/hostname";
  list[1].topology_key = "topology.kubernetes.io/zone";
  list[2].topology_key = "size";
}

enum class Side { kNear, kApart, kRatherNear, kRatherApart };

void Affinity(api::PodSpec& spec, int64_t i, Side side, const char* key, bool own_keys) {
  api::Affinity& affinity = spec.affinity.emplace();
  auto& near = affinity.pod_affinity.emplace();
  auto& apart = affinity.pod_anti_affinity.emplace();
  for (int64_t k = 0; k < kParts; ++k) {
    const std::string number = Number(i * kParts + k);
    api::PodAffinityTerm term = Term(own_keys ? "k" + number : key, "x" + number);
    api::WeightedPodAffinityTerm weighted;
    weighted.weight = 1;
    weighted.pod_affinity_term = term;
    switch (side) {
      case Side::kNear:
        near.required_during_scheduling_ignored_during_execution.push_back(std::move(term));
        break;
      case Side::kApart:
        apart.required_during_scheduling_ignored_during_execution.push_back(std::move(term));
        break;
      case Side::kRatherNear:
        near.preferred_during_scheduling_ignored_during_execution.push_back(std::move(weighted));
        break;
      case Side::kRatherApart:
        apart.preferred_during_scheduling_ignored_during_execution.push_back(std::move(weighted));
        break;
    }
  }
}

// Every term fails at its second requirement.
void NodeTerms(api::PodSpec& spec, int64_t i, const char* key, const char* op) {
  auto& required = spec.affinity.emplace()
                       .node_affinity.emplace()
                       .required_during_scheduling_ignored_during_execution;
  required.emplace();
  for (int64_t k = 0; k < kParts; ++k) {
    api::NodeSelectorTerm term;
    term.match_expressions = {{key, op, {Number(1'000'000 + i * kParts + k)}},
                              {"size", "In", {"none"}}};
    required->node_selector_terms.push_back(std::move(term));
  }
}

void PreferredNodeTerms(api::PodSpec& spec, int64_t i) {
  auto& preferred = spec.affinity.emplace()
                        .node_affinity.emplace()
                        .preferred_during_scheduling_ignored_during_execution;
  for (int64_t k = 0; k < kParts; ++k) {
    api::PreferredSchedulingTerm term;
    term.weight = 1;
    term.preference.match_expressions = {
        {"kubernetes.io/hostname", "NotIn", {"x" + Number(i * kParts + k)}}};
    preferred.push_back(std::move(term));
  }
}

// One requirement of very many values.
void Values(api::PodSpec& spec, int64_t i, const char* op) {
  auto& required = spec.affinity.emplace()
                       .node_affinity.emplace()
                       .required_during_scheduling_ignored_during_execution;
  api::NodeSelectorTerm& term = required.emplace().node_selector_terms.emplace_back();
  term.match_expressions = {{"kubernetes.io/hostname", op, {}}};
  for (int64_t k = 0; k < 8 * kParts; ++k) {
    term.match_expressions[0].values.push_back("v" + Number(i * kParts + k));
  }
}

void NodeSelector(api::PodSpec& spec, int64_t i) {
  for (int64_t k = 0; k < 4 * kParts; ++k)
    spec.node_selector["k" + Number(i * 4 * kParts + k)] = "v";
}

void Tolerations(api::PodSpec& spec, int64_t i) {
  for (int64_t k = 0; k < kParts; ++k) {
    spec.tolerations.push_back(
        {"k" + Number(i * kParts + k), "Equal", "v", "NoSchedule", std::nullopt});
  }
}

void Ports(api::PodSpec& spec, int64_t i) {
  for (int64_t k = 0; k < kParts; ++k) {
    api::ContainerPort port;
    port.container_port = port.host_port = static_cast<int32_t>(1 + (i * kParts + k) % 65'000);
    port.protocol = "TCP";
    spec.containers[0].ports.push_back(std::move(port));
  }
}

void Containers(api::PodSpec& spec, int64_t i) {
  for (int64_t k = 0; k < kParts; ++k) {
    api::Container& container = spec.containers.emplace_back();
    container.name = "c" + Number(k);
    container.image = "image-" + Number(i * kParts + k);
    container.resources.requests["example.com/r" + Number(i * kParts + k)] =
        *api::Quantity::Parse("1");
  }
}

void Try(benchmark::State& state, const Fill& fill) {
  auto engine = MakeCluster(state.range(0));
  int64_t i = 0;
  for (auto _ : state) {
    state.PauseTiming();
    api::Pod pod;
    pod.metadata.namespace_ = "tenant";
    pod.metadata.name = pod.metadata.uid = "heavy-" + Number(i);
    pod.metadata.labels["app"] = "heavy";
    pod.spec.scheduler_name = "default-scheduler";
    pod.spec.containers.emplace_back();
    fill(pod.spec, i++);
    state.ResumeTiming();
    engine->Upsert(pod);
    engine->Step();
    state.PauseTiming();
    engine->TakeEffects();
    engine->Delete(pod);
    state.ResumeTiming();
  }
}

struct Row {
  const char* name;
  Fill fill;
};

const Row kRows[] = {
    {"SpreadAnyway", [](auto& s, auto i) { Spread(s, i, "ScheduleAnyway", true); }},
    {"SpreadAnywayOneKey", [](auto& s, auto i) { Spread(s, i, "ScheduleAnyway", false); }},
    {"SpreadMust", [](auto& s, auto i) { Spread(s, i, "DoNotSchedule", true); }},
    {"SpreadMustOneKey", [](auto& s, auto i) { Spread(s, i, "DoNotSchedule", false); }},
    {"SpreadByPolicy", SpreadByPolicy},
    {"SpreadByNodeLabels", SpreadByNodeLabels},
    {"Near", [](auto& s, auto i) { Affinity(s, i, Side::kNear, "kubernetes.io/hostname", false); }},
    {"NearOwnKeys", [](auto& s, auto i) { Affinity(s, i, Side::kNear, "", true); }},
    {"Apart",
     [](auto& s, auto i) { Affinity(s, i, Side::kApart, "kubernetes.io/hostname", false); }},
    {"ApartOwnKeys", [](auto& s, auto i) { Affinity(s, i, Side::kApart, "", true); }},
    {"RatherNear",
     [](auto& s, auto i) { Affinity(s, i, Side::kRatherNear, "kubernetes.io/hostname", false); }},
    {"RatherApartOwnKeys", [](auto& s, auto i) { Affinity(s, i, Side::kRatherApart, "", true); }},
    {"NodeTermsNotIn", [](auto& s, auto i) { NodeTerms(s, i, "kubernetes.io/hostname", "NotIn"); }},
    {"NodeTermsGt", [](auto& s, auto i) { NodeTerms(s, i, "size", "Gt"); }},
    {"NodeTermsGtHostname",
     [](auto& s, auto i) { NodeTerms(s, i, "kubernetes.io/hostname", "Gt"); }},
    {"PreferredNodeTerms", PreferredNodeTerms},
    {"ValuesIn", [](auto& s, auto i) { Values(s, i, "In"); }},
    {"ValuesNotIn", [](auto& s, auto i) { Values(s, i, "NotIn"); }},
    {"NodeSelector", NodeSelector},
    {"Tolerations", Tolerations},
    {"Ports", Ports},
    {"Containers", Containers},
};

[[maybe_unused]] const bool kRegistered = [] {
  for (const Row& row : kRows) {
    benchmark::RegisterBenchmark((std::string("HeavyPod/") + row.name).c_str(),
                                 [&row](benchmark::State& state) { Try(state, row.fill); })
        ->Arg(1000)
        ->Arg(5000)
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace berth::scheduler
