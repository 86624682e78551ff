#include "plugins/node_name/node_name.h"

namespace berth::plugins::node_name {

framework::Status NodeName::PreFilter(const framework::CycleContext& c, framework::PluginState*,
                                      framework::PreFilterResult* result) const {
  if (c.pod.node_name.empty()) return {};
  result->all_nodes = false;
  result->nodes.clear();
  if (const auto n = c.cluster.FindNode(c.pod.node_name); n != cluster::kNoNode) {
    result->nodes.push_back(n);
  }
  result->node_names = {c.pod.node_name};
  return {};
}

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
