// Connection: one transport, the protocol spoken over it, and the exchanges it carries.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http/protocol.h"
#include "net/http/transport.h"

namespace berth::net {

struct ConnectionTimes {
  Nanoseconds ping_idle{0};     // silence after which the peer is asked for a sign of life
  Nanoseconds ping_timeout{0};  // and how long it has to give one
  Nanoseconds idle_timeout{0};  // a connection without exchanges is closed
};

class Connection final : public std::enable_shared_from_this<Connection>,
                         Transport::Listener,
                         ExchangeEvents {
 public:
  // The client. During any of its calls the connection may be closed.
  class Owner {
   public:
    virtual ~Owner() = default;
    virtual void OnAnswer(Exchange& exchange) = 0;
    virtual void OnBody(Exchange& exchange, std::string_view bytes) = 0;
    // The exchange is over, for good (no error) or not. It belongs to no connection any more.
    virtual void OnFinished(Exchange& exchange, const HttpError* error, bool retry) = 0;
    // The same, for one that may meanwhile have been cancelled.
    virtual void OnLost(uint64_t exchange, const HttpError& error) = 0;
    // `error`: no connection came about. The connection is closed.
    virtual void OnGone(Connection& connection, const HttpError* error) = 0;
    // Something happened: there may be room for more.
    virtual void OnProgress() = 0;
  };

  Connection(SystemLoop& loop, Route route, RequestForm form, ConnectionTimes times, Owner* owner);
  ~Connection() override;
  void Open();

  bool Connecting() const { return protocol_ == nullptr; }
  bool Http2() const { return http2_; }
  // Takes no new exchanges: closes when those it has are over.
  bool Draining() const { return draining_; }
  void Drain();
  size_t Room() const;
  // REQUIRES: Room() > 0. Nothing is sent before Flush.
  void Start(Exchange& exchange);
  void Abort(Exchange& exchange);
  void Flush();
  // No calls to the owner after this. What it carried is forgotten.
  void Close();

 private:
  void OnOpen(bool http2) override;
  void OnBytes(std::string_view bytes) override;
  void OnDrained() override;
  void OnClosed(const HttpError& error, bool proper) override;

  void OnAnswer(Exchange& exchange) override;
  void OnBody(Exchange& exchange, std::string_view bytes) override;
  void OnEnd(Exchange& exchange) override;
  void OnFailure(Exchange& exchange, HttpError error, bool retry) override;

  void Remove(Exchange& exchange);
  void Settle();
  void End(const HttpError& error, const HttpError* connect_error = nullptr);
  void Watch();
  void OnWatch();

  SystemLoop& loop_;
  const Route route_;
  const RequestForm form_;
  const ConnectionTimes times_;
  Owner* owner_;  // null: closed
  std::shared_ptr<Transport> transport_;
  std::unique_ptr<Protocol> protocol_;  // null: connecting
  bool http2_ = false;
  bool draining_ = false;
  bool dirty_ = false;  // something may be there to send
  std::vector<Exchange*> exchanges_;
  std::string out_;
  Nanoseconds last_heard_{0};
  Nanoseconds last_used_{0};
  bool pinging_ = false;  // and nothing heard since
  Nanoseconds pinged_at_{0};
  Loop::TimerId watch_timer_ = 0;
};

}  // namespace berth::net
