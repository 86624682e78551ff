// Any bytes decode as protobuf or give an error; what was decoded survives a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/object.h"

namespace {

using berth::api::Object;

std::string Encode(const Object& object) {
  return std::visit(
      [](const auto& value) -> std::string {
        if constexpr (requires { value.Type(); }) {
          berth::api::ToJson(value);
          return berth::api::ToEnvelope(value);
        } else {
          return {};
        }
      },
      object);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (auto envelope = berth::api::UnwrapEnvelope(bytes)) {
    auto list = berth::api::ForEachListItem(envelope->raw, [](std::string_view item) {
      berth::api::FromProto<berth::api::Node>(item);
      return berth::Result<void>();
    });
    if (!list && list.error().Message().empty()) std::abort();
  }
  berth::api::DecodeWatchFrame(bytes);
  auto object = berth::api::DecodeObjectProto(bytes);
  if (!object) {
    if (object.error().Message().empty()) std::abort();
    return 0;
  }
  const std::string encoded = Encode(*object);
  if (encoded.empty()) return 0;
  auto again = berth::api::DecodeObjectProto(encoded);
  if (!again || Encode(*again) != encoded) std::abort();
  return 0;
}
