// The frames of a watch are the same however its bytes arrive, and together no more than the bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client/watch_framer.h"

namespace {

using berth::kube::WatchFramer;

struct Cut {
  std::vector<std::string> frames;
  WatchFramer::Outcome outcome = WatchFramer::Outcome::kOk;
  bool partial = false;
  bool operator==(const Cut&) const = default;
};

Cut CutInto(WatchFramer::Format format, std::string_view bytes, size_t piece) {
  WatchFramer framer(format);
  Cut cut;
  while (!bytes.empty() && cut.outcome == WatchFramer::Outcome::kOk) {
    const std::string part(bytes.substr(0, piece));
    bytes.remove_prefix(part.size());
    cut.outcome = framer.Add(part, [&](std::string_view frame) {
      cut.frames.emplace_back(frame);
      return true;
    });
  }
  cut.partial = cut.outcome == WatchFramer::Outcome::kOk && framer.HasPartialFrame();
  return cut;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const auto format =
      data[0] % 2 == 0 ? WatchFramer::Format::kPrefixed : WatchFramer::Format::kLines;
  const size_t piece = 1 + data[1] % 64;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Cut whole = CutInto(format, bytes, bytes.size() + 1);
  if (!(whole == CutInto(format, bytes, piece))) std::abort();
  size_t total = 0;
  for (const std::string& frame : whole.frames) total += frame.size();
  if (total > bytes.size()) std::abort();
  return 0;
}
