#include "plugins/default_binder/default_binder.h"

namespace berth::plugins::default_binder {

framework::Status DefaultBinder::Bind(const framework::CycleContext& c, cluster::NodeIndex node,
                                      api::Binding* binding) const {
  binding->metadata.namespace_ = c.pod.namespace_();
  binding->metadata.name = c.pod.name;
  binding->metadata.uid = c.pod.uid;
  binding->target.kind = "Node";
  binding->target.name = c.cluster.NodeName(node);
  return {};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<DefaultBinder>();
}

}  // namespace berth::plugins::default_binder
