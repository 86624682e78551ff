// LeaderElector: one scheduler at a time, by a Lease.
//
// Tries to acquire the Lease every retry period (with jitter), renews it while leading, and says
// so when it is lost: when no renewal succeeded within the renew deadline, when a read shows
// another holder, or when the last renewal is older than the Lease's duration, as in a process that
// was stopped and continued. Times are compared by when this process saw the Lease change, never
// with other machines' clocks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/types.h"
#include "kube/client/api_client.h"

namespace berth::kube {

struct LeaderCallbacks {
  std::function<void()> started_leading;
  std::function<void()> stopped_leading;  // the Lease was lost; not after Release
  // The Lease is ours until then, on the loop's steady clock; before started_leading, and with
  // every renewal.
  std::function<void(net::Nanoseconds until)> held_until;
  std::function<void(std::string_view identity)> new_leader;
  // For the event "ID became leader" / "ID stopped leading".
  std::function<void(std::string_view lease_uid, std::string_view lease_version,
                     std::string_view message)>
      record;
};

class LeaderElector {
 public:
  // Refuses durations that cannot work, in kube-scheduler's words. `client` has the user agent
  // suffix leader-election; all outlive the elector. `identity`: "<hostname>_<uuid>".
  static Result<std::unique_ptr<LeaderElector>> Make(
      net::Loop& loop, ApiClient& client, const config::LeaderElectionConfiguration& config,
      std::string identity, LeaderCallbacks callbacks);
  virtual ~LeaderElector() = default;

  virtual void Start() = 0;
  // Gives the Lease up when it is held, then calls `done`. Nothing else happens after it.
  virtual void Release(std::function<void()> done) = 0;
  virtual bool IsLeader() const = 0;
  virtual std::string Leader() const = 0;
  // For /healthz: an error when the renew deadline passed by more than `tolerance` while leading.
  virtual Result<void> Check(net::Nanoseconds tolerance) const = 0;
};

}  // namespace berth::kube
