// HostGuard: decides which requests a server without authentication accepts.
//
// A web page can make a browser send requests to any address, loopback included: across sites
// (request forgery), and from the page's own site once its name resolves to loopback (DNS
// rebinding). A page cannot forge Host, Origin and Sec-Fetch-Site, so these three decide. Programs
// such as kubectl and curl send Host alone.
//
// Threads: immutable after construction.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "server/http/message.h"

namespace berth::server {

class HostGuard {
 public:
  // Accepts localhost, 127.0.0.0/8 and [::1] with any port, and the names of `accept_hosts`:
  // "name", "*.suffix" or "*". Pages of these names are accepted as origins too.
  explicit HostGuard(std::vector<std::string> accept_hosts = {});

  // The reason for refusing the request; nullopt: it is accepted.
  std::optional<std::string> Refuse(const Request& request) const;

  // Checks a value of accept_hosts.
  static Result<void> CheckPattern(std::string_view pattern);

 private:
  bool AcceptsHost(std::string_view name) const;
  bool Listed(std::string_view name) const;

  std::vector<std::string> accept_hosts_;  // in lower case
};

// A host with its port ("" if absent), the brackets of an IPv6 address removed, in lower case.
struct Authority {
  std::string host;
  std::string port;

  // nullopt: malformed.
  static std::optional<Authority> Parse(std::string_view text);
};

// True for localhost and addresses of 127.0.0.0/8 and ::1.
bool IsLoopbackHost(std::string_view host);

// Does the request carry "Authorization: Bearer TOKEN"? The time taken does not depend on how much
// of the token is right.
bool HasBearerToken(const Request& request, std::string_view token);

}  // namespace berth::server
