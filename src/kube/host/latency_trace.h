// LatencyTrace: when a pod passed each hop between its watch event and the answer to its binding.
//
//   read ─▶ decoded ─▶ taken (by the engine) ─▶ decided ─▶ written ─▶ answered
//
// For --trace-latency. Hosts hold a null pointer when nothing is traced. The loop's thread reports
// read, decoded, written and answered, the engine's thread the others; a lock keeps them apart.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "kube/client/api_client.h"
#include "scheduler/effects.h"

namespace berth::kube {

class LatencyTrace {
 public:
  // Nanoseconds since 1970.
  struct Hops {
    std::string pod;  // namespace/name
    int64_t read = 0;
    int64_t decoded = 0;
    int64_t taken = 0;
    int64_t decided = 0;
    int64_t written = 0;
    int64_t answered = 0;
  };
  using Clock = std::function<int64_t()>;
  using Report = std::function<void(const Hops&)>;

  // `report` is called on the loop's thread, once per answered binding.
  LatencyTrace(Clock clock, Report report) : clock_(std::move(clock)), report_(std::move(report)) {}

  // With the system's clock; every pod is a line of the log.
  static std::unique_ptr<LatencyTrace> ToLog();

  // Bytes of a watch are there, to be decoded.
  void Read() { read_ = clock_(); }
  // They were an event about a pod without a node.
  void Decoded(const scheduler::PodRef& pod);
  void Taken(std::string_view uid);
  void Decided(std::string_view uid, scheduler::EffectId bind);
  void Written(scheduler::EffectId bind);
  void Answered(scheduler::EffectId bind);

 private:
  // Pods that are never bound are forgotten with all others once there are so many.
  static constexpr size_t kMaxPods = 100'000;

  const Clock clock_;
  const Report report_;
  int64_t read_ = 0;  // the loop's
  std::mutex mutex_;
  std::unordered_map<std::string, Hops> pods_;  // by uid; under mutex_, as the next
  std::unordered_map<scheduler::EffectId, Hops> bindings_;
};

// A client like `client` whose watches report to `trace` what they read. Both outlive it.
std::unique_ptr<ApiClient> MakeTracedClient(ApiClient& client, LatencyTrace& trace);

}  // namespace berth::kube
