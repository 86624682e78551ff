#include "net/http/protocol.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

namespace berth::net {
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

// Whether one of eight characters is below '!', above '~' or not ASCII.
bool MayBeOdd(const char* eight) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHigh = 0x80 * kOnes;
  uint64_t word = 0;
  std::memcpy(&word, eight, sizeof word);
  const uint64_t low = (word | kHigh) - 0x21 * kOnes;  // the high bit stays where it is no less
  const uint64_t high = (word & ~kHigh) + kOnes;       // 0x7f carries into the high bit
  return ((~low | high | word) & kHigh) != 0;
}

// Nearly all text is visible ASCII, which is looked at eight characters at a time.
template <bool (*kIs)(char)>
bool All(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  for (; end - at >= 8; at += 8) {
    if (MayBeOdd(at) && !std::all_of(at, at + 8, kIs)) return false;
  }
  return std::all_of(at, end, kIs);
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

}  // namespace

bool AddHeader(Exchange& exchange, std::string_view name, std::string_view value) {
  exchange.header_bytes += name.size() + value.size() + 32;
  if (exchange.header_bytes > kMaxHeaderBytes) return false;
  auto& headers = exchange.response.headers;
  if (headers.empty()) headers.reserve(4);
  headers.push_back({std::string(name), std::string(value)});
  return true;
}

bool SaysLength(const HttpRequest& request) {
  return !request.body.empty() || request.method == "POST" || request.method == "PUT" ||
         request.method == "PATCH";
}

std::optional<std::string> Malformed(const HttpRequest& request, bool headers_known) {
  if (!IsToken(request.method)) {
    return fmt::format("net/http: invalid method \"{}\"", request.method);
  }
  const std::string& target = request.target;
  if (!target.starts_with('/') || !All<IsTargetCharacter>(target)) {
    return fmt::format("net/http: invalid request target \"{}\"", target);
  }
  if (headers_known) return std::nullopt;
  for (const Header& header : request.headers.List()) {
    if (!IsToken(header.name)) {
      return fmt::format("net/http: invalid header field name \"{}\"", header.name);
    }
    if (!All<IsValueCharacter>(header.value)) {
      return fmt::format("net/http: invalid header field value for \"{}\"", header.name);
    }
  }
  return std::nullopt;
}

}  // namespace berth::net
