#include "hands/hand.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/visible.h"
#include "hands/payload.h"

namespace berth::hands {

namespace {

// Results of an answer, so that it stays below kMaxMessageBytes.
constexpr size_t kMaxAnswerBytes = 512u << 10;
constexpr size_t kResultBytes = 24;  // without the message

}  // namespace

// --- What this replica knows of the cluster

void Hand::SawLeader(std::string_view leader, int64_t epoch) {
  holder_ = leader;
  holder_epoch_ = epoch;
}

void Hand::SawSettled(std::string_view uid) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return;
  log_.erase(found->second);
  by_uid_.erase(found);
}

bool Hand::TakeListRequest() { return std::exchange(list_wanted_, false); }

void Hand::Listed() {
  if (!list_wanted_) listed_ = true;
}

// --- The leader's messages

Result<void> Hand::Check(const Batch& batch, Nanoseconds now) const {
  if (batch.lease != lease_) {
    return Fail(fmt::format("batch: lease: {} is not {}", Visible(batch.lease), lease_));
  }
  const bool holds = batch.leader == holder_ && batch.epoch == holder_epoch_;
  if (!holds || batch.leader == identity_) {
    return Fail(fmt::format("batch: leader: {} in epoch {}, but {} holds the lease in epoch {}",
                            Visible(batch.leader), batch.epoch, Visible(holder_), holder_epoch_));
  }
  if (batch.echo > now.count() || batch.echo < 0) {
    return Fail(fmt::format("batch: echo: {} is not a stamp of this replica", batch.echo));
  }
  const bool known = batch.leader == leader_ && batch.epoch == epoch_;
  if (known && batch.session < session_) {
    return Fail(fmt::format("batch: session: {} is over, {} has begun", batch.session, session_));
  }
  const uint64_t last = known && batch.session == session_ ? number_ : 0;
  if (batch.number != last + 1 && (batch.number != last || last == 0)) {
    return Fail(fmt::format("batch: number: {} does not follow {}", batch.number, last));
  }
  return {};
}

const Entry* Hand::FindEntry(const Batch& batch, uint64_t sequence) const {
  const auto found =
      std::lower_bound(batch.entries.begin(), batch.entries.end(), sequence,
                       [](const Entry& entry, uint64_t wanted) { return entry.sequence < wanted; });
  if (found != batch.entries.end() && found->sequence == sequence) return &*found;
  const auto logged = log_.find(sequence);
  return logged == log_.end() ? nullptr : &logged->second;
}

Result<std::vector<Hand::Queued>> Hand::ReadTasks(const Batch& batch) const {
  std::vector<Queued> tasks;
  tasks.reserve(batch.tasks.size());
  const Nanoseconds until(batch.echo + std::min<int64_t>(batch.valid_ns, INT64_MAX - batch.echo));
  for (const Task& task : batch.tasks) {
    Queued queued{.id = task.id, .sequence = task.sequence, .action = {}, .until = until};
    if (task.kind == Task::Kind::kBinding) {
      const Entry* entry = FindEntry(batch, task.sequence);
      if (entry == nullptr || !entry->Describes()) {
        return Fail(fmt::format("batch: tasks.sequence: {} is no binding", task.sequence));
      }
      queued.action = scheduler::BindPod{
          {entry->namespace_, entry->name, entry->uid, task.resource_version}, entry->node};
    } else if (task.kind == Task::Kind::kPatch) {
      auto patch = DecodePatch(task.payload);
      if (!patch) return Fail(patch.error().In("batch: tasks"));
      queued.action = std::move(*patch);
    } else {
      auto event = DecodeEvent(task.payload);
      if (!event) return Fail(event.error().In("batch: tasks"));
      queued.action = std::move(*event);
    }
    tasks.push_back(std::move(queued));
  }
  return tasks;
}

Result<Answer> Hand::Take(const Batch& batch, Nanoseconds now) {
  if (auto checked = Check(batch, now); !checked) return Fail(checked.error());
  const bool begins = batch.leader != leader_ || batch.epoch != epoch_ || batch.session != session_;
  if (!begins && batch.number == number_) return MakeAnswer(now);  // its answer was lost
  if (queue_.size() + batch.tasks.size() > kMaxQueue) {
    return Fail(fmt::format("batch: tasks: {} wait already", queue_.size()));
  }
  auto tasks = ReadTasks(batch);
  if (!tasks) return Fail(tasks.error());
  if (begins) BeginSession(batch);
  number_ = batch.number;
  committed_ = std::max(committed_, batch.committed);
  Log(batch);
  DropResults(batch.results_received);
  for (Queued& task : *tasks) queue_.push_back(std::move(task));
  return MakeAnswer(now);
}

Result<Answer> Hand::Take(const Poll& poll, Nanoseconds now) {
  if (poll.leader != leader_ || poll.epoch != epoch_ || poll.session != session_) {
    return Fail(fmt::format("poll: session: {} of epoch {} is not {} of epoch {}", poll.session,
                            poll.epoch, session_, epoch_));
  }
  DropResults(poll.results_received);
  return MakeAnswer(now);
}

// The leader has received so many results of the session.
void Hand::DropResults(uint64_t received) {
  while (first_result_ < received && !results_.empty()) {
    results_.pop_front();
    ++first_result_;
  }
}

void Hand::BeginSession(const Batch& batch) {
  // The Lease does not name this replica now. What of the log has been refused meanwhile is
  // unknown.
  log_.clear();
  by_uid_.clear();
  incomplete_ = false;
  leader_ = batch.leader;
  epoch_ = batch.epoch;
  session_ = batch.session;
  committed_ = 0;
  list_wanted_ = true;
  listed_ = false;
  // The leader has given these tasks to another carrier. Sessions of two leaders may have the same
  // number, and their tasks the same ids: a late result must not count for this session.
  queue_.clear();
  running_.clear();
  results_.clear();
  first_result_ = 0;
}

void Hand::Log(const Batch& batch) {
  for (const Entry& entry : batch.entries) {
    if (log_.size() >= kMaxLog) {
      incomplete_ = true;
      continue;
    }
    if (!entry.uid.empty()) {
      const auto [known, added] = by_uid_.try_emplace(entry.uid, entry.sequence);
      if (!added) {  // decided again
        log_.erase(known->second);
        known->second = entry.sequence;
      }
    }
    log_[entry.sequence] = entry;
  }
  for (const uint64_t sequence : batch.refused) Erase(sequence);
}

void Hand::Erase(uint64_t sequence) {
  const auto found = log_.find(sequence);
  if (found == log_.end()) return;
  by_uid_.erase(found->second.uid);
  log_.erase(found);
}

Answer Hand::MakeAnswer(Nanoseconds now) const {
  Answer answer;
  answer.session = session_;
  answer.number = number_;
  answer.stamp = now.count();
  answer.listed = listed_ || mistake_ == Mistake::kJoinUnlisted;
  answer.waiting = Waiting();
  answer.log = log_.size();
  answer.first_result = first_result_;
  size_t bytes = 0;
  for (const TaskResult& result : results_) {
    bytes += kResultBytes + std::min(result.message.size(), kMaxText);
    if (answer.results.size() >= kMaxItems || bytes > kMaxAnswerBytes) break;
    answer.results.push_back(result);
  }
  return answer;
}

// --- Work

std::vector<Hand::Work> Hand::TakeWork(Nanoseconds now) {
  std::vector<Work> work;
  while (!queue_.empty()) {
    Queued& task = queue_.front();
    if (now >= task.until && mistake_ != Mistake::kStaleFence) {
      Report(session_, {task.id, TaskResult::Code::kNotSent, "not sent: the task came too late"});
    } else if (task.sequence > committed_ && mistake_ != Mistake::kSendBeforeAck) {
      break;
    } else {
      const uint64_t key = task.id == 0 ? 0 : ++last_key_;
      if (key != 0) running_[key] = {session_, task.id};
      work.push_back({key, std::move(task.action), task.until});
    }
    queue_.pop_front();
  }
  return work;
}

void Hand::Finish(uint64_t key, TaskResult::Code code, std::string message) {
  const auto found = running_.find(key);
  if (found == running_.end()) return;
  const Running running = found->second;
  running_.erase(found);
  Report(running.session, {running.id, code, std::move(message)});
}

void Hand::Report(uint64_t session, TaskResult result) {
  if (session != session_ || result.id == 0) return;
  results_.push_back(std::move(result));
}

// --- Leading

bool Hand::Has(std::string_view uid, std::string_view node) const {
  const auto found = by_uid_.find(uid);
  return found != by_uid_.end() && log_.at(found->second).node == node;
}

std::optional<std::vector<Entry>> Hand::Adopt(int64_t previous,
                                              const std::vector<std::string>& in_sync) const {
  const bool named = std::find(in_sync.begin(), in_sync.end(), identity_) != in_sync.end();
  if (!named && mistake_ != Mistake::kOutsideSet) return std::nullopt;
  if (epoch_ != previous || incomplete_) return std::nullopt;
  std::vector<Entry> entries;
  entries.reserve(log_.size());
  for (const auto& [sequence, entry] : log_) {
    if (!entry.Describes()) return std::nullopt;
    entries.push_back(entry);
  }
  return entries;
}

}  // namespace berth::hands
