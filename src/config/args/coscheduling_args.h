// The arguments of Coscheduling.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct CoschedulingArgs {
  static constexpr std::string_view kPlugin = "Coscheduling";

  // How long a pod waits for its group, where the group does not say; 0: 60 s.
  int64_t permit_waiting_time_seconds = 60;
  // How long a group that was rejected is not tried; 0: it is tried at once.
  int64_t pod_group_backoff_seconds = 0;
  // A group that misses at most this share of its minimum is not rejected.
  int32_t pod_group_reject_percentage = 10;
  // "Permit", or empty: as scheduler-plugins does it. "Group", which is berth's own: the pods of a
  // group are decided together, in one cycle.
  std::string mode = {};
  // In the mode Group: how many pods a search may place, which is made where the pods of a group do
  // not find places in their order; 0: none is made, as in kube-scheduler.
  int64_t search_steps = 0;

  bool GroupMode() const { return mode == "Group"; }

  void SetDefaults() {}
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const CoschedulingArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
