// GroupReplay: the entities of one recorded case, pods and pod groups, in the order of the queue.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "conformance/group_results.h"
#include "conformance/replay.h"
#include "scheduler/groups/group_algorithm.h"

namespace berth::conformance {

class GroupReplay {
 public:
  explicit GroupReplay(Replay& replay)
      : replay_(replay), cluster_(replay.GetCluster()), bind_({}) {}

  // Schedules everything, and once more what preempted or was placed in part.
  std::vector<EntityResult> Run();

 private:
  // A pod alone, or the pods of a group.
  struct Entity {
    std::string namespace_;
    std::string group;  // empty: a pod alone
    int32_t priority = 0;
    std::vector<cluster::PodId> pods;
    bool gated = false;
  };

  std::vector<Entity> Entities() const;
  // True: it is to be tried once more.
  bool Try(Entity& entity, int32_t attempt, std::vector<EntityResult>* results);
  GroupCycleResult RunCycle(const Entity& entity, int32_t attempt, bool* again);
  void Report(const scheduler::GroupResult& decided, const framework::Profile& profile,
              GroupCycleResult* result) const;
  void ReportPostFilter(const scheduler::GroupResult& decided, GroupCycleResult* result) const;
  MemberReport Apply(const scheduler::GroupResult& decided, const scheduler::MemberResult& member,
                     framework::Cycle& cycle);
  std::string Bind(framework::Cycle& cycle, const scheduler::MemberResult& member);
  void Nominate(cluster::PodId pod, const std::string& node);
  // The pod is being tried: what stands for it does not count.
  void TakeAway(cluster::PodId pod);
  void PutBack(cluster::PodId pod);
  void SetCondition(const Entity& entity, const scheduler::GroupCondition& condition,
                    GroupCycleResult* result);

  Replay& replay_;
  cluster::Cluster& cluster_;
  // The recording does not queue pods of groups again. kube-scheduler then knows no more of a
  // nominated one than its name: it counts as a pod of priority 0 without requests.
  std::map<cluster::PodId, cluster::PodId> stand_ins_;
  std::set<cluster::PodId> bound_;  // also those that were preempted since
  scheduler::Algorithm bind_;
};

}  // namespace berth::conformance
