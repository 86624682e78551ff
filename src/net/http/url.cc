#include "net/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <fmt/format.h>
#include <openssl/evp.h>

namespace berth::net {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Result<std::string> PercentDecode(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? HexDigit(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? HexDigit(text[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Fail(fmt::format("invalid URL escape \"{}\"", text.substr(i, 3)));
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

uint16_t DefaultPort(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  if (scheme == "socks5" || scheme == "socks5h") return 1080;
  return 0;
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

std::optional<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) return std::nullopt;
  return port;
}

// Splits host[:port]; a bracketed host loses its brackets.
Result<void> SetAuthority(std::string_view text, Url& url) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const size_t close = text.find(']');
    if (close == text.npos) return Fail("missing ']' in host");
    host = text.substr(1, close - 1);
    std::string_view rest = text.substr(close + 1);
    if (!rest.empty() && rest[0] != ':') return Fail("invalid character after ']' in host");
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
    in6_addr address;
    if (inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) {
      return Fail("invalid IPv6 address in host");
    }
  } else {
    if (const size_t colon = text.find(':'); colon != text.npos) {
      host = text.substr(0, colon);
      port = text.substr(colon + 1);
      has_port = true;
    }
    if (!std::all_of(host.begin(), host.end(), IsHostCharacter)) {
      return Fail("invalid character in host name");
    }
  }
  if (host.empty()) return Fail("no host in URL");
  if (host.size() > 255) return Fail("host name too long");
  url.host = Lower(host);
  url.port = DefaultPort(url.scheme);
  if (has_port && !port.empty()) {
    const auto number = ParsePort(port);
    if (!number) return Fail(fmt::format("invalid port \":{}\" after host", port));
    url.port = *number;
  }
  url.authority = has_port && port.empty() ? text.substr(0, text.size() - 1) : text;
  return {};
}

Result<Url> Parse(std::string_view text) {
  Url url;
  const size_t colon = text.find("://");
  if (colon == text.npos) return Fail("missing protocol scheme");
  url.scheme = Lower(text.substr(0, colon));
  if (DefaultPort(url.scheme) == 0) {
    return Fail(fmt::format("unsupported protocol scheme \"{}\"", url.scheme));
  }
  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = rest.rfind('@'); at != rest.npos) {
    const std::string_view info = rest.substr(0, at);
    const size_t split = info.find(':');
    auto user = PercentDecode(info.substr(0, split));
    if (!user) return Fail(user.error());
    auto password = PercentDecode(split == info.npos ? "" : info.substr(split + 1));
    if (!password) return Fail(password.error());
    url.user = std::move(*user);
    url.password = std::move(*password);
    url.has_user = true;
    rest.remove_prefix(at + 1);
  }
  if (auto set = SetAuthority(rest, url); !set) return Fail(set.error());
  return url;
}

// An address as 16 bytes, IPv4 mapped into IPv6.
using Address = std::array<uint8_t, 16>;
std::optional<Address> ParseAddress(const std::string& text) {
  Address address{};
  if (inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  address[10] = address[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

bool IsV4(const Address& address) {
  return std::all_of(address.begin(), address.begin() + 10, [](uint8_t b) { return b == 0; }) &&
         address[10] == 0xff && address[11] == 0xff;
}

bool IsLoopback(const std::string& host) {
  if (host == "localhost") return true;
  const auto address = ParseAddress(host);
  if (!address) return false;
  if (IsV4(*address)) return (*address)[12] == 127;
  return std::all_of(address->begin(), address->end() - 1, [](uint8_t b) { return b == 0; }) &&
         address->back() == 1;
}

bool InBlock(const Address& address, std::string_view block, size_t slash) {
  const auto base = ParseAddress(std::string(block.substr(0, slash)));
  const std::string_view bits_text = block.substr(slash + 1);
  unsigned bits = 0;
  const auto [end, error] =
      std::from_chars(bits_text.data(), bits_text.data() + bits_text.size(), bits);
  if (!base || error != std::errc() || end != bits_text.data() + bits_text.size()) return false;
  if (IsV4(*base) != IsV4(address)) return false;
  if (bits > (IsV4(*base) ? 32u : 128u)) return false;
  if (IsV4(*base)) bits += 96;
  for (unsigned i = 0; i < bits; ++i) {
    const int mask = 0x80 >> (i % 8);
    if (((*base)[i / 8] & mask) != (address[i / 8] & mask)) return false;
  }
  return true;
}

// One entry of NO_PROXY.
bool Excludes(std::string_view entry, const Url& target) {
  if (entry == "*") return true;
  const auto address = ParseAddress(target.host);
  if (const size_t slash = entry.find('/'); slash != entry.npos) {
    return address && InBlock(*address, entry, slash);
  }
  std::string host = Lower(entry);
  if (!ParseAddress(host)) {  // an IPv6 address has colons of its own
    const size_t colon = host.rfind(':');
    if (colon != host.npos) {
      const auto port = ParsePort(std::string_view(host).substr(colon + 1));
      if (!port || *port != target.port) return false;
      host.resize(colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  }
  if (const auto own = ParseAddress(host)) return address && *own == *address;
  if (host.starts_with("*.")) host.erase(0, 1);
  if (host.empty()) return false;
  if (host[0] == '.') return target.host.ends_with(host);
  return target.host == host || target.host.ends_with("." + host);
}

std::string FirstOf(const char* upper, const char* lower) {
  for (const char* name : {upper, lower}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

}  // namespace

std::string JoinHostPort(std::string_view host, uint16_t port) {
  if (host.find(':') != host.npos) return fmt::format("[{}]:{}", host, port);
  return fmt::format("{}:{}", host, port);
}

std::string Url::HostPort() const { return JoinHostPort(host, port); }

std::string Url::BasicAuthorization() const {
  const std::string plain = user + ":" + password;
  std::string encoded(4 * ((plain.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                   reinterpret_cast<const unsigned char*>(plain.data()),
                                   static_cast<int>(plain.size()));
  encoded.resize(static_cast<size_t>(size));
  return "Basic " + encoded;
}

Result<Url> ParseUrl(std::string_view text) {
  if (text.size() > 4096) return Fail("parse URL: too long");
  auto url = Parse(text);
  if (!url) return Fail(url.error().In(fmt::format("parse \"{}\"", text)));
  return url;
}

bool IsIpAddress(const std::string& host) { return ParseAddress(host).has_value(); }

ProxyEnvironment ProxyEnvironment::OfProcess() {
  return {FirstOf("HTTP_PROXY", "http_proxy"), FirstOf("HTTPS_PROXY", "https_proxy"),
          FirstOf("NO_PROXY", "no_proxy")};
}

Result<std::optional<Url>> ProxyFor(const Url& target, const ProxyEnvironment& environment) {
  const std::string& proxy =
      target.scheme == "https" ? environment.https_proxy : environment.http_proxy;
  if (proxy.empty() || IsLoopback(target.host)) return std::optional<Url>();
  std::string_view rest = environment.no_proxy;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view entry = Trim(rest.substr(0, comma));
    if (!entry.empty() && Excludes(entry, target)) return std::optional<Url>();
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  auto url = ParseUrl(proxy.find("://") == proxy.npos ? "http://" + proxy : proxy);
  if (!url) return Fail(url.error().In("invalid proxy address"));
  return std::optional<Url>(std::move(*url));
}

}  // namespace berth::net
