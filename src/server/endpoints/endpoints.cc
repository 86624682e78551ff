#include "server/endpoints/endpoints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "log/log.h"
#include "server/metrics/pod_resources.h"
#include "server/metrics/process_metrics.h"

namespace berth::server {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";

Response NotFound() { return TextError(404, "404 page not found"); }

// `started`: the process, in seconds since 1970.
Response MetricsText(const Request& request, double started, std::string text) {
  Response response;
  response.Set("Content-Type", MetricsContentType(request.Header("accept")));
  response.Set("Process-Start-Time-Unix",
               std::to_string(static_cast<int64_t>(std::floor(started))));
  if (AcceptsGzip(request)) {
    response.Set("Content-Encoding", "gzip");
    response.body = Gzip(text);
  } else {
    response.body = std::move(text);
  }
  return response;
}

Response PlainText(int status, std::string_view text) {
  Response response;
  response.status = status;
  response.Set("Content-Type", "text/plain");
  response.Set("X-Content-Type-Options", "nosniff");
  response.body = std::string(text) + "\n";
  return response;
}

std::string Header(std::string_view component, std::string_view page) {
  return fmt::format(
      "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting "
      "compatibility guarantees and is for debugging purposes only.\n",
      component, page);
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// What follows "NAME=" among the parameters of a media type, or "".
std::string_view ParameterOf(std::string_view media, std::string_view name) {
  size_t semicolon = media.find(';');
  while (semicolon != std::string_view::npos) {
    media.remove_prefix(semicolon + 1);
    semicolon = media.find(';');
    const std::string_view parameter = media.substr(0, semicolon);
    const size_t equals = parameter.find('=');
    if (equals == std::string_view::npos || Trim(parameter.substr(0, equals)) != name) continue;
    return Trim(parameter.substr(equals + 1));
  }
  return "";
}

Response MetricsWereReset() {
  Response response;
  response.Set("Content-Type", std::string(kPlain));
  response.body = "metrics reset\n";
  return response;
}

// One entry of an Accept header.
bool TakesPlainText(std::string_view entry) {
  const size_t semicolon = entry.find(';');
  const std::string_view media = Trim(entry.substr(0, semicolon));
  const size_t slash = media.find('/');
  // "*" alone stands for "*/*".
  const std::string_view type = media.substr(0, slash);
  const std::string_view subtype =
      slash == std::string_view::npos ? (type == "*" ? "*" : "") : media.substr(slash + 1);
  if ((type != "text" && type != "*") || (subtype != "plain" && subtype != "*")) return false;
  size_t parameters = 0;
  bool utf8 = false;
  std::string_view rest =
      semicolon == std::string_view::npos ? std::string_view() : entry.substr(semicolon + 1);
  while (!rest.empty()) {
    const size_t end = rest.find(';');
    const std::string_view parameter = Trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const size_t equals = parameter.find('=');
    const std::string_view name = Trim(parameter.substr(0, equals));
    if (name == "q" || equals == std::string_view::npos) continue;
    ++parameters;
    std::string value(Trim(parameter.substr(equals + 1)));
    for (char& c : value) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    utf8 = name == "charset" && value == "utf-8";
  }
  return parameters == 0 || (parameters == 1 && utf8);
}

}  // namespace

bool AcceptsPlainText(std::string_view accept) {
  while (!accept.empty()) {
    const size_t comma = accept.find(',');
    if (TakesPlainText(accept.substr(0, comma))) return true;
    accept = comma == std::string_view::npos ? std::string_view() : accept.substr(comma + 1);
  }
  return false;
}

std::string MetricsContentType(std::string_view accept) {
  std::vector<std::pair<double, std::string_view>> entries;  // with how much each is wanted
  while (!accept.empty()) {
    const size_t comma = accept.find(',');
    const std::string_view entry = accept.substr(0, comma);
    accept = comma == std::string_view::npos ? std::string_view() : accept.substr(comma + 1);
    const std::string q(ParameterOf(entry, "q"));
    entries.emplace_back(q.empty() ? 1.0 : std::strtod(q.c_str(), nullptr), entry);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string_view escaping = "underscores";
  for (const auto& [q, entry] : entries) {
    const std::string_view wanted = ParameterOf(entry, "escaping");
    for (const std::string_view known : {"allow-utf-8", "underscores", "dots", "values"}) {
      if (wanted == known) escaping = known;
    }
    const std::string_view version = ParameterOf(entry, "version");
    if (Trim(entry.substr(0, entry.find(';'))) == "text/plain" &&
        (version.empty() || version == "0.0.4")) {
      break;
    }
  }
  return fmt::format("{}; escaping={}", kMetricsContentType, escaping);
}

std::string UnixDate(int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  gmtime_r(&time, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:2d} {:02d}:{:02d}:{:02d} UTC {}", kDays[parts.tm_wday],
                     kMonths[parts.tm_mon], parts.tm_mday, parts.tm_hour, parts.tm_min,
                     parts.tm_sec, parts.tm_year + 1900);
}

std::string Uptime(int64_t seconds) {
  return fmt::format("{} hr {:02d} min {:02d} sec", seconds / 3600, seconds / 60 % 60,
                     seconds % 60);
}

Endpoints::Endpoints(EndpointOptions options)
    : options_(std::move(options)),
      healthz_("healthz", options_.healthz, &slis_),
      livez_("livez", {}, &slis_),
      readyz_("readyz", options_.readyz, &slis_),
      started_(ReadProcessStats().start_time_seconds) {
  slis_
      .AddGauge({"process_start_time_seconds",
                 "Start time of the process since unix epoch in seconds.", Stability::kAlpha})
      .Only()
      ->Set(started_);
}

void Endpoints::Handle(const Request& request, const Respond& respond) {
  if (request.path == "/metrics" && options_.refresh_metrics) {
    options_.refresh_metrics([this, request, respond] { respond(Metrics(request)); });
    return;
  }
  if (request.path == "/metrics/resources" && options_.pod_resources) {
    options_.pod_resources([this, request, respond](const EndpointOptions::PodSamples& samples) {
      respond(PodResources(request, samples));
    });
    return;
  }
  respond(Now(request));
}

Response Endpoints::Now(const Request& request) {
  const std::string& path = request.path;
  const std::pair<std::string_view, const HealthEndpoint*> health[] = {
      {"/healthz", &healthz_}, {"/livez", &livez_}, {"/readyz", &readyz_}};
  for (const auto& [prefix, endpoint] : health) {
    if (path == prefix) return endpoint->All(request);
    if (!path.starts_with(prefix) || path[prefix.size()] != '/') continue;
    const HealthCheck* check = endpoint->Find(std::string_view(path).substr(prefix.size() + 1));
    return check == nullptr ? NotFound() : HealthEndpoint::One(*check);
  }
  if (path == "/metrics") return Metrics(request);
  if (path == "/metrics/resources") return PodResources(request, nullptr);
  if (path == "/metrics/slis") {
    if (request.method == "DELETE") {
      slis_.Reset();
      return MetricsWereReset();
    }
    return MetricsText(request, started_, slis_.WriteText());
  }
  if (path == "/configz") return Configz();
  if (path == "/statusz" && options_.statusz) return Statusz(request);
  if (path == "/flagz" && options_.flagz) return Flagz(request);
  if (options_.profiling && path == "/debug/flags/v") return Verbosity(request);
  if (options_.profiling && (path == "/debug/flags" || path.starts_with("/debug/flags/"))) {
    return FlagsIndex();
  }
  if (options_.profiling && (path == "/debug/pprof" || path.starts_with("/debug/pprof/"))) {
    return PlainText(404,
                     "There are no Go profiles of a program that is not written in Go.\n"
                     "Use perf instead, where berth runs: perf record -g -p PID -- sleep 30\n");
  }
  return NotFound();
}

Response Endpoints::Metrics(const Request& request) {
  if (options_.metrics == nullptr) return NotFound();
  if (request.method == "DELETE") {
    options_.metrics->Reset();
    return MetricsWereReset();
  }
  return MetricsText(request, started_, options_.metrics->WriteText());
}

Response Endpoints::PodResources(const Request& request,
                                 const EndpointOptions::PodSamples& samples) const {
  if (samples == nullptr) return {};  // not leading: nothing, not even a content type
  if (request.method == "DELETE") return MetricsWereReset();  // there is nothing to reset
  return MetricsText(request, started_, WritePodResources(*samples));
}

Response Endpoints::Verbosity(const Request& request) const {
  if (request.method != "PUT") return PlainText(406, "unsupported http method");
  uint32_t level = 0;
  const std::string& body = request.body;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), level);
  const std::string quoted = api::GoQuote(body);
  if (error == std::errc::result_out_of_range) {
    return PlainText(400, "strconv.ParseUint: parsing " + quoted + ": value out of range");
  }
  if (error != std::errc() || end != body.data() + body.size()) {
    return PlainText(400, "strconv.ParseUint: parsing " + quoted + ": invalid syntax");
  }
  if (level > 0x7fffffff) {  // what the log itself takes
    return PlainText(400, "failed set klog.logging.verbosity " + body +
                              ": strconv.ParseInt: parsing " + quoted + ": value out of range");
  }
  log::SetVerbosity(static_cast<int>(level));
  if (options_.verbosity_changed) options_.verbosity_changed();
  return PlainText(200, "successfully set klog.logging.verbosity to " + body);
}

Response Endpoints::Configz() const {
  Response response;
  response.Set("Content-Type", "application/json");
  response.Set("X-Content-Type-Options", "nosniff");
  response.body = options_.configz ? options_.configz() : "{}";
  return response;
}

Response Endpoints::Statusz(const Request& request) const {
  if (!AcceptsPlainText(request.Header("accept"))) {
    return TextError(406, "media type not acceptable, must be: text/plain");
  }
  const int64_t started = std::llround(std::floor(started_));
  const int64_t up = static_cast<int64_t>(std::time(nullptr)) - started;
  Response response;
  response.Set("Content-Type", std::string(kPlain));
  response.body = Header(options_.component, "statusz") +
                  fmt::format(
                      "\nStarted= {}\nUp= {}\nGo version= none\nBinary version= {}\n"
                      "Emulation version= {}\n\n",
                      UnixDate(started), Uptime(std::max<int64_t>(up, 0)), options_.binary_version,
                      options_.emulation_version);
  return response;
}

Response Endpoints::Flagz(const Request& request) const {
  if (!AcceptsPlainText(request.Header("accept"))) {
    return TextError(406, "media type not acceptable, must be: text/plain");
  }
  Response response;
  response.Set("Content-Type", std::string(kPlain));
  response.body = Header(options_.component, "flags") + "\n";
  for (const auto& [name, value] : options_.flags) {
    response.body += fmt::format("{}={}\n", name, value);
  }
  return response;
}

Response Endpoints::FlagsIndex() const {
  Response response;
  response.Set("Content-Type", "text/html; charset=utf-8");
  response.body =
      "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\n"
      "flags:<br>\n<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n"
      "</html>\n";
  return response;
}

}  // namespace berth::server
