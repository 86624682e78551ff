// GroupTable: the pods of pod groups that wait, and what the queue's host says about a group.
//
// In the queue a group is one record, under an id that no pod has. To the queue the table is the
// host; it asks the real one about the group's pods.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/string_hash.h"
#include "cluster/cluster.h"
#include "queue/scheduling_queue.h"

namespace berth::queue {

// Ids from here on stand for groups.
inline constexpr PodId kFirstGroup = PodId{1} << 31;
inline bool IsGroup(PodId id) { return id >= kFirstGroup && id != cluster::kNoPod; }

struct QueuedGroup {
  enum class State : uint8_t { kAbsent, kQueued, kInFlight };

  PodId id = cluster::kNoPod;
  std::string namespace_;
  std::string name;
  State state = State::kAbsent;
  std::vector<QueuedPod> members;     // while it is queued, in the order in which they are tried
  std::vector<QueuedPod> pending;     // wait for the end of the group's attempt
  std::vector<QueuedPod> incomplete;  // wait for the group's object
  std::vector<PodId> tried;           // in the attempt at hand
  PodId gated_by = cluster::kNoPod;   // the member that PreEnqueue rejected last
};

// How many groups came into each queue because of an event, and how many pods with them. A group
// that changes within a queue, because its pods do, counts its pods only.
struct GroupMoves {
  std::string event;
  std::array<uint64_t, kQueueNames> groups = {};
  std::array<uint64_t, kQueueNames> pods = {};
};

class GroupTable : public QueueHost {
 public:
  GroupTable(QueueHost& host, const cluster::Cluster& cluster) : host_(host), cluster_(cluster) {}

  // Null: the pod names no group, or no pod that waits ever did.
  QueuedGroup* GroupOfPod(PodId pod);
  const QueuedGroup* GroupOfPod(PodId pod) const;
  // Made on first use.
  QueuedGroup& GroupFor(PodId pod);
  // Forgets a group of which no pod waits. Its id may be used again.
  void ReleaseIfEmpty(QueuedGroup& group);
  QueuedGroup& At(PodId group) { return groups_[group - kFirstGroup]; }
  const QueuedGroup& At(PodId group) const { return groups_[group - kFirstGroup]; }
  QueuedGroup* Find(std::string_view namespace_, std::string_view name);
  const std::deque<QueuedGroup>& groups() const { return groups_; }
  // Has the API server shown the group's object?
  bool IsKnown(const QueuedGroup& group) const;
  // Puts the pod where it belongs among the members.
  void Insert(const QueuedPod& pod, std::vector<QueuedPod>* members) const;
  // While a group leaves this queue only to be put somewhere again.
  void set_leaves(std::optional<QueueName> queue) { leaves_ = queue; }
  const std::vector<GroupMoves>& moves() const { return moves_; }

  // --- QueueHost
  bool Less(const QueuedPod& a, const QueuedPod& b) const override;
  Gate PreEnqueue(const QueuedPod& pod, PluginId first) const override;
  PluginMask Registered(uint8_t profile, const ClusterEvent& event) const override {
    return host_.Registered(profile, event);
  }
  bool MayHelp(const QueuedPod& pod, PluginId plugin, const Event& event) const override;
  int32_t Priority(PodId pod) const override;
  std::string_view Uid(PodId pod) const override { return host_.Uid(StandIn(pod)); }
  void Moved(const QueuedPod& pod, QueueName queue, std::string_view event, bool is_new) override;

 private:
  // The member that decides whether the group is gated.
  PodId StandIn(PodId id) const;
  QueuedPod StandIn(const QueuedPod& record) const;
  Gate AskMember(QueuedPod& member) const;
  bool Before(const QueuedPod& a, const QueuedPod& b) const;
  GroupMoves& MovesBecauseOf(std::string_view event);

  QueueHost& host_;
  const cluster::Cluster& cluster_;
  mutable std::deque<QueuedGroup> groups_;  // PreEnqueue notes its answers
  ByString<PodId> by_name_;                 // "namespace/name"
  std::vector<PodId> free_;
  std::optional<QueueName> leaves_;
  std::vector<GroupMoves> moves_;
};

}  // namespace berth::queue
