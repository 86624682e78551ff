#include "sim/host/carry_out.h"

#include <type_traits>
#include <variant>

namespace berth::sim {
namespace {

using scheduler::Effect;
using scheduler::EffectResult;
using Code = EffectResult::Code;

Code CodeOf(int http) {
  if (http < 300) return Code::kOk;
  if (http == 404) return Code::kNotFound;
  if (http == 504) return Code::kUnknown;  // the server stopped waiting
  return http == 409 ? Code::kConflict : Code::kError;
}

}  // namespace

ApiAnswer CarryOut(ModelApi& api, const Effect& effect) {
  return std::visit(
      [&](const auto& action) -> ApiAnswer {
        using T = std::decay_t<decltype(action)>;
        if constexpr (std::is_same_v<T, scheduler::BindPod>) {
          return api.Bind(action.pod, action.node);
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodStatus>) {
          return api.PatchStatus(action);
        } else if constexpr (std::is_same_v<T, scheduler::PatchPodGroupStatus>) {
          return api.PatchStatus(action);
        } else if constexpr (std::is_same_v<T, scheduler::DeletePod>) {
          return api.DeletePod(action.pod);
        } else if constexpr (std::is_same_v<T, scheduler::ReadPod>) {
          return api.ReadPod(action.pod);
        } else if constexpr (std::is_same_v<T, scheduler::WriteObject>) {
          return api.Write(action.write);
        } else {
          return {};
        }
      },
      effect.action);
}

EffectResult ResultOf(const Effect& effect, const ApiAnswer& answer) {
  EffectResult result{effect.id, CodeOf(answer.code), answer.message};
  if (result.code != Code::kOk) return result;
  if (std::holds_alternative<scheduler::ReadPod>(effect.action)) {
    result.pod = std::get<api::Pod>(*answer.object);
  }
  if (std::holds_alternative<scheduler::WriteObject>(effect.action)) {
    std::visit(
        [&](const auto& object) {
          using T = std::decay_t<decltype(object)>;
          if constexpr (std::is_same_v<T, api::PersistentVolume> ||
                        std::is_same_v<T, api::PersistentVolumeClaim> ||
                        std::is_same_v<T, api::ResourceClaim>) {
            result.written = object;
          }
        },
        *answer.object);
  }
  return result;
}

EffectResult Unanswered(const Effect& effect) {
  return {effect.id, Code::kUnknown, "context deadline exceeded"};
}

}  // namespace berth::sim
