// PluginRequests: what plugins ask for about other pods, until the engine carries it out.
//
// Owned by the engine, which calls CarryOut after every input and cycle.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "framework/points/pod_control.h"
#include "scheduler/engine/context.h"

namespace berth::scheduler {

class PluginRequests final : public framework::PodControl {
 public:
  explicit PluginRequests(EngineContext& context) : c_(context) {}

  void ForEachWaiting(FunctionRef<void(const framework::WaitingPod&)> visit) const override;
  void Allow(std::string_view pod_uid, std::string_view plugin) override;
  void Reject(std::string_view pod_uid, std::string_view plugin, std::string_view message) override;
  void Activate(std::string_view namespace_, std::string_view name) override;

  // Carries out all requests, those included that plugins make meanwhile. A pod is activated once
  // at most, so that this ends. Nothing happens while a cycle waits for extenders.
  void CarryOut();

 private:
  struct Decision {
    bool allow;
    PodKey pod;
    std::string plugin;
    std::string message;
  };
  struct Activation {
    std::string pod;  // "namespace/name"
  };

  EngineContext& c_;
  std::vector<std::variant<Decision, Activation>> requests_;
};

}  // namespace berth::scheduler
