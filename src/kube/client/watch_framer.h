// WatchFramer: cuts the bytes of a watch into its frames.
//
// Protobuf: four bytes of length, big-endian, then the frame. JSON: one value per line. A frame is
// handed over without copying when it came in one piece. Memory is bounded by the largest frame.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace berth::kube {

class WatchFramer {
 public:
  enum class Format { kPrefixed, kLines };  // protobuf, JSON
  enum class Outcome {
    kOk,
    kStopped,   // the consumer said so
    kTooLarge,  // a frame beyond kMaxFrame
  };
  // What client-go takes before it gives up on a frame.
  static constexpr size_t kMaxFrame = 16u << 20;

  explicit WatchFramer(Format format = Format::kPrefixed) : format_(format) {}

  // Calls `consume` with every frame that is complete; it returns false to stop, after which the
  // framer must not be used (it may be gone).
  Outcome Add(std::string_view bytes, FunctionRef<bool(std::string_view)> consume);
  // Bytes of a frame that never got complete.
  bool HasPartialFrame() const { return !pending_.empty(); }

 private:
  Outcome AddProtobuf(std::string_view bytes, FunctionRef<bool(std::string_view)> consume);
  Outcome AddJson(std::string_view bytes, FunctionRef<bool(std::string_view)> consume);
  // Hands over pending_ without the bytes in front of the frame, and empties it.
  bool ConsumePending(size_t front, FunctionRef<bool(std::string_view)> consume);

  Format format_;
  std::string pending_;
};

}  // namespace berth::kube
