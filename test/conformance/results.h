// Results of scheduling cases, as recorded from kube-scheduler and as berth gives them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/codec/schema.h"

namespace berth::conformance {

template <class T>
using ByName = boost::container::flat_map<std::string, T, std::less<>>;

// A framework status; reasons sorted.
struct StatusResult {
  std::string code;
  std::string plugin;
  std::vector<std::string> reasons;

  bool operator==(const StatusResult&) const = default;
  static const api::TypeInfo& Type();
};

struct PreFilterOutcome {
  std::string code;
  std::string plugin;
  std::vector<std::string> reasons;
  std::optional<std::vector<std::string>> node_names;  // absent: all nodes

  bool operator==(const PreFilterOutcome&) const = default;
  static const api::TypeInfo& Type();
};

struct NodeScores {
  ByName<std::vector<int64_t>> plugins;  // raw, normalised, weighted
  int64_t total = 0;

  bool operator==(const NodeScores&) const = default;
  static const api::TypeInfo& Type();
};

struct CandidateResult {
  std::string node;
  std::vector<std::string> victims;
  int64_t num_pdb_violations = 0;

  bool operator==(const CandidateResult&) const = default;
  static const api::TypeInfo& Type();
};

struct PreemptionOutcome {
  std::string code;
  std::string plugin;
  std::vector<std::string> reasons;
  std::string message;
  std::vector<CandidateResult> candidates;
  ByName<StatusResult> node_status;
  std::vector<std::string> best;
  std::string nominated_node;
  std::vector<std::string> victims;

  bool operator==(const PreemptionOutcome&) const = default;
  static const api::TypeInfo& Type();
};

struct ReserveResult {
  std::string code;
  std::string plugin;
  std::vector<std::string> reasons;
  ByName<std::string> static_bindings;
  std::vector<std::string> provisioned;
  std::vector<std::string> allocated_devices;          // newly
  ByName<ByName<std::string>> consumed_capacity = {};  // in all, of shared devices that changed

  bool operator==(const ReserveResult&) const = default;
  static const api::TypeInfo& Type();
};

struct PodResult {
  std::string pod;
  int32_t attempt = 0;
  bool gated = false;
  std::optional<StatusResult> gated_by;
  std::optional<PreFilterOutcome> prefilter;
  ByName<StatusResult> filter;
  bool nominated_first = false;
  std::vector<std::string> feasible;
  std::vector<std::string> skipped_score_plugins;
  ByName<NodeScores> scores;
  std::vector<std::string> best;
  std::string selected;
  std::string message;
  std::string event_message;
  std::vector<std::string> unschedulable_plugins;
  std::vector<std::string> pending_plugins;
  std::optional<PreemptionOutcome> preemption;
  std::optional<ReserveResult> reserve;
  std::string error;

  static const api::TypeInfo& Type();
};

// What differs between two results of one pod: one line per field, both sides. Empty when nothing
// does.
std::vector<std::string> Differences(const PodResult& expected, const PodResult& actual);

}  // namespace berth::conformance
