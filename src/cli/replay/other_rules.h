// berth replay with other rules: the same history, decided by another configuration, another
// Kubernetes minor or on other nodes.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/behaviour_flags.h"
#include "cli/plugins.h"
#include "cli/replay/choose_run.h"
#include "term/flags.h"

namespace berth::cli {

struct OtherRules {
  std::string config;
  BehaviourFlags behaviour;
  std::vector<std::string> added_nodes;
  std::string drain;
  std::string prices;
  std::string html;

  void Add(term::Flags& flags);
  // Something differs from what was recorded.
  bool Any() const {
    return !config.empty() || behaviour.Given() || !added_nodes.empty() || !drain.empty();
  }
};

// Runs the history twice, under the recorded rules and under the others, and prints what differs.
// `output`: text or json. The exit code is 0, or 1 if the recording is damaged.
Result<int> ReplayUnderOtherRules(const RunChoice& run, OtherRules other, const std::string& output,
                                  const Plugins& plugins);

}  // namespace berth::cli
