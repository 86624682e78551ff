#include "kube/client/api_errors.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/go/go_text.h"
#include "api/meta.h"

namespace berth::kube {
namespace {

// More of a body than this is not shown to people.
constexpr size_t kMaxShownBody = 2048;
// Servers ask for seconds. One that asks for longer than this is asked again all the same: nobody
// would know why pods wait.
constexpr int kMaxRetryAfterSeconds = 5 * 60;

std::string ToLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

std::string_view TrimSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Only what tells a Status from other objects.
struct KindOnly {
  std::string kind;
  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<KindOnly>("TypeMeta").Field(0, "kind", &KindOnly::kind).Build();
    return type;
  }
};

std::optional<api::Status> DecodeStatus(std::string_view media_type, std::string_view body) {
  if (media_type == kProtobuf) {
    const auto envelope = api::UnwrapEnvelope(body);
    if (!envelope || envelope->kind != api::Status::kKind) return std::nullopt;
    auto status = api::FromProto<api::Status>(envelope->raw);
    return status ? std::optional(std::move(*status)) : std::nullopt;
  }
  if (media_type != kJson) return std::nullopt;
  const auto kind = api::FromJson<KindOnly>(body);
  if (!kind || kind->kind != api::Status::kKind) return std::nullopt;
  auto status = api::FromJson<api::Status>(body);
  return status ? std::optional(std::move(*status)) : std::nullopt;
}

struct GenericError {
  std::string_view reason;
  std::string message;
};

GenericError DescribeCode(int code, std::string_view method, std::string server_message) {
  switch (code) {
    case 400:
      return {"BadRequest", "the server rejected our request for an unknown reason"};
    case 401:
      return {"Unauthorized", "the server has asked for the client to provide credentials"};
    case 403:
      return {"Forbidden", std::move(server_message)};
    case 404:
      return {"NotFound", "the server could not find the requested resource"};
    case 405:
      return {"MethodNotAllowed",
              "the server does not allow this method on the requested resource"};
    case 406:
      if (server_message.empty() || server_message == "unknown") {
        server_message =
            "the server was unable to respond with a content type that the client supports";
      }
      return {"NotAcceptable", std::move(server_message)};
    case 409:
      return {method == "POST" ? "AlreadyExists" : "Conflict", "the server reported a conflict"};
    case 415:
      return {"UnsupportedMediaType", std::move(server_message)};
    case 422:
      return {"Invalid", "the server rejected our request due to an error in our request"};
    case 429:
      return {"TooManyRequests",
              "the server has received too many requests and has asked us to try again later"};
    case 503:
      return {"ServiceUnavailable", "the server is currently unable to handle the request"};
    case 504:
      return {"Timeout",
              "the server was unable to return a response in the time allotted, but may still be "
              "processing the request"};
    default:
      break;
  }
  if (code >= 500) {
    return {"InternalError",
            fmt::format("an error on the server ({}) has prevented the request from succeeding",
                        api::GoQuote(server_message))};
  }
  return {"", fmt::format("the server responded with the status code {} but did not return more "
                          "information",
                          code)};
}

void FillGenericError(const ApiRequest& request, const net::HttpResponse& response,
                      std::string_view media_type, ApiResponse& out) {
  std::string server_message = "unknown";
  if (media_type.empty() || media_type.starts_with("text/")) {
    server_message = TrimSpace(std::string_view(response.body).substr(0, kMaxShownBody));
  }
  GenericError error = DescribeCode(response.status, request.method, std::move(server_message));
  const PathResource about = ResourceOfPath(request.path);
  out.reason = error.reason;
  out.message = std::move(error.message);
  if (!about.resource.empty()) {
    out.message += fmt::format(" ({} {}", ToLower(request.method), about.resource);
    if (!about.name.empty()) out.message += " " + about.name;
    out.message += ")";
  }
  int seconds = 0;
  if (RetryAfterSeconds(response, &seconds)) {
    out.retry_after = std::chrono::seconds(std::max(seconds, 0));
  }
}

void FillStatusError(const api::Status& status, ApiResponse& out) {
  out.reason = status.reason;
  out.message = status.message;
  if (status.details && status.details->retry_after_seconds > 0) {
    out.retry_after =
        std::chrono::seconds(std::min(status.details->retry_after_seconds, kMaxRetryAfterSeconds));
  }
}

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  while (!path.empty()) {
    const size_t slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (!segment.empty()) segments.push_back(segment);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  return segments;
}

}  // namespace

std::string MediaType(std::string_view content_type) {
  return ToLower(TrimSpace(content_type.substr(0, content_type.find(';'))));
}

bool RetryAfterSeconds(const net::HttpResponse& response, int* seconds) {
  std::string_view text = response.Get("retry-after");
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.starts_with("+")) return false;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *seconds =
      static_cast<int>(std::clamp<int64_t>(value, -kMaxRetryAfterSeconds, kMaxRetryAfterSeconds));
  return true;
}

std::vector<std::string> Warnings(const std::vector<net::Header>& headers) {
  std::vector<std::string> texts;
  for (const net::Header& header : headers) {
    if (header.name != "warning") continue;
    // 199 AGENT "TEXT"
    std::string_view value = TrimSpace(header.value);
    if (!value.starts_with("199 ")) continue;
    value.remove_prefix(4);
    const size_t agent = value.find(' ');
    if (agent == std::string_view::npos) continue;
    value = TrimSpace(value.substr(agent));
    if (!value.starts_with('"')) continue;
    std::string text;
    size_t i = 1;
    for (; i < value.size() && value[i] != '"'; ++i) {
      if (value[i] == '\\' && i + 1 < value.size()) ++i;
      if (static_cast<unsigned char>(value[i]) >= ' ') text += value[i];
    }
    if (i < value.size() && !text.empty()) texts.push_back(std::move(text));
  }
  return texts;
}

PathResource ResourceOfPath(std::string_view path) {
  const std::vector<std::string_view> segments = Segments(path);
  std::string_view group;
  size_t at = 0;  // of the resource
  if (segments.size() > 2 && segments[0] == "api") {
    at = 2;
  } else if (segments.size() > 3 && segments[0] == "apis") {
    group = segments[1];
    at = 3;
  } else {
    return {};
  }
  // namespaces/NS/RESOURCE is about the resource, namespaces/NS[/status] about the namespace.
  if (segments[at] == "namespaces" && segments.size() > at + 2 && segments[at + 2] != "status" &&
      segments[at + 2] != "finalize") {
    at += 2;
  }
  PathResource about;
  about.resource = segments[at];
  if (!group.empty()) about.resource += "." + std::string(group);
  if (segments.size() > at + 1) about.name = segments[at + 1];
  return about;
}

ApiResponse ToApiResponse(const ApiRequest& request, net::HttpResponse response) {
  ApiResponse out;
  out.code = response.status;
  out.content_type = response.Get("content-type");
  if (out.Ok()) {
    out.body = std::move(response.body);
    return out;
  }
  const std::string media_type = MediaType(out.content_type);
  // A server that does not say what it sends is taken to send what was asked for.
  const auto status = DecodeStatus(
      media_type.empty() ? (response.body.starts_with('{') ? kJson : kProtobuf) : media_type,
      response.body);
  if (status && status->status == "Failure") {
    FillStatusError(*status, out);
  } else {
    FillGenericError(request, response, media_type, out);
  }
  return out;
}

ApiResponse ToApiResponse(std::string_view method, std::string_view url, net::HttpError error) {
  ApiResponse out;
  std::string verb = ToLower(method);
  if (!verb.empty() && verb[0] >= 'a' && verb[0] <= 'z') {
    verb[0] = static_cast<char>(verb[0] - 'a' + 'A');
  }
  out.message = fmt::format("{} {}: {}", verb, api::GoQuote(url), error.message);
  out.error = std::move(error);
  return out;
}

}  // namespace berth::kube
