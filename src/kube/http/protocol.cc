#include "kube/http/protocol.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

namespace berth::kube {
namespace {

constexpr std::array<bool, 256> kTokenCharacters = [] {
  std::array<bool, 256> is{};
  for (char c = 'a'; c <= 'z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = 'A'; c <= 'Z'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (char c = '0'; c <= '9'; ++c) is[static_cast<unsigned char>(c)] = true;
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) is[static_cast<unsigned char>(c)] = true;
  return is;
}();

bool IsTokenCharacter(char c) { return kTokenCharacters[static_cast<unsigned char>(c)]; }

bool IsValueCharacter(char c) {
  const auto u = static_cast<unsigned char>(c);
  return c == '\t' || (u >= 0x20 && u != 0x7f);
}

bool IsTargetCharacter(char c) { return c > 0x20 && c < 0x7f; }

// Looks at all of them, so that many can be looked at at once.
template <bool (*kIs)(char)>
bool All(std::string_view text) {
  bool all = true;
  for (const char c : text) all &= kIs(c);
  return all;
}

bool IsToken(std::string_view text) { return !text.empty() && All<IsTokenCharacter>(text); }

}  // namespace

bool AddHeader(Exchange& exchange, std::string_view name, std::string_view value) {
  exchange.header_bytes += name.size() + value.size() + 32;
  if (exchange.header_bytes > kMaxHeaderBytes) return false;
  auto& headers = exchange.response.headers;
  if (headers.empty()) headers.reserve(8);
  headers.push_back({std::string(name), std::string(value)});
  return true;
}

bool SaysLength(const HttpRequest& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

std::optional<std::string> Malformed(const HttpRequest& request) {
  if (!IsToken(request.method)) {
    return fmt::format("net/http: invalid method \"{}\"", request.method);
  }
  const std::string& target = request.target;
  if (!target.starts_with('/') || !All<IsTargetCharacter>(target)) {
    return fmt::format("net/http: invalid request target \"{}\"", target);
  }
  for (const Header& header : request.headers) {
    if (!IsToken(header.name)) {
      return fmt::format("net/http: invalid header field name \"{}\"", header.name);
    }
    if (!All<IsValueCharacter>(header.value)) {
      return fmt::format("net/http: invalid header field value for \"{}\"", header.name);
    }
  }
  return std::nullopt;
}

}  // namespace berth::kube
