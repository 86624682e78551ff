// Any bytes decode as a message between leader and hands or give an error; what was decoded
// survives a round trip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hands/wire.h"

namespace {

template <class Decode>
void Check(std::string_view bytes, Decode decode) {
  const auto message = decode(bytes);
  if (!message) {
    if (message.error().Message().empty()) std::abort();
    return;
  }
  const auto again = decode(berth::hands::Encode(*message));
  if (!again || !(*again == *message)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Check(bytes, berth::hands::DecodeBatch);
  Check(bytes, berth::hands::DecodePoll);
  Check(bytes, berth::hands::DecodeAnswer);
  return 0;
}
