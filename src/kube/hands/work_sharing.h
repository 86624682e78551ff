// WorkSharing: a replica's part in sharing the leader's work (docs/decisions/0024).
//
// The leader's side gives effects of the engine to hands through a Dispatcher: it finds them by
// their Leases and sends batches and polls to their secure ports. The other side, for a leader that
// is another replica, is a HandService. A process has both; which one works depends on who holds
// the Lease. SchedulerHost calls it in place of its effect runner; without a hand in sync every
// effect comes back to the host at once.
//
// On the loop's thread only.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/object.h"
#include "hands/dispatcher.h"
#include "kube/client/api_client.h"
#include "kube/client/fence.h"
#include "kube/election/leader_elector.h"
#include "kube/hands/adopted_pods.h"
#include "kube/hands/hand_service.h"
#include "kube/hands/replica_leases.h"
#include "kube/hands/replica_record.h"
#include "net/loop.h"
#include "scheduler/effects.h"

namespace berth::kube {

// Paths of the secure port that take messages; one POST each.
inline constexpr std::string_view kHandsPath = "/apis/hands/v1";
inline constexpr std::string_view kBatchesPath = "/apis/hands/v1/batches";
inline constexpr std::string_view kPollsPath = "/apis/hands/v1/polls";

struct WorkSharingOptions {
  std::string lease_namespace;  // of the leader election
  std::string lease_name;
  std::string identity;  // in it
  net::Nanoseconds write_timeout{0};
  bool marks_bindings = false;  // with the leader's epoch
};

class WorkSharing {
 public:
  // What the process does for it.
  struct Process {
    // A client of another replica's secure port, with this replica's credentials.
    std::function<Result<std::unique_ptr<ApiClient>>(const ReplicaRecord&)> connect;
    // LeaderElector::SetInSync.
    std::function<void(const std::string& in_sync)> set_in_sync;
    // All of this replica's record but its status.
    std::function<ReplicaRecord()> describe;
    // Now and then; for metrics.
    std::function<void(const SharingStatus&)> status;
  };
  // What SchedulerHost does for it.
  struct Host {
    std::function<void(scheduler::Effect&&)> carry_out;
    std::function<void(scheduler::EffectResult&&)> tell;
    std::function<void(api::Pod&&)> adopt;
    // Lists the kinds that schedulers write in their newest version; adds them to `kinds` first.
    std::function<void(std::set<std::string_view>& kinds)> list;
    EventRecorder* events = nullptr;
  };

  // `lease_client` is for Leases of replicas, `hand_client` for the work of other leaders; it is
  // fenced by `hand_fence`. All outlive the object.
  WorkSharing(net::Loop& loop, ApiClient& lease_client, ApiClient& hand_client, Fence& hand_fence,
              WorkSharingOptions options, Process process);
  ~WorkSharing();
  WorkSharing(const WorkSharing&) = delete;
  WorkSharing& operator=(const WorkSharing&) = delete;

  // --- For the process
  // From now on this replica can be found.
  void Start();
  // LeaderCallbacks.
  void Observed(std::string_view holder, int32_t epoch);
  void InSyncWritten(std::string_view in_sync);
  void SetFence(net::Nanoseconds until) { dispatcher_.SetFence(until); }
  // A message of the leader.
  void Serve(bool poll, std::string_view bytes, HandService::Reply reply) {
    service_.Serve(poll, bytes, std::move(reply));
  }
  // Takes the replica's Lease back, then calls `done`.
  void Leave(std::function<void()> done);
  SharingStatus Status() const;
  // No work of another leader is under way.
  bool IsIdle() const { return service_.State().Waiting() == 0; }

  // --- For the host
  void Attach(Host host);
  void SetRules(const EffectRules& rules) { service_.SetRules(rules); }
  // This replica leads, and no write of the last leader is still possible except those in its log.
  // True: the log is adopted; `ready` is called when all its decisions have an outcome, after
  // Host::adopt for pods that the watch may not have shown. False: the caller has to list what
  // schedulers write.
  bool Lead(const Succession& succession, std::function<void()> ready);
  void Run(scheduler::Effect&& effect);
  // Of an effect that the host carried out.
  void Answered(scheduler::EffectResult&& result);
  // Effects without a result.
  size_t Outstanding() const { return dispatcher_.Outstanding(); }
  // A watch or a list shows an object, or that it is gone. One that is older than what was adopted
  // is corrected.
  void Shown(api::Object& object);
  void Shown(std::vector<api::Object>& objects);
  void Shown(const api::Pod& pod);
  void Gone(const api::Object& object);
  // The kind has been listed as a whole.
  void Listed(std::string_view kind);
  // Only these kinds are followed from now on.
  void Follow(const std::function<bool(std::string_view kind)>& follows);

 private:
  struct Call {
    ApiClient::Id id = 0;
    uint64_t session = 0;
    bool poll = false;
  };
  struct Peer {
    ReplicaRecord record;
    std::unique_ptr<ApiClient> client;
    std::map<uint64_t, Call> calls;
  };

  void SawReplicas(const std::vector<ReplicaRecord>& records);
  void Disconnect(const std::string& id, Peer& peer);
  void Send(const std::string& id, std::string bytes, bool poll, uint64_t session);
  void OnResponse(const std::string& id, uint64_t call, const ApiResponse& response);
  void Settled(const api::Pod& pod);
  void Tick();
  void FlushSoon();
  void Flush();
  void Report();

  net::Loop& loop_;
  const WorkSharingOptions options_;
  const Process process_;
  Host host_;
  HandService service_;
  hands::Dispatcher dispatcher_;
  ReplicaLeases leases_;
  AdoptedPods adopted_;
  std::function<void()> ready_;
  std::map<std::string, Peer> peers_;   // by identity
  std::set<std::string_view> to_list_;  // kinds, before this replica is in sync as a hand
  std::vector<hands::Dispatcher::HandState> logged_;  // as roles of hands were logged last
  std::string role_;                                  // as it was reported last
  uint64_t last_call_ = 0;
  bool flush_pending_ = false;
  net::Loop::TimerId tick_ = 0;
  net::Nanoseconds reported_{0};
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace berth::kube
