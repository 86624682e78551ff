// Views of the cluster and of the queue, for people and dashboards.
#pragma once

#include <string>
#include <string_view>

#include "scheduler/explain/explainer.h"
#include "scheduler/explain/report.h"
#include "scheduler/explain/source.h"

namespace berth::scheduler::explain {

struct DecisionQuery {
  std::string namespace_ = {};
  std::string node = {};
  std::string plugin = {};   // rejected a node in it
  std::string outcome = {};  // as in the answer
  size_t limit = 100;
  uint64_t before = 0;  // only decisions with a smaller id; 0: all
};

DecisionList ListDecisions(const Source& source, const DecisionQuery& query);
PendingList ListPending(const Source& source, std::string_view namespace_);
NodeTable ViewNodes(const Source& source);
// An error when there is no such node.
Result<NodeDetail> ViewNode(const Source& source, std::string_view name);
QueueCounts CountQueues(const Source& source);
ConfigView ViewConfig(const Source& source);

// kNoPod: there is none. A pass over all pods where the source cannot look it up.
cluster::PodId FindPod(const Source& source, std::string_view namespace_, std::string_view name);

}  // namespace berth::scheduler::explain
