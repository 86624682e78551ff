// ReplicaLeases: keeps this replica's own Lease, and follows those of the other replicas.
//
// The Lease is written every five seconds and removed at the end. Others are listed once a second
// while this replica leads. A replica counts as there as long as its Lease has changed within
// fifteen seconds, by this process's clock; one that has not changed for a minute is removed.
// Whether a replica can be reached is not told by its Lease but by its answers.
//
// On the loop's thread only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "api/coordination/lease.h"
#include "kube/client/api_client.h"
#include "kube/hands/replica_record.h"
#include "net/loop.h"

namespace berth::kube {

class ReplicaLeases {
 public:
  using Describe = std::function<ReplicaRecord()>;
  using Seen = std::function<void(const std::vector<ReplicaRecord>&)>;

  // `client` must not be fenced; both outlive this. `election`: the name of the election's Lease.
  ReplicaLeases(net::Loop& loop, ApiClient& client, std::string lease_namespace,
                std::string election, std::string identity);
  ~ReplicaLeases();
  ReplicaLeases(const ReplicaLeases&) = delete;
  ReplicaLeases& operator=(const ReplicaLeases&) = delete;

  // Keeps the own Lease; `describe` is called before each write.
  void Start(Describe describe);
  // Writes it soon: what it says has changed.
  void WriteSoon();
  // Lists the others from now on; `seen` gets those that are there after each list.
  void Follow(Seen seen);
  // Removes the own Lease, then calls `done`, after `patience` in any case. Nothing happens after.
  void Leave(net::Nanoseconds patience, std::function<void()> done);

 private:
  struct Other {
    std::string resource_version;
    net::Nanoseconds changed{0};
  };

  std::string OwnPath() const;
  void Write();
  void OnWritten(const ApiResponse& response);
  void List();
  void OnListed(const ApiResponse& response);
  bool IsThere(const api::Lease& lease);
  void RemoveForgotten();
  ApiRequest Request(std::string method, std::string path) const;

  net::Loop& loop_;
  ApiClient& client_;
  const std::string namespace_;
  const std::string election_;
  const std::string identity_;
  const std::string name_;
  Describe describe_;
  Seen seen_;
  api::Lease own_;       // as the server has it
  bool exists_ = false;  // the own Lease, as far as is known
  bool ended_ = false;
  std::map<std::string, Other, std::less<>> others_;  // by name
  ApiClient::Id write_ = 0;
  ApiClient::Id list_ = 0;
  ApiClient::Id removal_ = 0;
  net::Loop::TimerId write_timer_ = 0;
  net::Loop::TimerId list_timer_ = 0;
  net::Loop::TimerId end_timer_ = 0;
};

}  // namespace berth::kube
