// RestClient: ApiClient over HttpClient, with credentials, rate limit and Retry-After.
#pragma once

#include <memory>
#include <string>

#include "kube/auth/kubeconfig.h"
#include "kube/client/api_client.h"
#include "kube/client/fence.h"
#include "kube/client/request_observer.h"

namespace berth::kube {

struct RestClientOptions {
  // "kube-scheduler/v1.34.10 (linux/amd64) kubernetes/…/scheduler"
  std::string user_agent;
  std::string accept;                                 // empty: from content_type, as client-go does
  std::string content_type = std::string(kProtobuf);  // empty: JSON
  float qps = 50;                                  // below 0: no limit; 0: client-go's default of 5
  int burst = 100;                                 // 0: client-go's default of 10
  net::Nanoseconds timeout = net::Nanoseconds(0);  // of requests that set none
  // Of one attempt of a request that writes and sets no timeout, so that requests which hang do not
  // hold up others for ever. Longer than an API server takes before it gives up itself (60 s). 0:
  // none.
  net::Nanoseconds write_timeout = std::chrono::seconds(90);
  size_t max_connections = 2;           // at once, besides those of watches
  size_t http1_connections = 25;        // the same over HTTP/1.1; 0: max_connections
  size_t pipeline = 1;                  // as in HttpClientOptions
  RequestObserver* observer = nullptr;  // may be null; outlives the client
  // How long after its receipt the API server may still execute a write: sent as the parameter
  // `timeout` of requests that are neither reads nor events. 0: none is sent.
  net::Nanoseconds server_write_timeout = net::Nanoseconds(0);
  // Nothing but events is written beyond it. May be null; outlives the client.
  const Fence* fence = nullptr;
};

// Rotated tokens and certificates are taken up without a restart; exec credentials are renewed when
// they expire or the server answers 401.
class Credentials;

// Credentials may be shared by clients of one server. `loop` outlives them.
Result<std::shared_ptr<Credentials>> MakeCredentials(net::Loop& loop, const ClientConfig& config);

// `loop` outlives the client. Refuses bad URLs, certificates and keys.
Result<std::unique_ptr<ApiClient>> MakeRestClient(net::SystemLoop& loop, const ClientConfig& config,
                                                  std::shared_ptr<Credentials> credentials,
                                                  RestClientOptions options);

// The same over any HttpClient, for tests. `config` gives the URL only.
Result<std::unique_ptr<ApiClient>> MakeRestClientOver(net::Loop& loop,
                                                      std::unique_ptr<net::HttpClient> http,
                                                      const ClientConfig& config,
                                                      std::shared_ptr<Credentials> credentials,
                                                      RestClientOptions options);

}  // namespace berth::kube
