// ClusterTrust: the certificate authorities a cluster offers to servers that extend it, from the
// ConfigMap kube-system/extension-apiserver-authentication.
//
// Reads it, then watches it, and reads it again when the watch breaks; never gives up. What was
// last read stays in use meanwhile. On the loop's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kube/client/api_client.h"
#include "net/loop.h"
#include "server/auth/reviews.h"
#include "server/server.h"

namespace berth::server {

// Whom to believe.
struct Trust {
  std::string client_ca_pem;          // empty: no client certificates
  std::string request_header_ca_pem;  // empty: no front proxy
  RequestHeaderOptions request_header;

  // What the ConfigMap says. Lists in it that are malformed count as absent.
  static Trust From(const ConfigMap& map);
};

class ClusterTrust {
 public:
  using Changed = std::function<void(const Trust&)>;

  ClusterTrust(net::Loop& loop, kube::ApiClient& client, Changed changed);
  ~ClusterTrust();

  void Start();
  void Stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::server
