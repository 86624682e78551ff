// Diagnosis: why a pod did not fit, in the terms of kube-scheduler's FitError.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/classes/class_verdicts.h"
#include "framework/runtime/cycle.h"

namespace berth::framework {

struct Diagnosis {
  size_t num_all_nodes = 0;
  // Nodes with a verdict of their own in the cycle's table; all others share `absent`.
  NodeSet rejected;
  // The distinct verdicts of `rejected` and how many nodes have each; empty: not counted.
  std::vector<VerdictCount> counted;
  Status absent = Status::Unresolvable("");  // for nodes excluded by PreFilter
  std::string pre_filter_message;            // set when PreFilter rejected the pod
  std::string post_filter_message;
  std::set<std::string> unschedulable_plugins;
  std::set<std::string> pending_plugins;

  // Counts the plugin of a rejecting status or verdict.
  void AddPlugin(Code code, std::string_view plugin) {
    if (plugin.empty()) return;
    if (code == Code::kPending) {
      pending_plugins.emplace(plugin);
    } else if (IsRejected(code)) {
      unschedulable_plugins.emplace(plugin);
    }
  }
};

// How many nodes a plugin rejected for a reason.
struct ReasonCount {
  std::string_view plugin;  // its name, owned by the profile or static; empty: no plugin
  Code code = Code::kUnschedulable;
  std::string reason;
  size_t nodes = 0;
};

// "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) were unschedulable. …"
// `reasons` (may be null) gets the same as data.
std::string FitErrorMessage(const Cycle& cycle, const Diagnosis& diagnosis,
                            std::vector<ReasonCount>* reasons = nullptr);

}  // namespace berth::framework
