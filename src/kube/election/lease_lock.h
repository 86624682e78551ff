// LeaseLock: the Lease that leader election is about, as last seen, and the requests on it.
//
// Fields of the Lease that berth does not know are written back as they were.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "api/coordination/lease.h"
#include "api/time.h"
#include "base/error.h"
#include "kube/client/api_client.h"

namespace berth::kube {

// The annotation of the Lease that names the replicas in sync with the leader (src/hands).
inline constexpr std::string_view kInSyncAnnotation = "berth.dev/in-sync-replicas";

// Who leads, as a Lease says it. An absent field is an empty one.
struct LeaderRecord {
  std::string holder;
  int32_t lease_duration_seconds = 0;
  api::MicroTime acquire_time;
  api::MicroTime renew_time;
  int32_t transitions = 0;
  std::string in_sync;  // identities, separated by commas; empty: without the annotation

  bool operator==(const LeaderRecord&) const = default;
};

class LeaseLock {
 public:
  struct Outcome {
    bool ok = false;
    bool not_found = false;
    std::string message = {};  // when it failed
  };
  using Done = std::function<void(Outcome)>;

  // `timeout` is of every request, the server's time included.
  LeaseLock(ApiClient& client, std::string lease_namespace, std::string lease_name,
            net::Nanoseconds timeout);
  ~LeaseLock() { Cancel(); }

  // One request at a time. The record is up to date when `done` hears of success.
  void Get(Done done);
  void Create(const LeaderRecord& record, Done done);
  // REQUIRES: Get or Create succeeded before. Refused when the Lease has changed since.
  void Update(const LeaderRecord& record, Done done);
  // No `done` comes after this.
  void Cancel();

  const LeaderRecord& Record() const { return record_; }
  const api::ObjectMeta& Metadata() const { return lease_.metadata; }
  // "kube-system/kube-scheduler"
  std::string Describe() const { return namespace_ + "/" + name_; }

 private:
  void Send(std::string method, std::string path, std::string message, Done done);
  Result<void> Take(const ApiResponse& response);

  ApiClient& client_;
  const std::string namespace_;
  const std::string name_;
  const net::Nanoseconds timeout_;
  ApiClient::Id request_ = 0;
  api::Lease lease_;
  std::string raw_;  // its message
  LeaderRecord record_;
};

}  // namespace berth::kube
