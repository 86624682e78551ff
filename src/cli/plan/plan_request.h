// Plans for the explain API: the questions of `berth plan`, about the cluster of a running
// scheduler.
#pragma once

#include <string>

#include "base/error.h"
#include "config/config.h"
#include "kube/auth/kubeconfig.h"

namespace berth::cli {

// `body` is a plan::Question as JSON, the answer a plan::MappedPlan. The cluster is read from the
// API server with lists, as `berth plan --kubeconfig` does: the scheduler itself does not know the
// controllers and annotations of pods. Blocks; errors say what in the question is wrong.
Result<std::string> AnswerPlanRequest(const kube::ClientConfig& server,
                                      const config::KubeSchedulerConfiguration& config,
                                      const config::Behaviour& behaviour, const std::string& body);

}  // namespace berth::cli
