#include "scheduler/decisions/decision_log.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace berth::scheduler {
namespace {

// Most pods have shorter names; longer ones only shorten how far back names reach.
constexpr size_t kTextPerDecision = 128;
constexpr size_t kSmallestText = 8192;  // more than one decision can have
constexpr size_t kMaxEvents = 4096;

uint32_t Narrow(size_t n) {
  return static_cast<uint32_t>(std::min<size_t>(n, std::numeric_limits<uint32_t>::max()));
}
uint16_t Size(std::string_view text) {
  return static_cast<uint16_t>(std::min<size_t>(text.size(), 1024));  // Kubernetes allows 253
}

}  // namespace

DecisionLog::DecisionLog(const DecisionLogOptions& options)
    : options_(options), attempts_(1), text_(kSmallestText), moves_(1) {
  options_.decisions = std::bit_ceil(std::max<size_t>(options.decisions, 1));
  options_.moves = std::bit_ceil(std::max<size_t>(options.moves, 1));
}

// Part of every decision, so it is made part of its caller.
[[gnu::always_inline]] inline uint64_t DecisionLog::Append(std::string_view namespace_,
                                                           std::string_view name,
                                                           std::string_view uid) {
  const size_t size = namespace_.size() + name.size() + uid.size();
  while (text_.size() < options_.decisions * kTextPerDecision && text_end_ + size > text_.size()) {
    text_.resize(text_.size() * 2);
  }
  const size_t mask = text_.size() - 1;
  // A text is never split: the rest of the ring is left out.
  if ((text_end_ & mask) + size > text_.size()) text_end_ = (text_end_ | mask) + 1;
  const uint64_t at = text_end_;
  char* to = text_.data() + (at & mask);
  std::memcpy(to, namespace_.data(), namespace_.size());
  std::memcpy(to + namespace_.size(), name.data(), name.size());
  std::memcpy(to + namespace_.size() + name.size(), uid.data(), uid.size());
  text_end_ += size;
  return at;
}

[[gnu::always_inline]] inline AttemptRecord& DecisionLog::Begin(const cluster::Pod& pod,
                                                                uint8_t profile, int32_t attempt,
                                                                int64_t now_ns, uint64_t changes) {
  if (next_ >= attempts_.size() && attempts_.size() < options_.decisions) {
    attempts_.resize(attempts_.size() * 2);
  }
  AttemptRecord& entry = attempts_[next_ & (attempts_.size() - 1)];
  entry.id = next_++;
  entry.time_ns = now_ns;
  entry.pod = pod.id;
  entry.profile = profile;
  entry.number = attempt;
  entry.changes = changes;
  entry.namespace_size = Size(pod.namespace_());
  entry.name_size = Size(pod.name);
  entry.uid_size = Size(pod.uid);
  entry.text = Append(std::string_view(pod.namespace_()).substr(0, entry.namespace_size),
                      std::string_view(pod.name).substr(0, entry.name_size),
                      std::string_view(pod.uid).substr(0, entry.uid_size));
  entry.failed.reset();
  entry.times.Clear();
  return entry;
}

void DecisionLog::Scheduled(const cluster::Pod& pod, uint8_t profile, int32_t attempt,
                            const Decision& decision, cluster::StringId node, int64_t now_ns,
                            uint64_t changes) {
  AttemptRecord& entry = Begin(pod, profile, attempt, now_ns, changes);
  rates_.Attempted(Outcome::kScheduled, now_ns);
  entry.outcome = Outcome::kScheduled;
  entry.nodes = Narrow(decision.diagnosis.num_all_nodes);
  entry.evaluated = Narrow(decision.evaluated_nodes);
  entry.feasible = Narrow(decision.feasible_count);
  entry.equal = Narrow(decision.best_count);
  entry.scored = decision.scored;
  entry.total = decision.total;
  entry.node = node;
  if (!waiting_.empty()) waiting_.erase(pod.id);
}

void DecisionLog::Failed(const cluster::Pod& pod, uint8_t profile, int32_t attempt,
                         const Decision* decision, Outcome outcome,
                         std::shared_ptr<const FailedAttempt> failed, int64_t now_ns,
                         uint64_t changes) {
  AttemptRecord& entry = Begin(pod, profile, attempt, now_ns, changes);
  rates_.Attempted(outcome, now_ns);
  entry.outcome = outcome;
  entry.nodes = decision ? Narrow(decision->diagnosis.num_all_nodes) : 0;
  entry.evaluated = decision ? Narrow(decision->evaluated_nodes) : 0;
  entry.feasible = decision ? Narrow(decision->feasible_count) : 0;
  entry.equal = 0;
  entry.scored = false;
  entry.total = 0;
  entry.node = cluster::kNoString;
  entry.failed = std::move(failed);
  if (waiting_.size() < options_.pending || waiting_.contains(pod.id)) waiting_[pod.id] = entry;
}

void DecisionLog::Timed(uint64_t id, const PointTimes& times) {
  const AttemptRecord* entry = Find(id);
  if (entry == nullptr) return;
  attempts_[id & (attempts_.size() - 1)].times.Add(times);
  if (entry->outcome == Outcome::kScheduled) return;
  const auto waits = waiting_.find(entry->pod);
  if (waits != waiting_.end() && waits->second.id == id) waits->second.times.Add(times);
}

void DecisionLog::Hinted(cluster::PodId pod, queue::PluginId plugin, bool helps) {
  if (pod != hinted_) {
    hinted_ = pod;
    helped_ = 0;
    skipped_ = 0;
  }
  (helps ? helped_ : skipped_) |= queue::MaskOf(plugin);
}

void DecisionLog::Moved(const queue::QueuedPod& pod, queue::QueueName to, std::string_view event,
                        bool first, int64_t now_ns) {
  if (moves_end_ >= moves_.size() && moves_.size() < options_.moves) {
    moves_.resize(moves_.size() * 2);
  }
  QueueMoveRecord& move = moves_[moves_end_++ & (moves_.size() - 1)];
  const bool hinted = pod.pod == hinted_;
  const uint16_t number = EventNumber(event);
  ++events_[number].pods[static_cast<size_t>(to)];
  move = {.time_ns = now_ns,
          .pod = pod.pod,
          .event = number,
          .to = to,
          .first = first,
          .helped = hinted ? helped_ : 0,
          .skipped = hinted ? skipped_ : 0};
  hinted_ = cluster::kNoPod;
}

void DecisionLog::Forget(cluster::PodId pod) {
  if (!waiting_.empty()) waiting_.erase(pod);
}

// There are some dozens of events, and mostly the same ones over and over.
uint16_t DecisionLog::EventNumber(std::string_view event) {
  if (last_event_ < events_.size() && events_[last_event_].event == event) return last_event_;
  for (size_t i = 0; i < events_.size(); ++i) {
    if (events_[i].event == event) return last_event_ = static_cast<uint16_t>(i);
  }
  if (events_.size() >= kMaxEvents) return 0;
  events_.push_back({.event = std::string(event)});
  return last_event_ = static_cast<uint16_t>(events_.size() - 1);
}

size_t DecisionLog::Kept() const {
  return static_cast<size_t>(std::min<uint64_t>(next_ - 1, options_.decisions));
}

const AttemptRecord* DecisionLog::Find(uint64_t id) const {
  if (id == 0 || id >= next_ || next_ - id > attempts_.size()) return nullptr;
  return &attempts_[id & (attempts_.size() - 1)];
}

const AttemptRecord* DecisionLog::FindLast(cluster::PodId pod, std::string_view uid) const {
  const auto waits = waiting_.find(pod);
  if (waits != waiting_.end()) return &waits->second;
  for (uint64_t id = Newest(); id > Newest() - Kept(); --id) {
    const AttemptRecord* attempt = Find(id);
    if (attempt->pod == pod && NamesOf(*attempt).uid == uid) return attempt;
  }
  return nullptr;
}

AttemptNames DecisionLog::NamesOf(const AttemptRecord& attempt) const {
  if (text_end_ - attempt.text > text_.size()) return {};
  const char* at = text_.data() + (attempt.text & (text_.size() - 1));
  const std::string_view namespace_(at, attempt.namespace_size);
  at += attempt.namespace_size;
  return {namespace_, {at, attempt.name_size}, {at + attempt.name_size, attempt.uid_size}};
}

std::vector<QueueMoveRecord> DecisionLog::MovesOf(cluster::PodId pod, size_t limit) const {
  std::vector<QueueMoveRecord> moves;
  const uint64_t kept = std::min<uint64_t>(moves_end_, moves_.size());
  for (uint64_t back = 1; back <= kept && moves.size() < limit; ++back) {
    const QueueMoveRecord& move = moves_[(moves_end_ - back) & (moves_.size() - 1)];
    if (move.pod != pod) continue;
    moves.push_back(move);
    if (move.first) break;  // before it the number was another pod's
  }
  return moves;
}

}  // namespace berth::scheduler
