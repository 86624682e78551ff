// Hand: the state of a replica that carries out decisions of the leader.
//
// It takes batches, keeps the log of decisions, releases tasks that may be sent and collects their
// results. Owned by the host of the replica; a value without threads, clocks and I/O, so that
// simulations copy it.
//
// - A batch is taken only from the holder of the Lease as this replica has read it, in that epoch.
// - A binding is released when all other in-sync hands have its entry (Batch::committed).
// - A task is released only until its batch's validity has passed by this hand's clock. The
// validity
//   starts with a stamp of this hand that the leader has echoed, so a batch that was delayed, or a
//   process that was stopped, finds it in the past.
// - An entry stays in the log until this replica's own watch has shown its outcome.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "hands/mistake.h"
#include "hands/wire.h"
#include "scheduler/effects.h"

namespace berth::hands {

using Nanoseconds = std::chrono::nanoseconds;

class Hand {
 public:
  static constexpr size_t kMaxLog = 100'000;
  static constexpr size_t kMaxQueue = 50'000;

  // `lease`: "namespace/name" of the leader election; `identity`: of this replica.
  Hand(std::string lease, std::string identity, Mistake mistake = Mistake::kNone)
      : lease_(std::move(lease)), identity_(std::move(identity)), mistake_(mistake) {}

  // --- What this replica knows of the cluster
  // The Lease, as last read.
  void SawLeader(std::string_view leader, int64_t epoch);
  // The pod has a node, or is gone.
  void SawSettled(std::string_view uid);
  bool HasLog() const { return !log_.empty(); }
  // A new session began: the pods are to be listed in their newest version. True once.
  bool TakeListRequest();
  // Such a list, begun after the last TakeListRequest, has been taken in completely.
  void Listed();

  // --- The leader's messages
  // An error refuses the message; it changes nothing.
  Result<Answer> Take(const Batch& batch, Nanoseconds now);
  Result<Answer> Take(const Poll& poll, Nanoseconds now);
  // The poll would be answered with results.
  bool HasResults() const { return !results_.empty(); }

  // --- Work
  struct Work {
    uint64_t key = 0;  // for Finish; 0: no result
    scheduler::EffectAction action;
    Nanoseconds until{0};  // not to be sent after this moment
  };
  // What is to be sent now, in order.
  std::vector<Work> TakeWork(Nanoseconds now);
  void Finish(uint64_t key, TaskResult::Code code, std::string message);
  size_t Waiting() const { return queue_.size() + running_.size(); }

  // --- Leading
  // The decisions to adopt: this replica has acquired the Lease, which was of epoch `previous` and
  // named `in_sync` as the hands in sync. Nothing: the log may lack something.
  std::optional<std::vector<Entry>> Adopt(int64_t previous,
                                          const std::vector<std::string>& in_sync) const;
  size_t LogSize() const { return log_.size(); }
  // The log has this decision.
  bool Has(std::string_view uid, std::string_view node) const;
  int64_t Epoch() const { return epoch_; }
  const std::string& Leader() const { return leader_; }

 private:
  struct Queued {
    uint64_t id = 0;
    uint64_t sequence = 0;  // bindings
    scheduler::EffectAction action;
    Nanoseconds until{0};
  };
  struct Running {
    uint64_t session = 0;
    uint64_t id = 0;
  };

  Result<void> Check(const Batch& batch, Nanoseconds now) const;
  Result<std::vector<Queued>> ReadTasks(const Batch& batch) const;
  const Entry* FindEntry(const Batch& batch, uint64_t sequence) const;
  void DropResults(uint64_t received);
  void BeginSession(const Batch& batch);
  void Log(const Batch& batch);
  void Erase(uint64_t sequence);
  void Report(uint64_t session, TaskResult result);
  Answer MakeAnswer(Nanoseconds now) const;

  std::string lease_;
  std::string identity_;
  Mistake mistake_;
  // By the Lease.
  std::string holder_;
  int64_t holder_epoch_ = -1;
  // The session.
  std::string leader_;
  int64_t epoch_ = -1;
  uint64_t session_ = 0;
  uint64_t number_ = 0;
  uint64_t committed_ = 0;
  bool list_wanted_ = false;
  bool listed_ = false;
  std::deque<Queued> queue_;
  std::map<uint64_t, Running> running_;  // by key
  uint64_t last_key_ = 0;
  uint64_t first_result_ = 0;
  std::deque<TaskResult> results_;
  // The log of epoch_.
  std::map<uint64_t, Entry> log_;
  std::map<std::string, uint64_t, std::less<>> by_uid_;
  bool incomplete_ = false;  // an entry did not fit
};

}  // namespace berth::hands
