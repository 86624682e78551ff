#include "queue/scheduling_queue.h"

#include <benchmark/benchmark.h>
#include <malloc.h>

namespace berth::queue {
namespace {

constexpr PluginId kFit = 1, kPorts = 2;
constexpr ClusterEvent kNodeAdd{EventResource::kNode, kAdd};
constexpr ClusterEvent kClassAdd{EventResource::kStorageClass, kAdd};
constexpr ClusterEvent kClaimAdd{EventResource::kPersistentVolumeClaim, kAdd};

// Ten priorities; kFit registers for nodes, kPorts for storage classes, no plugin for claims.
class BenchHost : public QueueHost {
 public:
  bool Less(const QueuedPod& a, const QueuedPod& b) const override {
    const int32_t pa = Priority(a.pod), pb = Priority(b.pod);
    return pa != pb ? pa > pb : a.timestamp < b.timestamp;
  }
  Gate PreEnqueue(const QueuedPod&, PluginId) const override { return {}; }
  PluginMask Registered(uint8_t, const ClusterEvent& event) const override {
    if (event == kNodeAdd) return MaskOf(kFit);
    return event == kClassAdd ? MaskOf(kPorts) : 0;
  }
  bool MayHelp(const QueuedPod&, PluginId, const Event&) const override { return helps; }
  int32_t Priority(PodId pod) const override { return static_cast<int32_t>(pod * 7919 % 10); }
  std::string_view Uid(PodId) const override { return "uid"; }
  void Moved(const QueuedPod&, QueueName, std::string_view, bool) override {}

  bool helps = true;
};

api::Time At(int64_t ns) { return api::Time::FromUnixNano(1'700'000'000'000'000'000 + ns); }

void AddAll(SchedulingQueue& queue, int64_t pods) {
  for (int64_t i = 0; i < pods; ++i) queue.Add(static_cast<PodId>(i), 0, At(i));
}
void RejectAll(SchedulingQueue& queue, int64_t now) {
  while (const auto pod = queue.Pop(At(now)))
    queue.AddUnschedulable(*pod, MaskOf(kFit), 0, At(now));
}

void BM_AddPopDone(benchmark::State& state) {
  BenchHost host;
  for (auto _ : state) {
    SchedulingQueue queue(host, 1, {});
    AddAll(queue, state.range(0));
    while (const auto pod = queue.Pop(At(1'000'000))) queue.Done(*pod);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_AddPopDone)->Arg(1000)->Arg(100'000)->Unit(benchmark::kMillisecond);

// One pod in and one out with so many waiting.
void BM_AddPopDoneAmongOthers(benchmark::State& state) {
  BenchHost host;
  SchedulingQueue queue(host, 1, {});
  AddAll(queue, state.range(0));
  PodId next = static_cast<PodId>(state.range(0));
  for (auto _ : state) {
    queue.Add(next++, 0, At(1'000'000));
    queue.Done(*queue.Pop(At(1'000'000)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(BM_AddPopDoneAmongOthers)->Arg(1000)->Arg(100'000);

void BM_MoveNobodyCares(benchmark::State& state, ClusterEvent what) {
  BenchHost host;
  SchedulingQueue queue(host, 1, {});
  AddAll(queue, 100'000);
  RejectAll(queue, 1'000'000);
  const Event event{what, {}, {}};
  for (auto _ : state) queue.Move(event, At(2'000'000));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(BM_MoveNobodyCares, event_nobody_registered, kClaimAdd);
BENCHMARK_CAPTURE(BM_MoveNobodyCares, event_of_another_plugin, kClassAdd);

// The hint is called for all 100,000 and always returns Skip.
void BM_MoveAllDecline(benchmark::State& state) {
  BenchHost host;
  host.helps = false;
  SchedulingQueue queue(host, 1, {});
  AddAll(queue, 100'000);
  RejectAll(queue, 1'000'000);
  for (auto _ : state) queue.Move({kNodeAdd, {}, {}}, At(2'000'000));
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(BM_MoveAllDecline)->Unit(benchmark::kMillisecond);

// All 100,000 go to active, are tried, and come back: the storm after a node was added.
void BM_MoveAllAndReject(benchmark::State& state) {
  BenchHost host;
  SchedulingQueue queue(host, 1, {});
  AddAll(queue, 100'000);
  int64_t now = 0;
  RejectAll(queue, now);
  for (auto _ : state) {
    now += 20'000'000'000;
    queue.Move({kNodeAdd, {}, {}}, At(now));
    RejectAll(queue, now);
  }
  state.SetItemsProcessed(state.iterations() * 100'000);
}
BENCHMARK(BM_MoveAllAndReject)->Unit(benchmark::kMillisecond);

// What 100,000 pods cost in memory, having been through all of it.
void BM_Memory(benchmark::State& state) {
  constexpr int64_t kPods = 100'000;
  double bytes = 0;
  for (auto _ : state) {
    const struct mallinfo2 before = mallinfo2();
    BenchHost host;
    SchedulingQueue queue(host, 1, {});
    AddAll(queue, kPods);
    RejectAll(queue, 1'000'000);
    queue.Move({kNodeAdd, {}, {}}, At(1'000'000));
    RejectAll(queue, 20'000'000'000);
    const struct mallinfo2 after = mallinfo2();
    bytes = static_cast<double>(after.uordblks + after.hblkhd) -
            static_cast<double>(before.uordblks + before.hblkhd);
  }
  state.counters["bytes_per_pod"] = bytes / kPods;
  state.counters["megabytes"] = bytes / 1e6;
}
BENCHMARK(BM_Memory)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::queue
