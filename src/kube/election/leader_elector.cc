#include "kube/election/leader_elector.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/visible.h"
#include "kube/election/lease_lock.h"
#include "kube/election/lease_times.h"
#include "kube/election/other_holders.h"
#include "log/log.h"

namespace berth::kube {

namespace {

using std::chrono::seconds;

constexpr double kJitterFactor = 1.2;

Result<void> Check(const LeaseTimes& durations) {
  if (durations.lease <= durations.renew_deadline) {
    return Fail("leaseDuration must be greater than renewDeadline");
  }
  const double jittered = kJitterFactor * static_cast<double>(durations.retry_period.count());
  if (static_cast<double>(durations.renew_deadline.count()) <= jittered) {
    return Fail("renewDeadline must be greater than retryPeriod*JitterFactor");
  }
  if (durations.lease.count() < 1) return Fail("leaseDuration must be greater than zero");
  if (durations.renew_deadline.count() < 1) return Fail("renewDeadline must be greater than zero");
  if (durations.retry_period.count() < 1) return Fail("retryPeriod must be greater than zero");
  return {};
}

// More than twenty fields: one state machine, as client-go's: what the Lease said, what was asked
// of it, and the timers of both.
class Elector final : public LeaderElector {
 public:
  Elector(net::Loop& loop, ApiClient& client, const config::LeaderElectionConfiguration& config,
          const LeaseTimes& durations, std::string identity, LeaderCallbacks callbacks)
      : loop_(loop),
        durations_(durations),
        identity_(std::move(identity)),
        name_(config.resource_name),
        callbacks_(std::move(callbacks)),
        lock_(client, config.resource_namespace, config.resource_name,
              std::max<net::Nanoseconds>(durations.renew_deadline / 2, seconds(1))) {}
  ~Elector() override { StopWaiting(); }

  void Start() override {
    if (state_ != State::kIdle) return;
    state_ = State::kAcquiring;
    log::InfoLine(0, fmt::format("attempting to acquire leader lease {}...", lock_.Describe()));
    Acquire();
  }
  void Release(std::function<void()> done) override;
  void SetInSync(const std::string& in_sync) override {
    if (state_ != State::kLeading) return;
    in_sync_ = in_sync;
    if (retry_timer_ == 0) return;  // an attempt is in flight; the next one follows at once
    loop_.Cancel(std::exchange(retry_timer_, 0));
    Renew();
  }
  bool IsLeader() const override { return observed_.holder == identity_; }
  std::string Leader() const override { return observed_.holder; }
  Result<void> Check(net::Nanoseconds tolerance) const override {
    if (!IsLeader() || loop_.Steady() - observed_at_ <= durations_.lease + tolerance) return {};
    return Fail("failed election to renew leadership on lease " + name_);
  }

 private:
  enum class State { kIdle, kAcquiring, kLeading, kReleasing, kStopped };
  using Tried = void (Elector::*)(bool succeeded);

  void Acquire() { Try(&Elector::OnAcquireTried); }
  void OnAcquireTried(bool succeeded);
  void Renew();
  void OnRenewTried(bool succeeded);
  void OnRenewDeadline();
  void Lose(std::string_view why);
  void GiveUp(std::function<void()> done);
  void Stop();

  // One attempt: to keep the Lease when it is ours, to get it when it is free.
  void Try(Tried next);
  void TryRead(Tried next, LeaderRecord wanted);
  void OnRead(Tried next, LeaderRecord wanted, const LeaseLock::Outcome& outcome);
  void Write(Tried next, const LeaderRecord& wanted);

  LeaderRecord Wanted() const;
  void Observe(const LeaderRecord& record) {
    observed_ = record;
    observed_at_ = loop_.Steady();
    if (callbacks_.observed) callbacks_.observed(record.holder, record.transitions);
  }
  // The attempt under way began so long ago that what it brought has expired.
  bool IsLate() const { return loop_.Steady() - tried_at_ >= durations_.lease; }
  void NoteHeld() {
    renewed_at_ = tried_at_;
    if (callbacks_.held_until) callbacks_.held_until(renewed_at_ + durations_.renew_deadline);
  }
  void NoteInSync() {
    if (in_sync_told_ == observed_.in_sync) return;
    in_sync_told_ = observed_.in_sync;
    if (callbacks_.in_sync_written) callbacks_.in_sync_written(observed_.in_sync);
  }
  bool IsValid() const {
    return observed_at_ + seconds(observed_.lease_duration_seconds) > tried_at_;
  }
  net::Nanoseconds PauseOfStandby() const;
  void ReportLeader();
  void RecordEvent(std::string_view what) {
    if (!callbacks_.record) return;
    callbacks_.record(lock_.Metadata().uid, lock_.Metadata().resource_version,
                      fmt::format("{} {}", identity_, what));
  }
  void StopWaiting() {
    lock_.Cancel();
    loop_.Cancel(std::exchange(retry_timer_, 0));
    loop_.Cancel(std::exchange(deadline_timer_, 0));
  }

  net::Loop& loop_;
  const LeaseTimes durations_;
  const std::string identity_;
  const std::string name_;
  const LeaderCallbacks callbacks_;
  LeaseLock lock_;

  State state_ = State::kIdle;
  net::Loop::TimerId retry_timer_ = 0;
  net::Loop::TimerId deadline_timer_ = 0;
  net::Nanoseconds tried_at_{0};    // when the attempt under way began
  net::Nanoseconds renewed_at_{0};  // when the last one that succeeded began
  net::Nanoseconds next_renew_{0};  // when the next attempt is due if this one fails
  LeaderRecord observed_;           // by us, read or written
  net::Nanoseconds observed_at_{0};
  std::optional<LeaderRecord> read_;  // the last one read: a change of it is a sign of life
  OtherHolders others_;
  std::string reported_leader_;
  std::string in_sync_;                      // for the Lease
  std::optional<std::string> in_sync_told_;  // as in_sync_written was called last
  int32_t previous_epoch_ = 0;
  std::string previous_in_sync_;
  std::vector<std::function<void()>> released_;  // who waits for the release
};

// ---- Attempts

LeaderRecord Elector::Wanted() const {
  const auto now = api::MicroTime::FromUnixNano(loop_.Now().UnixNano() / 1000 * 1000);
  LeaderRecord record;
  record.holder = identity_;
  record.lease_duration_seconds = static_cast<int32_t>(durations_.lease / seconds(1));
  record.acquire_time = now;
  record.renew_time = now;
  return record;
}

void Elector::Try(Tried next) {
  tried_at_ = loop_.Steady();
  if (state_ == State::kLeading && tried_at_ - renewed_at_ >= durations_.lease) {
    return Lose("not renewed within the lease duration");
  }
  LeaderRecord wanted = Wanted();
  if (!IsLeader() || !IsValid()) return TryRead(next, std::move(wanted));
  wanted.acquire_time = observed_.acquire_time;
  wanted.transitions = observed_.transitions;
  wanted.in_sync = in_sync_;
  lock_.Update(wanted, [this, next, wanted](const LeaseLock::Outcome& outcome) {
    if (outcome.ok) {
      Observe(wanted);
      return (this->*next)(true);
    }
    log::Error(outcome.message, "Failed to update lock optimistically, falling back to slow path");
    TryRead(next, wanted);
  });
}

void Elector::TryRead(Tried next, LeaderRecord wanted) {
  lock_.Get(
      [this, next, wanted](const LeaseLock::Outcome& outcome) { OnRead(next, wanted, outcome); });
}

void Elector::OnRead(Tried next, LeaderRecord wanted, const LeaseLock::Outcome& outcome) {
  if (outcome.not_found) {
    return lock_.Create(wanted, [this, next, wanted](const LeaseLock::Outcome& created) {
      if (created.ok) Observe(wanted);
      if (!created.ok) {
        log::Error(created.message, "error initially creating leader election record");
      }
      (this->*next)(created.ok);
    });
  }
  if (!outcome.ok) {
    log::Error(outcome.message, "error retrieving resource lock " + lock_.Describe());
    return (this->*next)(false);
  }
  const LeaderRecord& record = lock_.Record();
  if (read_ != record) {
    read_ = record;
    Observe(record);
    others_.Saw(record, identity_, observed_at_);
  }
  if (state_ == State::kLeading && !record.holder.empty() && !IsLeader()) {
    return Lose("held by " + Visible(record.holder));
  }
  if (!record.holder.empty() && IsValid() && !IsLeader()) {
    log::InfoLine(
        4, fmt::format("lock is held by {} and has not yet expired", Visible(record.holder)));
    return (this->*next)(false);
  }
  if (IsLeader()) {
    wanted.acquire_time = record.acquire_time;
    wanted.transitions = record.transitions;
    wanted.in_sync = in_sync_;
  } else {
    previous_epoch_ = record.transitions;
    previous_in_sync_ = record.in_sync;
    wanted.acquire_time = wanted.renew_time;
    wanted.transitions = record.transitions < INT32_MAX ? record.transitions + 1 : INT32_MAX;
  }
  Write(next, wanted);
}

void Elector::Write(Tried next, const LeaderRecord& wanted) {
  lock_.Update(wanted, [this, next, wanted](const LeaseLock::Outcome& outcome) {
    if (outcome.ok) {
      Observe(wanted);
    } else {
      log::Error(outcome.message, "Failed to update lock");
    }
    (this->*next)(outcome.ok);
  });
}

void Elector::ReportLeader() {
  if (observed_.holder == reported_leader_) return;
  reported_leader_ = observed_.holder;
  if (callbacks_.new_leader) callbacks_.new_leader(reported_leader_);
}

// ---- From standby to leader and back

// Until the next read: at the latest when the Lease of another expires.
net::Nanoseconds Elector::PauseOfStandby() const {
  const double random = loop_.Random();
  if (observed_.holder.empty() || IsLeader()) {
    const double pause =
        static_cast<double>(durations_.retry_period.count()) * (1 + kJitterFactor * random);
    return net::Nanoseconds(static_cast<int64_t>(pause));
  }
  const net::Nanoseconds pause = durations_.StandbyPause(random);
  const net::Nanoseconds valid =
      observed_at_ + seconds(observed_.lease_duration_seconds) - loop_.Steady();
  return valid.count() > 0 ? std::min(pause, valid) : pause;
}

void Elector::OnAcquireTried(bool succeeded) {
  ReportLeader();
  if (!succeeded || IsLate()) {
    log::InfoLine(4, "failed to acquire lease " + lock_.Describe());
    retry_timer_ = loop_.After(PauseOfStandby(), [this] { Acquire(); });
    return;
  }
  state_ = State::kLeading;
  NoteHeld();
  RecordEvent("became leader");
  log::InfoLine(0, "successfully acquired lease " + lock_.Describe());
  Renew();
  if (!callbacks_.started_leading) return;
  callbacks_.started_leading({.follows_another = others_.Any(),
                              .silent_from = others_.SilentFrom(),
                              .epoch = observed_.transitions,
                              .previous_epoch = previous_epoch_,
                              .in_sync = previous_in_sync_});
}

// Attempts every retry period until one succeeds, but not longer than the deadline.
void Elector::Renew() {
  next_renew_ = loop_.Steady() + durations_.retry_period;
  deadline_timer_ = loop_.After(durations_.renew_deadline, [this] {
    deadline_timer_ = 0;
    OnRenewDeadline();
  });
  Try(&Elector::OnRenewTried);
}

void Elector::OnRenewTried(bool succeeded) {
  if (IsLate()) return Lose("not renewed within the lease duration");
  if (succeeded) {
    NoteHeld();
    loop_.Cancel(std::exchange(deadline_timer_, 0));
    ReportLeader();
    log::InfoLine(5, "successfully renewed lease " + lock_.Describe());
    NoteInSync();
    if (observed_.in_sync != in_sync_) return Renew();
    retry_timer_ = loop_.After(durations_.retry_period, [this] { Renew(); });
    return;
  }
  const net::Nanoseconds now = loop_.Steady();
  const net::Nanoseconds due = std::max(next_renew_, now);
  next_renew_ += ((due - next_renew_) / durations_.retry_period + 1) * durations_.retry_period;
  retry_timer_ = loop_.After(due - now, [this] { Try(&Elector::OnRenewTried); });
}

void Elector::OnRenewDeadline() {
  if (loop_.Steady() - renewed_at_ >= durations_.lease) {
    return Lose("not renewed within the lease duration");
  }
  if (callbacks_.is_silent && !callbacks_.is_silent()) {
    return Lose("not renewed in time, and requests are still under way");
  }
  StopWaiting();
  ReportLeader();
  log::InfoLine(
      0, fmt::format("failed to renew lease {}: context deadline exceeded", lock_.Describe()));
  state_ = State::kReleasing;
  GiveUp([this] {
    const bool asked_to = !released_.empty();
    RecordEvent("stopped leading");
    Stop();
    if (!asked_to && callbacks_.stopped_leading) callbacks_.stopped_leading();
  });
}

// The Lease is, or may be, another's by now: at once, and without touching it.
void Elector::Lose(std::string_view why) {
  StopWaiting();
  ReportLeader();
  log::InfoLine(0, fmt::format("lost lease {}: {}", lock_.Describe(), why));
  RecordEvent("stopped leading");
  Stop();
  if (callbacks_.stopped_leading) callbacks_.stopped_leading();
}

// Hands the Lease over to whoever waits for it, if it is still ours.
void Elector::GiveUp(std::function<void()> done) {
  deadline_timer_ = loop_.After(durations_.renew_deadline, [this, done] {
    deadline_timer_ = 0;
    lock_.Cancel();
    done();
  });
  const auto finish = [this, done = std::move(done)](std::string_view error) {
    loop_.Cancel(std::exchange(deadline_timer_, 0));
    if (!error.empty()) log::Error(error, "Failed to release lock");
    done();
  };
  lock_.Get([this, finish](const LeaseLock::Outcome& outcome) {
    if (!outcome.ok) return finish(outcome.message);
    if (!IsLeader() || lock_.Record().holder != identity_) return finish("");
    LeaderRecord free = Wanted();
    free.holder.clear();
    free.lease_duration_seconds = 1;
    free.transitions = lock_.Record().transitions;
    free.in_sync = lock_.Record().in_sync;
    lock_.Update(free, [this, finish, free](const LeaseLock::Outcome& written) {
      if (written.ok) Observe(free);
      finish(written.message);
    });
  });
}

void Elector::Release(std::function<void()> done) {
  released_.push_back(std::move(done));
  if (state_ == State::kReleasing) return;
  StopWaiting();
  if (state_ == State::kLeading) {
    state_ = State::kReleasing;
    return GiveUp([this] { Stop(); });
  }
  retry_timer_ = loop_.After(net::Nanoseconds(0), [this] { Stop(); });
}

void Elector::Stop() {
  StopWaiting();
  state_ = State::kStopped;
  for (auto& done : std::exchange(released_, {})) done();
}

}  // namespace

Result<std::unique_ptr<LeaderElector>> LeaderElector::Make(
    net::Loop& loop, ApiClient& client, const config::LeaderElectionConfiguration& config,
    std::string identity, LeaderCallbacks callbacks) {
  const LeaseTimes durations = LeaseTimes::Of(config);
  if (auto ok = kube::Check(durations); !ok) return Fail(std::move(ok.error()));
  if (identity.empty()) return Fail("Lock identity is empty");
  return std::make_unique<Elector>(loop, client, config, durations, std::move(identity),
                                   std::move(callbacks));
}

}  // namespace berth::kube
