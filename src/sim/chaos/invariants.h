// Invariants: what must hold whatever goes wrong, looked at while a seed runs.
//
// What must hold of pod groups is in gang_invariants.h. Always:
//   decided     a pod is bound only to the node of the engine's last decision about it, and with no
//               other binding of it under way or done
//   feasible    when it was decided, the pod plainly fitted the node, as the engine had seen it
//   gated       no pod with scheduling gates is bound
//   room        a binding of ours does not put a node over its allocatable amounts. Not counted:
//               what the engine could not know when it decided (a node made smaller, a pod resized
//               or bound by others less than kViewLag before)
//   one place   every pod the engine has heard of is in exactly one place
//   order       no pod is tried while one of higher priority is ready to be tried
// When the engine has heard of everything and nothing is under way:
//   cache       nodes, pods, their places and the sums of their requests are the API server's
//   exclusive   no device and no volume has two owners
// When nothing has been bound or deleted for kWakeTime, and again for kRestTime, and nothing goes
// wrong any more:
//   liveness    no pod waits that plainly fits a node besides the pods on it and those promised to
//               it
//   starvation  no pod waits that would plainly fit if the pods of lower priority left, and that
//               may preempt
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/chaos/gang_invariants.h"
#include "sim/host/engine_host.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::sim {

// How long a pod that fits waits after the event that made it fit: ten seconds of backoff and a few
// attempts. Longer means that the event was missed.
inline constexpr Nanos kWakeTime = kMinute;
// The longest it may wait even if an event was missed: five minutes in the unschedulable queue,
// half a minute until that is noticed, ten seconds of backoff, and some time for binding.
inline constexpr Nanos kRestTime = 6 * kMinute;

class Invariants final : public HostObserver {
 public:
  // Both outlive it.
  Invariants(EventLoop& loop, ModelApi& api);

  // REQUIRES: called before anything is checked.
  void Watch(const EngineHost& host) { host_ = &host; }

  // The first violated invariant.
  const std::optional<std::string>& Violation() const { return violation_; }

  // Checks what always holds, with a pass over all pods.
  void CheckAlways();
  // REQUIRES: the host is quiet.
  void CheckQuiet();
  // REQUIRES: at rest.
  void CheckRest();
  // When a pod was last bound or removed.
  Nanos LastMove() const { return last_move_; }

  uint64_t Bindings() const { return bindings_; }
  uint64_t Attempts() const { return attempts_; }
  uint64_t Preemptions() const { return preemptions_; }

  // --- HostObserver
  void Attempted(const cluster::Pod& pod, scheduler::Outcome outcome, std::string_view node,
                 std::string_view message) override;
  void Preempted(const scheduler::PodRef&, size_t, std::string_view) override { ++preemptions_; }
  void Crashed() override;
  void BeforeStep(const scheduler::Engine& engine) override;
  void AfterStep(const scheduler::Engine& engine, bool tried) override;
  void Asked(const scheduler::Effect& effect) override;
  void CarriedOut(const scheduler::Effect& effect, const ApiAnswer& answer) override;
  void Answered(const scheduler::Effect& effect, const scheduler::EffectResult& result) override;

 private:
  struct Decision {
    std::string node;
    Nanos at = 0;
  };

  void OnChange(const ApiChange& change);
  void Violated(std::string_view invariant, std::string what);
  bool IsOurBinding(const api::Pod& pod) const;
  void CheckBindAsked(const scheduler::BindPod& bind, scheduler::EffectId id);
  void CheckRoom(const api::Pod& bound, const std::string& node);
  void CheckCachedNode(const api::Node& node, const std::vector<const api::Pod*>& pods);
  void CheckCachedPods();
  void CheckExclusive();
  bool WaitsForANode(const api::Pod& pod) const;
  std::string NominatedNode(const api::Pod& pod) const;
  bool IsSimplyWaiting(const api::Pod& pod, const std::vector<const api::Pod*>& all) const;

  EventLoop& loop_;
  ModelApi& api_;
  GangInvariants gangs_;
  const EngineHost* host_ = nullptr;
  std::optional<std::string> violation_;

  std::map<std::string, Decision, std::less<>> decisions_;  // by uid, of this engine
  std::map<std::string, scheduler::EffectId> being_bound_;  // by uid, of this engine
  std::set<std::string> bound_;                             // uids, of this engine
  std::map<std::string, Nanos> surprise_;                   // by node: the last one
  std::optional<int32_t> highest_active_;
  std::string highest_name_;
  Nanos last_move_ = 0;
  uint64_t bindings_ = 0;
  uint64_t attempts_ = 0;
  uint64_t preemptions_ = 0;
};

}  // namespace berth::sim
