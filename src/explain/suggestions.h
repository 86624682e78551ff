// Suggestions: what would let a pending pod run, and all pending replicas of its workload with it.
// Every change is tried before it is suggested.
//
// A trial changes the pods of the workload or the cluster, lets the scheduler place the pods and
// changes everything back. So run it on a copy of the engine's cluster: rows, orders and tables may
// differ afterwards, although the objects are the same.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "explain/report.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

// The input a suggestion was tried with.
struct ChangedInput {
  api::Pod pod;
  std::vector<api::Pod> siblings;       // the other pods of the workload, without a node
  std::vector<api::Node> nodes;         // set
  std::vector<std::string> moved_pods;  // uids, taken off their nodes
  bool by_preemption = false;           // not fitting, but making room by evictions
};

struct SuggestOptions {
  size_t shown = 12;        // suggestions at most
  size_t max_trials = 400;  // searches at most
};

// `source` needs its cluster, profiles and nodes. `inputs` (may be null) gets what each suggestion
// was tried with. An error when the pod has no profile.
Result<SuggestionList> Suggest(const scheduler::Source& source, cluster::PodId pod,
                               const SuggestOptions& options = {},
                               std::vector<ChangedInput>* inputs = nullptr);

// pod_changes.cc: a change to the pod alone.
struct PodChange {
  std::string kind;
  std::string text;  // "its cpu request were at most 1500m": follows "fits on 3 nodes if "
  ByName<std::string> change;
  std::function<void(api::Pod&)> apply;
};

// Demands of the pod that could be dropped or loosened, one by one.
std::vector<PodChange> Loosenings(const cluster::Cluster& cluster, const api::Pod& pod);

// The pod with at most `amount` of the resource (cpu in thousandths) in all.
void LowerRequest(api::Pod& pod, std::string_view resource, int64_t amount);
// The pod with no request at all.
void DropRequests(api::Pod& pod);
// "1500m", "2", "512Mi".
std::string AmountText(std::string_view resource, int64_t amount);

}  // namespace berth::explain
