// Views of the cluster and of the queue, for people and dashboards.
#pragma once

#include <string>
#include <string_view>

#include "explain/explainer.h"
#include "explain/report.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

struct DecisionQuery {
  std::string namespace_ = {};
  std::string search = {};    // part of "namespace/name" or of the node's name, in lower case
  std::string workload = {};  // pods called so, or so and "-..."
  std::string node = {};
  std::string plugin = {};   // rejected a node in it
  std::string outcome = {};  // as in the answer
  size_t limit = 100;
  uint64_t before = 0;  // only decisions with a smaller id; 0: all
};

DecisionList ListDecisions(const scheduler::Source& source, const DecisionQuery& query);
PendingList ListPending(const scheduler::Source& source, std::string_view namespace_);
NodeTable ViewNodes(const scheduler::Source& source);
// An error when there is no such node.
Result<NodeDetail> ViewNode(const scheduler::Source& source, std::string_view name);
QueueCounts CountQueues(const scheduler::Source& source);
ConfigView ViewConfig(const scheduler::Source& source);

// kNoPod: there is none. A pass over all pods where the source cannot look it up.
cluster::PodId FindPod(const scheduler::Source& source, std::string_view namespace_,
                       std::string_view name);

}  // namespace berth::explain
