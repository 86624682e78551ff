// What is said to a proxy before it passes bytes on: HTTP CONNECT or SOCKS5 (RFC 1928, 1929).
//
// Bytes in, bytes out; knows nothing of sockets.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/http/url.h"

namespace berth::net {

class ProxyHandshake {
 public:
  virtual ~ProxyHandshake() = default;
  // The first bytes to send.
  virtual std::string Start() = 0;
  // Takes what came from the proxy. True: the way is open, and what `Rest` holds came through it.
  // `reply` is what to send next, possibly nothing.
  virtual Result<bool> Receive(std::string_view bytes, std::string& reply) = 0;
  const std::string& Rest() const { return buffer_; }

 protected:
  std::string buffer_;
};

// For the scheme of `proxy`.
std::unique_ptr<ProxyHandshake> MakeProxyHandshake(const Url& proxy, const Url& target);

}  // namespace berth::net
