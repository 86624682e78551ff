#include "conformance/results.h"

#include <fmt/format.h>

#include "api/codec/json.h"

namespace berth::conformance {

using api::Describe;
using api::TypeInfo;

const TypeInfo& StatusResult::Type() {
  static const TypeInfo type = Describe<StatusResult>("Status")
                                   .Field(1, "code", &StatusResult::code)
                                   .Field(2, "plugin", &StatusResult::plugin)
                                   .Field(3, "reasons", &StatusResult::reasons)
                                   .Build();
  return type;
}

const TypeInfo& PreFilterOutcome::Type() {
  static const TypeInfo type = Describe<PreFilterOutcome>("PreFilter")
                                   .Field(1, "code", &PreFilterOutcome::code)
                                   .Field(2, "plugin", &PreFilterOutcome::plugin)
                                   .Field(3, "reasons", &PreFilterOutcome::reasons)
                                   .Field(4, "nodeNames", &PreFilterOutcome::node_names)
                                   .Build();
  return type;
}

const TypeInfo& NodeScores::Type() {
  static const TypeInfo type = Describe<NodeScores>("NodeScores")
                                   .Always(1, "plugins", &NodeScores::plugins)
                                   .Always(2, "total", &NodeScores::total)
                                   .Build();
  return type;
}

const TypeInfo& CandidateResult::Type() {
  static const TypeInfo type =
      Describe<CandidateResult>("Candidate")
          .Field(1, "node", &CandidateResult::node)
          .Field(2, "victims", &CandidateResult::victims)
          .Always(3, "numPDBViolations", &CandidateResult::num_pdb_violations)
          .Build();
  return type;
}

const TypeInfo& PreemptionOutcome::Type() {
  static const TypeInfo type = Describe<PreemptionOutcome>("Preemption")
                                   .Field(1, "code", &PreemptionOutcome::code)
                                   .Field(2, "plugin", &PreemptionOutcome::plugin)
                                   .Field(3, "reasons", &PreemptionOutcome::reasons)
                                   .Always(4, "message", &PreemptionOutcome::message)
                                   .Field(5, "candidates", &PreemptionOutcome::candidates)
                                   .Field(6, "nodeStatus", &PreemptionOutcome::node_status)
                                   .Field(7, "best", &PreemptionOutcome::best)
                                   .Always(8, "nominatedNode", &PreemptionOutcome::nominated_node)
                                   .Field(9, "victims", &PreemptionOutcome::victims)
                                   .Build();
  return type;
}

const TypeInfo& ReserveResult::Type() {
  static const TypeInfo type = Describe<ReserveResult>("Reserve")
                                   .Field(1, "code", &ReserveResult::code)
                                   .Field(2, "plugin", &ReserveResult::plugin)
                                   .Field(3, "reasons", &ReserveResult::reasons)
                                   .Field(4, "staticBindings", &ReserveResult::static_bindings)
                                   .Field(5, "provisioned", &ReserveResult::provisioned)
                                   .Field(6, "allocatedDevices", &ReserveResult::allocated_devices)
                                   .Field(7, "consumedCapacity", &ReserveResult::consumed_capacity)
                                   .Build();
  return type;
}

const TypeInfo& PodResult::Type() {
  static const TypeInfo type =
      Describe<PodResult>("PodResult")
          .Always(1, "pod", &PodResult::pod)
          .Always(2, "attempt", &PodResult::attempt)
          .Field(3, "gated", &PodResult::gated)
          .Field(4, "gatedBy", &PodResult::gated_by)
          .Field(5, "prefilter", &PodResult::prefilter)
          .Field(6, "filter", &PodResult::filter)
          .Field(7, "nominatedFirst", &PodResult::nominated_first)
          .Always(8, "feasible", &PodResult::feasible)
          .Field(9, "skippedScorePlugins", &PodResult::skipped_score_plugins)
          .Field(10, "scores", &PodResult::scores)
          .Field(11, "best", &PodResult::best)
          .Field(12, "selected", &PodResult::selected)
          .Field(13, "message", &PodResult::message)
          .Field(14, "eventMessage", &PodResult::event_message)
          .Field(15, "unschedulablePlugins", &PodResult::unschedulable_plugins)
          .Field(16, "pendingPlugins", &PodResult::pending_plugins)
          .Field(17, "preemption", &PodResult::preemption)
          .Field(18, "reserve", &PodResult::reserve)
          .Field(19, "error", &PodResult::error)
          .Build();
  return type;
}

namespace {

class Comparison {
 public:
  template <class T>
  void Field(std::string_view name, const T& expected, const T& actual) {
    if (expected == actual) return;
    lines_.push_back(fmt::format("{}: expected {}, got {}", name, Text(expected), Text(actual)));
  }

  // Entry by entry, so that one node among many is named.
  template <class T>
  void Entries(std::string_view name, const ByName<T>& expected, const ByName<T>& actual) {
    for (const auto& [key, value] : expected) {
      const auto it = actual.find(key);
      if (it == actual.end()) {
        lines_.push_back(fmt::format("{}.{}: expected {}, got nothing", name, key, Text(value)));
      } else {
        Field(fmt::format("{}.{}", name, key), value, it->second);
      }
    }
    for (const auto& [key, value] : actual) {
      if (expected.find(key) == expected.end()) {
        lines_.push_back(fmt::format("{}.{}: expected nothing, got {}", name, key, Text(value)));
      }
    }
  }

  std::vector<std::string> Lines() { return std::move(lines_); }

 private:
  template <class T>
  static std::string Text(const T& value) {
    return api::ToJson(value);
  }

  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> Differences(const PodResult& expected, const PodResult& actual) {
  Comparison c;
  c.Field("pod", expected.pod, actual.pod);
  c.Field("attempt", expected.attempt, actual.attempt);
  c.Field("gated", expected.gated, actual.gated);
  c.Field("gatedBy", expected.gated_by, actual.gated_by);
  c.Field("prefilter", expected.prefilter, actual.prefilter);
  c.Entries("filter", expected.filter, actual.filter);
  c.Field("nominatedFirst", expected.nominated_first, actual.nominated_first);
  c.Field("feasible", expected.feasible, actual.feasible);
  c.Field("skippedScorePlugins", expected.skipped_score_plugins, actual.skipped_score_plugins);
  c.Entries("scores", expected.scores, actual.scores);
  c.Field("best", expected.best, actual.best);
  c.Field("selected", expected.selected, actual.selected);
  c.Field("message", expected.message, actual.message);
  c.Field("eventMessage", expected.event_message, actual.event_message);
  c.Field("unschedulablePlugins", expected.unschedulable_plugins, actual.unschedulable_plugins);
  c.Field("pendingPlugins", expected.pending_plugins, actual.pending_plugins);
  c.Field("preemption", expected.preemption, actual.preemption);
  c.Field("reserve", expected.reserve, actual.reserve);
  c.Field("error", expected.error, actual.error);
  return c.Lines();
}

}  // namespace berth::conformance
