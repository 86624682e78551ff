// Lease: the lock of leader election.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/schema.h"
#include "api/meta.h"
#include "api/time.h"

namespace berth::api {

// Who holds the lease and until when.
struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::optional<int32_t> lease_transitions;
  std::optional<std::string> strategy;
  std::optional<std::string> preferred_holder;

  bool operator==(const LeaseSpec&) const = default;
  static const TypeInfo& Type();
};

// A lock with an expiry.
struct Lease {
  static constexpr std::string_view kApiVersion = "coordination.k8s.io/v1";
  static constexpr std::string_view kKind = "Lease";

  ObjectMeta metadata;
  LeaseSpec spec;

  bool operator==(const Lease&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
