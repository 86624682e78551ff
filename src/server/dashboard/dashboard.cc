#include "server/dashboard/dashboard.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace berth::server {

namespace {

constexpr std::string_view kPrefix = "/dashboard";

struct Type {
  std::string_view ending;
  std::string_view name;
  bool compress;
};

constexpr Type kTypes[] = {
    {".html", "text/html; charset=utf-8", true}, {".js", "text/javascript; charset=utf-8", true},
    {".css", "text/css; charset=utf-8", true},   {".svg", "image/svg+xml", true},
    {".txt", "text/plain; charset=utf-8", true}, {".woff2", "font/woff2", false},
};

Type TypeOf(std::string_view path) {
  for (const Type& type : kTypes) {
    if (path.ends_with(type.ending)) return type;
  }
  return {"", "application/octet-stream", false};
}

const DashboardFile* FindFile(std::string_view path) {
  const auto files = DashboardFiles();
  const auto it = std::find_if(files.begin(), files.end(),
                               [path](const DashboardFile& file) { return file.path == path; });
  return it == files.end() ? nullptr : &*it;
}

// Compressed when first asked for. One copy per thread: two servers may run in one process.
const std::string& Compressed(const DashboardFile& file) {
  thread_local std::map<std::string_view, std::string> copies;
  std::string& copy = copies[file.path];
  if (copy.empty()) copy = Gzip(file.bytes);
  return copy;
}

// Is one of the tags of If-None-Match ours? "W/" does not matter to a GET.
bool Matches(std::string_view header, std::string_view tag) {
  while (!header.empty()) {
    const size_t comma = header.find(',');
    std::string_view each = header.substr(0, comma);
    header = comma == std::string_view::npos ? "" : header.substr(comma + 1);
    while (each.starts_with(' ')) each.remove_prefix(1);
    while (each.ends_with(' ')) each.remove_suffix(1);
    if (each.starts_with("W/")) each.remove_prefix(2);
    if (each == tag || each == "*") return true;
  }
  return false;
}

void SetCommon(Response& response) {
  response.Set("Cache-Control", "no-cache");  // kept, but asked for again: see ETag
  response.Set("X-Content-Type-Options", "nosniff");
  response.Set("Referrer-Policy", "no-referrer");
  // Nothing from elsewhere, nothing inline, in nobody's frame.
  response.Set("Content-Security-Policy",
               "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; "
               "frame-ancestors 'none'");
}

Response ServeFile(const DashboardFile& file, const Request& request) {
  const Type type = TypeOf(file.path);
  const bool gzip = type.compress && AcceptsGzip(request);
  const std::string tag = fmt::format("\"{}{}\"", file.hash, gzip ? "-gzip" : "");
  Response response;
  SetCommon(response);
  response.Set("ETag", tag);
  if (type.compress) response.Set("Vary", "Accept-Encoding");
  if (Matches(request.Header("if-none-match"), tag)) {
    response.status = 304;
    return response;
  }
  response.Set("Content-Type", std::string(type.name));
  if (gzip) {
    response.Set("Content-Encoding", "gzip");
    response.body = Compressed(file);
  } else {
    response.body = std::string(file.bytes);
  }
  return response;
}

// Names of APIs, which need no escapes.
Response ServeApis(const DashboardApis& apis) {
  Response response;
  SetCommon(response);
  response.Set("Content-Type", "application/json");
  response.body = fmt::format(R"({{"apis":[{}{}{}]}})", apis.empty() ? "" : "\"",
                              fmt::join(apis, "\",\""), apis.empty() ? "" : "\"");
  return response;
}

}  // namespace

Response ServeDashboard(const Request& request, const DashboardApis& apis) {
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = TextError(405, "405 method not allowed");
    response.Set("Allow", "GET, HEAD");
    return response;
  }
  std::string_view path = request.path;
  if (path == kPrefix) {
    Response response;
    response.status = 301;
    SetCommon(response);
    // Relative: a proxy may have put its own path before ours.
    response.Set("Location", "dashboard/");
    return response;
  }
  path.remove_prefix(std::min(path.size(), kPrefix.size() + 1));
  if (path == "apis.json") return ServeApis(apis);
  const DashboardFile* file = FindFile(path.empty() ? "index.html" : path);
  return file == nullptr ? TextError(404, "404 page not found") : ServeFile(*file, request);
}

Mount DashboardMount(DashboardApis apis) {
  Mount mount;
  mount.prefix = kPrefix;
  mount.open = true;
  mount.handle = [apis = std::move(apis)](Request request, Respond respond, const Post&) {
    respond(ServeDashboard(request, apis));
  };
  return mount;
}

}  // namespace berth::server
