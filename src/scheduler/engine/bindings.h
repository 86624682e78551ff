// Bindings: pods between their scheduling cycle and the result of their binding, from Permit to
// PostBind, as results come in.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/points/device_claims.h"
#include "framework/points/out_of_tree.h"
#include "scheduler/attempt.h"
#include "scheduler/engine/context.h"

namespace berth::scheduler {

// A PreBind plugin at work.
struct PreBindRun {
  PreBindWork work;
  std::vector<framework::ApiWrite> writes = {};
  size_t write = 0;
  std::optional<api::PodExtendedResourceClaimStatus> pod_status = std::nullopt;  // not `writes`
  std::vector<framework::WriteResult> results = {};
  bool sent = false;    // the result of a write is to come
  bool resend = false;  // the write at hand got no clear answer
  int32_t retries = 0;  // of it
  bool done = false;
  std::optional<api::Time> wake = std::nullopt;
};

// A plain record with more than twenty fields: every stage adds the few that it needs, and a
// binding passes through all of them.
struct Binding {
  enum class Stage : uint8_t {
    kWaiting,   // for Permit plugins
    kNominate,  // the nomination is being written
    kPreBind,
    kBind,
    kConfirm,  // the binding got no clear answer: the pod is being read
  };
  struct Wait {
    uint8_t plugin;
    api::Time deadline;
    int64_t timeout_ns;
  };
  // Why PreBind plugins that still run are given up.
  struct PreBindFailure {
    uint8_t plugin;
    framework::Status status;
  };
  // Who takes the pod's place.
  struct Preemptor {
    uint64_t preemption;
    size_t victim;
  };

  // Its attempt is not over: the pod may still be found unschedulable.
  bool IsInFlight() const { return stage == Stage::kWaiting || stage == Stage::kNominate; }

  PodKey key;                   // its name in the engine
  PodId pod = cluster::kNoPod;  // kNoPod: it has left the cluster meanwhile
  PodSnapshot snapshot;         // as assumed
  PodRef ref;
  NodeIndex node = cluster::kNoNode;
  std::string node_name;
  uint8_t profile = 0;
  bool watched = false;  // the observer wants to know of its points
  uint64_t record = 0;   // of the decision, in the log
  queue::QueuedPod info;

  Stage stage = Stage::kPreBind;
  std::vector<Wait> waits;
  std::optional<api::Time> waiting_since;
  bool nominating = false;  // the answer to the write of the nomination is to come
  bool nominated = false;   // it was written for this binding
  std::vector<PreBindRun> runs;
  size_t group = 0;  // the first run at work; those before are done, and kept for Undo
  size_t group_end = 0;
  std::optional<PreBindFailure> failure;
  std::vector<Preemptor> preemptors;  // that wait for its end
  uint8_t binder = 0;                 // the Bind plugin
  ExtenderMask extenders = 0;         // that are interested in the pod
  size_t next_extender = 0;           // the first that has not been asked to bind
  bool extender_binds = false;        // the one before that is being asked
  std::string bind_error;             // with kConfirm
  int32_t retries = 0;                // of reading the pod
  std::optional<api::Time> wake;
};

struct PodKeyHash {
  size_t operator()(const PodKey& key) const { return boost::hash<uint64_t>()(key.serial); }
};

class Bindings {
 public:
  using Table = boost::unordered_flat_map<PodKey, std::unique_ptr<Binding>, PodKeyHash>;

  explicit Bindings(EngineContext& context) : c_(context) {}

  // A Permit plugin that decides later about pods that wait. It outlives this.
  void AddDecider(framework::WaitingPodsPlugin* plugin) { deciding_later_.push_back(plugin); }

  // The cycle of a pod is over: its binding is kept here until ProceedBinding and what follows end
  // it.
  Binding& Add(std::unique_ptr<Binding> binding);
  // Its binding cycle begins. Goes on as far as possible without waiting: the binding may be gone
  // when this returns.
  void Begin(Binding& binding);
  // The result of an effect that was emitted for the binding; `run`: the PreBind plugin's.
  void BindingResult(Binding& binding, size_t run, EffectResult result);
  // The nomination is written, or was refused: either way the binding goes on.
  void Nominated(Binding& binding);
  // Gives everything back, in reverse, and queues the pod again. `binding` is gone afterwards.
  void BindingFailed(Binding& binding, bool rejected, std::string message, uint8_t plugin);
  // A plugin allows or rejects a pod that waits. False: the pod does not wait for it.
  bool Allow(const PodKey& key, std::string_view plugin);
  bool Reject(const PodKey& key, std::string_view plugin, std::string_view message);
  // Does the pod wait on Permit, or is it in PreBind?
  bool IsInMemory(const PodKey& key) const;
  // Such a pod loses its node without a request to the API server, now or when its last write is
  // answered. The preemption is notified then.
  void Preempt(const PodKey& key, const Binding::Preemptor& preemptor);
  // Carries out what Permit plugins have decided about pods that wait.
  void TakePermitVerdicts();

  // Wakes what is due, and forgets assumed pods that the watch never showed.
  void Advance();
  std::optional<api::Time> NextWake() const;

  Binding* FindBinding(const PodKey& key);
  const Binding* FindBinding(const PodKey& key) const;
  const Table& bindings() const { return bindings_; }
  // How long the points of a binding took, as the observer has timed them.
  void LogBindingTimes(const PodRef& pod, uint64_t record);

 private:
  void ProceedBinding(Binding& binding);
  void Nominate(Binding& binding);

  // --- PreBind (engine/pre_binds.cc)
  void BeginPreBind(Binding& binding);
  // Starts the next plugins that may run together. False: there are none left.
  bool NextGroup(Binding& binding);
  // Asks the plugin for steps until it waits for something.
  void RunPlugin(Binding& binding, size_t run);
  // Its last results, of plugins that are given up.
  void Learn(Binding& binding, PreBindRun& run);
  // Goes on when nothing of the group is left to do. The binding may be gone when this returns.
  void Settle(Binding& binding);
  void FailPreBind(Binding& binding);
  void WakePreBind(Binding& binding);
  void SendNextWrite(Binding& binding, size_t run);
  void WriteDone(Binding& binding, size_t run, EffectResult result);
  void TellOfPod(Binding& binding, PreBindRun& run);
  void AnnounceWritten(const framework::WriteResult& result);
  void TellPreFlight(const Binding& binding);
  void TellIdlePreBinds(const Binding& binding);

  void SendBind(Binding& binding);
  void BindNow(Binding& binding);
  static int64_t RetryDelay(int32_t retries);
  void BindDone(Binding& binding, const EffectResult& result);
  void ReadDone(Binding& binding, const EffectResult& result);
  void Bound(Binding& binding);
  void WakeBinding(Binding& binding);
  void WakeAt(Binding& binding, const api::Time& when);
  void ExpireAssumed(const PodKey& key);
  bool SendExtenderBind(Binding& binding);
  void ExtenderBindFailed(Binding& binding, const EffectResult& result);
  void PermitOver(Binding& binding, framework::Code code);
  void PointBegan(const Binding& binding, framework::Point point);
  void PluginEnded(const Binding& binding, framework::Point point, uint8_t plugin,
                   framework::Code code);
  void PointEnded(const Binding& binding, framework::Point point, framework::Code code);
  void ReturnFailed(const Binding& failed, bool rejected, std::string message, uint8_t plugin);
  void TellBindFailed(const Binding& failed, std::string_view message);

  EngineContext& c_;
  Table bindings_;
  std::multimap<api::Time, PodKey> timers_;                    // bindings to wake
  std::multimap<api::Time, PodKey> expiry_;                    // assumed pods
  std::vector<framework::WaitingPodsPlugin*> deciding_later_;  // about pods that wait
};

}  // namespace berth::scheduler
