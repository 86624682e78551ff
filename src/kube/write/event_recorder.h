// EventRecorder: events.k8s.io/v1 Events with series, as client-go's broadcaster writes them.
//
// The first event of a kind is created; when an event with the same type, action, reason, reporter,
// regarding and related object comes again it becomes a series: the second occurrence is patched,
// later ones are counted and written when the series is finished or every half hour. A cluster
// without events.k8s.io/v1 gets core/v1 events. Bounded: at most 10,000 events wait, more are
// dropped and counted.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "kube/client/api_client.h"
#include "scheduler/effects.h"

namespace berth::kube {

class EventRecorder {
 public:
  // `host` is the name of this machine, for reportingInstance.
  EventRecorder(net::Loop& loop, ApiClient& client, std::string host);
  ~EventRecorder();

  // Asks the server whether it has events.k8s.io/v1; until it has answered, events wait.
  void Start();
  void Record(const scheduler::RecordEvent& event);
  // A core/v1 event on the Lease, as leader election writes it.
  void RecordLeaderElection(std::string_view lease_namespace, std::string_view lease_name,
                            std::string_view lease_uid, std::string_view lease_version,
                            std::string_view message);
  uint64_t Dropped() const;
  // Nothing is sent after this.
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::kube
