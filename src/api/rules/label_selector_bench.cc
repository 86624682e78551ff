#include "api/rules/label_selector.h"

#include <string>

#include <benchmark/benchmark.h>

namespace berth::api {
namespace {

// Three requirements against a growing number of labels.
void BM_SelectorMatches(benchmark::State& state) {
  const Selector selector = Selector::Parse("app=web,tier in (a,b),!old").value();
  StringMap labels = {{"app", "web"}, {"tier", "b"}};
  for (int64_t i = 2; i < state.range(0); ++i) labels["label-" + std::to_string(i)] = "x";
  for (auto _ : state) benchmark::DoNotOptimize(selector.Matches(labels));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SelectorMatches)->Arg(2)->Arg(8)->Arg(32);

void BM_SelectorFromLabelSelector(benchmark::State& state) {
  LabelSelector selector;
  selector.match_labels = {{"app", "web"}, {"tier", "front"}};
  for (auto _ : state) benchmark::DoNotOptimize(Selector::From(selector));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_SelectorFromLabelSelector);

}  // namespace
}  // namespace berth::api
