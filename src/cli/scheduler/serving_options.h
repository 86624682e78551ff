// The flags of the secure port as options of a server.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cli/scheduler/options.h"
#include "kube/client/api_client.h"
#include "kube/client/request_observer.h"
#include "net/loop.h"
#include "server/server.h"

namespace berth::cli::scheduler {

// A client for reviews of tokens and access; null when there is nobody to ask.
Result<std::unique_ptr<kube::ApiClient>> ReviewClient(const std::string& kubeconfig,
                                                      std::string_view purpose,
                                                      const std::string& version,
                                                      net::SystemLoop& loop,
                                                      kube::RequestObserver& observer);

server::ServingOptions ListenerOptions(const ServingOptions& from);

// Without the loop and its clients.
server::AuthOptions AuthOptionsOf(const SchedulerOptions& options);

}  // namespace berth::cli::scheduler
