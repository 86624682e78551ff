// What commands that only read a cluster share: the flags of its scheduler, credentials, and a
// client that cannot write.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cli/scheduler/options.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/read_only_client.h"
#include "net/loop.h"

namespace berth::cli {

struct ObservedCluster {
  scheduler::SchedulerOptions options;
  kube::ClientConfig client;
  bool port_given = false;     // --secure-port
  bool address_given = false;  // --bind-address
};

// Of the flags of a scheduler; --kubeconfig comes before the kubeconfig of --config. With
// --kubernetes-version=auto the API server is asked for its minor. An error has been reported on
// standard error; it is the exit code, 0 after the help of the scheduler's flags. `command`: "berth
// shadow".
tl::expected<ObservedCluster, int> FindObservedCluster(const std::string& command,
                                                       std::vector<std::string> args);

// `name` is the last part of the user agent.
Result<std::unique_ptr<kube::ReadOnlyClient>> MakeReader(net::SystemLoop& loop,
                                                         const kube::ClientConfig& config,
                                                         std::string_view version,
                                                         std::string_view name);

}  // namespace berth::cli
