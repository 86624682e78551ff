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

// A plain record with more than twenty fields: every stage adds the few that it needs, and a
// binding passes through all of them.
struct Binding {
  enum class Stage : uint8_t {
    kWaiting,  // for Permit plugins
    kPreBind,
    kBind,
    kConfirm,  // the binding got no clear answer: the pod is being read
  };
  struct Wait {
    uint8_t plugin;
    api::Time deadline;
    int64_t timeout_ns;
  };

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
  std::vector<PreBindWork> tasks;
  size_t task = 0;  // the one at work; those before are done, and kept for Undo
  std::vector<framework::ApiWrite> writes;
  size_t write = 0;
  std::optional<api::PodExtendedResourceClaimStatus> pod_status;  // instead of writes
  std::vector<framework::WriteResult> results;
  uint8_t binder = 0;           // the Bind plugin
  ExtenderMask extenders = 0;   // that are interested in the pod
  size_t next_extender = 0;     // the first that has not been asked to bind
  bool extender_binds = false;  // the one before that is being asked
  std::string bind_error;       // with kConfirm
  bool resend = false;          // the write at hand got no clear answer
  int32_t retries = 0;          // of a write or read without one
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
  // Goes on as far as possible without waiting. The binding may be gone when this returns.
  void ProceedBinding(Binding& binding);
  // The result of an effect that was emitted for the binding.
  void BindingResult(Binding& binding, EffectResult result);
  // Gives everything back, in reverse, and queues the pod again. `binding` is gone afterwards.
  void BindingFailed(Binding& binding, bool rejected, std::string message, uint8_t plugin);
  // A plugin allows or rejects a pod that waits. False: the pod does not wait for it.
  bool Allow(const PodKey& key, std::string_view plugin);
  bool Reject(const PodKey& key, std::string_view plugin, std::string_view message);
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
  void NextPreBind(Binding& binding);
  void TellOfPod(Binding& binding, framework::PodPreBindTask& task);
  void SendNextWrite(Binding& binding);
  void AnnounceWritten(const framework::WriteResult& result);
  void SendBind(Binding& binding);
  void BindNow(Binding& binding);
  void WriteDone(Binding& binding, EffectResult result);
  void RetryLater(Binding& binding);
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
  void TellIdlePreBinds(const Binding& binding);
  void TellBindFailed(const Binding& failed, std::string_view message);

  EngineContext& c_;
  Table bindings_;
  std::multimap<api::Time, PodKey> timers_;                    // bindings to wake
  std::multimap<api::Time, PodKey> expiry_;                    // assumed pods
  std::vector<framework::WaitingPodsPlugin*> deciding_later_;  // about pods that wait
};

}  // namespace berth::scheduler
