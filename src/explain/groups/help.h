// Help for a pod group that is not scheduled: changes that were tried and with which it is.
#pragma once

#include <vector>

#include "api/scheduling/pod_group.h"
#include "explain/groups/trial.h"
#include "explain/report.h"
#include "scheduler/decisions/source.h"

namespace berth::explain {

// `best`: the most pods that fit as things are. `source` needs its nodes. Most useful first, up to
// twelve.
std::vector<Suggestion> HelpForGroup(const scheduler::Source& source, const api::PodGroup& group,
                                     const scheduler::PartialPlacement& best, GroupTrial& trial);

}  // namespace berth::explain
