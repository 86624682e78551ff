// The inside of Engine: it owns the parts, serves the queue, and hands inputs to whom they concern.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/engine/attempts.h"
#include "scheduler/engine/bindings.h"
#include "scheduler/engine/context.h"
#include "scheduler/engine/extender_calls.h"
#include "scheduler/engine/intake.h"
#include "scheduler/engine/plugin_requests.h"
#include "scheduler/engine/preemptions.h"

namespace berth::scheduler {

class Engine::Impl final : public queue::QueueHost {
 public:
  Impl(const EngineOptions& options, const api::Time& now, EngineObserver* observer);
  ~Impl() override;
  Result<void> Init(const config::KubeSchedulerConfiguration& config,
                    framework::Executor* executor);

  // --- QueueHost
  bool Less(const queue::QueuedPod& a, const queue::QueuedPod& b) const override;
  queue::Gate PreEnqueue(const queue::QueuedPod& pod, queue::PluginId first) const override;
  PluginMask Registered(uint8_t profile, const queue::ClusterEvent& event) const override;
  bool MayHelp(const queue::QueuedPod& pod, queue::PluginId plugin,
               const queue::Event& event) const override;
  int32_t Priority(PodId pod) const override { return c_.cluster.GetPod(pod).shape->priority; }
  std::string_view Uid(PodId pod) const override { return c_.cluster.GetPod(pod).uid; }
  queue::Gate AskPreEnqueue(const queue::QueuedPod& pod, queue::PluginId first, bool timed) const;
  void Moved(const queue::QueuedPod& pod, queue::QueueName queue, std::string_view event,
             bool is_new) override;

  // --- Inputs (engine.cc)
  void AdvanceTo(const api::Time& now);
  std::optional<api::Time> NextWake() const;
  void Complete(EffectResult result);
  // An input has been taken up.
  void InputTaken();
  // While a cycle waits for extenders everything else waits.
  bool DeferPermit(bool allow, const PodKey& key, std::string_view plugin,
                   std::string_view message);
  void TakeUpDeferred();

  // --- Reports (engine/report.cc)
  std::string_view WhereIs(std::string_view uid) const;
  // The contradictions there are now.
  std::vector<std::string> Contradictions() const;
  void CheckInput();
  size_t AssumedPods() const;
  // Not the status of a pod that waits: it follows from decisions.
  bool MayChangeDecisions(const api::Object& object) const;
  Source Explaining();

  EngineContext c_;
  Intake intake_;
  Attempts attempts_;
  Bindings bindings_;
  Preemptions preemptions_;
  ExtenderCalls extender_calls_;
  PluginRequests requests_;
  std::vector<framework::TimeAwarePlugin*> time_aware_;
  std::vector<DeferredInput> deferred_;  // while a cycle waits for extenders
  size_t unchecked_inputs_ = 0;
  std::vector<std::string> contradictions_;  // found after an input
};

}  // namespace berth::scheduler
