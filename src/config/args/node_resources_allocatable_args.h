// The arguments of NodeResourcesAllocatable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct NodeResourcesAllocatableArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesAllocatable";

  std::vector<ResourceSpec> resources;  // cpu in thousandths, all else in units
  std::string mode;                     // Least or Most

  void SetDefaults();
  void Validate(std::vector<std::string>& errors) const;
  bool operator==(const NodeResourcesAllocatableArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
