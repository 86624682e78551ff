// GroupedQueue: a SchedulingQueue whose entities are pods and pod groups (Kubernetes 1.37).
//
// A pod that names a group is not queued by itself. The group is one entity, popped with all of its
// pods that wait: it has its own time, counts and backoff, and waits as long as PreEnqueue rejects
// one of them. A pod is
//
//   incomplete   while the object of its group is not known
//   pending      while an attempt of its group is under way
//   with its group in any other place, or in flight by itself from Pop to Done
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "queue/group_table.h"
#include "queue/scheduling_queue.h"

namespace berth::queue {

class GroupedQueue final : private GroupTable, public SchedulingQueue {
 public:
  GroupedQueue(QueueHost& host, const cluster::Cluster& cluster, size_t profiles,
               const QueueOptions& options)
      : GroupTable(host, cluster),
        SchedulingQueue(static_cast<GroupTable&>(*this), profiles, options),
        cluster_(cluster) {}

  // --- Groups
  // The object of a group came or went, and the cluster has it so.
  void GroupAdded(std::string_view namespace_, std::string_view name, const api::Time& now);
  void GroupDeleted(std::string_view namespace_, std::string_view name);
  // Of what Pop returned: the pods to try, in order. Each is in flight until Done or
  // AddUnschedulable.
  struct Popped {
    std::string_view namespace_;
    std::string_view name;
    std::span<const PodId> pods;
  };
  Popped PoppedGroup(PodId group) const;
  // The attempt is over: pods of the group that wait are queued with it again.
  void EndAttempt(PodId group, GroupEnd end, const api::Time& now);

  // --- SchedulingQueue. Pop may return a group (IsGroup).
  void Add(PodId pod, uint8_t profile, const api::Time& now) override;
  void Update(PodId pod, std::span<const ClusterEvent> changes, const PodSnapshot& old_pod,
              const PodSnapshot& new_pod, const api::Time& now) override;
  void Delete(PodId pod) override;
  std::optional<PodId> Pop(const api::Time& now) override;
  const QueuedPod* Find(PodId pod) const override;
  QueuedPod* FindInFlight(PodId pod) override;
  void Done(PodId pod) override;
  void AddUnschedulable(PodId pod, PluginMask rejected_by, PluginMask pending_by,
                        const api::Time& now) override;
  void AddFailed(const QueuedPod& failed, const api::Time& now) override;
  void Activate(PodId pod, const api::Time& now) override;
  size_t Count(QueueName queue) const override;
  size_t InFlightCount() const override;
  void ForEach(FunctionRef<void(const QueuedPod&, std::string_view)> fn) const override;
  std::string_view WhereIs(PodId pod) const override;
  std::optional<api::Time> BackoffUntil(PodId pod) const override;

  // Pods that wait for their group's object, and for the end of an attempt.
  size_t IncompleteCount() const;
  size_t PendingCount() const;
  // Groups in a queue, and the pods in it that are there with their group.
  struct GroupCount {
    size_t groups = 0;
    size_t pods = 0;
  };
  GroupCount CountGroups(QueueName queue) const;
  // Since the queue was made.
  const std::vector<GroupMoves>& Moves() const { return GroupTable::moves(); }

 private:
  struct InFlightPod {
    QueuedPod record;
    bool deleted = false;
  };

  bool IsMember(PodId pod) const;
  void AddMember(QueuedPod record, const api::Time& now);
  // Where the group is, if it waits; the two kinds of backoff are one.
  std::optional<QueueName> QueueOf(const QueuedGroup& group) const;
  // The group has other members than before.
  void PutAgain(const QueuedGroup& group, const api::Time& now);
  // The list that holds the pod; null: none.
  const std::vector<QueuedPod>* ListOf(PodId pod, const QueuedGroup& group) const;

  const cluster::Cluster& cluster_;
  boost::unordered_flat_map<PodId, InFlightPod> in_flight_;  // pods of groups
};

}  // namespace berth::queue
