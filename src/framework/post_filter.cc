#include "framework/post_filter.h"

#include <utility>

namespace berth::framework {

namespace {

// A plugin may filter again and again: that is part of its own time, and no step of the cycle.
Status Ask(PostFilterPlugin& plugin, Cycle& cycle, cluster::Cluster& cluster,
           const Diagnosis& diagnosis, PostFilterResult* result) {
  CycleWatch* const watch = cycle.watch();
  CycleWatch* const plugin_watch = cycle.plugin_watch();
  if (plugin_watch != nullptr) plugin_watch->PluginBegan();
  cycle.set_watch(nullptr, false);
  Status status = plugin.PostFilter(cycle, cluster, diagnosis, result);
  cycle.set_watch(watch, plugin_watch != nullptr);
  if (plugin_watch != nullptr) {
    plugin_watch->PluginEnded(Point::kPostFilter, plugin.Name(), status.code());
  }
  return status;
}

Status AskAll(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
              PostFilterResult* result) {
  std::vector<std::string> reasons;
  std::string_view first;
  for (const auto& [plugin, index] : cycle.profile().post_filter) {
    PostFilterResult own;
    ++cycle.mutable_calls(index).post_filter;
    Status status = Ask(*plugin, cycle, cluster, diagnosis, &own);
    status.set_plugin(plugin->Name());
    const bool final_word = status.Ok() || status.code() == Code::kUnschedulableAndUnresolvable;
    if (final_word || own.nomination != PostFilterResult::Nomination::kKeep) {
      *result = std::move(own);
    }
    if (final_word) return status;
    if (!IsRejected(status.code())) {
      *result = PostFilterResult();
      return status;
    }
    reasons.insert(reasons.end(), status.reasons().begin(), status.reasons().end());
    if (first.empty()) first = plugin->Name();
  }
  Status status(Code::kUnschedulable, std::move(reasons));
  status.set_plugin(first);
  return status;
}

}  // namespace

Status RunPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                     PostFilterResult* result) {
  WatchedPoint point(cycle.watch(), Point::kPostFilter);
  Status status = AskAll(cycle, cluster, diagnosis, result);
  point.End(status.code());
  return status;
}

}  // namespace berth::framework
