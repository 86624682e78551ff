// Any JSON text decodes to an object or an error; what was decoded survives a round trip through
// JSON and protobuf.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/codec/json.h"
#include "api/codec/json_scan.h"
#include "api/codec/proto.h"
#include "api/object.h"

namespace {

using berth::api::Object;

std::string Json(const Object& object) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { value.Type(); }) {
          return berth::api::ToJson(value);
        } else {
          return {};
        }
      },
      object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto object = berth::api::DecodeObject(text);
  if (!object) {
    if (object.error().Message().empty()) std::abort();
    return 0;
  }
  if (berth::api::FindJsonError(text)) std::abort();
  const std::string json = Json(*object);
  if (json.empty()) return 0;
  auto again = berth::api::DecodeObject(json, {.strict = true});
  if (!again || Json(*again) != json) std::abort();
  return 0;
}
