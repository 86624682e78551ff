#include "kube/election/release.h"

#include <utility>

#include "log/log.h"

namespace berth::kube {
namespace {

constexpr net::Nanoseconds kPoll = std::chrono::milliseconds(5);

}  // namespace

void ReleaseWhenSilent(net::Loop& loop, LeaderElector& elector, Fence& fence,
                       std::function<bool()> is_silent, net::Nanoseconds until,
                       std::function<void()> done) {
  const bool silent = !elector.IsLeader() || is_silent();
  if (!silent && loop.Steady() < until) {
    loop.After(kPoll, [&loop, &elector, &fence, is_silent = std::move(is_silent), until,
                       done = std::move(done)]() mutable {
      ReleaseWhenSilent(loop, elector, fence, std::move(is_silent), until, std::move(done));
    });
    return;
  }
  fence.Move(net::Nanoseconds(0));
  if (silent) return elector.Release(std::move(done));
  log::Error("requests are still under way", "The Lease is not released and will run out");
  done();
}

}  // namespace berth::kube
