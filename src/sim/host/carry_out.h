// CarryOut: an engine's effect as a request to the ModelApi, and its answer as a result.
#pragma once

#include "scheduler/effects.h"
#include "sim/host/model_api.h"

namespace berth::sim {

// Events and calls of extenders do nothing.
ApiAnswer CarryOut(ModelApi& api, const scheduler::Effect& effect);
scheduler::EffectResult ResultOf(const scheduler::Effect& effect, const ApiAnswer& answer);
// No answer came: the effect may have been carried out.
scheduler::EffectResult Unanswered(const scheduler::Effect& effect);

}  // namespace berth::sim
