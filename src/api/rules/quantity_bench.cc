#include "api/rules/quantity.h"

#include <benchmark/benchmark.h>

namespace berth::api {
namespace {

void BM_QuantityParse(benchmark::State& state, const char* text) {
  for (auto _ : state) benchmark::DoNotOptimize(Quantity::Parse(text));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(BM_QuantityParse, milli, "100m");
BENCHMARK_CAPTURE(BM_QuantityParse, binary, "1Gi");
BENCHMARK_CAPTURE(BM_QuantityParse, binary_fraction, "1.5Gi");
BENCHMARK_CAPTURE(BM_QuantityParse, remembered_text, "1E3");
BENCHMARK_CAPTURE(BM_QuantityParse, beyond_int64, "12345678901234567890");

void BM_QuantityString(benchmark::State& state, const char* text) {
  const Quantity q = Quantity::Parse(text).value();
  for (auto _ : state) benchmark::DoNotOptimize(q.String());
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(BM_QuantityString, milli, "1500m");
BENCHMARK_CAPTURE(BM_QuantityString, binary, "1536Mi");

void BM_QuantityAdd(benchmark::State& state) {
  const Quantity step = Quantity::Parse("100m").value();
  Quantity sum = Quantity::Parse("1").value();
  for (auto _ : state) {
    sum.Add(step);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_QuantityAdd);

}  // namespace
}  // namespace berth::api
