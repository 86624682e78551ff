#include "cli/observe/serving.h"

#include <utility>

#include "cli/scheduler/serving_options.h"

namespace berth::cli {
namespace {

namespace cmd = berth::cli::scheduler;

Result<std::unique_ptr<kube::ApiClient>> Reviews(const std::string& kubeconfig,
                                                 std::string_view purpose,
                                                 const std::string& version, net::SystemLoop& loop,
                                                 kube::RequestObserver& observer) {
  if (kubeconfig.empty()) return nullptr;
  return cmd::ReviewClient(kubeconfig, purpose, version, loop, observer);
}

}  // namespace

Result<std::unique_ptr<ObserverServing>> ObserverServing::Make(
    const ObservedCluster& cluster, net::SystemLoop& loop, server::Registry& metrics,
    std::vector<server::Mount> mounts, std::function<Result<void>()> ready) {
  const cmd::SchedulerOptions& options = cluster.options;
  if (!cluster.port_given || options.serving.port == 0) return nullptr;
  std::unique_ptr<ObserverServing> serving(new ObserverServing());
  serving->requests_ = std::make_unique<server::ClientMetrics>(metrics);
  server::AddProcessMetrics(metrics);
  server::ServerOptions server;
  server.serving = cmd::ListenerOptions(options.serving);
  if (!cluster.address_given) server.serving.bind_address = "127.0.0.1";
  auto authentication = Reviews(options.authentication.kubeconfig, "authentication",
                                options.version, loop, *serving->requests_);
  if (!authentication) return Fail(authentication.error());
  serving->authentication_ = std::move(*authentication);
  auto authorization = Reviews(options.authorization.kubeconfig, "authorization", options.version,
                               loop, *serving->requests_);
  if (!authorization) return Fail(authorization.error());
  serving->authorization_ = std::move(*authorization);
  server.auth = cmd::AuthOptionsOf(options);
  server.auth.loop = &loop;
  server.auth.authentication = serving->authentication_.get();
  server.auth.authorization = serving->authorization_.get();
  server.endpoints.profiling = false;
  server.endpoints.metrics = &metrics;
  server.endpoints.readyz.push_back({"synced", std::move(ready)});
  server.endpoints.mounts = std::move(mounts);
  auto made = server::Server::Make(std::move(server));
  if (!made) return Fail(made.error());
  serving->server_ = std::move(*made);
  return serving;
}

}  // namespace berth::cli
