// ReleaseWhenSilent: how a leader that ends gives its Lease up.
//
// Whoever finds the Lease free decides at once, so nothing of the last leader may be under way
// then.
#pragma once

#include <functional>

#include "kube/client/fence.h"
#include "kube/election/leader_elector.h"
#include "net/loop.h"

namespace berth::kube {

// Waits until `is_silent` holds, closes the fence and releases the Lease; then calls `done`. When
// there are still requests without an answer at `until`, on the loop's steady clock, the Lease is
// left to run out. On the loop's thread; everything outlives `done`. REQUIRES: decisions ended.
void ReleaseWhenSilent(net::Loop& loop, LeaderElector& elector, Fence& fence,
                       std::function<bool()> is_silent, net::Nanoseconds until,
                       std::function<void()> done);

}  // namespace berth::kube
