#include "plugins/scheduling_gates/scheduling_gates.h"

#include <fmt/format.h>

namespace berth::plugins::scheduling_gates {

framework::Status SchedulingGates::PreEnqueue(const cluster::Cluster&,
                                              const cluster::Pod& pod) const {
  const auto& gates = pod.shape->scheduling_gates;
  if (gates.empty()) return {};
  return framework::Status::Unresolvable(
      fmt::format("waiting for scheduling gates: [{}]", fmt::join(gates, " ")));
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<SchedulingGates>();
}

}  // namespace berth::plugins::scheduling_gates
