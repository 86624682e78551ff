// ServerUrl: where an API server is, from what people write: a URL, a host, a host and a port.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::kube {

struct ServerUrl {
  std::string scheme;     // "http", "https"
  std::string authority;  // host[:port]; IPv6 in brackets; without user information
  std::string path;       // in front of every request: "/k8s/clusters/c-1"; "" for none

  bool Tls() const { return scheme == "https"; }
  std::string Origin() const { return scheme + "://" + authority; }
  std::string Text() const { return Origin() + path; }
  // Without port and brackets.
  std::string Host() const;
  // Of the URL, else of its scheme.
  std::string Port() const;
};

// As client-go: what has no scheme is https when `default_tls`, else http, and may have no path.
Result<ServerUrl> ParseServerUrl(std::string_view text, bool default_tls);

// Only the parts of a URL, or an error in the words of Go's net/url.
struct UrlParts {
  std::string scheme;    // lower case
  std::string userinfo;  // "user:password", still escaped
  std::string authority;
  std::string path;
  bool has_authority = false;
};
Result<UrlParts> SplitUrl(std::string_view text);

}  // namespace berth::kube
