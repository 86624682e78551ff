// LeaderElector: one scheduler at a time, by a Lease.
//
// Reads a Lease that another holds four times per retry period, tries to acquire it when it is free
// or has expired, renews it every retry period while leading, and says
// so when it is lost: when no renewal succeeded within the renew deadline, when a read shows
// another holder, or when the last renewal is older than the Lease's duration, as in a process that
// was stopped and continued. lease_times.h says what makes a takeover safe. Times are compared by
// when this process saw the Lease change, never with other machines' clocks.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "config/types.h"
#include "kube/client/api_client.h"

namespace berth::kube {

// What a replica that has just acquired the Lease must respect.
struct Succession {
  // Another replica may have led before: what it wrote is to be read before anything is decided.
  bool follows_another = false;
  // What another replica sent can be executed until then, on the loop's steady clock; 0: nothing.
  net::Nanoseconds silent_from{0};
  // The Lease's leaseTransitions: larger with every leader.
  int32_t epoch = 0;
  // The Lease before it was acquired: its leaseTransitions, and the replicas in sync with the
  // leader of that epoch.
  int32_t previous_epoch = 0;
  std::string in_sync = {};
};

struct LeaderCallbacks {
  std::function<void(const Succession&)> started_leading;
  std::function<void()> stopped_leading;  // the Lease was lost; not after Release
  // Writes may be sent until then, on the loop's steady clock: the renew deadline after the last
  // renewal that succeeded began. Before started_leading, and with every renewal.
  std::function<void(net::Nanoseconds until)> held_until;
  std::function<void(std::string_view identity)> new_leader;
  // The Lease has been read or written, and is held by `identity` (nobody: empty). May be null.
  std::function<void(std::string_view identity, int32_t epoch)> observed = nullptr;
  // A Lease that names these replicas as in sync has been written. May be null.
  std::function<void(const std::string& in_sync)> in_sync_written = nullptr;
  // Whether no write is under way. A Lease that could not be renewed in time is given up only then;
  // otherwise it runs out. Null: there never is one.
  std::function<bool()> is_silent;
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
  // The replicas that the Lease is to name as in sync, separated by commas: it is written at once
  // and with every renewal. Has no effect while another replica leads.
  virtual void SetInSync(const std::string& in_sync) = 0;
  virtual bool IsLeader() const = 0;
  virtual std::string Leader() const = 0;
  // For /healthz: an error when the renew deadline passed by more than `tolerance` while leading.
  virtual Result<void> Check(net::Nanoseconds tolerance) const = 0;
};

}  // namespace berth::kube
