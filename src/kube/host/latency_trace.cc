#include "kube/host/latency_trace.h"

#include <chrono>
#include <utility>

#include "log/log.h"

namespace berth::kube {
namespace {

// Hands on everything; says when a frame begins.
class TracedClient final : public ApiClient {
 public:
  TracedClient(ApiClient& client, LatencyTrace& trace) : client_(client), trace_(trace) {}

  Id Send(ApiRequest request, Callback done) override {
    return client_.Send(std::move(request), std::move(done));
  }
  Id Watch(ApiRequest request, WatchSink* sink) override {
    auto traced = std::make_unique<Sink>(*this, sink);
    Sink* const its = traced.get();
    const Id id = client_.Watch(std::move(request), its);
    its->id = id;
    sinks_.emplace(id, std::move(traced));
    return id;
  }
  void Cancel(Id id) override {
    client_.Cancel(id);
    Forget(id);
  }
  std::string_view ContentType() const override { return client_.ContentType(); }

 private:
  struct Sink final : WatchSink {
    Sink(TracedClient& owner, WatchSink* target) : client(owner), to(target) {}
    void OnStarted(std::string_view content_type) override { to->OnStarted(content_type); }
    void OnFrame(std::string_view frame) override {
      client.trace_.Read();
      to->OnFrame(frame);
    }
    void OnEnd(const ApiResponse& why) override {
      WatchSink* const target = to;
      client.Forget(id);
      target->OnEnd(why);
    }

    TracedClient& client;
    WatchSink* const to;
    Id id = 0;
  };

  // A sink may be the caller: it stays until the next is forgotten.
  void Forget(Id id) {
    const auto found = sinks_.find(id);
    if (found == sinks_.end()) return;
    leaving_ = std::move(found->second);
    sinks_.erase(found);
  }

  ApiClient& client_;
  LatencyTrace& trace_;
  std::unordered_map<Id, std::unique_ptr<Sink>> sinks_;
  std::unique_ptr<Sink> leaving_;
};

void Log(const LatencyTrace::Hops& hops) {
  const auto since = [&](int64_t time) { return (time - hops.read) / 1000; };
  log::Info(0, "Latency of a pod",
            {{"pod", hops.pod},
             {"readUnixMicros", hops.read / 1000},
             {"decoded", since(hops.decoded)},
             {"taken", since(hops.taken)},
             {"decided", since(hops.decided)},
             {"written", since(hops.written)},
             {"answered", since(hops.answered)}});
}

int64_t Now() {
  const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
}

}  // namespace

std::unique_ptr<LatencyTrace> LatencyTrace::ToLog() {
  return std::make_unique<LatencyTrace>(Now, Log);
}

void LatencyTrace::Decoded(const scheduler::PodRef& pod) {
  Hops hops;
  hops.pod = pod.namespace_ + "/" + pod.name;
  hops.read = read_;
  hops.decoded = clock_();
  const std::lock_guard lock(mutex_);
  if (pods_.size() >= kMaxPods) pods_.clear();
  pods_[pod.uid] = std::move(hops);
}

void LatencyTrace::Taken(std::string_view uid) {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(std::string(uid));
  if (found != pods_.end()) found->second.taken = clock_();
}

void LatencyTrace::Decided(std::string_view uid, scheduler::EffectId bind) {
  const std::lock_guard lock(mutex_);
  const auto found = pods_.find(std::string(uid));
  if (found == pods_.end()) return;
  found->second.decided = clock_();
  if (bindings_.size() >= kMaxPods) bindings_.clear();
  bindings_[bind] = std::move(found->second);
  pods_.erase(found);
}

void LatencyTrace::Written(scheduler::EffectId bind) {
  const std::lock_guard lock(mutex_);
  const auto found = bindings_.find(bind);
  if (found != bindings_.end()) found->second.written = clock_();
}

void LatencyTrace::Answered(scheduler::EffectId bind) {
  Hops hops;
  {
    const std::lock_guard lock(mutex_);
    const auto found = bindings_.find(bind);
    if (found == bindings_.end()) return;
    hops = std::move(found->second);
    bindings_.erase(found);
  }
  hops.answered = clock_();
  report_(hops);
}

std::unique_ptr<ApiClient> MakeTracedClient(ApiClient& client, LatencyTrace& trace) {
  return std::make_unique<TracedClient>(client, trace);
}

}  // namespace berth::kube
