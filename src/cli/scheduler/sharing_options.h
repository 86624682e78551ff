// The flags by which replicas share the leader's work.
#pragma once

#include "base/error.h"
#include "cli/scheduler/options.h"

namespace berth::cli::scheduler {

// Refuses --replicas-share-work where it cannot work, and completes options.replica_address.
// REQUIRES: the configuration has been read.
Result<void> CheckSharing(SchedulerOptions& options);

}  // namespace berth::cli::scheduler
