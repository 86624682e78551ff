#include "plugins/node_name/node_name.h"

namespace berth::plugins::node_name {

void NodeName::Filter(const framework::CycleContext& c, const framework::PluginState*,
                      framework::FilterBatch& batch) const {
  if (c.pod.node_name.empty()) return;
  const cluster::NodeIndex wanted = c.cluster.FindNode(c.pod.node_name);
  batch.ForEach([&](cluster::NodeIndex n) {
    if (n != wanted) batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable);
  });
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<NodeName>();
}

}  // namespace berth::plugins::node_name
