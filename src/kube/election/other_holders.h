// OtherHolders: what this replica has seen of those who held the Lease before it, and from when on
// nothing that they sent can still be executed.
//
// A Lease that was given up has no holder and a duration of one second, as client-go writes it; who
// gives it up has no request under way. A holder that is missing in any other way (a Lease that was
// deleted or edited) counts as one that may go on until its lease has run out.
#pragma once

#include <algorithm>
#include <string_view>

#include "kube/election/lease_lock.h"
#include "net/loop.h"

namespace berth::kube {

class OtherHolders {
 public:
  // The Lease was read and differs from what was read before it.
  void Saw(const LeaderRecord& record, std::string_view identity, net::Nanoseconds now) {
    any_ = true;
    if (record.holder == identity) return;
    if (!record.holder.empty()) {
      silent_from_ = now + std::chrono::seconds(record.lease_duration_seconds);
    } else if (record.lease_duration_seconds == 1) {
      silent_from_ = net::Nanoseconds(0);
    }
  }

  // The Lease had been there before this replica made or took it.
  bool Any() const { return any_; }
  // On the loop's steady clock; 0: since always.
  net::Nanoseconds SilentFrom() const { return silent_from_; }

 private:
  bool any_ = false;
  net::Nanoseconds silent_from_{0};
};

}  // namespace berth::kube
