// GroupResult: what a group cycle decided, for the group and for each of its pods.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cluster/ids.h"
#include "framework/points/pod_group.h"
#include "framework/points/status.h"

namespace berth::scheduler {

// A status with the error it stands for, as kube-scheduler wraps them: the message is the error
// followed by the reasons.
struct GroupStatus {
  framework::Code code = framework::Code::kSuccess;
  std::string error;  // empty: none
  std::vector<std::string> reasons;

  GroupStatus() = default;
  explicit GroupStatus(const framework::Status& status)
      : code(status.code()), reasons(status.reasons()) {}
  static GroupStatus Error(std::string error);
  // Unschedulable, with the error "pod group is unschedulable".
  static GroupStatus Unschedulable(std::vector<std::string> reasons);

  bool Ok() const { return code == framework::Code::kSuccess; }
  bool IsError() const { return code == framework::Code::kError; }
  bool IsRejected() const { return framework::IsRejected(code); }
  std::string Message() const;
  // The error alone; without one, the message.
  std::string ErrorText() const { return error.empty() ? Message() : error; }
};

// One pod of the group.
struct MemberResult {
  enum class Nomination : uint8_t { kKeep, kClear, kSet };

  cluster::PodId pod = cluster::kNoPod;
  GroupStatus status;  // Ok: it has a node
  cluster::NodeIndex node = cluster::kNoNode;
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;
  Nomination nomination = Nomination::kKeep;  // of the pod's status.nominatedNodeName
  std::string nominated_node;                 // with kSet
  // Of the decision, for reports.
  size_t nodes = 0;
  size_t evaluated = 0;
  size_t feasible = 0;
  size_t equal = 0;
  bool scored = false;
  int64_t total = 0;

  void SetNomination(std::string node_name);
};

// How many placements there were, and how the chosen one was found. Only with topology.
struct PlacementResult {
  struct Score {
    size_t placement = 0;           // position in placements
    std::vector<int64_t> weighted;  // by position in Profile::placement_score
    int64_t total = 0;
  };
  std::vector<framework::Placement> placements;
  std::vector<Score> scores;  // of the feasible ones, if there were several
  size_t feasible = 0;
  size_t chosen = SIZE_MAX;
};

struct GroupResult {
  // Success: the pods that have a node go to binding. Unschedulable: none does.
  GroupStatus status;
  // The status before PodGroupPostFilter: decides how the queue treats the group.
  GroupStatus before_post_filter;
  bool waits_for_preemption = false;
  bool any_scheduled = false;               // some pod got a node in this cycle
  std::vector<MemberResult> members;        // in the order in which they were tried
  std::vector<PlacementResult> placements;  // of every run, those of preemption included
  // PodGroupPostFilter, if it ran.
  bool post_filter_ran = false;
  framework::Status post_filter;
  framework::PodGroupPostFilterResult preemption;
};

// What becomes of a pod: where `group` failed, the status its failure is reported with. Of a pod
// with a node of a group that succeeded: Ok.
struct MemberOutcome {
  GroupStatus status;
  MemberResult::Nomination nomination = MemberResult::Nomination::kKeep;
  std::string nominated_node;
  bool fit_error = false;  // the pod's own: its plugins count
};
MemberOutcome OutcomeOf(const GroupResult& group, const MemberResult& member);

// The condition PodGroupInitiallyScheduled that the result amounts to.
struct GroupCondition {
  bool scheduled = false;
  std::string reason;
  std::string message;
};
GroupCondition ConditionOf(const GroupResult& group);

}  // namespace berth::scheduler
