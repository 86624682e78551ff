#include "kube/auth/server_url.h"

#include <cctype>

#include <fmt/format.h>

#include "api/go/go_text.h"

namespace berth::kube {
namespace {

bool IsAlpha(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> ParseFailure(std::string_view text, std::string_view why) {
  return Fail(fmt::format("parse {}: {}", api::GoQuote(text), why));
}

// The length of the scheme in front of ':', 0 if there is none; false when the text cannot be a
// URL.
Result<size_t> SchemeLength(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (IsAlpha(c)) continue;
    if (IsDigit(c) || c == '+' || c == '-' || c == '.') {
      if (i == 0) return 0u;
      continue;
    }
    if (c != ':') return 0u;
    if (i == 0) return ParseFailure(text, "missing protocol scheme");
    return i;
  }
  return 0u;
}

bool ValidPort(std::string_view port) {
  if (port.empty()) return true;
  if (port[0] != ':') return false;
  for (char c : port.substr(1)) {
    if (!IsDigit(c)) return false;
  }
  return true;
}

// Host and port of an authority; the error is Go's.
Result<void> CheckAuthority(std::string_view url, std::string_view authority) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const size_t close = authority.rfind(']');
    if (close == std::string_view::npos) return ParseFailure(url, "missing ']' in host");
    port = authority.substr(close + 1);
  } else if (const size_t colon = authority.rfind(':'); colon != std::string_view::npos) {
    port = authority.substr(colon);
  }
  if (!ValidPort(port)) {
    return ParseFailure(url, fmt::format("invalid port {} after host", api::GoQuote(port)));
  }
  for (char c : authority) {
    if (static_cast<unsigned char>(c) <= ' ' || c == '<' || c == '>' || c == '"' || c == '\\' ||
        c == '^' || c == '`' || c == '{' || c == '}' || c == '|' || c == 0x7f) {
      return ParseFailure(url, fmt::format("invalid character {} in host name",
                                           api::GoQuote(std::string_view(&c, 1))));
    }
  }
  return {};
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

}  // namespace

std::string ServerUrl::Host() const {
  if (authority.starts_with('[')) return authority.substr(1, authority.find(']') - 1);
  return authority.substr(0, authority.rfind(':'));
}

std::string ServerUrl::Port() const {
  const size_t colon = authority.rfind(':');
  const size_t bracket = authority.rfind(']');
  const bool has_port =
      colon != std::string::npos && (bracket == std::string::npos || colon > bracket);
  if (has_port && colon + 1 < authority.size()) return authority.substr(colon + 1);
  return Tls() ? "443" : "80";
}

Result<UrlParts> SplitUrl(std::string_view text) {
  for (char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) {
      return ParseFailure(text, "net/url: invalid control character in URL");
    }
  }
  const std::string_view whole = text;
  UrlParts parts;
  text = text.substr(0, text.find('#'));
  const auto scheme = SchemeLength(text);
  if (!scheme) return Fail(scheme.error());
  if (*scheme > 0) {
    parts.scheme = ToLower(text.substr(0, *scheme));
    text.remove_prefix(*scheme + 1);
  }
  text = text.substr(0, text.find('?'));
  if (!text.starts_with('/')) {
    if (!parts.scheme.empty()) {  // "host:80" reads as a scheme and something opaque
      parts.path = text;
      return parts;
    }
    if (text.substr(0, text.find('/')).find(':') != std::string_view::npos) {
      return ParseFailure(whole, "first path segment in URL cannot contain colon");
    }
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t slash = text.find('/');
    std::string_view authority = text.substr(0, slash);
    text.remove_prefix(slash == std::string_view::npos ? text.size() : slash);
    if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
      parts.userinfo = authority.substr(0, at);
      authority.remove_prefix(at + 1);
    }
    if (auto ok = CheckAuthority(whole, authority); !ok) return Fail(ok.error());
    parts.authority = authority;
    parts.has_authority = true;
  }
  parts.path = text;
  return parts;
}

Result<ServerUrl> ParseServerUrl(std::string_view text, bool default_tls) {
  auto parts = SplitUrl(text);
  if (!parts || parts->scheme.empty() || parts->authority.empty()) {
    parts = SplitUrl((default_tls ? "https://" : "http://") + std::string(text));
    if (!parts) return Fail(parts.error());
    if ((!parts->path.empty() && parts->path != "/") || parts->authority.empty()) {
      return Fail(fmt::format("host must be a URL or a host:port pair: {}", api::GoQuote(text)));
    }
  }
  if (parts->scheme != "http" && parts->scheme != "https") {
    return Fail(fmt::format("unsupported protocol scheme {}", api::GoQuote(parts->scheme)));
  }
  ServerUrl url{parts->scheme, parts->authority, parts->path};
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

}  // namespace berth::kube
