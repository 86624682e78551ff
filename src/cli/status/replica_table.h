// ReplicaTable: the replicas of a scheduler that share work, as their Leases tell it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "api/coordination/lease.h"
#include "api/time.h"

namespace berth::cli {

struct ReplicaRow {
  std::string identity;
  std::string role;  // "leader", "hand", "standby"; "gone": its Lease has run out
  int64_t epoch = 0;
  bool in_sync = false;  // named by the election's Lease
  std::string part;      // what the leader uses it for: "in sync", "listing", …
  int64_t lag = 0;
  int64_t tasks = 0;
  int64_t waiting = 0;
  int64_t drops = 0;
  std::string version;
  std::string address;
  int64_t seen_seconds_ago = 0;

  static const api::TypeInfo& Type();
};

struct ReplicaTable {
  std::string lease;  // "kube-system/kube-scheduler"
  std::string holder;
  int64_t epoch = 0;
  std::vector<ReplicaRow> replicas;  // the leader first, then by identity

  static const api::TypeInfo& Type();
};

// `leases`: those of replicas; what describes none is left out.
ReplicaTable TableOf(const api::Lease& election, const std::vector<api::Lease>& leases,
                     api::Time now);
std::string ReplicaText(const ReplicaTable& table, bool colour);

}  // namespace berth::cli
