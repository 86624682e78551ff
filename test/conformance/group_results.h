// Results of pod group cycles, as recorded from kube-scheduler and as berth gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/results.h"

namespace berth::conformance {

// A search for a node.
struct EvaluationResult {
  std::string pod;
  std::vector<std::string> feasible;
  std::vector<std::string> best;
  std::string selected;
  std::string message;

  bool operator==(const EvaluationResult&) const = default;
  static const api::TypeInfo& Type();
};

// A run of the placement generator.
struct PlacementsResult {
  std::vector<std::string> names;
  ByName<std::vector<std::string>> nodes;
  ByName<ByName<int64_t>> scores;  // per placement: by plugin, and "total"
  std::vector<std::string> best;
  std::string selected;

  bool operator==(const PlacementsResult&) const = default;
  static const api::TypeInfo& Type();
};

struct GroupPostFilterOutcome {
  std::string code;
  std::string plugin;
  std::vector<std::string> reasons;
  std::string message;
  ByName<std::string> nominated;
  std::vector<std::string> victims;
  int64_t num_pdb_violations = 0;

  bool operator==(const GroupPostFilterOutcome&) const = default;
  static const api::TypeInfo& Type();
};

struct MemberReport {
  std::string pod;
  std::string node;
  std::string code;
  std::string message;
  std::string nominating;
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;

  bool operator==(const MemberReport&) const = default;
  static const api::TypeInfo& Type();
};

struct ConditionResult {
  std::string type;
  std::string status;
  std::string reason;
  std::string message;

  bool operator==(const ConditionResult&) const = default;
  static const api::TypeInfo& Type();
};

// One cycle of a group.
struct GroupCycleResult {
  std::string pod_group;
  std::string kind = "podgroup";
  int32_t attempt = 0;
  std::vector<std::string> pods;
  std::vector<EvaluationResult> evaluations;
  std::vector<PlacementsResult> placements;
  std::optional<GroupPostFilterOutcome> post_filter;
  std::vector<MemberReport> results;
  ByName<ConditionResult> conditions;
  std::vector<std::string> allocated_devices;
  std::string error;

  static const api::TypeInfo& Type();
};

// What the queue yields: a pod alone, or a group.
struct EntityResult {
  std::optional<PodResult> pod;
  std::optional<GroupCycleResult> group;

  static const api::TypeInfo& Type();
};

struct CaseResult {
  std::string name;
  std::string error;
  std::vector<PodResult> results;
  std::vector<EntityResult> entities;  // of a case with pod groups, instead of results

  static const api::TypeInfo& Type();
};

// As Differences of two pods.
std::vector<std::string> Differences(const EntityResult& expected, const EntityResult& actual);

}  // namespace berth::conformance
