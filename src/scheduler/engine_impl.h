// The inside of Engine: its state, and its work by subject (engine_*.cc).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/string_hash.h"
#include "cluster/objects/object_store.h"
#include "framework/points/device_claims.h"
#include "framework/points/out_of_tree.h"
#include "framework/runtime/hint_map.h"
#include "framework/runtime/post_filter.h"
#include "scheduler/attempt.h"
#include "scheduler/decisions/decision_log.h"
#include "scheduler/engine.h"
#include "scheduler/extenders.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

using cluster::NodeIndex;
using cluster::PodId;
using cluster::PodKey;
using queue::PluginMask;
using queue::PodSnapshot;

// The number in a resource version; -1 when it is none. Versions of one kind can be compared.
int64_t VersionNumber(std::string_view resource_version);

// Is this one of the things an observer does not pass over?
inline bool IsDue(uint32_t& skip) {
  if (skip == 0) return true;
  --skip;
  return false;
}

inline api::Time After(const api::Time& time, int64_t ns) {
  return api::Time::FromUnixNano(time.UnixNano() + ns);
}

// What the engine knows of a pod beyond the cluster's table, by PodId.
struct PodRecord {
  bool known = false;
  bool assigned = false;         // the API server has given it a node
  bool deleted = false;          // gone from the API server; kept until its binding is over
  bool unclear_binding = false;  // a binding got no answer, and may still be carried out
  uint8_t profile = 0;           // of a pod that is not assigned
  uint16_t condition_types = 0;  // index into condition_types_
  int64_t version = -1;
  int64_t generation = 0;
  ExtenderMask extenders = 0;  // that want to be asked about it, while it is not assigned
  std::unique_ptr<api::PodCondition> scheduled;  // PodScheduled, while it is not assigned
  std::unique_ptr<api::Pod> newer;  // seen while it was assumed, taken up when forgotten
};

struct PodKeyHash {
  size_t operator()(const PodKey& key) const { return boost::hash<uint64_t>()(key.serial); }
};

// What is in a list: uids of pods, "namespace/name" of others.
using ListKeys = boost::unordered_flat_set<std::string>;

// A profile, ready to run.
struct ProfileRuntime {
  const framework::Profile* profile = nullptr;
  framework::Cycle* cycle = nullptr;
  std::unique_ptr<framework::HintMap> hints;

  // Plugins by name, as the queue numbers them.
  PluginMask MaskOf(const std::set<std::string>& names) const;
  queue::PluginId IdOf(std::string_view name) const;
  std::string_view NameOf(queue::PluginId plugin) const;
};

// A pod between its scheduling cycle and the result of its binding.
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

// How a scheduling attempt failed.
struct Failure {
  bool rejected = false;  // by plugins; else an error
  std::string message;
  PluginMask unschedulable = 0;
  PluginMask pending = 0;
  framework::PostFilterResult::Nomination nomination =
      framework::PostFilterResult::Nomination::kClear;
  std::string nominated_node;
  // For explanations, of a pod that did not fit.
  std::shared_ptr<FailedAttempt> explained = nullptr;
  // Of a pod whose binding failed, which the queue has let go already.
  std::optional<queue::QueuedPod> info;
};

// Victims on their way out, so that one pod gets their node.
struct Preemption {
  struct Victim {
    PodKey key;
    PodRef ref;
    int64_t generation = 0;
    uint16_t condition_types = 0;
    bool marked = false;  // has the DisruptionTarget condition
  };
  enum class Stage : uint8_t { kClearNominations, kAllButLast, kLast };

  PodKey pod;  // the preemptor
  PodRef preemptor;
  std::string node;
  std::string scheduler_name;
  std::vector<Victim> victims;
  Stage stage = Stage::kClearNominations;
  size_t outstanding = 0;  // effects or victims not yet done with in this stage
  bool failed = false;
  // Without async preemption: what is reported of the preemptor afterwards. No other pod is tried
  // before that.
  std::optional<Failure> afterwards;
};

// Who waits for the result of an effect.
struct Awaited {
  enum class For : uint8_t {
    kBinding,
    kNomination,
    kVictimCondition,
    kVictimDeletion,
    kActivate,
    kExtender
  };
  For what = For::kBinding;
  PodKey pod = {};  // that is being bound, or is activated when the effect fails
  uint64_t preemption = 0;
  size_t victim = 0;      // or the extender
  bool extender = false;  // is asked, not the API server
};

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
  int32_t Priority(PodId pod) const override { return cluster_.GetPod(pod).shape->priority; }
  std::string_view Uid(PodId pod) const override { return cluster_.GetPod(pod).uid; }
  queue::Gate AskPreEnqueue(const queue::QueuedPod& pod, queue::PluginId first, bool timed) const;
  void Moved(const queue::QueuedPod& pod, queue::QueueName queue, std::string_view event,
             bool is_new) override;

  // Carries out what Permit plugins have decided about pods that wait.
  void TakePermitVerdicts();

  // --- Time (engine.cc)
  void AdvanceTo(const api::Time& now);
  std::optional<api::Time> NextWake() const;
  void WakeAt(Binding& binding, const api::Time& when);

  // --- Objects (engine_objects.cc)
  void Upsert(api::Object&& object);
  void UpdateStatus(api::Pod&& pod);
  void Delete(const api::Object& object);
  bool EventBegan();
  void EventEnded();
  void Handled(queue::ClusterEvent what);
  void HandleMove(queue::ClusterEvent what, queue::EventObject old_object,
                  queue::EventObject new_object);
  void Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part);
  void TellPod(Change change, PodId id, bool assigned);
  // `status_only`: the pod is as Engine::UpdateStatus gets it.
  void UpsertPod(const api::Pod& pod, bool status_only = false);
  void AddPod(const api::Pod& pod);
  void PodAssigned(PodId id, const api::Pod& pod, bool status_only);
  void PodUpdated(PodId id, const api::Pod& pod, bool status_only);  // assigned before and after
  void UpdateInCluster(PodId id, const api::Pod& pod, bool status_only);
  void NominatedPodLeft(const PodSnapshot& pod);       // the queue; nothing if it was not nominated
  void PendingUpdated(PodId id, const api::Pod& pod);  // not assigned before nor after
  void TakeUp(PodId id, const api::Pod& pod);          // the new version of a pending pod
  void DeletePod(PodId id);
  void ForgetPod(PodId id);  // leaves the cluster and all tables
  void UpsertNode(api::Node node);
  void DeleteNode(const std::string& name);
  template <class T>
  void UpsertOther(T object);
  template <class T>
  void DeleteOther(const std::string& namespace_, const std::string& name);
  bool KnowsAny(std::string_view kind) const;
  void RemoveMissing(std::string_view kind, const ListKeys& there);
  void Move(queue::ClusterEvent what, queue::EventObject old_object, queue::EventObject new_object);
  void NoteConditions(PodRecord& record, const api::Pod& pod);
  uint16_t NumberConditionTypes(const api::Pod& pod);

  // --- Scheduling cycle (engine_cycle.cc)
  bool Step();
  void Try(PodId id);
  void Conclude(PodId id, ProfileRuntime& runtime);
  void NominateBeforeBinding(const Binding& binding);
  void NoFit(PodId id, ProfileRuntime& runtime);
  void FinishNoFit(PodId id, ProfileRuntime& runtime, const framework::Status& status,
                   const framework::PostFilterResult& result);
  void Commit(PodId id, ProfileRuntime& runtime, NodeIndex node);
  void Decide(PodId id, ProfileRuntime& runtime);
  void TellBegan(const cluster::Pod& pod, ProfileRuntime& runtime);
  void TellDecided(const cluster::Pod& pod, ProfileRuntime& runtime);
  void ReportFilterErrors(const framework::Cycle& cycle);
  void TakeBack(PodId id, ProfileRuntime& runtime, framework::Point point,
                const framework::Status& status);
  // Queues the pod again, and tells the API server and the user why.
  void Fail(PodId id, const Failure& failure);
  void Requeue(PodId id, const Failure& failure);
  void PatchFailure(PodId id, const Failure& failure);
  void Nominate(PodId id, const Failure& failure);

  // --- Binding cycle (engine_binding.cc)
  void ProceedBinding(Binding& binding);
  void NextPreBind(Binding& binding);
  void TellOfPod(Binding& binding, framework::PodPreBindTask& task);
  void SendNextWrite(Binding& binding);
  void AnnounceWritten(const framework::WriteResult& result);
  void SendBind(Binding& binding);
  void BindNow(Binding& binding);
  void BindingResult(Binding& binding, EffectResult result);
  void WriteDone(Binding& binding, EffectResult result);
  void RetryLater(Binding& binding);
  void BindDone(Binding& binding, const EffectResult& result);
  void ReadDone(Binding& binding, const EffectResult& result);
  void Bound(Binding& binding);
  void BindingFailed(Binding& binding, bool rejected, std::string message, uint8_t plugin);
  void WakeBinding(Binding& binding);
  void PermitOver(Binding& binding, framework::Code code);
  void PointBegan(const Binding& binding, framework::Point point);
  void PluginEnded(const Binding& binding, framework::Point point, uint8_t plugin,
                   framework::Code code);
  void PointEnded(const Binding& binding, framework::Point point, framework::Code code);
  void TellIdlePreBinds(const Binding& binding);
  void TellFailed(const cluster::Pod& pod, framework::Point point, NodeIndex node,
                  const framework::Status& status);
  void TellBindFailed(const Binding& failed, std::string_view message);
  void ExpireAssumed(const PodKey& key);
  bool Allow(const PodKey& key, std::string_view plugin);
  bool Reject(const PodKey& key, std::string_view plugin, std::string_view message);

  // --- Preemption (engine_preemption.cc)
  // True: `failure` is reported when the victims are on their way, not now.
  bool StartPreemption(PodId id, const framework::PostFilterResult& result, const Failure& failure);
  void ClearNominations(uint64_t id, PodId preemptor);
  void ProceedPreemption(uint64_t id);
  void ProceedWaited(uint64_t id);
  void Evict(uint64_t id, size_t victim);
  void DeleteVictim(uint64_t id, size_t victim);
  void VictimDone(uint64_t id, size_t victim, bool ok);
  void FinishPreemption(uint64_t id);
  void PreemptionResult(const Awaited& awaited, const EffectResult& result);

  // --- Extenders (engine_extenders.cc)
  bool AsksExtenders(PodId id);
  void BeginExtended(PodId id, ProfileRuntime& runtime);
  void FindExtended();
  void AskNextFilter(size_t from);
  void Ask(CallExtender::Verb verb, size_t extender);
  void ExtenderResult(size_t extender, const EffectResult& result);
  std::string TakeFilterAnswer(const ExtenderAnswer& answer);
  void FilterFailed(size_t extender, const std::string& why);
  void Filtered();
  void AskAllScores();
  void TakeScores(size_t extender, const ExtenderAnswer& answer);
  void Prioritized();
  void EndExtended();
  void BeginReview(PodId id, ProfileRuntime& runtime);
  void ProceedNoFit(bool over);
  void AskNextPreempt(size_t from);
  std::string TakeVictims(size_t extender, const ExtenderAnswer& answer);
  bool SendExtenderBind(Binding& binding);
  void ExtenderBindFailed(Binding& binding, const EffectResult& result);
  // While a cycle waits for extenders everything else waits.
  bool AnswersExtender(EffectId id) const;
  bool DeferPermit(bool allow, const PodKey& key, std::string_view plugin,
                   std::string_view message);
  void TakeUpDeferred();

  // --- Effects (engine.cc)
  void Complete(EffectResult result);
  EffectId Emit(EffectAction action);
  void EmitAwaited(EffectAction action, Awaited awaited);
  void Record(const PodRef& pod, std::optional<PodRef> related, std::string_view type,
              std::string_view reason, std::string_view action, std::string note,
              std::string_view scheduler_name);
  PodRef RefOf(const cluster::Pod& pod) const;

  // --- Reports (engine_report.cc)
  std::string_view WhereIs(std::string_view uid) const;
  // The contradictions there are now.
  std::vector<std::string> Contradictions() const;
  // An input has been taken up.
  void InputTaken();
  void CheckInput();
  size_t AssumedPods() const;
  bool WaitsForAnswer() const { return preemption_waited_for_ || extended_; }
  // Not the status of a pod that waits: it follows from decisions.
  bool MayChangeDecisions(const api::Object& object) const;
  Source Explaining();
  void LogFailure(const cluster::Pod& pod, int32_t attempts, const Failure& failure);
  // How long the points took, as the observer says: of the cycle that is over, or of its binding.
  void LogCycleTimes();
  void LogBindingTimes(const PodRef& pod, uint64_t record);

  PodRecord& RecordOf(PodId id);
  const PodRecord* FindRecord(PodId id) const;
  Binding* FindBinding(const PodKey& key);
  // Names no pod when the cluster has none with this uid.
  PodKey KeyOf(std::string_view uid) const;

  const EngineOptions options_;
  api::Time now_;
  EngineObserver* observer_;
  ObserverWants nobody_wants_;  // of an engine that is not observed
  ObserverWants* wants_;
  cluster::Cluster cluster_;
  std::optional<ProfileSet> profiles_;
  std::vector<ProfileRuntime> runtimes_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  std::vector<framework::WaitingPodsPlugin*> deciding_later_;  // about pods that wait
  std::vector<framework::TimeAwarePlugin*> time_aware_;
  Algorithm algorithm_;
  Attempt attempt_;  // the one of the cycle that runs
  mutable DecisionLog log_;
  uint64_t changes_ = 0;                             // inputs, and pods assumed
  CycleInterest interest_;                           // of the cycle that runs
  int64_t cycle_began_ns_ = 0;                       // by the observer's clock
  std::vector<queue::ClusterEvent> handled_events_;  // of the object that is being taken up
  bool timing_event_ = false;
  ExtenderSet extenders_;
  std::optional<ExtendedCycle> extended_;   // the cycle that waits for extenders
  std::vector<DeferredInput> deferred_;     // while it does
  std::map<std::string, ListKeys> listed_;  // by kind, of lists whose last part is to come
  int32_t planted_ = 0;                     // how often a planted bug could have struck
  size_t unchecked_inputs_ = 0;
  std::vector<std::string> contradictions_;  // found after an input

  std::vector<PodRecord> records_;
  // The distinct lists of condition types that pods have; there are few. The first is empty.
  std::vector<std::vector<std::string>> condition_types_ = {{}};
  ByString<PodId> pod_of_name_;  // "namespace/name"
  boost::unordered_flat_map<std::string, std::shared_ptr<const api::Node>> nodes_;

  boost::unordered_flat_map<PodKey, std::unique_ptr<Binding>, PodKeyHash> bindings_;
  std::map<uint64_t, Preemption> preemptions_;
  uint64_t next_preemption_ = 1;
  bool preemption_waited_for_ = false;
  std::multimap<api::Time, PodKey> timers_;  // bindings to wake
  std::multimap<api::Time, PodKey> expiry_;  // assumed pods

  EffectId next_effect_ = 1;
  std::vector<Effect> effects_;
  size_t usual_effects_ = 32;  // how many were taken last
  boost::unordered_flat_map<EffectId, Awaited> awaited_;
  size_t awaited_extenders_ = 0;  // of them
};

}  // namespace berth::scheduler
