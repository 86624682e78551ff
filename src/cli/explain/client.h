// Asking a running berth for an explanation.
#pragma once

#include <string>

#include "base/error.h"
#include "term/flags.h"

namespace berth::cli {

struct ExplainServer {
  std::string server;      // URL; empty: the kubeconfig's
  std::string kubeconfig;  // empty: $KUBECONFIG, then ~/.kube/config, unless `server` is given
  std::string token;
  std::string token_file;
  std::string ca_file;
  bool insecure = false;
};

// The kubeconfig that kubectl would read; empty: there is none.
std::string DefaultKubeconfig();

// --server, --kubeconfig, --token and so on.
void AddServerFlags(term::Flags& flags, ExplainServer* server);

// The body of GET `path`?`query`. Errors say what to do.
Result<std::string> Fetch(const ExplainServer& from, const std::string& path,
                          const std::string& query);

}  // namespace berth::cli
