#include "scheduler/engine/outbox.h"

#include <utility>

namespace berth::scheduler {

EffectId Outbox::Emit(EffectAction action) {
  const EffectId id = next_effect_++;
  // Effects are large: a growing list of them would be moved about.
  if (effects_.empty()) effects_.reserve(usual_effects_);
  effects_.emplace_back(id, std::move(action));
  return id;
}

void Outbox::EmitAwaited(EffectAction action, Awaited awaited) {
  awaited.extender = std::holds_alternative<CallExtender>(action);
  awaited_extenders_ += awaited.extender ? 1 : 0;
  const EffectId id = Emit(std::move(action));
  awaited_.emplace(id, awaited);
}

void Outbox::Record(const PodRef& pod, std::optional<PodRef> related, std::string_view type,
                    std::string_view reason, std::string_view action, std::string note,
                    std::string_view scheduler_name, bool of_group) {
  RecordEvent event;
  event.regarding = pod;
  event.related = std::move(related);
  event.related_is_group = of_group;
  event.type = type;
  event.reason = reason;
  event.action = action;
  event.note = std::move(note);
  event.reporting_controller = scheduler_name;
  Emit(std::move(event));
}

std::vector<Effect> Outbox::Take() {
  if (!effects_.empty()) usual_effects_ = effects_.size();
  return std::exchange(effects_, {});
}

std::optional<Awaited> Outbox::TakeAwaited(EffectId id) {
  const auto it = awaited_.find(id);
  if (it == awaited_.end()) return std::nullopt;
  const Awaited awaited = it->second;
  awaited_.erase(it);
  awaited_extenders_ -= awaited.extender ? 1 : 0;
  return awaited;
}

bool Outbox::AwaitsExtender(EffectId id) const {
  const auto it = awaited_.find(id);
  return it != awaited_.end() && it->second.what == Awaited::For::kExtender;
}

}  // namespace berth::scheduler
