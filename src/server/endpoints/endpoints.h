// Endpoints: which path answers what, for a caller who may ask.
#pragma once

#include <memory>

#include "server/endpoints/health.h"
#include "server/http/message.h"
#include "server/metrics/registry.h"
#include "server/server.h"

namespace berth::server {

class Endpoints {
 public:
  explicit Endpoints(EndpointOptions options);

  // Calls `respond` at once, but for /metrics and /metrics/resources, which wait for the closures
  // of the options: then from whatever thread those call back on.
  void Handle(const Request& request, const Respond& respond);

 private:
  Response Now(const Request& request);
  Response Metrics(const Request& request);
  Response PodResources(const Request& request, const EndpointOptions::PodSamples& samples) const;
  Response Verbosity(const Request& request) const;
  Response Configz() const;
  Response ZPage(const Request& request) const;
  Response FlagsIndex() const;

  EndpointOptions options_;
  Registry slis_;
  HealthEndpoint healthz_;
  HealthEndpoint livez_;
  HealthEndpoint readyz_;
  double started_;  // seconds since 1970
};

// The content type of metrics for an Accept header: always text, with the escaping that is asked
// for. (No name of ours needs any.)
std::string MetricsContentType(std::string_view accept);

}  // namespace berth::server
