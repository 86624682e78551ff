// Listener: HTTPS (or plain HTTP) connections.
//
// HTTP/2 over TLS for clients that offer it, HTTP/1.1 with keep-alive for all others, one request
// after the other on each connection; a client that speaks plain HTTP gets a message that says so.
// What clients can hold is bounded: header and body sizes, the bytes of all incomplete requests
// together, the time to send them, idle time, number of connections. When there are too many bytes
// or connections, the connection that has waited longest for the rest of a request is closed.
#pragma once

#include <functional>
#include <memory>

#include "base/error.h"
#include "net/loop.h"
#include "server/http/message.h"
#include "server/http/tls.h"
#include "server/server.h"

namespace berth::server {

class Listener {
 public:
  // Binds and listens: errors are Go's. `loop` and `certificates` outlive the listener, and the
  // loop no longer runs when it is destroyed. `handler` is called on the loop's thread.
  static Result<std::unique_ptr<Listener>> Make(net::SystemLoop& loop,
                                                const ServingOptions& options,
                                                const ServingCertificates& certificates,
                                                Handler handler);
  // The same without TLS, for a server that only this machine reaches.
  static Result<std::unique_ptr<Listener>> MakePlain(net::SystemLoop& loop,
                                                     const ServingOptions& options,
                                                     Handler handler);
  virtual ~Listener() = default;

  virtual int Port() const = 0;
  // "127.0.0.1:10259", "[::]:10259".
  virtual std::string Address() const = 0;
  // The rest: on the loop's thread.
  virtual void Start() = 0;
  // Takes no new connections, ends idle ones at once and the others after their response, or after
  // the options' shutdown_timeout. `done` is called when the last one is gone.
  virtual void Stop(std::function<void()> done) = 0;
};

}  // namespace berth::server
