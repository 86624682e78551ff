// DecisionLog: what the engine decided lately, and last about every pod that still waits.
//
// Always on, so recording is a few sequential writes: numbers, names into a ring of text, nothing
// looked up. What a failed attempt says about its reasons comes with it, because those texts are
// made anyway. Everything else is worked out when somebody reads.
//
// Memory is bounded: rings of decisions, texts and moves of a fixed size, and a limit on how many
// waiting pods are remembered.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "cluster/cluster.h"
#include "framework/runtime/diagnosis.h"
#include "queue/scheduling_queue.h"
#include "scheduler/algorithm.h"
#include "scheduler/decisions/rates.h"
#include "scheduler/point_times.h"

namespace berth::scheduler {

struct DecisionLogOptions {
  size_t decisions = 10'000;  // kept; rounded up to a power of two
  size_t moves = 65'536;      // through the queues, of all pods; likewise
  size_t pending = 100'000;   // pods whose last failed attempt is kept beyond `decisions`
};

// Why an attempt failed. Shared between the ring and the table of waiting pods.
struct FailedAttempt {
  std::string message;
  std::vector<framework::ReasonCount> reasons;
  std::string nominated_node;
  std::vector<std::string> victims;  // "namespace/name"
};

struct AttemptRecord {
  uint64_t id = 0;  // 0: none
  int64_t time_ns = 0;
  cluster::PodId pod = cluster::kNoPod;  // may be another pod's by now: uid tells
  uint8_t profile = 0;
  Outcome outcome = Outcome::kError;
  int32_t number = 0;  // of the pod's attempts
  uint32_t nodes = 0;
  uint32_t evaluated = 0;
  uint32_t feasible = 0;
  uint32_t equal = 0;
  bool scored = false;
  int64_t total = 0;
  cluster::StringId node = cluster::kNoString;
  uint64_t changes = 0;  // of the cluster, when the attempt was over
  // Where its names are in the ring of text: namespace, name, uid, one behind the other.
  uint64_t text = 0;
  uint16_t namespace_size = 0;
  uint16_t name_size = 0;
  uint16_t uid_size = 0;
  std::shared_ptr<const FailedAttempt> failed;
  PointTimes times;  // as far as somebody has timed it
};

// A pod came into a queue.
struct QueueMoveRecord {
  int64_t time_ns = 0;
  cluster::PodId pod = cluster::kNoPod;
  uint16_t event = 0;  // EventName
  queue::QueueName to = queue::QueueName::kActive;
  bool first = false;            // it came into being
  queue::PluginMask helped = 0;  // plugins whose hints said that the event may help
  queue::PluginMask skipped = 0;
};

// How many pods came into each queue because of an event.
struct EventMoves {
  std::string event;
  std::array<uint64_t, queue::kQueueNames> pods = {};
};

// Which pod, in words.
struct AttemptNames {
  std::string_view namespace_;
  std::string_view name;
  std::string_view uid;
};

class DecisionLog {
 public:
  explicit DecisionLog(const DecisionLogOptions& options = {});

  // --- Recording
  void Scheduled(const cluster::Pod& pod, uint8_t profile, int32_t attempt,
                 const Decision& decision, cluster::StringId node, int64_t now_ns,
                 uint64_t changes);
  // `decision` is null when the attempt failed after its cycle.
  void Failed(const cluster::Pod& pod, uint8_t profile, int32_t attempt, const Decision* decision,
              Outcome outcome, std::shared_ptr<const FailedAttempt> failed, int64_t now_ns,
              uint64_t changes);
  // How long points of a decision took; adds to what is known. Nothing is kept of one that was
  // overwritten.
  void Timed(uint64_t id, const PointTimes& times);
  // What a queueing hint answered; it belongs to the move of the pod that follows, if one does.
  void Hinted(cluster::PodId pod, queue::PluginId plugin, bool helps);
  void Moved(const queue::QueuedPod& pod, queue::QueueName to, std::string_view event, bool first,
             int64_t now_ns);
  // The pod is gone, or need not be scheduled any more.
  void Forget(cluster::PodId pod);

  Rates& rates() { return rates_; }

  // --- Reading
  const Rates& rates() const { return rates_; }
  size_t Capacity() const { return options_.decisions; }
  // Ids of decisions kept: those in (Newest() - Kept(), Newest()].
  uint64_t Newest() const { return next_ - 1; }
  size_t Kept() const;
  // Null when it is not kept.
  const AttemptRecord* Find(uint64_t id) const;
  // The last one about the pod; null when none is kept. Costs a pass over the ring for a pod that
  // does not wait.
  const AttemptRecord* FindLast(cluster::PodId pod, std::string_view uid) const;
  // Empty names: overwritten since.
  AttemptNames NamesOf(const AttemptRecord& attempt) const;
  // The last moves of the pod, newest first.
  std::vector<QueueMoveRecord> MovesOf(cluster::PodId pod, size_t limit) const;
  std::string_view EventName(uint16_t event) const { return events_[event].event; }
  // By number.
  const std::vector<EventMoves>& Events() const { return events_; }

 private:
  AttemptRecord& Begin(const cluster::Pod& pod, uint8_t profile, int32_t attempt, int64_t now_ns,
                       uint64_t changes);
  uint64_t Append(std::string_view namespace_, std::string_view name, std::string_view uid);
  uint16_t EventNumber(std::string_view event);

  DecisionLogOptions options_;
  // Rings grow to their full size as they fill: their sizes are powers of two, so what is in them
  // stays in its place.
  std::vector<AttemptRecord> attempts_;  // by id modulo its size
  uint64_t next_ = 1;
  std::vector<char> text_;
  uint64_t text_end_ = 0;  // bytes ever written
  std::vector<QueueMoveRecord> moves_;
  uint64_t moves_end_ = 0;
  // The last failed attempt of pods that wait; names in it may have been overwritten.
  boost::unordered_flat_map<cluster::PodId, AttemptRecord> waiting_;
  std::vector<EventMoves> events_;
  uint16_t last_event_ = 0;
  Rates rates_;
  // Hints since the last move, of one pod.
  cluster::PodId hinted_ = cluster::kNoPod;
  queue::PluginMask helped_ = 0;
  queue::PluginMask skipped_ = 0;
};

}  // namespace berth::scheduler
