#include "server/http/json_api.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/string_map.h"

namespace berth::server {
namespace {

constexpr size_t kGzipFrom = 1024;

// Go's word for a code, as in the API server's answers.
std::string_view ReasonOf(int code) {
  switch (code) {
    case 400:
      return "BadRequest";
    case 404:
      return "NotFound";
    case 405:
      return "MethodNotAllowed";
    case 413:
      return "RequestEntityTooLarge";
    case 429:
      return "TooManyRequests";
    case 503:
      return "ServiceUnavailable";
    default:
      return "InternalError";
  }
}

}  // namespace

Response ErrorResponse(int code, std::string_view message) {
  Response response;
  response.status = code;
  response.Set("Content-Type", "application/json");
  const api::StringMap text{{"message", std::string(message)}};
  const std::string quoted = api::ToJson(text);  // {"message":"…"}
  response.body = fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","status":"Failure","code":{},"reason":"{}",{})", code,
      ReasonOf(code), quoted.substr(1));
  return response;
}

Response JsonResponse(std::string body, bool gzip) {
  Response response;
  response.Set("Content-Type", "application/json");
  response.Set("X-Content-Type-Options", "nosniff");
  if (gzip && body.size() >= kGzipFrom) {
    response.Set("Content-Encoding", "gzip");
    body = Gzip(body);
  }
  response.body = std::move(body);
  return response;
}

std::string Query(const Request& request, std::string_view key) {
  const auto values = QueryValues(request.query, key);
  return values.empty() ? "" : values.front();
}

std::optional<uint64_t> Number(const Request& request, std::string_view key, uint64_t low,
                               uint64_t high, uint64_t fallback) {
  const std::string text = Query(request, key);
  if (text.empty()) return fallback;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < low || number > high) {
    return std::nullopt;
  }
  return number;
}

std::vector<std::string> Split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

}  // namespace berth::server
