#include "server/endpoints/health.h"

#include <set>
#include <utility>

#include "api/go/go_text.h"
#include "log/log.h"

namespace berth::server {

HealthEndpoint::HealthEndpoint(std::string name, std::vector<HealthCheck> checks, Registry* slis)
    : name_(std::move(name)), checks_(std::move(checks)) {
  if (checks_.empty()) checks_.push_back({"ping", [] { return Result<void>(); }});
  if (slis == nullptr) return;
  status_ = &slis->AddGauge({"kubernetes_healthcheck",
                             "This metric records the result of a single healthcheck.",
                             Stability::kStable,
                             {"name", "type"}});
  total_ = &slis->AddCounter({"kubernetes_healthchecks_total",
                              "This metric records the results of all healthcheck.",
                              Stability::kStable,
                              {"name", "type", "status"}});
}

void HealthEndpoint::Count(const std::string& check, bool ok) const {
  if (status_ == nullptr) return;
  status_->With({check, name_})->Set(ok ? 1 : 0);
  total_->With({check, name_, ok ? "success" : "error"})->Add();
}

Response HealthEndpoint::All(const Request& request) const {
  const std::vector<std::string> asked = QueryValues(request.query, "exclude");
  const std::set<std::string> excluded(asked.begin(), asked.end());
  std::set<std::string> unknown = excluded;
  std::string lines, log_lines, failed;
  for (const HealthCheck& check : checks_) {
    if (excluded.contains(check.name)) {
      unknown.erase(check.name);
      lines += "[+]" + check.name + " excluded: ok\n";
      continue;
    }
    const Result<void> result = check.check();
    Count(check.name, result.has_value());
    if (result) {
      lines += "[+]" + check.name + " ok\n";
      continue;
    }
    // Everybody may read this; the reason is for the log.
    lines += "[-]" + check.name + " failed: reason withheld\n";
    log_lines += "[-]" + check.name + " failed: " + result.error().Message() + "\n";
    failed += (failed.empty() ? "" : ",") + check.name;
  }
  if (!unknown.empty()) {
    std::string names;
    for (const std::string& name : unknown)
      names += (names.empty() ? "" : ",") + api::GoQuote(name);
    lines += "warn: some health checks cannot be excluded: no matches for " + names + "\n";
  }
  if (!failed.empty()) {
    log::InfoLine(2, failed + " check failed: " + name_ + "\n" + log_lines);
    return TextError(500, lines + name_ + " check failed");
  }
  Response response;
  response.Set("Content-Type", "text/plain; charset=utf-8");
  response.Set("X-Content-Type-Options", "nosniff");
  response.body =
      QueryHas(request.query, "verbose") ? lines + name_ + " check passed\n" : std::string("ok");
  return response;
}

const HealthCheck* HealthEndpoint::Find(std::string_view name) const {
  for (const HealthCheck& check : checks_) {
    if (check.name == name) return &check;
  }
  return nullptr;
}

Response HealthEndpoint::One(const HealthCheck& check) {
  if (const Result<void> result = check.check(); !result) {
    return TextError(500, "internal server error: " + result.error().Message());
  }
  Response response;
  response.Set("Content-Type", "text/plain; charset=utf-8");
  response.body = "ok";
  return response;
}

}  // namespace berth::server
