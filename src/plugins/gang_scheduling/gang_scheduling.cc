#include "plugins/gang_scheduling/gang_scheduling.h"

#include <algorithm>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/group_state.h"

namespace berth::plugins::gang_scheduling {
namespace {

using framework::Code;
using framework::Status;

constexpr int64_t kPermitTimeoutNs = 5LL * 60 * 1'000'000'000;

}  // namespace

Status GangScheduling::PreEnqueue(const cluster::Cluster& cluster, const cluster::Pod& pod) const {
  const std::string* name = cluster::GroupNameOf(pod);
  if (name == nullptr) return {};
  const api::PodGroup* group = cluster.Objects().pod_groups.Find(pod.namespace_(), *name);
  if (group == nullptr) {
    return Status::Unresolvable(fmt::format(
        "waiting for pods's pod group {} to appear in scheduling queue", api::GoQuote(*name)));
  }
  const auto known = static_cast<int64_t>(cluster.Members().Of(pod.namespace_(), *name).size());
  if (known >= cluster::MinCountOf(*group)) return {};
  return Status::Unresolvable(
      "waiting for minCount pods from a gang to appear in scheduling queue");
}

Status GangScheduling::PlacementFeasible(const framework::PodGroupInfo& info,
                                         const framework::PlacementProgress& progress) const {
  // A group that is no gang wants one pod.
  const bool gang = static_cast<bool>(info.group.spec.scheduling_policy.gang);
  const int64_t min_count = gang ? cluster::MinCountOf(info.group) : 1;
  if (progress.remaining + progress.scheduled < min_count) {
    return Status::Unschedulable(
        fmt::format("minCount ({}) cannot be satisfied: {} scheduled, {} remaining", min_count,
                    progress.scheduled, progress.remaining));
  }
  if (progress.scheduled < min_count) {
    return {Code::kWait,
            fmt::format("minCount ({}) is not yet satisfied: {} scheduled, {} remaining", min_count,
                        progress.scheduled, progress.remaining)};
  }
  return {};
}

Status GangScheduling::Permit(const framework::CycleContext& c, framework::PluginState*,
                              cluster::NodeIndex, int64_t* timeout_ns) {
  const std::string* name = cluster::GroupNameOf(c.pod);
  if (name == nullptr) return {};
  const api::PodGroup* group = cluster::GroupOf(c.cluster, c.pod);
  if (group == nullptr) {
    const std::string& ns = c.pod.namespace_();
    return Status::Error(
        fmt::format("failed to get podGroup {}/{}: podgroup.scheduling.k8s.io "
                    "{} not found",
                    ns, *name, api::GoQuote(*name)));
  }
  const auto placed = static_cast<int64_t>(cluster::PlacedMemberCount(c.cluster, *group));
  if (pods_ == nullptr || !group->spec.scheduling_policy.gang) return {};
  if (placed < cluster::MinCountOf(*group)) {
    *timeout_ns = kPermitTimeoutNs;
    return {Code::kWait, "waiting for minCount pods from a gang to be scheduled"};
  }
  AllowAssumed(c.cluster, *group);
  return {};
}

void GangScheduling::AllowAssumed(const cluster::Cluster& cluster,
                                  const api::PodGroup& group) const {
  std::vector<std::string> uids;
  pods_->ForEachWaiting([&](const framework::WaitingPod& waiting) {
    if (cluster::GroupOf(cluster, waiting.pod) == &group) uids.push_back(waiting.pod.uid);
  });
  for (const std::string& uid : uids) pods_->Allow(uid, kName);
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle& handle) {
  return std::make_unique<GangScheduling>(handle.pods);
}

}  // namespace berth::plugins::gang_scheduling
