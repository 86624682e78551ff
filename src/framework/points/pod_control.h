// PodControl: what a plugin may do about pods other than the one at hand.
//
// The engine implements it; simulations without a queue have none. Requests are carried out in
// order after the call of the plugin that made them has returned, before the next cycle begins, so
// a plugin may use it at any extension point.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "framework/points/plugin.h"

namespace berth::framework {

// A pod between Permit and its binding.
struct WaitingPod {
  const cluster::Pod& pod;  // as assumed
  NodeIndex node;
  std::vector<std::string_view> plugins;  // whose Wait is not over
};

class PodControl {
 public:
  virtual ~PodControl() = default;

  // Visits the pods that wait on Permit, in the order in which they became known.
  virtual void ForEachWaiting(FunctionRef<void(const WaitingPod&)> visit) const = 0;
  // `plugin` no longer makes the pod wait, or rejects it. Ignored when the pod does not wait for
  // it.
  virtual void Allow(std::string_view pod_uid, std::string_view plugin) = 0;
  virtual void Reject(std::string_view pod_uid, std::string_view plugin,
                      std::string_view message) = 0;
  // Moves a pending pod to the active queue, wherever it waits (ForceActivate). Ignored when the
  // pod is not pending.
  virtual void Activate(std::string_view namespace_, std::string_view name) = 0;
};

}  // namespace berth::framework
