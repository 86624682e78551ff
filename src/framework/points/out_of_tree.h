// What out-of-tree plugins need besides the extension points: they can fail where in-tree plugins
// cannot, and only they let pods wait. A plugin derives from what it needs; the runtime asks for
// these with dynamic_cast, off the hot path.
#pragma once

#include <string>
#include <vector>

#include "framework/points/plugin.h"

namespace berth::framework {

// A Score plugin that can fail. It gives the nodes it failed on kFailedScore, which no Normalize of
// its own changes.
class FallibleScorePlugin : public virtual Plugin {
 public:
  static constexpr int64_t kFailedScore = INT64_MIN;

  // Of the scores of this cycle: why they failed, Success if they did not.
  virtual Status ScoreFailure(const PluginState*) const = 0;
};

// What a plugin decided about a pod that it let wait.
struct PermitVerdict {
  std::string pod_uid;
  bool allow = false;
  std::string message = {};  // of a rejection
};

// A Permit plugin that decides later about pods it said Wait for.
class WaitingPodsPlugin : public virtual Plugin {
 public:
  // Appends what was decided since the last call. Asked after whatever may have called the plugin.
  virtual void TakeVerdicts(std::vector<PermitVerdict>* out) = 0;
};

}  // namespace berth::framework
