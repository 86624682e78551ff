// Decoding and encoding of the Pod in testdata, in JSON and in protobuf.
#include <benchmark/benchmark.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/core/pod.h"
#include "api/testing/objects.h"

namespace berth::api {
namespace {

void BM_PodFromJson(benchmark::State& state) {
  const std::string text = ReadTestData("pod.json");
  JsonDecoder decoder;
  for (auto _ : state) benchmark::DoNotOptimize(decoder.Decode<Pod>(text));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}
BENCHMARK(BM_PodFromJson);

void BM_PodFromProto(benchmark::State& state) {
  const std::string bytes = ReadTestData("pod.pb");
  for (auto _ : state) {
    auto envelope = UnwrapEnvelope(bytes);
    benchmark::DoNotOptimize(FromProto<Pod>(envelope->raw));
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_PodFromProto);

void BM_PodToJson(benchmark::State& state) {
  const Pod pod = *FromJson<Pod>(ReadTestData("pod.json"));
  for (auto _ : state) benchmark::DoNotOptimize(ToJson(pod));
}
BENCHMARK(BM_PodToJson);

void BM_PodToProto(benchmark::State& state) {
  const Pod pod = *FromJson<Pod>(ReadTestData("pod.json"));
  for (auto _ : state) benchmark::DoNotOptimize(ToProto(pod));
}
BENCHMARK(BM_PodToProto);

void BM_PodCopy(benchmark::State& state) {
  const Pod pod = *FromJson<Pod>(ReadTestData("pod.json"));
  for (auto _ : state) {
    Pod copy = pod;
    benchmark::DoNotOptimize(copy);
  }
  state.counters["sizeof"] = sizeof(Pod);
}
BENCHMARK(BM_PodCopy);

}  // namespace
}  // namespace berth::api
