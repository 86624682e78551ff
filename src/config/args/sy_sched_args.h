// The arguments of SySched.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct SySchedArgs {
  static constexpr std::string_view kPlugin = "SySched";

  // The SeccompProfile of pods that name none: what unconfined pods may do.
  std::string default_profile_namespace = "default";
  std::string default_profile_name = "all-syscalls";

  void SetDefaults() {}
  void Validate(std::vector<std::string>&) const {}
  bool operator==(const SySchedArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
