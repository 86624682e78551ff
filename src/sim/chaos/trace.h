// Tracer: forwards everything to the invariants, and optionally writes a trace.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sim/chaos/invariants.h"
#include "sim/host/engine_host.h"
#include "sim/host/event_loop.h"

namespace berth::sim {

class Tracer final : public HostObserver {
 public:
  using Sink = std::function<void(const std::string&)>;
  // `sink` may be empty: then nothing is written. The others outlive the tracer.
  Tracer(const EventLoop& loop, Invariants& next, Sink sink)
      : loop_(loop), next_(next), sink_(std::move(sink)) {}

  // With the virtual time in front.
  void Line(std::string_view text) const;

  void Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void Preempted(const scheduler::PodRef& preemptor, size_t victims,
                 std::string_view node) override;
  void Started(const scheduler::Engine& engine) override;
  void Crashed() override;
  void BeforeStep(const scheduler::Engine& engine) override { next_.BeforeStep(engine); }
  void AfterStep(const scheduler::Engine& engine, bool tried) override {
    next_.AfterStep(engine, tried);
  }
  void Asked(const scheduler::Effect& effect) override;
  void CarriedOut(const scheduler::Effect& effect, const ApiAnswer& answer) override;
  void Answered(const scheduler::Effect& effect, const scheduler::EffectResult& result) override;
  void Delivered(const ApiChange& change) override;
  void Listed(std::string_view kind, size_t objects) override;

 private:
  const EventLoop& loop_;
  Invariants& next_;
  Sink sink_;
};

// One line about an effect: "bind p1 to node-3".
std::string Describe(const scheduler::Effect& effect);

}  // namespace berth::sim
