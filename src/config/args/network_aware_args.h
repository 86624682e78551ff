// The arguments of the network-aware plugins, NetworkOverhead and TopologicalSort.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/plugin_args.h"

namespace berth::config {

struct NetworkOverheadArgs {
  static constexpr std::string_view kPlugin = "NetworkOverhead";

  std::vector<std::string> namespaces;  // where AppGroups and the NetworkTopology are looked for
  std::string weights_name = "UserDefined";
  std::string network_topology_name = "nt-default";

  void SetDefaults();
  void Validate(std::vector<std::string>&) const {}
  bool operator==(const NetworkOverheadArgs&) const = default;
  static const api::TypeInfo& Type();
};

struct TopologicalSortArgs {
  static constexpr std::string_view kPlugin = "TopologicalSort";

  std::vector<std::string> namespaces;

  void SetDefaults();
  void Validate(std::vector<std::string>&) const {}
  bool operator==(const TopologicalSortArgs&) const = default;
  static const api::TypeInfo& Type();
};

}  // namespace berth::config
