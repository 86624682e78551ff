#include "plugins/topological_sort/topological_sort.h"

#include <string>

namespace berth::plugins::topological_sort {
namespace {

std::string_view LabelOf(const cluster::Pod& pod, std::string_view key) {
  const std::string* value = api::FindValue(pod.shape->source.metadata.labels, key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

}  // namespace

bool TopologicalSort::Less(const cluster::Cluster& cluster, const cluster::Pod& a, int64_t a_queued,
                           const cluster::Pod& b, int64_t b_queued) const {
  const std::string_view group_a = LabelOf(a, kAppGroupLabel);
  if (!group_a.empty() && group_a == LabelOf(b, kAppGroupLabel)) {
    const AppGroup* group =
        groups_.Find(cluster, args_.namespaces, std::string(group_a), /*needs_uid=*/false);
    if (group != nullptr) {
      return group->OrderOf(LabelOf(a, kWorkloadLabel)) <=
             group->OrderOf(LabelOf(b, kWorkloadLabel));
    }
  }
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  return a_queued < b_queued;
}

cluster::PluginInputs Inputs(const config::PluginArgs&) {
  return {.kinds = {AppGroupKind()}, .node_annotations = {}, .pod_annotations = {}};
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs& args,
                                                const framework::PluginHandle&) {
  config::TopologicalSortArgs own;
  if (const auto* given = config::OwnArgsAs<config::TopologicalSortArgs>(args)) own = *given;
  own.SetDefaults();
  return std::make_unique<TopologicalSort>(own);
}

}  // namespace berth::plugins::topological_sort
