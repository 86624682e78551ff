#include "plugins/node_unschedulable/node_unschedulable.h"

#include "api/rules/toleration.h"

namespace berth::plugins::node_unschedulable {

bool ToleratesUnschedulable(const std::vector<api::Toleration>& tolerations) {
  api::Taint taint;
  taint.key = "node.kubernetes.io/unschedulable";
  taint.effect = "NoSchedule";
  return api::Tolerates(tolerations, taint);
}

void NodeUnschedulable::Filter(const framework::CycleContext& c, const framework::PluginState*,
                               framework::FilterBatch& batch) const {
  const auto cordoned = c.cluster.Unschedulable().Words();
  bool asked = false;
  for (size_t w = batch.FirstWord(); w < batch.EndWord(); ++w) {
    const uint64_t failed = batch.Word(w) & cordoned[w];
    if (failed == 0) continue;
    // Only now is it worth looking at the tolerations.
    if (!asked && ToleratesUnschedulable(c.shape.source.spec.tolerations)) return;
    asked = true;
    batch.RejectWord(w, failed, framework::Code::kUnschedulableAndUnresolvable);
  }
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle&) {
  return std::make_unique<NodeUnschedulable>();
}

}  // namespace berth::plugins::node_unschedulable
