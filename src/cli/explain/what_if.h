// What-if: where pods would go if nodes, pods or weights were otherwise. Works on a copy of the
// cluster; bounded in size and time.
#pragma once

#include <span>

#include "base/error.h"
#include "config/config.h"
#include "explain/cluster_copy.h"
#include "explain/groups/report.h"
#include "explain/report.h"
#include "scheduler/profile_set.h"

namespace berth::cli {

// `plugins`: those of the configuration that are not in-tree. They are made anew for it, and only
// filter and score. Errors say what in the request is wrong.
Result<berth::explain::WhatIfResult> AnswerWhatIf(
    const berth::explain::ClusterCopy& copy, const config::KubeSchedulerConfiguration& config,
    const config::Behaviour& behaviour, const berth::explain::WhatIfRequest& request,
    std::span<const berth::scheduler::ExtraPlugin> plugins = {});

// The same for pod groups: whether they fit, where, and what is in the way.
Result<berth::explain::WhatIfGroups> AnswerGroupWhatIf(
    const berth::explain::ClusterCopy& copy, const config::KubeSchedulerConfiguration& config,
    const config::Behaviour& behaviour, const berth::explain::WhatIfRequest& request,
    std::span<const berth::scheduler::ExtraPlugin> plugins = {});

}  // namespace berth::cli
