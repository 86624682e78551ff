// Dispatcher: the leader's side of sharing work with hands.
//
// It receives the engine's effects, gives each to a hand or to this process, keeps the log of
// decisions that are in flight, and returns what is to be sent. Owned by the host, on its loop's
// thread; a value without threads, clocks and I/O, so that simulations copy it.
//
// - Effects about one pod go to one carrier at a time, in order.
// - A binding leaves only when all in-sync hands have its entry in their logs. The in-sync set is
//   what the Lease says: a hand is required from the moment the leader asks for it to be written
//   until a Lease without it has been written.
// - A hand that does not answer is dropped. Its bindings are sent again, to the same node, by this
//   process; a result other than success is reported only when nothing of the hand can be carried
//   out any more, and as unknown, so that the engine reads the pod.
// - Without a hand in sync everything stays in this process.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/string_hash.h"
#include "hands/hand.h"
#include "hands/mistake.h"
#include "hands/wire.h"
#include "scheduler/effects.h"

namespace berth::hands {

struct DispatcherOptions {
  std::string lease = {};     // "namespace/name" of the leader election
  std::string identity = {};  // in that Lease
  // How long the API server may take to carry out a write, after its receipt.
  Nanoseconds write_timeout = std::chrono::milliseconds(2500);
  // How long tasks of a batch are valid, and how long a hand may hold a task.
  Nanoseconds validity = std::chrono::seconds(2);
  Nanoseconds task_patience = std::chrono::seconds(10);
  Nanoseconds heartbeat = std::chrono::milliseconds(300);
  Nanoseconds retry = std::chrono::seconds(1);  // before a dropped hand is used again
  size_t max_batch_bytes = 256u << 10;
  Mistake mistake = Mistake::kNone;
};

class Dispatcher {
 public:
  // What the host is to do. Everything but `results` is in order.
  struct Outputs {
    std::vector<std::pair<std::string, Batch>> batches;  // to hands; answered once, or failed
    std::vector<std::pair<std::string, Poll>> polls;     // the same
    std::vector<scheduler::Effect> local;                // for this process
    std::vector<scheduler::EffectResult> results;        // for the engine
    std::vector<api::Pod> adopted;                       // pods as they are after adoption
    std::optional<std::vector<std::string>> in_sync;     // to be written into the Lease
  };
  enum class Role : uint8_t { kDown, kConnecting, kListing, kJoining, kInSync, kLeaving };
  struct HandState {
    std::string id;
    Role role = Role::kDown;
    uint64_t tasks = 0;    // given to it since the process leads
    uint64_t waiting = 0;  // of these, without a result
    uint64_t lag = 0;      // entries it has not acknowledged
    uint64_t drops = 0;
  };

  explicit Dispatcher(DispatcherOptions options) : options_(std::move(options)) {}

  // This process leads. `adopted`: decisions of the last leader to be carried out first.
  void Begin(int64_t epoch, std::vector<Entry> adopted);
  bool Leads() const { return epoch_ >= 0; }
  int64_t Epoch() const { return epoch_; }
  // Something is written in this epoch that the log does not describe; the log is not adopted.
  void NoteUndescribed();
  // All adopted decisions have an outcome.
  bool Adopted() const { return adopting_.empty(); }
  // Writes may be sent until then.
  void SetFence(Nanoseconds until) { fence_ = until; }
  // The hands there are.
  void SetHands(const std::set<std::string>& ids, Nanoseconds now);

  void Run(scheduler::Effect&& effect);
  // Of an effect of Outputs::local.
  void OnLocal(scheduler::EffectResult&& result, Nanoseconds now);
  void OnAnswer(const std::string& id, const Answer& answer, bool poll, Nanoseconds now);
  // No answer, or a refusal.
  void OnFailure(const std::string& id, uint64_t session, bool poll, Nanoseconds now);
  // A Lease with this in-sync set has been written.
  void OnLeaseWritten(const std::vector<std::string>& in_sync);

  Outputs Take(Nanoseconds now);
  // Effects without a result.
  size_t Outstanding() const { return pending_.size() + queued_; }
  std::vector<HandState> Hands() const;

 private:
  struct Link {
    Role role = Role::kDown;
    bool present = true;
    uint64_t session = 0;
    uint64_t number = 0;        // of the last batch
    std::optional<Batch> sent;  // without an answer
    bool sent_again = false;
    bool poll_sent = false;
    uint64_t sent_up_to = 0;    // entries
    uint64_t acknowledged = 0;  // entries
    uint64_t join_at = 0;       // what must be acknowledged before the Lease may name the hand
    uint64_t committed_sent = 0;
    int64_t echo = 0;
    Nanoseconds echo_at{0};
    Nanoseconds composed_at{0};
    Nanoseconds retry_at{0};
    Nanoseconds poll_at{0};  // not before
    Nanoseconds void_at{0};  // nothing of it can be carried out after this
    uint64_t results = 0;    // received in the session
    uint64_t tasks = 0;
    uint64_t drops = 0;
    uint64_t failures = 0;   // results in a row that say the API server was not reached
    std::deque<Task> queue;  // not yet in a batch
    std::deque<std::pair<scheduler::EffectId, Nanoseconds>> ages;  // of tasks in batches
    std::vector<uint64_t> refused;
    std::set<scheduler::EffectId> tasks_held;
  };
  enum class Phase : uint8_t {
    kWaiting,  // for acknowledgements, then it runs in this process
    kLocal,    // runs in this process
    kQueued,   // at a link, not in a batch
    kSent,     // in a batch
    kResend,   // after its hand was dropped, like kWaiting
    kResent,   // runs in this process, and may run elsewhere
    kVoid,     // waits until nothing of its hand can be carried out
    kReading,  // an adopted binding: the pod is read
  };
  struct Pending {
    scheduler::EffectAction action;
    std::string uid;
    std::string carrier;  // a hand; empty: this process
    uint64_t sequence = 0;
    Phase phase = Phase::kWaiting;
    bool adopted = false;
    bool resends = false;  // kVoid: runs in this process then; otherwise its result is reported
    Nanoseconds void_at{0};
    std::string message = {};
  };
  // Effects about one pod.
  struct Lane {
    std::string carrier;
    bool blocked = false;  // an effect has changed its carrier: the rest waits for it
    size_t in_flight = 0;
    std::deque<scheduler::Effect> waiting;
  };
  using Links = std::map<std::string, Link>;

  bool IsUp(const Link& link) const {
    return link.role != Role::kDown && link.role != Role::kLeaving;
  }
  bool IsRequired(const Link& link) const {
    return link.role == Role::kJoining || link.role == Role::kInSync ||
           (link.role == Role::kLeaving && options_.mistake != Mistake::kDropUnwritten);
  }
  // Every required hand but `except` has the entries up to this one.
  uint64_t Committed(const std::string& except) const;
  std::string Choose(const scheduler::EffectAction& action, std::string_view uid) const;

  void Start(scheduler::Effect&& effect, std::string carrier);
  void Assign(scheduler::EffectId id, Pending& pending);
  void RunEvent(const scheduler::RecordEvent& event);
  void RunWaiting(Outputs& out);
  void Finish(scheduler::EffectId id, scheduler::EffectResult result);
  void NoteOutcome(const Pending& pending, const scheduler::EffectResult& result);
  void Refuse(uint64_t sequence);
  void Release(const std::string& uid);
  void MoveHere(scheduler::EffectId id, Pending& pending, Phase phase);
  void OnResult(Link& link, const TaskResult& result);
  void OnLocalAfterDrop(scheduler::EffectId id, Pending& pending, scheduler::EffectResult&& result,
                        Nanoseconds now);
  void OnAdopted(scheduler::EffectId id, Pending& pending, scheduler::EffectResult&& result);

  void Drop(Link& link, Nanoseconds now);
  void TakeBack(Link& link, scheduler::EffectId id, Nanoseconds now);
  void EndVoid(Nanoseconds now);
  void FailLate(Nanoseconds now);
  void Connect(Link& link);
  bool HasNews(const std::string& id, const Link& link, Nanoseconds now) const;
  void Compose(const std::string& id, Link& link, Nanoseconds now, Outputs& out);
  void AddTasks(Link& link, Batch& batch, Nanoseconds now, size_t bytes);
  Nanoseconds ValidFor(const Link& link) const;
  void AskForSet(Outputs& out);

  DispatcherOptions options_;
  int64_t epoch_ = -1;
  Nanoseconds fence_{0};
  uint64_t sessions_ = 0;
  uint64_t sequence_ = 0;
  uint64_t undescribed_ = 0;  // the entry that stands for other writes
  std::map<uint64_t, Entry> log_;
  Links links_;
  std::vector<std::string> wanted_set_;  // as last requested
  boost::unordered_flat_map<scheduler::EffectId, Pending> pending_;
  boost::unordered_flat_map<std::string, Lane, StringHash, std::equal_to<>> lanes_;
  // Bindings without a clear result, until the engine has read the pod, by uid.
  boost::unordered_flat_map<std::string, Entry, StringHash, std::equal_to<>> unsure_;
  size_t queued_ = 0;                        // effects in lanes
  std::deque<scheduler::EffectId> waiting_;  // kWaiting and kResend, in order of sequence
  std::set<scheduler::EffectId> voids_;      // kVoid
  std::set<scheduler::EffectId> adopting_;
  scheduler::EffectId last_adopted_ = uint64_t{1} << 63;
  Outputs outputs_;  // collected between two calls of Take
};

}  // namespace berth::hands
