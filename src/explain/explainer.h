// Explainer: why a pod is where it is, or nowhere, worked out on the cluster as it is now.
//
// What was recorded of the decision comes from the DecisionLog; everything by node is found anew by
// the same plugins. The cluster, the queue and the engine's lots are as before when it returns.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "explain/report.h"
#include "explain/search.h"
#include "scheduler/decisions/decision_log.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

struct ExplainOptions {
  size_t top = 10;        // how many of the best nodes
  std::string node = {};  // also what was found about this one
  // The node that the pod is known to have got from this state of the cluster, when it is not on it
  // there. Empty: none.
  std::string chosen = {};
};

// An error when the pod has no profile or `options.node` does not exist.
Result<DecisionView> Explain(const scheduler::Source& source, cluster::PodId pod,
                             const ExplainOptions& options);

// A record as a summary.
DecisionSummary Summarize(const scheduler::Source& source, const scheduler::AttemptRecord& attempt);
// Where the pod is in the queues, and how it came there.
QueuePlace PlaceOf(const scheduler::Source& source, cluster::PodId pod);
// What a PreEnqueue plugin says against the pod; Ok: nothing.
framework::Status GateOf(const scheduler::Source& source, const framework::Profile& profile,
                         cluster::PodId pod);

std::vector<Rejection> ToRejections(const std::vector<framework::ReasonCount>& reasons);
std::string_view OutcomeName(scheduler::Outcome outcome);

// preemption_view.cc: what evicting pods would do for the pod the search found no node for.
PreemptionView ViewPreemption(Search& search, cluster::Cluster& cluster);

}  // namespace berth::explain
