// Following: whether a kind can be followed, for readiness.
//
// A kind is not followed once one cause of failure has lasted for kPatience: its lists fail, its
// watches are refused, or its watches end in something that cannot be decoded. A list or an
// accepted watch clears its own cause only, so that lists which succeed between watches that break
// do not hide them.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>

#include "net/loop.h"

namespace berth::kube {

class Following {
 public:
  enum class Cause : size_t { kList, kRefused, kUndecodable };
  static constexpr net::Nanoseconds kPatience = std::chrono::seconds(60);

  // On the loop's thread.
  void Failed(Cause cause, net::Nanoseconds now) {
    std::optional<net::Nanoseconds>& since = since_[static_cast<size_t>(cause)];
    if (!since) since = now;
    if (now - *since >= kPatience) followed_.store(false, std::memory_order_relaxed);
  }
  void Succeeded(Cause cause) {
    since_[static_cast<size_t>(cause)].reset();
    for (const auto& since : since_) {
      if (since) return;
    }
    followed_.store(true, std::memory_order_relaxed);
  }
  bool Failing(Cause cause) const { return since_[static_cast<size_t>(cause)].has_value(); }

  // From any thread.
  bool IsFollowed() const { return followed_.load(std::memory_order_relaxed); }

 private:
  std::array<std::optional<net::Nanoseconds>, 3> since_;  // of each cause; empty: none
  std::atomic<bool> followed_ = true;
};

}  // namespace berth::kube
