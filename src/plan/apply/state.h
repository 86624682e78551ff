// ApplyState: how far a plan has been carried out, as a file that outlives the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/values.h"
#include "plan/apply/hand.h"

namespace berth::plan {

// A pod that was evicted, and where its replacement is.
struct Carried {
  std::string namespace_;
  std::string name;         // of the pod that was evicted
  std::string replacement;  // name
  std::string from;
  std::string predicted;
  std::string landed;
  std::vector<std::string> equal;  // nodes that would have done as well as `predicted`, and it

  bool AsPredicted() const { return landed == predicted; }

  static const api::TypeInfo& Type();
};

// An eviction that was begun. Its replacement has not been seen yet.
struct InFlight {
  PodRef pod;
  std::string owner_uid;  // of the controller
  std::string from;
  std::string predicted;
  std::vector<std::string> equal;
  api::StringMap labels;           // that the replacement has, too
  std::vector<std::string> known;  // uids of the controller's pods before the eviction

  static const api::TypeInfo& Type();
};

struct ApplyState {
  std::string version = "berth.dev/plan-apply/v1";
  std::string server;              // URL of the API server
  std::string question;            // "drain", "shrink", "consolidate" or "restore-spread"
  std::vector<std::string> nodes;  // that are to be freed, in this order
  bool soft = false;               // of restore-spread
  bool lose_local_data = false;
  int64_t max_disruption = 0;  // evictions in all
  int64_t evicted = 0;
  int64_t replans = 0;  // because the cluster was not as expected
  api::Box<InFlight> in_flight;
  std::vector<Carried> carried;
  std::string outcome = "Running";  // or Done, Stopped
  std::string message;              // why it stopped

  static const api::TypeInfo& Type();
};

}  // namespace berth::plan
