// Defaulting of a decoded configuration. Private to this room.
#pragma once

#include "config/behaviour.h"
#include "config/types.h"

namespace berth::config {

// What the file said about fields whose default depends on others.
struct Given {
  bool enable_contention_profiling = false;
  bool first_scheduler_name = false;
};

void SetDefaults(KubeSchedulerConfiguration& config, const Given& given,
                 const Behaviour& behaviour);

}  // namespace berth::config
