// The messages between a leader and its hands, and their bytes.
//
// A hand is a replica that carries out what the leader decides. The leader sends batches and polls;
// the hand answers both. Messages are protobuf, so that replicas of two versions can work together:
// unknown fields are skipped.
//
// Bytes come from the network: every limit below is checked, and an error names the message, the
// field and the value. Nothing here does I/O.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::hands {

inline constexpr size_t kMaxMessageBytes = 900u << 10;  // below the server's limit of a body
inline constexpr size_t kMaxItems = 20'000;             // of one kind in a message
inline constexpr size_t kMaxText = 64u << 10;           // of a name or a message

// A decision of the log: this pod goes to this node. One without a pod and a node stands for a
// write that the log does not describe (a volume, a claim): a log with one is not adopted.
struct Entry {
  uint64_t sequence = 0;  // counted from 1 in every epoch
  std::string uid = {};
  std::string namespace_ = {};
  std::string name = {};
  std::string node = {};

  bool Describes() const { return !uid.empty() && !node.empty(); }
  bool operator==(const Entry&) const = default;
};

// Work of the hand that receives it.
struct Task {
  enum class Kind : uint8_t { kBinding = 1, kPatch = 2, kEvent = 3 };
  uint64_t id = 0;  // of the effect; 0: no result is expected (events)
  Kind kind = Kind::kBinding;
  // kBinding: the entry of the log to carry out; sent when it is committed.
  uint64_t sequence = 0;
  std::string resource_version = {};  // kBinding
  std::string payload = {};           // kPatch, kEvent: the effect (payload.h)

  bool operator==(const Task&) const = default;
};

// One at a time is in flight to a hand; a lost one is sent again as it was.
struct Batch {
  std::string lease = {};   // "kube-system/kube-scheduler": of the leader election
  std::string leader = {};  // its identity in that Lease
  int64_t epoch = 0;        // leaseTransitions
  uint64_t session = 0;     // larger with every start of the link
  uint64_t number = 0;      // counted from 1 in every session
  // The stamp of the last answer that the leader received in this session; 0: none. Tasks of the
  // batch may be sent for `valid_ns` from then on, by the hand's clock.
  int64_t echo = 0;
  int64_t valid_ns = 0;
  // All other in-sync hands have every entry up to this one.
  uint64_t committed = 0;
  uint64_t results_received = 0;       // count of results of this session
  std::vector<Entry> entries = {};     // new ones of the log, in order
  std::vector<Task> tasks = {};        // of this hand, in order
  std::vector<uint64_t> refused = {};  // entries that were surely not carried out

  bool operator==(const Batch&) const = default;
};

// Held open by the hand until there are results or some time has passed.
struct Poll {
  std::string leader = {};
  int64_t epoch = 0;
  uint64_t session = 0;
  uint64_t results_received = 0;

  bool operator==(const Poll&) const = default;
};

struct TaskResult {
  // As scheduler::EffectResult::Code, and one more.
  enum class Code : uint8_t { kOk, kConflict, kNotFound, kError, kUnknown, kNotSent };
  uint64_t id = 0;
  Code code = Code::kOk;
  std::string message = {};

  bool operator==(const TaskResult&) const = default;
};

struct Answer {
  uint64_t session = 0;
  uint64_t number = 0;        // of the last batch that was taken; all its entries are in the log
  int64_t stamp = 0;          // the hand's clock
  bool listed = false;        // the hand has listed the cluster since the session began
  uint64_t waiting = 0;       // tasks without a result
  uint64_t log = 0;           // entries whose outcome the hand's own watch has not shown
  uint64_t first_result = 0;  // position of the first result in the session, from 0
  std::vector<TaskResult> results = {};

  bool operator==(const Answer&) const = default;
};

std::string Encode(const Batch& batch);
std::string Encode(const Poll& poll);
std::string Encode(const Answer& answer);

Result<Batch> DecodeBatch(std::string_view bytes);
Result<Poll> DecodePoll(std::string_view bytes);
Result<Answer> DecodeAnswer(std::string_view bytes);

}  // namespace berth::hands
