// Effects other than bindings as bytes, for tasks of hands.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "scheduler/effects.h"

namespace berth::hands {

// Whether a hand can carry it out: bindings, status patches of pods and events. Everything else
// depends on what only the leader holds (raw objects, connections to extenders).
bool IsShared(const scheduler::EffectAction& action);

// REQUIRES: a PatchPodStatus or a RecordEvent.
std::string EncodePayload(const scheduler::EffectAction& action);
Result<scheduler::PatchPodStatus> DecodePatch(std::string_view bytes);
Result<scheduler::RecordEvent> DecodeEvent(std::string_view bytes);

}  // namespace berth::hands
