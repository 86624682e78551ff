#include "server/endpoints/endpoints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ctime>
#include <utility>

#include <fmt/format.h>

#include "api/go/go_text.h"
#include "log/log.h"
#include "server/endpoints/accept.h"
#include "server/endpoints/zpages.h"
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

Response MetricsWereReset() {
  Response response;
  response.Set("Content-Type", std::string(kPlain));
  response.body = "metrics reset\n";
  return response;
}

}  // namespace

std::string MetricsContentType(std::string_view accept) {
  std::string_view escaping = "underscores";
  for (const AcceptClause& clause : ParseAccept(accept)) {
    const std::string_view wanted = clause.Parameter("escaping");
    for (const std::string_view known : {"allow-utf-8", "underscores", "dots", "values"}) {
      if (wanted == known) escaping = known;
    }
    const std::string_view version = clause.Parameter("version");
    if (clause.type == "text" && clause.subtype == "plain" &&
        (version.empty() || version == "0.0.4")) {
      break;
    }
  }
  return fmt::format("{}; escaping={}", kMetricsContentType, escaping);
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
  if (path == "/statusz" || path == "/flagz") return ZPage(request);
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

Response Endpoints::ZPage(const Request& request) const {
  const ZPages pages = options_.zpages ? options_.zpages() : ZPages();
  if (request.path == "/flagz" && pages.flagz) {
    return Flagz(request, pages, options_.component, options_.flags);
  }
  if (request.path != "/statusz" || !pages.statusz) return NotFound();
  const int64_t started = std::llround(std::floor(started_));
  const int64_t up = static_cast<int64_t>(std::time(nullptr)) - started;
  return Statusz(request, pages, {options_.component, started, std::max<int64_t>(up, 0)});
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
