#include "plugins/default_preemption/disruption_unit.h"

#include <algorithm>
#include <set>

#include "cluster/objects/adopted_groups.h"
#include "cluster/objects/object_store.h"
#include "cluster/pods/group_state.h"

namespace berth::plugins::default_preemption {
namespace {

using cluster::Cluster;
using cluster::Pod;
using cluster::PodId;

// A group without a priority of its own, which only other APIs have, leaves each pod its own.
int32_t PriorityIn(const Cluster& cluster, const api::PodGroup* group, const Pod& pod) {
  const bool own =
      group == nullptr || (!group->spec.priority && cluster::IsAdoptedGroup(group->metadata.name));
  return own ? pod.shape->priority : cluster::PriorityOf(cluster, *group);
}

bool LongerRunning(const api::Time& a, const api::Time& b) {
  // A pod that has not started yet starts now, later than all others.
  if (a.IsZero() || b.IsZero()) return !a.IsZero();
  return a < b;
}

DisruptionUnit UnitOfGroup(const Cluster& cluster, const api::PodGroup& group) {
  DisruptionUnit unit{cluster::PriorityOf(cluster, group), true, {}, {}};
  for (const PodId id : cluster::PlacedMembers(cluster, group)) {
    const api::Time& start = cluster.GetPod(id).start_time;
    if (LongerRunning(start, unit.start)) unit.start = start;
    unit.pods.push_back(id);
  }
  return unit;
}

}  // namespace

int32_t VictimPriority(const Cluster& cluster, const Pod& pod, const UnitRules& rules) {
  const api::PodGroup* group = rules.groups ? cluster::GroupOf(cluster, pod) : nullptr;
  return PriorityIn(cluster, group, pod);
}

std::vector<DisruptionUnit> UnitsBelow(const Cluster& cluster,
                                       std::span<const cluster::NodeIndex> nodes, int32_t priority,
                                       const UnitRules& rules) {
  std::vector<DisruptionUnit> units;
  std::set<const api::PodGroup*> whole;  // groups that are listed
  for (const cluster::NodeIndex n : nodes) {
    for (const PodId id : cluster.Record(n).pods) {
      const Pod& pod = cluster.GetPod(id);
      const api::PodGroup* group = rules.groups ? cluster::GroupOf(cluster, pod) : nullptr;
      const int32_t own = PriorityIn(cluster, group, pod);
      if (own >= priority) continue;
      if (group != nullptr && group->spec.disruption_mode && group->spec.disruption_mode->all) {
        if (whole.insert(group).second) units.push_back(UnitOfGroup(cluster, *group));
        continue;
      }
      const bool member = rules.groups && cluster::GroupNameOf(pod) != nullptr;
      units.push_back({own, member, pod.start_time, {id}});
    }
  }
  return units;
}

bool MoreImportant(const DisruptionUnit& a, const DisruptionUnit& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  if (a.of_group != b.of_group) return a.of_group;
  if (a.pods.size() != b.pods.size()) return a.pods.size() > b.pods.size();
  return LongerRunning(a.start, b.start);
}

bool MoreImportant(const Pod& a, const Pod& b) {
  if (a.shape->priority != b.shape->priority) return a.shape->priority > b.shape->priority;
  return LongerRunning(a.start_time, b.start_time);
}

// Until 1.36, of two pods that have not started kube-scheduler takes the one it asks about first
// for the older one, so that its sorting turns such pods around.
void SortByImportance(std::vector<DisruptionUnit>& units, const UnitRules& rules) {
  std::stable_sort(
      units.begin(), units.end(),
      [](const DisruptionUnit& a, const DisruptionUnit& b) { return MoreImportant(a, b); });
  if (rules.start_when_listed) return;
  for (auto from = units.begin(); from != units.end();) {
    if (!from->start.IsZero()) {
      ++from;
      continue;
    }
    const auto to = std::find_if(from, units.end(), [&](const DisruptionUnit& unit) {
      return !unit.start.IsZero() || unit.priority != from->priority;
    });
    std::reverse(from, to);
    from = to;
  }
}

}  // namespace berth::plugins::default_preemption
