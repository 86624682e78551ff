// ServerVersion: what an API server says of itself at /version.
#pragma once

#include <string>

#include "base/error.h"
#include "kube/client/api_client.h"

namespace berth::kube {

struct ServerVersion {
  int major = 0;
  int minor = 0;
  std::string git_version;  // "v1.37.1", "v1.36.4-gke.100"

  bool operator==(const ServerVersion&) const = default;
};

ApiRequest VersionRequest();
// Of the answer to it. Distributions write "36+" for a minor with changes of their own.
Result<ServerVersion> ReadServerVersion(const ApiResponse& response);

// The minor whose kube-scheduler berth is beside this server: the server's own, or the nearest
// that berth can be.
int NearestKubernetes(const ServerVersion& server);
// What to warn of when that is not the server's own; empty: it is.
std::string DistanceWarning(const ServerVersion& server);

}  // namespace berth::kube
