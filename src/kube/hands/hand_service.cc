#include "kube/hands/hand_service.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/visible.h"
#include "log/log.h"

namespace berth::kube {

namespace {

// A poll without results is answered after this time.
constexpr net::Nanoseconds kPollHeld = std::chrono::seconds(1);
// Polls at a time: a leader sends one, and a new one when it gives the last one up.
constexpr size_t kMaxPolls = 8;
constexpr net::Nanoseconds kActive = std::chrono::seconds(5);

}  // namespace

HandService::HandService(net::Loop& loop, ApiClient& client, Fence& fence, std::string election,
                         std::string identity, bool marks_bindings)
    : loop_(loop),
      client_(client),
      fence_(fence),
      marks_bindings_(marks_bindings),
      hand_(std::move(election), std::move(identity)) {
  fence_.Move(net::Nanoseconds(0));
}

HandService::~HandService() {
  *alive_ = false;
  for (const HeldPoll& held : polls_) loop_.Cancel(held.timer);
}

void HandService::Attach(EventRecorder& events, std::function<void()> list) {
  events_ = &events;
  list_ = std::move(list);
}

void HandService::SetRules(const EffectRules& rules) {
  rules_ = rules;
  if (runner_) runner_->SetRules(rules);
}

bool HandService::IsActive() const {
  return session_.number != 0 && loop_.Steady() - last_batch_ < kActive;
}

// --- Messages

void HandService::Serve(bool poll, std::string_view bytes, Reply reply) {
  if (poll) return HoldPoll(bytes, std::move(reply));
  TakeBatch(bytes, reply);
}

void HandService::TakeBatch(std::string_view bytes, const Reply& reply) {
  const auto batch = hands::DecodeBatch(bytes);
  if (!batch) return reply(Fail(batch.error()));
  const auto answer = hand_.Take(*batch, loop_.Steady());
  if (!answer) return reply(Fail(answer.error()));
  last_batch_ = loop_.Steady();
  Session session{batch->leader, batch->epoch, batch->session};
  if (session != session_) BeginSession(std::move(session));
  reply(hands::Encode(*answer));
  RunTasks();
}

void HandService::BeginSession(Session session) {
  log::Info(2, "Sharing the work of a leader",
            {{"leader", Visible(session.leader)}, {"epoch", session.epoch}});
  session_ = std::move(session);
  fence_.Move(net::Nanoseconds(0));
  runner_ = std::make_unique<EffectRunner>(
      loop_, client_, *events_, raw_,
      [this](scheduler::EffectResult result) { OnResult(std::move(result)); }, rules_);
  if (marks_bindings_) runner_->MarkBindings(static_cast<int32_t>(session_.epoch));
  if (hand_.TakeListRequest()) list_();
}

void HandService::HoldPoll(std::string_view bytes, Reply reply) {
  auto poll = hands::DecodePoll(bytes);
  if (!poll) return reply(Fail(poll.error()));
  // What the leader has received is dropped at once, and a poll of another session is refused.
  const auto taken = hand_.Take(*poll, loop_.Steady());
  if (!taken) return reply(Fail(taken.error()));
  if (polls_.size() >= kMaxPolls) {
    const HeldPoll oldest = std::move(polls_.front());
    polls_.pop_front();
    Answer(oldest);
  }
  polls_.push_back({std::move(*poll), std::move(reply)});
  const auto held = std::prev(polls_.end());
  held->timer = loop_.After(kPollHeld, [this, held] {
    held->timer = 0;
    const HeldPoll over = std::move(*held);
    polls_.erase(held);
    Answer(over);
  });
  if (hand_.HasResults()) AnswerSoon();
}

void HandService::Answer(const HeldPoll& held) {
  loop_.Cancel(held.timer);
  const auto answer = hand_.Take(held.poll, loop_.Steady());
  held.reply(answer ? Result<std::string>(hands::Encode(*answer)) : Fail(answer.error()));
}

// Results that come in one round of the loop go together.
void HandService::AnswerSoon() {
  if (std::exchange(answers_soon_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (!*alive) return;
    answers_soon_ = false;
    AnswerPolls();
  });
}

void HandService::AnswerPolls() {
  if (!hand_.HasResults()) return;
  for (const HeldPoll& held : std::exchange(polls_, {})) Answer(held);
}

// --- Work

void HandService::RunTasks() {
  for (hands::Hand::Work& work : hand_.TakeWork(loop_.Steady())) {
    fence_.Move(std::max(fence_.Until(), work.until));
    runner_->Run({work.key, std::move(work.action)});
  }
  if (hand_.HasResults()) AnswerSoon();  // some came too late
}

void HandService::OnResult(scheduler::EffectResult&& result) {
  auto code = static_cast<hands::TaskResult::Code>(result.code);
  // It was not sent, or not again: what became of an earlier attempt is to be read.
  if (code == hands::TaskResult::Code::kError && fence_.Passed(loop_.Steady())) {
    code = hands::TaskResult::Code::kUnknown;
  }
  hand_.Finish(result.id, code, std::move(result.message));
  AnswerSoon();
}

}  // namespace berth::kube
