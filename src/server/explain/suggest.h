// Suggestions for a pod and explanations of pod groups, worked out beside the scheduler.
#pragma once

#include <span>
#include <string_view>

#include "base/error.h"
#include "config/config.h"
#include "explain/cluster_copy.h"
#include "explain/groups/report.h"
#include "explain/report.h"
#include "scheduler/profile_set.h"

namespace berth::server {

// What would let the pod run in the cluster of the copy. `plugins`: those of the configuration that
// are not in-tree; they are made anew for it. An error when there is no such pod.
Result<explain::SuggestionList> SuggestOnCopy(const explain::ClusterCopy& copy,
                                              const config::KubeSchedulerConfiguration& config,
                                              const config::Behaviour& behaviour,
                                              std::span<const scheduler::ExtraPlugin> plugins,
                                              std::string_view namespace_, std::string_view name);

// The same for a pod group: everything about it in the cluster of the copy. An error when there is
// no such group.
Result<explain::GroupView> ExplainGroupOnCopy(const explain::ClusterCopy& copy,
                                              const config::KubeSchedulerConfiguration& config,
                                              const config::Behaviour& behaviour,
                                              std::span<const scheduler::ExtraPlugin> plugins,
                                              std::string_view namespace_, std::string_view name);

}  // namespace berth::server
