#include "conformance/group_results.h"

#include <fmt/format.h>

#include "api/codec/json.h"

namespace berth::conformance {

using api::Describe;
using api::TypeInfo;

const TypeInfo& EvaluationResult::Type() {
  static const TypeInfo type = Describe<EvaluationResult>("Evaluation")
                                   .Field(1, "pod", &EvaluationResult::pod)
                                   .Field(2, "feasible", &EvaluationResult::feasible)
                                   .Field(3, "best", &EvaluationResult::best)
                                   .Field(4, "selected", &EvaluationResult::selected)
                                   .Field(5, "message", &EvaluationResult::message)
                                   .Build();
  return type;
}

const TypeInfo& PlacementsResult::Type() {
  static const TypeInfo type = Describe<PlacementsResult>("Placements")
                                   .Field(1, "names", &PlacementsResult::names)
                                   .Field(2, "nodes", &PlacementsResult::nodes)
                                   .Field(3, "scores", &PlacementsResult::scores)
                                   .Field(4, "best", &PlacementsResult::best)
                                   .Field(5, "selected", &PlacementsResult::selected)
                                   .Build();
  return type;
}

const TypeInfo& GroupPostFilterOutcome::Type() {
  static const TypeInfo type =
      Describe<GroupPostFilterOutcome>("GroupPostFilter")
          .Field(1, "code", &GroupPostFilterOutcome::code)
          .Field(2, "plugin", &GroupPostFilterOutcome::plugin)
          .Field(3, "reasons", &GroupPostFilterOutcome::reasons)
          .Field(4, "message", &GroupPostFilterOutcome::message)
          .Field(5, "nominated", &GroupPostFilterOutcome::nominated)
          .Field(6, "victims", &GroupPostFilterOutcome::victims)
          .Field(7, "numPDBViolations", &GroupPostFilterOutcome::num_pdb_violations)
          .Build();
  return type;
}

const TypeInfo& MemberReport::Type() {
  static const TypeInfo type =
      Describe<MemberReport>("Member")
          .Field(1, "pod", &MemberReport::pod)
          .Field(2, "node", &MemberReport::node)
          .Field(3, "code", &MemberReport::code)
          .Field(4, "message", &MemberReport::message)
          .Field(5, "nominating", &MemberReport::nominating)
          .Field(6, "unschedulablePlugins", &MemberReport::unschedulable_plugins)
          .Field(7, "pendingPlugins", &MemberReport::pending_plugins)
          .Build();
  return type;
}

const TypeInfo& ConditionResult::Type() {
  static const TypeInfo type = Describe<ConditionResult>("Condition")
                                   .Field(1, "type", &ConditionResult::type)
                                   .Field(2, "status", &ConditionResult::status)
                                   .Field(3, "reason", &ConditionResult::reason)
                                   .Always(4, "message", &ConditionResult::message)
                                   .Build();
  return type;
}

const TypeInfo& GroupCycleResult::Type() {
  static const TypeInfo type =
      Describe<GroupCycleResult>("Group")
          .Field(1, "podGroup", &GroupCycleResult::pod_group)
          .Field(2, "kind", &GroupCycleResult::kind)
          .Field(3, "attempt", &GroupCycleResult::attempt)
          .Field(4, "pods", &GroupCycleResult::pods)
          .Field(5, "evaluations", &GroupCycleResult::evaluations)
          .Field(6, "placements", &GroupCycleResult::placements)
          .Field(7, "postFilter", &GroupCycleResult::post_filter)
          .Field(8, "results", &GroupCycleResult::results)
          .Field(9, "conditions", &GroupCycleResult::conditions)
          .Field(10, "allocatedDevices", &GroupCycleResult::allocated_devices)
          .Field(11, "error", &GroupCycleResult::error)
          .Build();
  return type;
}

const TypeInfo& EntityResult::Type() {
  static const TypeInfo type = Describe<EntityResult>("Entity")
                                   .Field(1, "pod", &EntityResult::pod)
                                   .Field(2, "group", &EntityResult::group)
                                   .Build();
  return type;
}

const TypeInfo& CaseResult::Type() {
  static const TypeInfo type = Describe<CaseResult>("CaseResult")
                                   .Always(1, "name", &CaseResult::name)
                                   .Field(2, "error", &CaseResult::error)
                                   .Always(3, "results", &CaseResult::results)
                                   .Field(4, "entities", &CaseResult::entities)
                                   .Build();
  return type;
}

namespace {

template <class T>
void Compare(std::string_view name, const std::vector<T>& expected, const std::vector<T>& actual,
             std::vector<std::string>* lines) {
  for (size_t i = 0; i < std::max(expected.size(), actual.size()); ++i) {
    const bool both = i < expected.size() && i < actual.size();
    if (both && expected[i] == actual[i]) continue;
    lines->push_back(
        fmt::format("{}[{}]: expected {}, got {}", name, i,
                    i < expected.size() ? api::ToJson(expected[i]) : std::string("nothing"),
                    i < actual.size() ? api::ToJson(actual[i]) : std::string("nothing")));
  }
}

std::string Text(const std::optional<GroupPostFilterOutcome>& outcome) {
  return outcome ? api::ToJson(*outcome) : "nothing";
}

void CompareGroups(const GroupCycleResult& expected, const GroupCycleResult& actual,
                   std::vector<std::string>* lines) {
  if (expected.pod_group != actual.pod_group || expected.attempt != actual.attempt ||
      expected.kind != actual.kind) {
    lines->push_back(fmt::format("expected attempt {} of {}, got attempt {} of {}",
                                 expected.attempt, expected.pod_group, actual.attempt,
                                 actual.pod_group));
    return;
  }
  if (expected.error != actual.error) lines->push_back("error: " + actual.error);
  if (expected.pods != actual.pods) {
    lines->push_back(fmt::format("pods: expected {}, got {}", fmt::join(expected.pods, " "),
                                 fmt::join(actual.pods, " ")));
  }
  Compare("evaluations", expected.evaluations, actual.evaluations, lines);
  Compare("placements", expected.placements, actual.placements, lines);
  if (expected.post_filter != actual.post_filter) {
    lines->push_back(fmt::format("postFilter: expected {}, got {}", Text(expected.post_filter),
                                 Text(actual.post_filter)));
  }
  Compare("results", expected.results, actual.results, lines);
  if (expected.conditions != actual.conditions) {
    const auto text = [](const ByName<ConditionResult>& conditions) {
      std::string all;
      for (const auto& [group, condition] : conditions) all += group + api::ToJson(condition);
      return all;
    };
    lines->push_back(fmt::format("conditions: expected {}, got {}", text(expected.conditions),
                                 text(actual.conditions)));
  }
  if (expected.allocated_devices != actual.allocated_devices) {
    lines->push_back("allocatedDevices differ");
  }
}

}  // namespace

std::vector<std::string> Differences(const EntityResult& expected, const EntityResult& actual) {
  std::vector<std::string> lines;
  if (expected.pod.has_value() != actual.pod.has_value() ||
      expected.group.has_value() != actual.group.has_value()) {
    lines.push_back("expected " + api::ToJson(expected) + ", got " + api::ToJson(actual));
  } else if (expected.pod) {
    if (expected.pod->pod != actual.pod->pod) {
      lines.push_back("expected " + expected.pod->pod + ", got " + actual.pod->pod);
    } else {
      lines = Differences(*expected.pod, *actual.pod);
    }
  } else if (expected.group) {
    CompareGroups(*expected.group, *actual.group, &lines);
  }
  return lines;
}

}  // namespace berth::conformance
