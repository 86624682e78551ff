// ReplicaRecord: what a replica that shares work says of itself in a Lease of its own.
//
// The Lease lies beside that of the leader election. Its name is that of the election's Lease and
// the unique part of the replica's identity, so a process never meets another one's. Annotations
// hold the address of the secure port, the certificate that it shows, and what `berth status`
// prints. Another replica's record is input from outside: whoever may write Leases there can write
// anything.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/codec/schema.h"
#include "api/coordination/lease.h"
#include "base/error.h"

namespace berth::kube {

// The value is the name of the election's Lease.
inline constexpr std::string_view kReplicaLabel = "berth.dev/replica-of";
inline constexpr std::string_view kAddressAnnotation = "berth.dev/address";
inline constexpr std::string_view kServerNameAnnotation = "berth.dev/server-name";
inline constexpr std::string_view kCertificateAnnotation = "berth.dev/certificate";
inline constexpr std::string_view kVersionAnnotation = "berth.dev/version";
inline constexpr std::string_view kStatusAnnotation = "berth.dev/status";

// A hand as its leader sees it.
struct HandStatus {
  std::string id;
  std::string role;     // "connecting", "listing", "joining", "in sync", "leaving", "down"
  int64_t lag = 0;      // entries of the log that it has not acknowledged
  int64_t tasks = 0;    // given to it
  int64_t waiting = 0;  // of these, without a result
  int64_t drops = 0;    // times that it was left out because it did not answer

  bool operator==(const HandStatus&) const = default;
  static const api::TypeInfo& Type();
};

// What a replica does at this moment.
struct SharingStatus {
  std::string role;               // "leader", "hand" or "standby"
  int64_t epoch = 0;              // of the leader that it is, or works for
  int64_t log = 0;                // hand: entries whose outcome its own watch has not shown
  int64_t waiting = 0;            // leader: effects without a result; hand: tasks without one
  std::vector<HandStatus> hands;  // leader

  bool operator==(const SharingStatus&) const = default;
  static const api::TypeInfo& Type();
};

struct ReplicaRecord {
  std::string identity;     // in the leader election
  std::string address;      // HOST:PORT of its secure port
  std::string server_name;  // that the certificate is made out to
  std::string certificate;  // that the port shows, with its chain, PEM
  std::string version;      // of berth
  SharingStatus status = {};

  bool operator==(const ReplicaRecord&) const = default;
};

// "kube-scheduler-3f1c…": the election's Lease and the identity's part behind the last underscore.
std::string ReplicaLeaseName(std::string_view election, std::string_view identity);
// Sets what the record says; leaves the rest of the Lease as it is.
void PutRecord(const ReplicaRecord& record, std::string_view election, api::Lease& lease);
// Fails when the Lease does not describe a replica that could be reached.
Result<ReplicaRecord> RecordOf(const api::Lease& lease);

}  // namespace berth::kube
