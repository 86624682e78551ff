#include "framework/post_filter.h"

#include <utility>

namespace berth::framework {

Status RunPostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                     PostFilterResult* result) {
  std::vector<std::string> reasons;
  std::string_view first;
  for (const auto& [plugin, index] : cycle.profile().post_filter) {
    PostFilterResult own;
    Status status = plugin->PostFilter(cycle, cluster, diagnosis, &own);
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

}  // namespace berth::framework
