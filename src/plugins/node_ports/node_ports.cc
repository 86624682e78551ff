#include "plugins/node_ports/node_ports.h"

namespace berth::plugins::node_ports {

framework::Status NodePorts::PreFilter(const framework::CycleContext& c, framework::PluginState*,
                                       framework::PreFilterResult*) const {
  return c.shape.host_ports.empty() ? framework::Status::Skip() : framework::Status();
}

void NodePorts::Filter(const framework::CycleContext& c, const framework::PluginState*,
                       framework::FilterBatch& batch) const {
  constexpr size_t kBits = cluster::NodeSet::kWordBits;
  const auto first = static_cast<cluster::NodeIndex>(batch.FirstWord() * kBits);
  const auto end = static_cast<cluster::NodeIndex>(batch.EndWord() * kBits);
  for (const cluster::HostPort& port : c.shape.host_ports) {
    c.cluster.HostPorts().ForEachConflict(port, first, end, [&](cluster::NodeIndex n) {
      const size_t w = n / kBits;
      const uint64_t bit = uint64_t{1} << (n % kBits);
      if (batch.Word(w) & bit) batch.Reject(n, framework::Code::kUnschedulable);
    });
  }
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<NodePorts>();
}

}  // namespace berth::plugins::node_ports
