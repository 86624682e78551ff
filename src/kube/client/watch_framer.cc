#include "kube/client/watch_framer.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace berth::kube {
namespace {

constexpr size_t kPrefix = 4;
// A buffer larger than this is not kept for the next frame.
constexpr size_t kKeptBuffer = 1u << 20;

size_t FrameLength(std::string_view prefix) {
  uint32_t length = 0;
  for (size_t i = 0; i < kPrefix; ++i) {
    length = length << 8 | static_cast<unsigned char>(prefix[i]);
  }
  return length;
}

std::string_view TrimBlanks(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const size_t first = line.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace

WatchFramer::Outcome WatchFramer::Add(std::string_view bytes,
                                      FunctionRef<bool(std::string_view)> consume) {
  return format_ == Format::kPrefixed ? AddProtobuf(bytes, consume) : AddJson(bytes, consume);
}

bool WatchFramer::ConsumePending(size_t front, FunctionRef<bool(std::string_view)> consume) {
  // Moved out first: the consumer may destroy us.
  std::string frame = std::move(pending_);
  pending_.clear();
  if (!consume(std::string_view(frame).substr(front))) return false;
  if (frame.capacity() <= kKeptBuffer) {
    frame.clear();
    pending_ = std::move(frame);
  }
  return true;
}

WatchFramer::Outcome WatchFramer::AddProtobuf(std::string_view bytes,
                                              FunctionRef<bool(std::string_view)> consume) {
  while (!bytes.empty()) {
    if (pending_.empty() && bytes.size() >= kPrefix) {
      const size_t length = FrameLength(bytes);
      if (length > kMaxFrame) return Outcome::kTooLarge;
      if (bytes.size() - kPrefix >= length) {
        const std::string_view frame = bytes.substr(kPrefix, length);
        bytes.remove_prefix(kPrefix + length);
        if (!consume(frame)) return Outcome::kStopped;
        continue;
      }
    }
    const bool has_prefix = pending_.size() >= kPrefix;
    const size_t wanted = has_prefix ? kPrefix + FrameLength(pending_) : kPrefix;
    const size_t taken = std::min(wanted - pending_.size(), bytes.size());
    pending_.append(bytes.substr(0, taken));
    bytes.remove_prefix(taken);
    if (pending_.size() < kPrefix) continue;
    const size_t length = FrameLength(pending_);
    if (length > kMaxFrame) return Outcome::kTooLarge;
    if (pending_.size() == kPrefix + length && !ConsumePending(kPrefix, consume)) {
      return Outcome::kStopped;
    }
  }
  return Outcome::kOk;
}

WatchFramer::Outcome WatchFramer::AddJson(std::string_view bytes,
                                          FunctionRef<bool(std::string_view)> consume) {
  while (!bytes.empty()) {
    const size_t newline = bytes.find('\n');
    const bool complete = newline != std::string_view::npos;
    const std::string_view piece = complete ? bytes.substr(0, newline) : bytes;
    if (pending_.size() + piece.size() > kMaxFrame) return Outcome::kTooLarge;
    bytes.remove_prefix(complete ? newline + 1 : bytes.size());
    if (!complete || !pending_.empty()) pending_.append(piece);
    if (!complete) continue;
    const auto consume_line = [&](std::string_view line) {
      line = TrimBlanks(line);
      return line.empty() || consume(line);
    };
    if (!(pending_.empty() ? consume_line(piece) : ConsumePending(0, consume_line))) {
      return Outcome::kStopped;
    }
  }
  return Outcome::kOk;
}

}  // namespace berth::kube
