// URLs of servers and proxies, and which proxy a server is reached through.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::net {

struct Url {
  std::string scheme;     // lower case
  std::string user;       // percent-decoded
  std::string password;   // percent-decoded
  bool has_user = false;  // even if empty
  std::string host;       // without brackets
  uint16_t port = 0;      // that of the scheme where none is written
  std::string authority;  // host[:port] as written

  // "host:port", IPv6 addresses in brackets.
  std::string HostPort() const;
  // "Basic ..." for the user and password.
  std::string BasicAuthorization() const;
};

// Accepts http, https, socks5 and socks5h. Path, query and fragment are ignored.
Result<Url> ParseUrl(std::string_view text);

bool IsIpAddress(const std::string& host);
std::string JoinHostPort(std::string_view host, uint16_t port);

// What HTTP_PROXY, HTTPS_PROXY and NO_PROXY (or their lower case names) say.
struct ProxyEnvironment {
  std::string http_proxy;
  std::string https_proxy;
  std::string no_proxy;

  static ProxyEnvironment OfProcess();
};

// The proxy for `target`, by the rules of Go's net/http: loopback is never proxied, NO_PROXY lists
// hosts, domains, addresses and CIDR blocks, each with an optional port. None: go direct.
Result<std::optional<Url>> ProxyFor(const Url& target, const ProxyEnvironment& environment);

}  // namespace berth::net
