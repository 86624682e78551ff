#include "scheduler/groups/validation.h"

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "cluster/objects/adopted_groups.h"
#include "cluster/pods/group_state.h"

namespace berth::scheduler {
namespace {

using cluster::Pod;

constexpr std::string_view kPreempts = "PreemptLowerPriority";
constexpr std::string_view kNever = "Never";

class Common {
 public:
  Common(const api::PodGroup& group, const std::string& scheduler, bool group_policy)
      : scheduler_(scheduler),
        priority_(group.spec.priority.value_or(0)),
        adopted_(cluster::IsAdoptedGroup(group.metadata.name)),
        group_policy_(group_policy) {
    if (group_policy) policy_ = group.spec.preemption_policy.value_or(std::string(kPreempts));
  }

  // How `pod` differs; empty: it does not.
  std::string Difference(const Pod& pod) {
    const std::string& name = pod.shape->source.spec.scheduler_name;
    if (name != scheduler_) {
      return fmt::format(
          "all pods in a single pod group should have the same .spec.schedulerName set, got: {} "
          "and {}",
          api::GoQuote(name), api::GoQuote(scheduler_));
    }
    if (adopted_) return "";  // no other API has a rule about priorities
    if (pod.shape->priority != priority_) {
      return fmt::format(
          "all pods in a single pod group should have the same priority as the pod group's "
          "priority, got {} and {}",
          pod.shape->priority, priority_);
    }
    const std::string_view own = pod.shape->never_preempts ? kNever : kPreempts;
    if (policy_.empty()) policy_ = own;  // the first pod's
    if (own == policy_) return "";
    return fmt::format(
        "all pods in a single pod group should have the same preemption policy{}, got {} and {}",
        group_policy_ ? " as the pod group's preemption policy" : "", own, policy_);
  }

 private:
  const std::string& scheduler_;
  const int32_t priority_;
  const bool adopted_;
  const bool group_policy_;
  std::string policy_;
};

}  // namespace

std::string WhyInvalid(const cluster::Cluster& cluster, const framework::PodGroupInfo& info,
                       const config::Behaviour& behaviour,
                       FunctionRef<bool(const std::string&)> knows) {
  const Pod& first = cluster.GetPod(info.unscheduled.front());
  const std::string& scheduler = first.shape->source.spec.scheduler_name;
  Common common(info.group, scheduler, behaviour.pod_group_preemption_policy);
  for (const cluster::PodId id : info.unscheduled) {
    if (std::string why = common.Difference(cluster.GetPod(id)); !why.empty()) return why;
  }
  for (const cluster::PodId id : cluster::PlacedMembers(cluster, info.group)) {
    if (std::string why = common.Difference(cluster.GetPod(id)); !why.empty()) return why;
  }
  if (knows(scheduler)) return "";
  return "profile not found for scheduler name " + api::GoQuote(scheduler);
}

}  // namespace berth::scheduler
