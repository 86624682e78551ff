// SharedWork: a simulated replica's part in sharing the leader's work.
//
// The dispatcher and the hand are those of a real process (src/hands). Messages between replicas go
// through virtual time: they are lost, delayed for seconds, delivered twice and overtake each
// other.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "hands/dispatcher.h"
#include "hands/hand.h"
#include "kube/election/leader_elector.h"
#include "replicas/link.h"
#include "replicas/replica_loop.h"
#include "scheduler/effects.h"

namespace berth::replicas {

class SharedWork {
 public:
  struct Callbacks {
    std::function<void(scheduler::Effect)> carry_out;  // here, as the leader
    // For the leader of `epoch`, not after `until`.
    std::function<void(uint64_t key, scheduler::EffectAction, net::Nanoseconds until,
                       int64_t epoch)>
        carry_out_for;
    std::function<void(scheduler::EffectResult)> tell;
    std::function<void(api::Pod)> adopt;
    std::function<void()> list;
    std::function<void(const std::string&)> set_in_sync;
    std::function<SharedWork*(const std::string& name)> find;  // null: it does not run
    std::function<std::vector<std::string>()> others;          // that run
  };

  SharedWork(sim::EventLoop& world, ReplicaLoop& loop, Link& link, std::string name,
             net::Nanoseconds write_timeout, hands::Mistake mistake, Callbacks callbacks);

  void Start() { Tick(); }
  void Observed(std::string_view holder, int32_t epoch) { hand_.SawLeader(holder, epoch); }
  void SetFence(net::Nanoseconds until) { dispatcher_.SetFence(until); }
  void InSyncWritten(const std::string& in_sync);
  // As kube::WorkSharing::Lead.
  bool Lead(const kube::Succession& succession, std::function<void()> ready);

  void Run(scheduler::Effect effect);
  void Answered(scheduler::EffectResult result);
  void Finished(uint64_t key, const scheduler::EffectResult& result);
  void Listed() { hand_.Listed(); }
  void SawSettled(std::string_view uid) {
    hand_.SawSettled(uid);
    settled_.emplace(uid);
  }
  size_t Outstanding() const { return dispatcher_.Outstanding(); }
  uint64_t Carried() const { return carried_; }
  bool IsIdle() const { return dispatcher_.Outstanding() == 0 && hand_.Waiting() == 0; }
  // Whether the log, or what this replica has seen, has the decision.
  bool Logged(std::string_view uid, std::string_view node) const {
    return hand_.Has(uid, node) || settled_.contains(uid);
  }
  // A line about what it holds, for traces.
  std::string Describe() const;

 private:
  void Tick();
  void FlushSoon();
  void Flush();
  void Send(const std::string& to, std::string bytes, bool poll, uint64_t session);
  void Deliver(const std::string& to, const std::string& bytes, bool poll, sim::Nanos delay,
               uint64_t call);
  void Serve(const std::string& bytes, bool poll, const std::function<void(std::string)>& reply);
  void RunTasks();
  void AnswerPolls();
  sim::Nanos Delay();

  struct Call {
    std::string to;
    uint64_t session = 0;
    bool poll = false;
  };
  struct HeldPoll {
    std::string bytes;
    std::function<void(std::string)> reply;
  };

  sim::EventLoop& world_;
  ReplicaLoop& loop_;
  Link& link_;
  const std::string name_;
  const Callbacks callbacks_;
  const hands::Mistake mistake_;
  hands::Hand hand_;
  hands::Dispatcher dispatcher_;
  std::function<void()> ready_;
  bool flush_pending_ = false;
  uint64_t last_call_ = 0;
  uint64_t carried_ = 0;
  std::map<uint64_t, Call> calls_;
  std::vector<HeldPoll> polls_;
  std::set<std::string, std::less<>>
      settled_;  // pods that its watch has shown with a node, or gone
};

}  // namespace berth::replicas
