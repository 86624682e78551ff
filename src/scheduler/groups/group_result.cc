#include "scheduler/groups/group_result.h"

#include <utility>

#include <fmt/format.h>

namespace berth::scheduler {
namespace {

using framework::Code;

constexpr std::string_view kUnschedulable = "pod group is unschedulable";

}  // namespace

GroupStatus GroupStatus::Error(std::string error) {
  GroupStatus status;
  status.code = Code::kError;
  status.error = std::move(error);
  return status;
}

GroupStatus GroupStatus::Unschedulable(std::vector<std::string> reasons) {
  GroupStatus status;
  status.code = Code::kUnschedulable;
  status.error = kUnschedulable;
  status.reasons = std::move(reasons);
  return status;
}

std::string GroupStatus::Message() const {
  std::string message = error;
  for (const std::string& reason : reasons) {
    const bool first = &reason == &reasons.front() && error.empty();
    message += first ? reason : ", " + reason;
  }
  return message;
}

void MemberResult::SetNomination(std::string node_name) {
  nomination = node_name.empty() ? Nomination::kClear : Nomination::kSet;
  nominated_node = std::move(node_name);
}

MemberOutcome OutcomeOf(const GroupResult& group, const MemberResult& member) {
  using Nomination = MemberResult::Nomination;
  if (group.status.IsError()) {
    return {member.status.IsError() ? member.status : group.status, Nomination::kClear, "", false};
  }
  if (!member.status.Ok()) {
    return {member.status, member.nomination, member.nominated_node, true};
  }
  if (group.status.Ok()) return {};
  if (group.waits_for_preemption) {
    return {group.status, member.nomination, member.nominated_node, false};
  }
  return {GroupStatus::Unschedulable({group.status.Message()}), Nomination::kClear, "", false};
}

GroupCondition ConditionOf(const GroupResult& group) {
  if (group.status.Ok()) return {true, "Scheduled", group.status.Message()};
  if (group.status.IsRejected()) return {false, "Unschedulable", group.status.Message()};
  return {false, "SchedulerError", group.status.ErrorText()};
}

}  // namespace berth::scheduler
