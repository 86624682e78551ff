#include "cli/scheduler/serving_options.h"

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "cli/scheduler/version.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/rest_client.h"
#include "log/log.h"

namespace berth::cli::scheduler {
namespace {

server::RequestHeaderOptions HeaderOptions(const AuthenticationOptions& from) {
  server::RequestHeaderOptions to;
  to.client_ca_file = from.requestheader_client_ca_file;
  to.allowed_names = from.allowed_names;
  to.username_headers = from.username_headers;
  to.uid_headers = from.uid_headers;
  to.group_headers = from.group_headers;
  to.extra_prefixes = from.extra_prefixes;
  return to;
}

}  // namespace

Result<std::unique_ptr<kube::ApiClient>> ReviewClient(const std::string& kubeconfig,
                                                      std::string_view purpose,
                                                      const std::string& version,
                                                      net::SystemLoop& loop,
                                                      kube::RequestObserver& observer) {
  if (kubeconfig.empty() && std::getenv("KUBERNETES_SERVICE_HOST") == nullptr) {
    log::WarningLine(
        fmt::format("Neither --{}-kubeconfig nor a service account was given: "
                    "requests to the secure port cannot be looked up",
                    purpose));
    return nullptr;
  }
  const auto failed = [&](const Error& error) {
    const std::string where = fmt::format("failed to get delegated {} kubeconfig", purpose);
    // kube-scheduler says it twice, of tokens only.
    return Fail(purpose == "authentication" ? error.In(where).In(where) : error.In(where));
  };
  auto config = kube::LoadClientConfig(kubeconfig, "");
  if (!config) return failed(config.error());
  auto credentials = kube::MakeCredentials(loop, *config);
  if (!credentials) return failed(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = UserAgent(version, "");
  rest.accept = "application/json";
  rest.content_type = std::string(kube::kJson);
  rest.qps = -1;
  rest.observer = &observer;
  auto client = kube::MakeRestClient(loop, *config, *credentials, rest);
  if (!client) return failed(client.error());
  return std::move(*client);
}

server::ServingOptions ListenerOptions(const ServingOptions& from) {
  server::ServingOptions to;
  to.bind_address = from.bind_address;
  to.port = from.port;
  to.cert_file = from.cert_file;
  to.key_file = from.key_file;
  to.cert_dir = from.cert_dir;
  for (const SniCertKey& sni : from.sni) to.sni.push_back({sni.names, sni.cert_file, sni.key_file});
  to.cipher_suites = from.cipher_suites;
  to.key_exchanges = from.curve_preferences;
  to.min_tls_minor = from.min_tls_minor;
  to.reuse_port = from.reuse_port;
  to.http2 = from.http2;
  to.http2_max_streams = from.http2_max_streams;
  to.reuse_address = from.reuse_address;
  return to;
}

server::AuthOptions AuthOptionsOf(const SchedulerOptions& options) {
  server::AuthOptions auth;
  auth.skip_lookup = options.authentication.skip_lookup;
  auth.client_ca_file = options.authentication.client_ca_file;
  auth.request_header = HeaderOptions(options.authentication);
  auth.always_allow_paths = options.authorization.always_allow_paths;
  auth.token_ttl = net::Nanoseconds(options.authentication.token_cache_ttl_ns);
  auth.authorized_ttl = net::Nanoseconds(options.authorization.allow_cache_ttl_ns);
  auth.unauthorized_ttl = net::Nanoseconds(options.authorization.deny_cache_ttl_ns);
  return auth;
}

}  // namespace berth::cli::scheduler
