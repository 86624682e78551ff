// What-if: where pods would go if nodes, pods or weights were otherwise. Works on a copy of the
// cluster; bounded in size and time.
#pragma once

#include "base/error.h"
#include "config/config.h"
#include "scheduler/explain/cluster_copy.h"
#include "scheduler/explain/report.h"

namespace berth::cli {

// Errors say what in the request is wrong.
Result<berth::scheduler::explain::WhatIfResult> AnswerWhatIf(
    const berth::scheduler::explain::ClusterCopy& copy,
    const config::KubeSchedulerConfiguration& config,
    const berth::scheduler::explain::WhatIfRequest& request);

}  // namespace berth::cli
