// What metrics and the log (at -v=0) add to a pod's way through the engine: range(0) is 0 for no
// observer, 1 for metrics and the log when every cycle is timed, 2 when one in kSampling is.
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "cli/scheduler/decision_log.h"
#include "scheduler/engine.h"

namespace berth::cli::scheduler {
namespace {

namespace core = berth::scheduler;

const api::Time kNow = api::Time::FromUnixNano(1'700'000'000'000'000'000);

api::Quantity Amount(const char* text) { return *api::Quantity::Parse(text); }

api::Pod MakePod(int i) {
  api::Pod pod;
  pod.metadata.name = "web-5d8f7c9b4-" + std::to_string(i);
  pod.metadata.namespace_ = "shop";
  pod.metadata.uid = "6f1c9a3e-0000-4000-8000-" + std::to_string(100'000'000 + i);
  pod.metadata.resource_version = std::to_string(i + 1);
  pod.spec.scheduler_name = "default-scheduler";
  pod.spec.containers.emplace_back();
  pod.spec.containers.back().resources.requests["cpu"] = Amount("100m");
  return pod;
}

void APodObserved(benchmark::State& state) {
  server::Registry registry;
  server::SchedulerMetrics metrics(registry, {});
  DecisionLog log(metrics);
  core::EngineObserver* const observer = state.range(0) == 0 ? nullptr : &log;
  auto engine = std::move(*core::Engine::Make(config::Default(), {}, kNow, nullptr, observer));
  for (int i = 0; i < 1000; ++i) {
    api::Node node;
    node.metadata.name = "node-" + std::to_string(i);
    node.status.allocatable["cpu"] = Amount("64");
    node.status.allocatable["pods"] = Amount("1000");
    engine->Upsert(std::move(node));
  }
  api::Pod sibling = MakePod(1'000'000'000);
  sibling.spec.node_name = "node-0";
  engine->Upsert(sibling);
  int i = 0;
  for (auto _ : state) {
    if (state.range(0) == 1 && i % 512 == 0) metrics.Refresh(*engine);
    api::Pod pod = MakePod(i++);
    engine->Upsert(pod);
    engine->Step();
    for (core::Effect& effect : engine->TakeEffects()) {
      const auto* bind = std::get_if<core::BindPod>(&effect.action);
      if (bind == nullptr) continue;
      pod.spec.node_name = bind->node;
      core::EffectResult result;
      result.id = effect.id;
      engine->Complete(std::move(result));
    }
    engine->TakeEffects();
    engine->Delete(pod);
  }
}
BENCHMARK(APodObserved)->Arg(0)->Arg(1)->Arg(2)->Iterations(20000)->Unit(benchmark::kMicrosecond);
// The first of these cycles are timed one by one: the difference of the two numbers of pods is not.
BENCHMARK(APodObserved)->Arg(0)->Arg(2)->Iterations(4000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::cli::scheduler
