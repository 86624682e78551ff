// Interfaces for out-of-tree plugins, besides the extension points: they can fail where in-tree
// plugins cannot, and only they make pods wait. The runtime finds these with dynamic_cast, off the
// hot path.
#pragma once

#include <string>
#include <vector>

#include "framework/points/plugin.h"

namespace berth::framework {

// A Score plugin that can fail. Nodes on which it failed get kFailedScore, which its Normalize must
// not change.
class FallibleScorePlugin : public virtual Plugin {
 public:
  static constexpr int64_t kFailedScore = INT64_MIN;

  // Why scores of this cycle failed; Success if none did.
  virtual Status ScoreFailure(const PluginState*) const = 0;
};

// A plugin's decision about a waiting pod.
struct PermitVerdict {
  std::string pod_uid;
  bool allow = false;
  std::string message = {};  // of a rejection
};

// A Permit plugin that decides later about pods for which it returned Wait.
class WaitingPodsPlugin : public virtual Plugin {
 public:
  // Appends the decisions since the last call. Called after every step that may have called the
  // plugin.
  virtual void TakeVerdicts(std::vector<PermitVerdict>* out) = 0;
};

}  // namespace berth::framework
