// From a decoded kubeconfig to a ClientConfig: the checks and rules of client-go's clientcmd.
// Private to this folder.
#pragma once

#include <string>

#include "kube/auth/kubeconfig.h"
#include "kube/auth/kubeconfig_types.h"

namespace berth::kube {

// What client-go says when there is nothing to go by; the caller may still be in a cluster.
inline constexpr std::string_view kEmptyConfig =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
    "environment variable";

// Makes the paths in it absolute: relative ones start at `directory`.
void ResolvePaths(Kubeconfig& config, const std::string& directory);

// The current context of `config` with `master`, if not empty, for its server. Reads the files it
// names. Without TLS no credential is taken: it would be there for all to read.
Result<ClientConfig> BuildClientConfig(const Kubeconfig& config, const std::string& master);

}  // namespace berth::kube
