// Transport: a two-way stream of bytes to a server, with all that comes before the first of them:
// name lookup, TCP, proxy, TLS.
//
// On the loop's thread only. The listener hears from the loop, never from inside a call.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "net/http/message.h"
#include "net/http/tls.h"
#include "net/http/url.h"
#include "net/loop.h"

namespace berth::net {

// How a server is reached.
struct Route {
  Url target;
  std::optional<Url> proxy;
  std::shared_ptr<const TlsContext> tls;  // for https and for an https proxy
  bool offer_http2 = true;
  Nanoseconds connect_timeout{0};

  // A plain request to an http proxy names the server itself: no tunnel.
  bool AsksProxy() const {
    return proxy && target.scheme == "http" && !proxy->scheme.starts_with("socks5");
  }
};

class Transport {
 public:
  class Listener {
   public:
    virtual ~Listener() = default;
    virtual void OnOpen(bool http2) = 0;
    virtual void OnBytes(std::string_view bytes) = 0;
    // All that was written is with the system.
    virtual void OnDrained() = 0;
    // The last call. `proper`: the peer ended the stream as it should.
    virtual void OnClosed(const HttpError& error, bool proper) = 0;
  };

  virtual ~Transport() = default;
  // REQUIRES: open.
  virtual void Write(std::string_view bytes) = 0;
  // Written and not yet with the system.
  virtual size_t Backlog() const = 0;
  // Forgets the listener; what is written goes out if the system takes it at once.
  virtual void Close() = 0;
};

// Starts to connect.
std::shared_ptr<Transport> OpenTransport(SystemLoop& loop, Route route,
                                         Transport::Listener* listener);

}  // namespace berth::net
