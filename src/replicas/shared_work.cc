#include "replicas/shared_work.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace berth::replicas {
namespace {

constexpr net::Nanoseconds kAnswerTimeout = std::chrono::milliseconds(700);
constexpr net::Nanoseconds kPollHeld = std::chrono::seconds(1);
constexpr net::Nanoseconds kTick = std::chrono::milliseconds(200);
constexpr const char* kLease = "kube-system/kube-scheduler";

std::vector<std::string> Split(std::string_view joined) {
  std::vector<std::string> ids;
  while (!joined.empty()) {
    const size_t comma = std::min(joined.find(','), joined.size());
    if (comma > 0) ids.emplace_back(joined.substr(0, comma));
    joined.remove_prefix(std::min(comma + 1, joined.size()));
  }
  return ids;
}

hands::DispatcherOptions OptionsOf(const std::string& name, net::Nanoseconds write_timeout,
                                   hands::Mistake mistake) {
  hands::DispatcherOptions options;
  options.lease = kLease;
  options.identity = name;
  options.write_timeout = write_timeout;
  options.mistake = mistake;
  return options;
}

}  // namespace

SharedWork::SharedWork(sim::EventLoop& world, ReplicaLoop& loop, Link& link, std::string name,
                       net::Nanoseconds write_timeout, hands::Mistake mistake, Callbacks callbacks)
    : world_(world),
      loop_(loop),
      link_(link),
      name_(std::move(name)),
      callbacks_(std::move(callbacks)),
      mistake_(mistake),
      hand_(kLease, name_, mistake),
      dispatcher_(OptionsOf(name_, write_timeout, mistake)) {}

void SharedWork::InSyncWritten(const std::string& in_sync) {
  dispatcher_.OnLeaseWritten(Split(in_sync));
  FlushSoon();
}

bool SharedWork::Lead(const kube::Succession& succession, std::function<void()> ready) {
  auto adopted = hand_.Adopt(succession.previous_epoch, Split(succession.in_sync));
  if (adopted && mistake_ == hands::Mistake::kNoAdoption) adopted->clear();
  dispatcher_.Begin(succession.epoch, adopted.value_or(std::vector<hands::Entry>()));
  if (adopted) ready_ = std::move(ready);
  FlushSoon();
  return adopted.has_value();
}

void SharedWork::Run(scheduler::Effect effect) {
  dispatcher_.Run(std::move(effect));
  FlushSoon();
}

void SharedWork::Answered(scheduler::EffectResult result) {
  dispatcher_.OnLocal(std::move(result), loop_.Steady());
  FlushSoon();
}

void SharedWork::Tick() {
  loop_.After(kTick, [this] { Tick(); });
  if (!dispatcher_.Leads()) return;
  const std::vector<std::string> others = callbacks_.others();
  dispatcher_.SetHands(std::set<std::string>(others.begin(), others.end()), loop_.Steady());
  Flush();
}

void SharedWork::FlushSoon() {
  if (std::exchange(flush_pending_, true)) return;
  loop_.Post([this] {
    flush_pending_ = false;
    Flush();
  });
}

void SharedWork::Flush() {
  hands::Dispatcher::Outputs out = dispatcher_.Take(loop_.Steady());
  for (const auto& [to, batch] : out.batches) Send(to, Encode(batch), false, batch.session);
  for (const auto& [to, poll] : out.polls) Send(to, Encode(poll), true, poll.session);
  for (scheduler::Effect& effect : out.local) callbacks_.carry_out(std::move(effect));
  for (scheduler::EffectResult& result : out.results) callbacks_.tell(std::move(result));
  for (api::Pod& pod : out.adopted) callbacks_.adopt(std::move(pod));
  if (ready_ && dispatcher_.Adopted()) std::exchange(ready_, nullptr)();
  if (!out.in_sync) return;
  std::string joined;
  for (const std::string& id : *out.in_sync) joined += (joined.empty() ? "" : ",") + id;
  callbacks_.set_in_sync(joined);
}

// --- The network between replicas

sim::Nanos SharedWork::Delay() {
  return link_.dice.PerMille(15) ? link_.dice.Between(0, 5 * sim::kSecond)
                                 : link_.dice.Between(sim::kMillisecond / 10, link_.Wire());
}

void SharedWork::Send(const std::string& to, std::string bytes, bool poll, uint64_t session) {
  const uint64_t call = ++last_call_;
  calls_[call] = {to, session, poll};
  loop_.After(kAnswerTimeout + (poll ? kPollHeld : net::Nanoseconds(0)), [this, call] {
    const auto found = calls_.find(call);
    if (found == calls_.end()) return;
    const Call lost = found->second;
    calls_.erase(found);
    dispatcher_.OnFailure(lost.to, lost.session, lost.poll, loop_.Steady());
    FlushSoon();
  });
  Deliver(to, bytes, poll, Delay(), call);
  if (link_.dice.PerMille(30)) Deliver(to, bytes, poll, Delay(), call);
}

void SharedWork::Deliver(const std::string& to, const std::string& bytes, bool poll,
                         sim::Nanos delay, uint64_t call) {
  const auto answered = [this, weak = loop_.weak_from_this(), call, poll](sim::Nanos back,
                                                                          std::string answer) {
    const auto loop = weak.lock();
    if (!loop) return;
    loop->Arrive(back, [this, call, poll, answer = std::move(answer)] {
      const auto found = calls_.find(call);
      if (found == calls_.end() || link_.peers_cut) return;
      const Call ended = found->second;
      calls_.erase(found);
      const auto decoded = hands::DecodeAnswer(answer);
      if (decoded) {
        dispatcher_.OnAnswer(ended.to, *decoded, poll, loop_.Steady());
      } else {
        dispatcher_.OnFailure(ended.to, ended.session, poll, loop_.Steady());
      }
      FlushSoon();
    });
  };
  world_.After(delay, [weak = loop_.weak_from_this(), find = callbacks_.find, to, bytes, poll,
                       answered, &link = link_] {
    SharedWork* hand = find(to);
    if (hand == nullptr || link.peers_cut || hand->link_.peers_cut) return;
    hand->loop_.Arrive(0, [hand, bytes, poll, answered] {
      hand->Serve(bytes, poll, [hand, answered](std::string answer) {
        if (!hand->link_.peers_cut) answered(hand->Delay(), std::move(answer));
      });
    });
  });
}

// --- As a hand

void SharedWork::Serve(const std::string& bytes, bool poll,
                       const std::function<void(std::string)>& reply) {
  if (poll) {
    polls_.push_back({bytes, reply});
    loop_.After(kPollHeld, [this, bytes, reply] {
      const auto held = std::find_if(polls_.begin(), polls_.end(),
                                     [&](const HeldPoll& p) { return p.bytes == bytes; });
      if (held == polls_.end()) return;
      polls_.erase(held);
      const auto answer = hand_.Take(*hands::DecodePoll(bytes), loop_.Steady());
      reply(answer ? Encode(*answer) : "");
    });
    return AnswerPolls();
  }
  const auto batch = hands::DecodeBatch(bytes);
  const auto answer =
      batch ? hand_.Take(*batch, loop_.Steady()) : Result<hands::Answer>(Fail("malformed"));
  if (hand_.TakeListRequest()) callbacks_.list();
  reply(answer ? Encode(*answer) : "");
  RunTasks();
}

void SharedWork::RunTasks() {
  for (hands::Hand::Work& work : hand_.TakeWork(loop_.Steady())) {
    if (work.key == 0) continue;
    ++carried_;
    // Sending is a later step: the process may be stopped in between.
    loop_.Post([this, key = work.key, action = std::move(work.action), until = work.until,
                epoch = hand_.Epoch()] { callbacks_.carry_out_for(key, action, until, epoch); });
  }
  AnswerPolls();
}

void SharedWork::Finished(uint64_t key, const scheduler::EffectResult& result) {
  hand_.Finish(key, static_cast<hands::TaskResult::Code>(result.code), result.message);
  AnswerPolls();
}

void SharedWork::AnswerPolls() {
  if (!hand_.HasResults()) return;
  for (const HeldPoll& poll : std::exchange(polls_, {})) {
    const auto answer = hand_.Take(*hands::DecodePoll(poll.bytes), loop_.Steady());
    poll.reply(answer ? Encode(*answer) : "");
  }
}

std::string SharedWork::Describe() const {
  return fmt::format("log of {} entries, epoch {}", hand_.LogSize(), hand_.Epoch());
}

}  // namespace berth::replicas
