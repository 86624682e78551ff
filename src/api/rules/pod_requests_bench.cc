#include "api/rules/pod_requests.h"

#include <benchmark/benchmark.h>

namespace berth::api {
namespace {

// A pod of some containers that ask for cpu and memory.
Pod Requesting(int64_t containers) {
  Pod pod;
  for (int64_t i = 0; i < containers; ++i) {
    Container container;
    container.resources.requests["cpu"] = Quantity::FromMilli(100);
    container.resources.requests["memory"] =
        Quantity::FromInt(int64_t{1} << 28, Quantity::Format::kBinarySI);
    pod.spec.containers.push_back(container);
  }
  return pod;
}

void BM_PodResources(benchmark::State& state) {
  const Pod pod = Requesting(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(PodResources::Of(pod));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PodResources)->Arg(1)->Arg(3);

void BM_PodResourcesWithDefaults(benchmark::State& state) {
  Pod pod = Requesting(state.range(0));
  pod.spec.containers[0].resources.requests.clear();
  for (auto _ : state) benchmark::DoNotOptimize(PodResources::Of(pod));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_PodResourcesWithDefaults)->Arg(1)->Arg(3);

}  // namespace
}  // namespace berth::api
