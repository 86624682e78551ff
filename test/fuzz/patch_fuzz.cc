// Any patch of any object is applied within its limits or refused with a reason.
//
// The first byte chooses the kind of patch, a newline ends the object, the rest is the patch.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "apiserver/json/patch.h"

namespace {

using berth::apiserver::ApplyJsonPatch;
using berth::apiserver::ApplyMergePatch;
using berth::apiserver::ApplyStrategicMergePatch;
using berth::apiserver::Json;
using berth::apiserver::JsonPatchLimits;
using berth::apiserver::MakeMergePatch;
using berth::apiserver::Measure;

void Demand(bool holds) {
  if (!holds) std::abort();
}

// Small, so that inputs of a few hundred bytes reach them.
constexpr JsonPatchLimits kLimits{100, 4096, 64, 100'000};

void TryJsonPatch(const Json& object, const Json& patch, size_t input) {
  Json target = object;
  bool too_large = false;
  const auto applied = ApplyJsonPatch(target, patch, kLimits, &too_large);
  Demand(applied || !applied.error().Message().empty());
  Demand(!(applied && too_large));
  // What "copy" adds is bounded; names on the way to a value may be written once more.
  Demand(Measure(target).bytes <= kLimits.copied_bytes + 4 * input);
  if (applied) Demand(Measure(target).depth <= kLimits.depth);
}

void TryMergePatch(const Json& object, const Json& patch) {
  Json target = object;
  ApplyMergePatch(target, patch);
  Json again = object;
  ApplyMergePatch(again, MakeMergePatch(object, target));
  Demand(again == target);
}

void TryStrategicMergePatch(const Json& object, const Json& patch) {
  Json target = object;
  const auto applied = ApplyStrategicMergePatch(target, patch);
  Demand(applied || !applied.error().Message().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t end = text.find('\n');
  if (end == text.npos) return 0;
  const auto object = Json::Parse(text.substr(0, end));
  const auto patch = Json::Parse(text.substr(end + 1));
  if (!object || !patch) return 0;
  switch (data[0] % 3) {
    case 0:
      TryJsonPatch(*object, *patch, size);
      break;
    case 1:
      TryMergePatch(*object, *patch);
      break;
    case 2:
      TryStrategicMergePatch(*object, *patch);
      break;
  }
  return 0;
}
