// EngineHost: drives a scheduling engine in virtual time, between a ModelApi and a Network.
//
// Changes of the API's objects reach the engine as watch events; what the engine asks for is
// carried out at the API, and the results are handed back. The Network decides how long that takes
// and what goes wrong. The scheduler can crash at any moment and start again: nothing but the API
// survives.
//
// One action of the loop is one input or one scheduling cycle, so that anything can happen between
// any two of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "scheduler/engine.h"
#include "scheduler/tap.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"
#include "sim/host/network.h"

namespace berth::sim {

// Told what happens, besides what the engine itself tells. Does nothing unless overridden.
class HostObserver : public scheduler::EngineObserver {
 public:
  // The engine exists and has seen the lists of all kinds.
  virtual void Started(const scheduler::Engine&) {}
  virtual void Crashed() {}
  // Around one Engine::Step; `tried`: what it returned.
  virtual void BeforeStep(const scheduler::Engine&) {}
  virtual void AfterStep(const scheduler::Engine&, bool /*tried*/) {}
  // The engine asks for it.
  virtual void Asked(const scheduler::Effect&) {}
  // The API server has dealt with it: carried it out or refused it.
  virtual void CarriedOut(const scheduler::Effect&, const ApiAnswer&) {}
  // The engine is about to hear of it.
  virtual void Answered(const scheduler::Effect&, const scheduler::EffectResult&) {}
  virtual void Delivered(const ApiChange&) {}
  virtual void Listed(std::string_view /*kind*/, size_t /*objects*/) {}
};

class EngineHost {
 public:
  // All of them outlive the host; `observer` and `tap` may be null. The host lives as long as the
  // API is used.
  EngineHost(EventLoop& loop, ModelApi& api, Network& network,
             const config::KubeSchedulerConfiguration& config,
             const scheduler::EngineOptions& options, HostObserver* observer = nullptr,
             scheduler::EngineTap* tap = nullptr);
  EngineHost(const EngineHost&) = delete;
  EngineHost& operator=(const EngineHost&) = delete;

  // Makes an engine and hands it the lists of all kinds. REQUIRES: !Running().
  Result<void> Start();
  // The engine is gone; each request under way still arrives or does not.
  void Crash();

  bool Running() const { return engine_ != nullptr; }
  // REQUIRES: Running().
  scheduler::Engine& Get() { return *engine_; }
  const scheduler::Engine& Get() const { return *engine_; }

  // The engine has heard of everything that happened, nothing it asked for is under way, and it has
  // nothing to try now. It may still wait for time to pass.
  bool Quiet() const;

  // What the engine has been told last of an object; null when it does not know it or was told that
  // it is gone.
  template <class T>
  const T* Seen(const std::string& key) const {
    const auto kind = seen_.find(T::kKind);
    if (kind == seen_.end()) return nullptr;
    const auto it = kind->second.find(key);
    return it == kind->second.end() ? nullptr : std::get_if<T>(it->second.get());
  }
  // Calls f(const T&) for all of them, in order of key.
  template <class T, class F>
  void ForEachSeen(F&& f) const {
    const auto kind = seen_.find(T::kKind);
    if (kind == seen_.end()) return;
    for (const auto& [key, object] : kind->second) f(std::get<T>(*object));
  }

 private:
  struct Watch {
    uint64_t epoch = 0;    // events of an earlier one are lost
    size_t under_way = 0;  // events and lists
    Nanos last_arrival = 0;
    bool broken = false;
  };
  struct Request {
    scheduler::Effect effect;
    Fate fate;
    bool dealt_with = false;
    scheduler::EffectResult result;
  };

  // What inputs go through.
  scheduler::TappedEngine Tapped() { return {*engine_, tap_}; }
  void OnChange(ApiChange change);
  void Arrive(std::string_view kind, std::function<void()> deliver);
  void Deliver(const ApiChange& change);
  void List(std::string_view kind, std::vector<ObjectPtr> objects);
  // What the engine calls the lists of a kind: several where custom resources have one kind.
  std::vector<std::string> ListNamesOf(std::string_view kind) const;
  void BreakWatch(std::string_view kind, Nanos gap);
  // After every input: takes the effects and sees to it that the engine gets its turn.
  void AfterInput();
  void Turn();
  void ArmWake();
  void Send(scheduler::Effect effect);
  void DealWith(Request& request);
  void Answer(scheduler::EffectId id, bool last);
  // `action` runs later, unless the scheduler has crashed by then.
  void Later(Nanos delay, std::function<void()> action);

  EventLoop& loop_;
  ModelApi& api_;
  Network& network_;
  config::KubeSchedulerConfiguration config_;
  scheduler::EngineOptions options_;
  HostObserver* observer_;
  HostObserver silent_;
  scheduler::EngineTap* tap_;

  std::unique_ptr<scheduler::Engine> engine_;
  uint64_t incarnation_ = 0;
  std::vector<cluster::CustomKind> custom_;
  std::vector<std::string_view> kinds_;  // that the scheduler watches, custom_ included
  std::map<std::string_view, Watch> watches_;
  std::map<std::string_view, std::map<std::string, ObjectPtr>> seen_;
  std::map<scheduler::EffectId, Request> requests_;
  bool turn_pending_ = false;
  std::optional<EventLoop::Ticket> wake_;
};

}  // namespace berth::sim
