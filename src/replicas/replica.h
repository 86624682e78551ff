// Replica: one process of several that compete for a Lease, in virtual time.
//
// The leader elector, the fence and the release are those of a real process (src/kube/election);
// the engine is the real one. Watches, lists and requests go over a Link. Between any two of its
// actions the replica may be paused, however long; a crash is its destruction, and what it has sent
// goes on to the server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"
#include "kube/client/fence.h"
#include "kube/election/leader_elector.h"
#include "kube/election/lease_times.h"
#include "kube/hands/adopted_pods.h"
#include "replicas/bugs.h"
#include "replicas/lease_client.h"
#include "replicas/link.h"
#include "replicas/replica_loop.h"
#include "replicas/shared_work.h"
#include "replicas/truth.h"
#include "scheduler/engine.h"
#include "sim/host/model_api.h"

namespace berth::replicas {

// What replicas have in common. All outlive them.
struct Surroundings {
  sim::EventLoop& loop;  // true time
  sim::ModelApi& api;
  Truth& truth;
  config::Behaviour behaviour;
  config::LeaderElectionConfiguration election;
  Bug bug = Bug::kNone;
  bool shares_work = false;
  // Of replicas that share work.
  std::function<SharedWork*(const std::string& name)> find_work = {};
  std::function<std::vector<std::string>(const std::string& but)> others = {};
  std::function<void(std::string_view)> trace;  // may be empty
};

// More than twenty fields: whatever a process would lose in a crash is a field, so that ending the
// object is the crash.
class Replica {
 public:
  // `name` is its identity in the Lease. `exited`: the process has ended by itself or after
  // Terminate; the replica is then to be destroyed, not from inside the call.
  Replica(Surroundings& around, Link& link, std::string name, int64_t clock_rate, uint64_t seed,
          std::function<void()> exited);
  Replica(const Replica&) = delete;
  Replica& operator=(const Replica&) = delete;

  // Lists all kinds, then joins the election. Fails when no engine can be made.
  Result<void> Start();
  // SIGTERM.
  void Terminate();
  // An object has changed at the server.
  void OnChange(const sim::ApiChange& change);
  // The link works again: watches have missed events.
  void Reconnect();

  ReplicaLoop& Loop() { return *loop_; }
  bool Leads() const { return elector_->IsLeader(); }
  const std::string& Name() const { return name_; }
  SharedWork* Work() { return work_.get(); }
  // Nothing is under way.
  bool Quiet() const;

 private:
  struct Watch {
    uint64_t epoch = 0;  // events of an earlier one are lost
    size_t under_way = 0;
    sim::Nanos last_arrival = 0;
  };

  void Say(std::string_view text) const;
  // --- What it knows
  void List(std::string_view kind, sim::Nanos age);
  void Deliver(const sim::ApiChange& change);
  void Replace(std::string_view kind, const std::vector<sim::ObjectPtr>& objects);
  void NoteListed(std::string_view kind, uint64_t request);
  void ListForHand();
  void NoteShared(const api::Object& object);
  // --- Leading
  Result<void> MakeElector();
  void Lead(const kube::Succession& succession);
  void ListWritten();
  void MoveFence(net::Nanoseconds until);
  // --- Deciding
  api::Time Now() const;
  void AfterInput();
  void Turn();
  void ArmWake();
  // --- Requests
  void SendAll();
  void MakeWork();
  bool IsSilent() const;
  void CarryOut(scheduler::Effect effect);
  void SendFor(uint64_t key, scheduler::EffectAction action, net::Nanoseconds until, int64_t epoch);
  using Done = std::function<void(scheduler::EffectResult)>;
  void Send(scheduler::Effect effect, int64_t epoch, Done done);
  void Complete(scheduler::EffectResult result);
  sim::Nanos WriteTimeout() const;

  Surroundings& around_;
  Link& link_;
  const std::string name_;
  const std::function<void()> exited_;
  const std::shared_ptr<ReplicaLoop> loop_;
  const kube::LeaseTimes times_;
  kube::Fence fence_;
  LeaseClient lease_client_;
  std::unique_ptr<kube::LeaderElector> elector_;
  std::unique_ptr<scheduler::Engine> engine_;
  uint64_t seed_;

  std::vector<std::string_view> kinds_;
  std::map<std::string_view, Watch> watches_;
  std::set<std::string_view> unknown_;  // kinds that were never listed
  std::set<std::string_view> to_list_;  // before the first decision
  // Before this replica is in sync as a hand, by kind: the list that is needed or a later one.
  std::map<std::string_view, uint64_t> hand_list_;
  uint64_t lists_ = 0;  // requested
  std::unique_ptr<SharedWork> work_;
  kube::AdoptedPods adopted_;
  int32_t epoch_ = -1;
  bool scheduling_ = false;
  bool ending_ = false;
  bool turn_pending_ = false;
  net::Loop::TimerId wake_ = 0;
  std::vector<scheduler::Effect> outbox_;
  std::set<scheduler::EffectId> requests_;  // without an answer
  std::set<uint64_t> hand_requests_;        // as a hand, likewise
};

}  // namespace berth::replicas
