// EngineTap: receives a copy of everything an engine takes in and returns.
//
// A host calls it beside the engine, in the same order and on the same thread: inputs before the
// engine gets them, results after. The calls are enough to build an equal engine and to make it
// decide the same again (src/record). A tap must not fail or wait.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "api/object.h"
#include "config/config.h"
#include "scheduler/effects.h"
#include "scheduler/engine.h"
#include "scheduler/list_part.h"

namespace berth::scheduler {

class EngineTap {
 public:
  virtual ~EngineTap() = default;

  // An engine was made with these arguments of Engine::Make and is used from now on.
  virtual void Began(const config::KubeSchedulerConfiguration& config, const EngineOptions& options,
                     const api::Time& now) = 0;
  // The calls of Engine with the same names.
  virtual void AdvanceTo(const api::Time& now) = 0;
  virtual void Upsert(const api::Object& object) = 0;
  virtual void UpdateStatus(const api::Pod& pod) = 0;
  virtual void Delete(const api::Object& object) = 0;
  virtual void Replace(std::string_view kind, std::span<const api::Object> objects,
                       ListPart part) = 0;
  virtual void UpdateNodeMetrics(std::string_view node, const cluster::NodeMetrics& metrics) = 0;
  virtual void Complete(const EffectResult& result) = 0;
  // `tried`: the return value of Engine::Step.
  virtual void Step(bool tried) = 0;
  // The return value of Engine::TakeEffects.
  virtual void Taken(std::span<const Effect> effects) = 0;
};

// The engine behind its tap, if it has one: what hosts call instead of the engine itself.
class TappedEngine {
 public:
  TappedEngine(Engine& engine, EngineTap* tap) : engine_(engine), tap_(tap) {}

  void AdvanceTo(const api::Time& now) {
    if (tap_ != nullptr) tap_->AdvanceTo(now);
    engine_.AdvanceTo(now);
  }
  void Upsert(api::Object object) {
    if (tap_ != nullptr) tap_->Upsert(object);
    engine_.Upsert(std::move(object));
  }
  void UpdateStatus(api::Pod pod) {
    if (tap_ != nullptr) tap_->UpdateStatus(pod);
    engine_.UpdateStatus(std::move(pod));
  }
  void Delete(const api::Object& object) {
    if (tap_ != nullptr) tap_->Delete(object);
    engine_.Delete(object);
  }
  void Replace(std::string_view kind, std::vector<api::Object> objects,
               ListPart part = ListPart::kWhole) {
    if (tap_ != nullptr) tap_->Replace(kind, objects, part);
    engine_.Replace(kind, std::move(objects), part);
  }
  void UpdateNodeMetrics(std::string_view node, cluster::NodeMetrics metrics) {
    if (tap_ != nullptr) tap_->UpdateNodeMetrics(node, metrics);
    engine_.UpdateNodeMetrics(node, std::move(metrics));
  }
  void Complete(EffectResult result) {
    if (tap_ != nullptr) tap_->Complete(result);
    engine_.Complete(std::move(result));
  }
  bool Step() {
    const bool tried = engine_.Step();
    if (tap_ != nullptr) tap_->Step(tried);
    return tried;
  }
  std::vector<Effect> TakeEffects() {
    std::vector<Effect> effects = engine_.TakeEffects();
    if (tap_ != nullptr) tap_->Taken(effects);
    return effects;
  }

 private:
  Engine& engine_;
  EngineTap* tap_;
};

}  // namespace berth::scheduler
