#include "explain/groups/trial.h"

#include <utility>

#include "cluster/transaction.h"
#include "explain/cluster_copy.h"
#include "scheduler/groups/validation.h"

namespace berth::explain {

using cluster::PodId;
using scheduler::GroupResult;

GroupTrial::GroupTrial(cluster::Cluster& cluster, const framework::Profile& profile,
                       std::vector<PodId> waiting)
    : cluster_(cluster), cycle_(profile), waiting_(std::move(waiting)) {}

// A class answers without looking at every node.
cluster::NodeIndex GroupTrial::Decide(scheduler::Attempt& attempt,
                                      const framework::NodeSet* within) {
  attempt.Decide(algorithm_, /*score_always=*/false, within);
  const auto rows = static_cast<int64_t>(cluster_.Rows());
  work_ += attempt.decision().from_class ? rows / 64 + 16 : rows;
  return attempt.decision().node;
}

GroupResult GroupTrial::Run(const api::PodGroup& group) {
  GroupResult result;
  if (Exhausted()) {
    result.status = scheduler::GroupStatus::Error("too many nodes were looked at");
    return result;
  }
  ++runs_;
  algorithm_ = scheduler::Algorithm({});
  const framework::PodGroupInfo info{group, waiting_};
  const auto knows = [&](const std::string& name) { return name == cycle_.profile().Name(); };
  std::string why = scheduler::WhyInvalid(cluster_, info, cycle_.profile().GetBehaviour(), knows);
  if (!why.empty()) {
    result.status = scheduler::GroupStatus::Error(std::move(why));
    return result;
  }
  return scheduler::GroupAlgorithm(cycle_, cluster_, *this).Run(info);
}

GroupResult GroupTrial::RunChanged(const api::PodGroup& group,
                                   const std::function<void(api::Pod&)>& edit) {
  std::vector<api::Pod> before;
  before.reserve(waiting_.size());
  for (const PodId id : waiting_) {
    before.push_back(ToObject(cluster_.GetPod(id)));
    api::Pod changed = before.back();
    edit(changed);
    cluster_.UpdatePod(id, changed);
  }
  GroupResult result = Run(group);
  for (size_t i = 0; i < waiting_.size(); ++i) cluster_.UpdatePod(waiting_[i], before[i]);
  return result;
}

bool GroupTrial::FitsWithout(const api::PodGroup& group, const std::vector<PodId>& pods) {
  const cluster::Transaction trial(cluster_);
  for (const PodId pod : pods) cluster_.Forget(pod);
  return Fits(group);
}

scheduler::PartialPlacement GroupTrial::Most(const framework::NodeSet* within) {
  algorithm_ = scheduler::Algorithm({});
  const auto rows = static_cast<int64_t>(within == nullptr ? cluster_.Rows() : within->Count());
  work_ += rows + static_cast<int64_t>(waiting_.size()) * (rows / 64 + 16);
  return scheduler::PlaceMost(cycle_, cluster_, algorithm_, waiting_, within);
}

}  // namespace berth::explain
