// The service account of the pod we run in.
#pragma once

#include <string>

#include "kube/auth/kubeconfig.h"

namespace berth::kube {

struct InClusterPlaces {
  std::string host;  // $KUBERNETES_SERVICE_HOST
  std::string port;  // $KUBERNETES_SERVICE_PORT
  std::string token_file = "/var/run/secrets/kubernetes.io/serviceaccount/token";
  std::string ca_file = "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt";

  static InClusterPlaces FromEnvironment();
};

Result<ClientConfig> InClusterConfig(const InClusterPlaces& places);
bool InClusterPossible(const InClusterPlaces& places);

}  // namespace berth::kube
