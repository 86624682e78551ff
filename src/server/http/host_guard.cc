#include "server/http/host_guard.h"

#include <arpa/inet.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::server {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  return lower;
}

bool IsNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsNameByte);
}

struct Origin {
  std::string scheme;
  Authority authority;

  // nullopt: "null", or something else no web page has.
  static std::optional<Origin> Parse(std::string_view text) {
    const size_t mark = text.find("://");
    if (mark == std::string_view::npos) return std::nullopt;
    auto authority = Authority::Parse(text.substr(mark + 3));
    if (!authority) return std::nullopt;
    return Origin{Lower(text.substr(0, mark)), std::move(*authority)};
  }
};

// A Host without a port is that of the scheme's default one. Which scheme the browser used is
// unknown: a proxy in front may end TLS.
bool SameOrigin(const Origin& origin, const Authority& host) {
  if (origin.scheme != "http" && origin.scheme != "https") return false;
  if (origin.authority.host != host.host) return false;
  const std::string_view standard = origin.scheme == "http" ? "80" : "443";
  const auto port = [standard](const Authority& authority) {
    return authority.port.empty() ? standard : std::string_view(authority.port);
  };
  return port(origin.authority) == port(host);
}

// The authority of an absolute target ("http://host/path"); empty: the target is a path.
std::string_view TargetAuthority(std::string_view target) {
  if (target.starts_with('/')) return "";
  const size_t mark = target.find("://");
  if (mark == std::string_view::npos) return "";
  target.remove_prefix(mark + 3);
  return target.substr(0, target.find_first_of("/?#"));
}

}  // namespace

std::optional<Authority> Authority::Parse(std::string_view text) {
  Authority authority;
  std::string_view rest;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    authority.host = Lower(text.substr(1, end - 1));
    in6_addr address{};
    if (inet_pton(AF_INET6, authority.host.c_str(), &address) != 1) return std::nullopt;
    rest = text.substr(end + 1);
  } else {
    const size_t colon = text.find(':');
    authority.host = Lower(text.substr(0, colon));
    if (authority.host.ends_with('.')) authority.host.pop_back();  // "localhost."
    if (!IsName(authority.host)) return std::nullopt;
    rest = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (rest.empty()) return authority;
  rest.remove_prefix(1);
  constexpr size_t kMostDigits = 5;
  if (text[text.size() - rest.size() - 1] != ':' || rest.size() > kMostDigits ||
      !std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  authority.port = rest;
  return authority;
}

bool IsLoopbackHost(std::string_view host) {
  const std::string text(host);
  if (text == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, text.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

HostGuard::HostGuard(std::vector<std::string> accept_hosts) {
  for (const std::string& pattern : accept_hosts) accept_hosts_.push_back(Lower(pattern));
}

Result<void> HostGuard::CheckPattern(std::string_view pattern) {
  if (pattern == "*") return {};
  const std::string lower = Lower(pattern);
  const std::string_view name =
      lower.starts_with("*.") ? std::string_view(lower).substr(2) : std::string_view(lower);
  in6_addr v6{};
  if (IsName(name) || inet_pton(AF_INET6, lower.c_str(), &v6) == 1) return {};
  return Fail(fmt::format("\"{}\" is no host name, address, \"*.suffix\" or \"*\"", pattern));
}

bool HostGuard::Listed(std::string_view name) const {
  return std::any_of(accept_hosts_.begin(), accept_hosts_.end(), [name](std::string_view pattern) {
    if (pattern == "*") return true;
    if (!pattern.starts_with("*.")) return pattern == name;
    pattern.remove_prefix(1);
    return name.size() > pattern.size() && name.ends_with(pattern);
  });
}

bool HostGuard::AcceptsHost(std::string_view name) const {
  return IsLoopbackHost(name) || Listed(name);
}

std::optional<std::string> HostGuard::Refuse(const Request& request) const {
  const std::string_view target = TargetAuthority(request.target);
  const std::string_view named = request.Header("host");
  std::optional<Authority> host;
  for (const std::string_view text : {named, target}) {
    if (text.empty() && !named.empty()) continue;  // a target that is a path
    host = Authority::Parse(text);
    if (host && AcceptsHost(host->host)) continue;
    return fmt::format(
        "Host \"{}\" is not accepted: this server has no authentication and answers to localhost, "
        "127.0.0.0/8 and [::1] alone. --accept-hosts adds names.",
        text);
  }
  const std::string_view written = request.Header("origin");
  const bool has_origin = !written.empty();
  if (has_origin) {
    const auto origin = Origin::Parse(written);
    if (!origin || !(SameOrigin(*origin, *host) || Listed(origin->authority.host))) {
      return fmt::format(
          "Origin \"{}\" is not accepted: pages of other sites may not use this server. "
          "--accept-hosts adds names.",
          written);
    }
  }
  const std::string site = Lower(request.Header("sec-fetch-site"));
  if (site.empty() || site == "same-origin" || site == "none") return std::nullopt;
  // A browser that reports another site for a page of this origin has followed a redirect there.
  if (site == "same-site" && has_origin) return std::nullopt;
  return fmt::format(
      "Sec-Fetch-Site \"{}\" is not accepted: pages of other sites may not use this server. Open "
      "its address in the browser directly.",
      site);
}

bool HasBearerToken(const Request& request, std::string_view token) {
  std::string_view value = request.Header("authorization");
  constexpr std::string_view kScheme = "bearer ";
  if (value.size() < kScheme.size() || Lower(value.substr(0, kScheme.size())) != kScheme) {
    return false;
  }
  value.remove_prefix(kScheme.size());
  while (value.starts_with(' ')) value.remove_prefix(1);
  while (value.ends_with(' ')) value.remove_suffix(1);
  return value.size() == token.size() &&
         CRYPTO_memcmp(value.data(), token.data(), token.size()) == 0;
}

}  // namespace berth::server
