#include "net/http/connection.h"

#include <algorithm>
#include <utility>

namespace berth::net {
namespace {

// More than this is not taken out of the protocol while the system has not taken it.
constexpr size_t kMaxBacklog = 1 << 20;

}  // namespace

Connection::Connection(SystemLoop& loop, Route route, RequestForm form, ConnectionTimes times,
                       Owner* owner)
    : loop_(loop), route_(std::move(route)), form_(std::move(form)), times_(times), owner_(owner) {}

Connection::~Connection() { Close(); }

void Connection::Open() { transport_ = OpenTransport(loop_, route_, this); }

size_t Connection::Room() const {
  if (owner_ == nullptr || draining_ || !protocol_ || protocol_->Broken()) return 0;
  const size_t limit = protocol_->Limit();
  return limit > exchanges_.size() ? limit - exchanges_.size() : 0;
}

void Connection::Start(Exchange& exchange) {
  exchange.connection = this;
  exchange.slot = exchanges_.size();
  exchanges_.push_back(&exchange);
  dirty_ = true;
  protocol_->Start(exchange);
}

void Connection::Abort(Exchange& exchange) {
  Remove(exchange);
  dirty_ = true;
  protocol_->Abort(exchange);
}

void Connection::Remove(Exchange& exchange) {
  exchanges_.back()->slot = exchange.slot;
  exchanges_[exchange.slot] = exchanges_.back();
  exchanges_.pop_back();
  exchange.connection = nullptr;
  if (exchanges_.empty()) last_used_ = loop_.Steady();
}

void Connection::Flush() {
  const auto self = shared_from_this();
  while (owner_ != nullptr && dirty_ && protocol_ && transport_->Backlog() < kMaxBacklog) {
    dirty_ = false;
    protocol_->Produce(out_, kMaxBacklog);
    if (owner_ == nullptr) return;
    if (!out_.empty()) {
      dirty_ = out_.size() >= kMaxBacklog;
      transport_->Write(out_);
      out_.clear();
    }
  }
  if (owner_ != nullptr) Settle();
}

// Closes if nothing more can come of it.
void Connection::Settle() {
  if (protocol_ && protocol_->Broken()) {
    const HttpError error = *protocol_->Broken();
    End(error);
    return;
  }
  if (protocol_ && protocol_->Limit() == 0) draining_ = true;
  if (draining_ && exchanges_.empty()) End({HttpError::Kind::kUnsent, "EOF"});
}

void Connection::Drain() { draining_ = true; }

void Connection::End(const HttpError& error, const HttpError* connect_error) {
  const auto self = shared_from_this();
  Owner* owner = owner_;
  std::vector<uint64_t> lost;
  for (Exchange* exchange : exchanges_) {
    lost.push_back(exchange->id);
    exchange->connection = nullptr;
  }
  exchanges_.clear();
  std::sort(lost.begin(), lost.end());
  Close();
  owner->OnGone(*this, connect_error);
  // The owner may close itself in any of these, and then knows none of them.
  for (const uint64_t id : lost) owner->OnLost(id, error);
}

void Connection::Close() {
  if (owner_ == nullptr) return;
  owner_ = nullptr;
  loop_.Cancel(std::exchange(watch_timer_, 0));
  for (Exchange* exchange : exchanges_) exchange->connection = nullptr;
  exchanges_.clear();
  if (transport_) transport_->Close();
}

void Connection::OnOpen(bool http2) {
  http2_ = http2;
  ExchangeEvents& events = *this;
  protocol_ = http2 ? MakeHttp2(form_, events) : MakeHttp1(form_, events);
  last_heard_ = last_used_ = loop_.Steady();
  dirty_ = true;
  Watch();
  owner_->OnProgress();
}

void Connection::OnBytes(std::string_view bytes) {
  const auto self = shared_from_this();
  last_heard_ = loop_.Steady();
  pinging_ = false;
  dirty_ = true;
  protocol_->Receive(bytes);
  if (owner_ == nullptr) return;
  Settle();
  if (owner_ != nullptr) owner_->OnProgress();
}

void Connection::OnDrained() {
  const auto self = shared_from_this();
  if (dirty_) Flush();
}

void Connection::OnClosed(const HttpError& error, bool proper) {
  const auto self = shared_from_this();
  if (protocol_) {
    protocol_->ReceiveEnd(error, proper);
    if (owner_ == nullptr) return;
    const HttpError end = protocol_->Broken().value_or(error);
    End(end);
    return;
  }
  End(error, &error);
}

void Connection::OnAnswer(Exchange& exchange) {
  if (owner_ != nullptr) owner_->OnAnswer(exchange);
}

void Connection::OnBody(Exchange& exchange, std::string_view bytes) {
  if (owner_ != nullptr) owner_->OnBody(exchange, bytes);
}

void Connection::OnEnd(Exchange& exchange) {
  if (owner_ == nullptr) return;
  Remove(exchange);
  owner_->OnFinished(exchange, nullptr, false);
}

void Connection::OnFailure(Exchange& exchange, HttpError error, bool retry) {
  if (owner_ == nullptr) return;
  Remove(exchange);
  owner_->OnFinished(exchange, &error, retry);
}

// Sets the timer for when the next thing may be due.
void Connection::Watch() {
  const Nanoseconds now = loop_.Steady();
  Nanoseconds next = Nanoseconds::max();
  if (pinging_) {
    next = times_.ping_timeout;
  } else if (http2_ && times_.ping_idle.count() > 0) {
    next = last_heard_ + times_.ping_idle - now;
  }
  if (times_.idle_timeout.count() > 0) {
    const Nanoseconds since = exchanges_.empty() ? last_used_ : now;
    next = std::min(next, since + times_.idle_timeout - now);
  }
  if (next == Nanoseconds::max()) return;
  watch_timer_ = loop_.After(next, [self = weak_from_this()] {
    if (const auto connection = self.lock()) connection->OnWatch();
  });
}

// Silence is met with a ping, silence after a ping with the end, idleness with a farewell.
void Connection::OnWatch() {
  watch_timer_ = 0;
  const auto self = shared_from_this();
  const Nanoseconds now = loop_.Steady();
  if (pinging_ && now - pinged_at_ >= times_.ping_timeout) {
    End({HttpError::Kind::kBroken, "http2: client connection lost"});
    return;
  }
  if (exchanges_.empty() && times_.idle_timeout.count() > 0 &&
      now - last_used_ >= times_.idle_timeout) {
    End({HttpError::Kind::kUnsent, "http: idle connection closed"});
    return;
  }
  if (!pinging_ && http2_ && times_.ping_idle.count() > 0 &&
      now - last_heard_ >= times_.ping_idle) {
    pinging_ = protocol_->Ping();
    pinged_at_ = now;
    dirty_ = true;
  }
  Watch();
  Flush();
}

}  // namespace berth::net
