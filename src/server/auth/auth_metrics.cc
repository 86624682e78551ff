#include "server/auth/auth_metrics.h"

#include <string>
#include <vector>

namespace berth::server {
namespace {

double Seconds(net::Nanoseconds took) { return static_cast<double>(took.count()) * 1e-9; }

// The few users that are told apart.
std::string_view Compressed(std::string_view name) {
  for (const std::string_view known :
       {"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default"}) {
    if (name == known) return known;
  }
  return name.find('@') != std::string_view::npos ? "email_id" : "other";
}

}  // namespace

AuthMetrics::AuthMetrics(Registry* registry) {
  if (registry == nullptr) return;
  const auto counter = [&](const char* name, const char* help, const char* label) {
    return &registry->AddCounter({name, help, Stability::kAlpha, {label}});
  };
  const auto histogram = [&](const char* name, const char* help, const char* label,
                             const std::vector<double>& bounds) {
    return &registry->AddHistogram({name, help, Stability::kAlpha, {label}}, bounds);
  };
  const char* const requests = "Number of HTTP requests partitioned by status code.";
  const char* const latency = "Request latency in seconds. Broken down by status code.";
  const std::vector<double> reviews = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};
  const std::vector<double> decisions = ExponentialBuckets(0.001, 2, 15);
  token_requests_ = counter("apiserver_delegated_authn_request_total", requests, "code");
  token_seconds_ =
      histogram("apiserver_delegated_authn_request_duration_seconds", latency, "code", reviews);
  access_requests_ = counter("apiserver_delegated_authz_request_total", requests, "code");
  access_seconds_ =
      histogram("apiserver_delegated_authz_request_duration_seconds", latency, "code", reviews);
  authenticated_ =
      counter("authentication_attempts", "Counter of authenticated attempts.", "result");
  authenticated_seconds_ =
      histogram("authentication_duration_seconds",
                "Authentication duration in seconds broken out by result.", "result", decisions);
  users_ = counter("authenticated_user_requests",
                   "Counter of authenticated requests broken out by username.", "username");
  authorized_ = counter(
      "authorization_attempts_total",
      "Counter of authorization attempts broken down by result. It can be either 'allowed', "
      "'denied', 'no-opinion' or 'error'.",
      "result");
  authorized_seconds_ =
      histogram("authorization_duration_seconds",
                "Authorization duration in seconds broken out by result.", "result", decisions);
  cache_requests_ = counter("authentication_token_cache_request_total", "", "status");
  cache_seconds_ = histogram("authentication_token_cache_request_duration_seconds", "", "status",
                             {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10});
  cache_fetches_ = counter("authentication_token_cache_fetch_total", "", "status");
  cache_active_ = &registry->AddGauge(
      {"authentication_token_cache_active_fetch_count", "", Stability::kAlpha, {"status"}});
}

void AuthMetrics::Reviewed(bool token, const kube::ApiResponse& response,
                           net::Nanoseconds took) const {
  if (users_ == nullptr) return;
  const std::string code = response.code == 0 ? "<error>" : std::to_string(response.code);
  (token ? token_requests_ : access_requests_)->With({code})->Add();
  (token ? token_seconds_ : access_seconds_)->With({code})->Observe(Seconds(took));
}

void AuthMetrics::Authenticated(const UserInfo& user, net::Nanoseconds took) const {
  if (users_ == nullptr) return;
  authenticated_->With({"success"})->Add();
  authenticated_seconds_->With({"success"})->Observe(Seconds(took));
  users_->With({Compressed(user.name)})->Add();
}

void AuthMetrics::NotAuthenticated(net::Nanoseconds took) const {
  if (users_ == nullptr) return;
  authenticated_->With({"error"})->Add();
  authenticated_seconds_->With({"error"})->Observe(Seconds(took));
}

void AuthMetrics::Authorized(std::string_view result, net::Nanoseconds took) const {
  if (users_ == nullptr) return;
  authorized_->With({result})->Add();
  authorized_seconds_->With({result})->Observe(Seconds(took));
}

void AuthMetrics::AskedToken(bool kept, net::Nanoseconds took) const {
  if (users_ == nullptr) return;
  const std::string_view status = kept ? "hit" : "miss";
  cache_requests_->With({status})->Add();
  cache_seconds_->With({status})->Observe(Seconds(took));
}

void AuthMetrics::FetchedToken(bool ok) const {
  if (users_ != nullptr) cache_fetches_->With({ok ? "ok" : "error"})->Add();
}

void AuthMetrics::FetchesToken(int more) const {
  if (users_ != nullptr) cache_active_->With({"in_flight"})->Add(more);
}

void AuthMetrics::WaitsForToken(int more) const {
  if (users_ != nullptr) cache_active_->With({"blocked"})->Add(more);
}

}  // namespace berth::server
