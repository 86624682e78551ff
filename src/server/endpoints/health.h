// /healthz, /livez, /readyz: named checks, one by one and together, and what became of them
// (/metrics/slis).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/http/message.h"
#include "server/metrics/registry.h"
#include "server/server.h"

namespace berth::server {

class HealthEndpoint {
 public:
  // `name`: "healthz". No checks: one that always passes, called ping. `slis` outlives the endpoint
  // and counts the checks of the whole; may be null.
  HealthEndpoint(std::string name, std::vector<HealthCheck> checks, Registry* slis);

  // The whole: ?verbose, ?exclude=NAME.
  Response All(const Request& request) const;
  // One check; null when there is none of that name.
  const HealthCheck* Find(std::string_view name) const;
  static Response One(const HealthCheck& check);

 private:
  void Count(const std::string& check, bool ok) const;

  std::string name_;
  std::vector<HealthCheck> checks_;
  GaugeFamily* status_ = nullptr;
  CounterFamily* total_ = nullptr;
};

}  // namespace berth::server
