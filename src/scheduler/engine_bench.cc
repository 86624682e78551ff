// What the engine adds to a decision, and what a pending pod costs.
#include <malloc.h>

#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "scheduler/engine.h"

namespace berth::scheduler {
namespace {

const api::Time kNow = api::Time::FromUnixNano(1'700'000'000'000'000'000);

api::Quantity Amount(const char* text) { return *api::Quantity::Parse(text); }

std::unique_ptr<Engine> MakeEngine(int nodes, const char* cpu) {
  auto engine = std::move(*Engine::Make(config::Default(), {}, kNow));
  for (int i = 0; i < nodes; ++i) {
    api::Node node;
    node.metadata.name = "node-" + std::to_string(i);
    node.status.allocatable["cpu"] = Amount(cpu);
    node.status.allocatable["memory"] = Amount("64Gi");
    node.status.allocatable["pods"] = Amount("1000");
    engine->Upsert(std::move(node));
  }
  return engine;
}

api::Pod MakePod(int i) {
  api::Pod pod;
  pod.metadata.name = "web-5d8f7c9b4-" + std::to_string(i);
  pod.metadata.namespace_ = "shop";
  pod.metadata.uid = "6f1c9a3e-0000-4000-8000-" + std::to_string(100'000'000 + i);
  pod.metadata.resource_version = std::to_string(i + 1);
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.containers.emplace_back();
  pod.spec.containers.back().resources.requests["cpu"] = Amount("100m");
  pod.spec.containers.back().resources.requests["memory"] = Amount("128Mi");
  return pod;
}

// From the watch event of a new pod to the watch event of the bound one. A sibling of another life
// keeps what is known of their shape.
void WholeLifeOfAPod(benchmark::State& state) {
  auto engine = MakeEngine(static_cast<int>(state.range(0)), "64");
  api::Pod sibling = MakePod(1'000'000'000);
  sibling.spec.node_name = "node-0";
  engine->Upsert(sibling);
  int i = 0;
  for (auto _ : state) {
    api::Pod pod = MakePod(i++);
    engine->Upsert(pod);
    engine->Step();
    for (Effect& effect : engine->TakeEffects()) {
      const auto* bind = std::get_if<BindPod>(&effect.action);
      if (bind == nullptr) continue;
      pod.spec.node_name = bind->node;
      EffectResult result;
      result.id = effect.id;
      engine->Complete(std::move(result));
    }
    pod.metadata.resource_version = std::to_string(1'000'000'000 + i);
    engine->Upsert(pod);
    engine->TakeEffects();
    engine->Delete(pod);
  }
}
BENCHMARK(WholeLifeOfAPod)->Arg(100)->Arg(1000)->Unit(benchmark::kMicrosecond);

// Pods that fit nowhere: what they cost in memory, and what an event costs that helps none of them.
void PendingPods(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  auto engine = MakeEngine(3, "50m");
  const size_t before = mallinfo2().uordblks;
  for (int i = 0; i < count; ++i) {
    engine->Upsert(MakePod(i));
    engine->Step();
    engine->TakeEffects();
  }
  state.counters["bytes_per_pod"] =
      static_cast<double>(mallinfo2().uordblks - before) / static_cast<double>(count);
  api::StorageClass unrelated;
  int version = 0;
  for (auto _ : state) {
    unrelated.metadata.name = "class";
    unrelated.metadata.resource_version = std::to_string(++version);
    engine->Upsert(unrelated);
  }
}
BENCHMARK(PendingPods)->Arg(100'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::scheduler
