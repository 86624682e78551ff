// Open paths, and the answers to requests that are not allowed.
#include <algorithm>
#include <cctype>

#include "api/go/go_text.h"
#include "server/auth/delegated_auth.h"

namespace berth::server {
namespace {

std::string_view WithoutSlash(std::string_view path) {
  if (path.starts_with('/')) path.remove_prefix(1);
  return path;
}

// Nothing that looks like HTML.
std::string Sanitized(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

Response StatusOf(int code, std::string_view message, std::string_view reason, bool details) {
  Response response;
  response.status = code;
  response.Set("Content-Type", "application/json");
  std::string& body = response.body;
  body = R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":)";
  api::AppendJsonString(body, message);
  body += ",\"reason\":\"" + std::string(reason) + "\"";
  if (details) body += ",\"details\":{}";
  body += ",\"code\":" + std::to_string(code) + "}\n";
  return response;
}

}  // namespace

bool IsOpenPath(const std::vector<std::string>& patterns, std::string_view path) {
  path = WithoutSlash(path);
  for (const std::string& entry : patterns) {
    const std::string_view pattern = WithoutSlash(entry);
    if (pattern.ends_with('*')) {
      if (path.starts_with(pattern.substr(0, pattern.size() - 1))) return true;
    } else if (path == pattern) {
      return true;
    }
  }
  return false;
}

Result<void> ValidateOpenPaths(const std::vector<std::string>& patterns) {
  for (const std::string& entry : patterns) {
    const std::string_view pattern = WithoutSlash(entry);
    const size_t star = pattern.find('*');
    if (star != std::string_view::npos && star + 1 != pattern.size()) {
      return Fail("only trailing * allowed in " + api::GoQuote(pattern));
    }
  }
  return {};
}

bool HasCredentials(const Request& request) {
  return request.peer != nullptr || !request.Header("authorization").empty();
}

Response RefusalOf(const AuthDecision& decision, const Request& request) {
  switch (decision.kind) {
    case AuthDecision::Kind::kUnauthorized:
      return StatusOf(401, "Unauthorized", "Unauthorized", false);
    case AuthDecision::Kind::kError:
      return TextError(500, Sanitized("Internal Server Error: " + api::GoQuote(request.target) +
                                      ": " + decision.reason));
    case AuthDecision::Kind::kForbidden:
    case AuthDecision::Kind::kAllowed:
      break;
  }
  std::string message = Sanitized("User " + api::GoQuote(decision.user.name) + " cannot " +
                                  Lower(request.method) + " path " + api::GoQuote(request.path));
  if (!decision.reason.empty()) message += ": " + decision.reason;
  Response response = StatusOf(403, "forbidden: " + message, "Forbidden", true);
  response.Set("X-Content-Type-Options", "nosniff");
  return response;
}

}  // namespace berth::server
