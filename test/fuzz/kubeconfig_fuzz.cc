// Any bytes as a kubeconfig give an error with words or a server to talk to; any bytes as the
// output of a credential plugin give an error or a credential. The files a kubeconfig names are
// left out: what they are called is up to the fuzzer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "kube/auth/exec_plugin.h"
#include "kube/auth/kubeconfig_build.h"
#include "kube/auth/kubeconfig_types.h"
#include "kube/auth/server_url.h"

namespace {

void TakeOutFiles(berth::kube::Kubeconfig& config) {
  for (auto& named : config.clusters) named.cluster.certificate_authority.clear();
  for (auto& named : config.users) {
    named.user.client_certificate.clear();
    named.user.client_key.clear();
    named.user.token_file.clear();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  auto config = berth::kube::DecodeKubeconfig(text);
  if (!config) {
    if (config.error().Message().empty()) std::abort();
  } else {
    berth::kube::ResolvePaths(*config, "/etc");
    TakeOutFiles(*config);
    const auto client = berth::kube::BuildClientConfig(*config, "");
    if (!client && client.error().Message().empty()) std::abort();
    if (client && !berth::kube::ParseServerUrl(client->server, false)) std::abort();
  }
  berth::kube::ExecConfig plugin;
  plugin.api_version = "client.authentication.k8s.io/v1";
  const berth::kube::ProcessResult printed{berth::kube::ProcessResult::Kind::kExited, 0, text, ""};
  const auto credential = berth::kube::ReadExecCredential(plugin, printed, true);
  if (!credential && credential.error().Message().empty()) std::abort();
  return 0;
}
