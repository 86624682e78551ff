// Dispatcher: links to hands, the in-sync set and batches.
#include <algorithm>
#include <utility>

#include "hands/dispatcher.h"

namespace berth::hands {

namespace {

constexpr uint64_t kFailuresInARow = 5;  // of a hand that does not reach the API server
constexpr int kSickFactor = 10;          // how much longer such a hand is left alone

size_t SizeOf(const Entry& entry) {
  return 24 + entry.uid.size() + entry.namespace_.size() + entry.name.size() + entry.node.size();
}
size_t SizeOf(const Task& task) { return 32 + task.payload.size() + task.resource_version.size(); }

}  // namespace

void Dispatcher::SetHands(const std::set<std::string>& ids, Nanoseconds now) {
  for (const std::string& id : ids) links_.try_emplace(id);
  for (auto it = links_.begin(); it != links_.end();) {
    Link& link = it->second;
    link.present = ids.contains(it->first);
    if (!link.present && IsUp(link)) Drop(link, now);
    const bool gone = !link.present && link.role == Role::kDown;
    it = gone ? links_.erase(it) : std::next(it);
  }
}

uint64_t Dispatcher::Committed(const std::string& except) const {
  uint64_t committed = sequence_;
  for (const auto& [id, link] : links_) {
    if (id != except && IsRequired(link)) committed = std::min(committed, link.acknowledged);
  }
  return committed;
}

std::vector<Dispatcher::HandState> Dispatcher::Hands() const {
  std::vector<HandState> states;
  for (const auto& [id, link] : links_) {
    states.push_back({.id = id,
                      .role = link.role,
                      .tasks = link.tasks,
                      .waiting = link.tasks_held.size(),
                      .lag = sequence_ - link.acknowledged,
                      .drops = link.drops});
  }
  return states;
}

// --- Answers

void Dispatcher::OnAnswer(const std::string& id, const Answer& answer, bool poll, Nanoseconds now) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (!IsUp(link) || answer.session != link.session) return;
  if (poll) link.poll_sent = false;
  if (answer.stamp > link.echo) {
    link.echo = answer.stamp;
    link.echo_at = now;
  }
  if (!poll && link.sent && answer.number == link.sent->number) {
    link.acknowledged = link.sent_up_to;  // one batch at a time
    link.sent.reset();
    if (link.role == Role::kConnecting) link.role = Role::kListing;
  }
  if (answer.first_result > link.results) return Drop(link, now);  // some are missing
  for (size_t i = 0; i < answer.results.size(); ++i) {
    if (answer.first_result + i < link.results) continue;
    ++link.results;
    OnResult(link, answer.results[i]);
  }
  if (answer.listed && link.role == Role::kListing) {
    link.role = Role::kJoining;
    link.join_at = options_.mistake == Mistake::kJoinBehind ? 0 : sequence_;
  }
  if (link.failures >= kFailuresInARow) {
    Drop(link, now);
    link.retry_at = now + kSickFactor * options_.retry;
  }
}

void Dispatcher::OnFailure(const std::string& id, uint64_t session, bool poll, Nanoseconds now) {
  const auto found = links_.find(id);
  if (found == links_.end()) return;
  Link& link = found->second;
  if (!IsUp(link) || link.session != session) return;
  if (poll) {
    link.poll_sent = false;
    link.poll_at = now + options_.heartbeat;
    return;
  }
  if (link.sent && !link.sent_again && link.role != Role::kConnecting) {
    link.sent_again = true;
    outputs_.batches.emplace_back(id, *link.sent);
    return;
  }
  Drop(link, now);
}

// The hand is not used any more until `retry` has passed. It stays required until the Lease has
// been written without it.
void Dispatcher::Drop(Link& link, Nanoseconds now) {
  if (!IsUp(link)) return;
  const bool written = link.role == Role::kJoining || link.role == Role::kInSync;
  link.role = written ? Role::kLeaving : Role::kDown;
  link.retry_at = now + options_.retry;
  link.drops += written ? 1 : 0;
  link.failures = 0;
  link.sent.reset();
  link.poll_sent = false;
  link.refused.clear();
  link.ages.clear();
  std::deque<Task> queue = std::exchange(link.queue, {});
  for (const scheduler::EffectId task : std::exchange(link.tasks_held, {})) {
    TakeBack(link, task, now);
  }
  for (Task& task : queue) {
    if (task.kind != Task::Kind::kEvent) continue;
    for (auto& [other, to] : links_) {  // best effort
      if (to.role != Role::kInSync) continue;
      to.queue.push_back(std::move(task));
      break;
    }
  }
}

void Dispatcher::OnLeaseWritten(const std::vector<std::string>& in_sync) {
  const std::set<std::string> named(in_sync.begin(), in_sync.end());
  for (auto it = links_.begin(); it != links_.end();) {
    Link& link = it->second;
    if (named.contains(it->first)) {
      if (link.role == Role::kJoining) link.role = Role::kInSync;
    } else if (link.role == Role::kLeaving) {
      link.role = Role::kDown;
    }
    const bool gone = !link.present && link.role == Role::kDown;
    it = gone ? links_.erase(it) : std::next(it);
  }
}

void Dispatcher::AskForSet(Outputs& out) {
  std::vector<std::string> wanted;
  for (const auto& [id, link] : links_) {
    const bool joins = link.role == Role::kJoining && link.acknowledged >= link.join_at;
    if (joins || link.role == Role::kInSync) wanted.push_back(id);
  }
  if (wanted == wanted_set_) return;
  wanted_set_ = wanted;
  out.in_sync = std::move(wanted);
}

// --- Batches

Dispatcher::Outputs Dispatcher::Take(Nanoseconds now) {
  if (Leads()) {
    EndVoid(now);
    FailLate(now);
    for (auto& [id, link] : links_) {
      if (link.role == Role::kDown && link.present && now >= link.retry_at) Connect(link);
      if (IsUp(link) && !link.sent && HasNews(id, link, now)) Compose(id, link, now, outputs_);
      if (IsUp(link) && link.role != Role::kConnecting && !link.poll_sent && now >= link.poll_at) {
        link.poll_sent = true;
        outputs_.polls.emplace_back(id,
                                    Poll{options_.identity, epoch_, link.session, link.results});
      }
    }
    AskForSet(outputs_);
    RunWaiting(outputs_);
  }
  return std::exchange(outputs_, {});
}

// Hands that hold a task for too long.
void Dispatcher::FailLate(Nanoseconds now) {
  for (auto& [id, link] : links_) {
    while (!link.ages.empty() && !link.tasks_held.contains(link.ages.front().first)) {
      link.ages.pop_front();
    }
    if (link.ages.empty() || now - link.ages.front().second < options_.task_patience) continue;
    Drop(link, now);
  }
}

void Dispatcher::Connect(Link& link) {
  link.role = Role::kConnecting;
  link.session = ++sessions_;
  link.number = 0;
  link.sent_up_to = 0;
  link.acknowledged = 0;
  link.committed_sent = 0;
  link.echo = 0;
  link.echo_at = Nanoseconds(0);
  link.results = 0;
  link.composed_at = Nanoseconds(0);
  link.poll_at = Nanoseconds(0);
}

Nanoseconds Dispatcher::ValidFor(const Link& link) const {
  if (link.echo == 0) return Nanoseconds(0);
  return std::max(std::min(options_.validity, fence_ - link.echo_at), Nanoseconds(0));
}

bool Dispatcher::HasNews(const std::string& id, const Link& link, Nanoseconds now) const {
  if (link.number == 0 || now - link.composed_at >= options_.heartbeat) return true;
  if (!link.refused.empty() || (!link.queue.empty() && now < fence_)) return true;
  if (log_.lower_bound(link.sent_up_to + 1) != log_.end()) return true;
  return !link.tasks_held.empty() && Committed(id) > link.committed_sent;
}

void Dispatcher::Compose(const std::string& id, Link& link, Nanoseconds now, Outputs& out) {
  Batch batch;
  batch.lease = options_.lease;
  batch.leader = options_.identity;
  batch.epoch = epoch_;
  batch.session = link.session;
  batch.number = ++link.number;
  batch.echo = link.echo;
  batch.valid_ns = ValidFor(link).count();
  batch.results_received = link.results;
  size_t bytes = 0;
  for (auto it = log_.lower_bound(link.sent_up_to + 1); it != log_.end(); ++it) {
    if (bytes >= options_.max_batch_bytes || batch.entries.size() >= kMaxItems) break;
    batch.entries.push_back(it->second);
    bytes += SizeOf(it->second);
    link.sent_up_to = it->first;
  }
  if (log_.lower_bound(link.sent_up_to + 1) == log_.end()) link.sent_up_to = sequence_;
  AddTasks(link, batch, now, bytes);
  const size_t count = std::min(link.refused.size(), kMaxItems);
  const auto end = link.refused.begin() + static_cast<ptrdiff_t>(count);
  batch.refused.assign(link.refused.begin(), end);
  link.refused.erase(link.refused.begin(), end);
  batch.committed = link.committed_sent =
      options_.mistake == Mistake::kSendBeforeAck ? sequence_ : Committed(id);
  link.composed_at = now;
  link.sent_again = false;
  link.sent = batch;
  out.batches.emplace_back(id, std::move(batch));
}

// Tasks, while the hand's last stamp is young enough for them to be carried out in time.
void Dispatcher::AddTasks(Link& link, Batch& batch, Nanoseconds now, size_t bytes) {
  const Nanoseconds valid = ValidFor(link);
  if (now - link.echo_at >= valid / 2) return;
  while (!link.queue.empty() && batch.tasks.size() < kMaxItems) {
    Task& task = link.queue.front();
    if (bytes >= options_.max_batch_bytes || task.sequence > link.sent_up_to) break;
    bytes += SizeOf(task);
    if (task.id != 0) {
      const auto pending = pending_.find(task.id);
      if (pending == pending_.end()) {
        link.queue.pop_front();
        continue;
      }
      pending->second.phase = Phase::kSent;
      link.ages.emplace_back(task.id, now);
    }
    batch.tasks.push_back(std::move(task));
    link.queue.pop_front();
  }
  if (batch.tasks.empty()) return;
  // A clock may be a tenth too slow; what the server has received it may carry out for a while.
  const Nanoseconds over = link.echo_at + valid * 5 / 4 + 2 * options_.write_timeout;
  link.void_at = std::max(link.void_at, over);
}

}  // namespace berth::hands
