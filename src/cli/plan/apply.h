// berth plan apply: carries a plan out on a live cluster.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "config/config.h"
#include "plan/plan.h"
#include "plan/question.h"

namespace berth::cli {

struct ApplyCommand {
  std::string kubeconfig;
  std::string context;
  std::string state_file;
  config::KubeSchedulerConfiguration config;
  config::Behaviour behaviour = {};
  uint64_t seed = 0;
};

// The requests that carrying out `plan` would send, one per line. Nothing is sent.
std::string DryRunText(const plan::Plan& plan);

// Carries `plan` out, the answer to `question` about this cluster. True: all of it. Refuses plans
// that leave a pod without a place, and a state file that another plan has left behind.
Result<bool> ApplyPlan(const ApplyCommand& command, const plan::Question& question,
                       const plan::Plan& plan);

// Goes on with the plan in the state file.
Result<bool> ResumePlan(const ApplyCommand& command);

}  // namespace berth::cli
