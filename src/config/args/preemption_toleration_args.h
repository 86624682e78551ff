// The arguments of PreemptionToleration: those of DefaultPreemption.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct PreemptionTolerationArgs {
  static constexpr std::string_view kPlugin = "PreemptionToleration";

  int32_t min_candidate_nodes_percentage = 10;
  int32_t min_candidate_nodes_absolute = 100;

  void SetDefaults() {}
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const PreemptionTolerationArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
