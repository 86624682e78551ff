// ObserverServing: the secure port of commands that only read a cluster. Off unless --secure-port
// is given; on 127.0.0.1 unless --bind-address is.
//
// Authentication and authorization are those of `berth scheduler`. Reviews of tokens and access are
// requests to the API server, so they are made only with the credentials of
// --authentication-kubeconfig and --authorization-kubeconfig, never with those that read.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/observe/observed_cluster.h"
#include "net/loop.h"
#include "server/http/mount.h"
#include "server/metrics/process_metrics.h"
#include "server/metrics/registry.h"
#include "server/server.h"

namespace berth::cli {

class ObserverServing {
 public:
  // Opens the port. Null: none is wanted. `loop` and `metrics` outlive the serving. `ready`: for
  // /readyz, on the serving thread.
  static Result<std::unique_ptr<ObserverServing>> Make(const ObservedCluster& cluster,
                                                       net::SystemLoop& loop,
                                                       server::Registry& metrics,
                                                       std::vector<server::Mount> mounts,
                                                       std::function<Result<void>()> ready);
  ~ObserverServing() { Stop(); }

  // The loop runs from now on until Stop has returned.
  void Start() { server_->Start(); }
  void Stop() { server_->Stop(); }
  int Port() const { return server_->Port(); }

 private:
  ObserverServing() = default;

  std::unique_ptr<server::ClientMetrics> requests_;
  std::unique_ptr<kube::ApiClient> authentication_;
  std::unique_ptr<kube::ApiClient> authorization_;
  std::unique_ptr<server::Server> server_;
};

}  // namespace berth::cli
