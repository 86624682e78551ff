#include "cli/explain/client.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "files/read.h"
#include "kube/auth/kubeconfig.h"
#include "kube/client/rest_client.h"
#include "net/loop.h"

namespace berth::cli {
namespace {

constexpr net::Nanoseconds kPatience = std::chrono::seconds(30);

Result<kube::ClientConfig> ConfigOf(const ExplainServer& from) {
  std::string kubeconfig = from.kubeconfig;
  if (kubeconfig.empty() && from.server.empty()) kubeconfig = DefaultKubeconfig();
  kube::ClientConfig config;
  if (!kubeconfig.empty()) {
    auto loaded = kube::LoadClientConfig(kubeconfig, from.server);
    if (!loaded) return Fail(loaded.error());
    config = std::move(*loaded);
  } else if (!from.server.empty()) {
    config.server = from.server;
  } else {
    return Fail(
        "which berth? Give --kubeconfig or --server URL, or manifests with -f for no cluster");
  }
  if (!from.token.empty()) config.token = from.token;
  if (!from.token_file.empty()) config.token_file = from.token_file;
  if (from.insecure) {
    config.tls.insecure = true;
    config.tls.ca_pem.clear();
  }
  if (!from.ca_file.empty()) {
    auto pem = files::ReadFile(from.ca_file);
    if (!pem) return Fail(pem.error());
    config.tls.ca_pem = std::move(*pem);
  }
  return config;
}

Error ErrorOf(const kube::ApiResponse& response, const std::string& server) {
  switch (response.code) {
    case 0:
      return Error(fmt::format("no answer from {}: {}", server, response.message));
    case 401:
    case 403:
      return Error(fmt::format(
          "{} does not let you ask: {}\nGive a --token that may get /apis/explain/v1/*, or a "
          "--kubeconfig",
          server, response.message));
    case 404:
      if (response.message.find("pod") != std::string::npos ||
          response.message.find("node") != std::string::npos) {
        return Error(response.message);
      }
      return Error(fmt::format(
          "{} knows nothing of explanations: it is not berth's. In a cluster ask the scheduler "
          "itself, e.g. --server https://127.0.0.1:10259",
          server));
    default:
      return Error(fmt::format("{} answered {}: {}", server, response.code, response.message));
  }
}

}  // namespace

std::string DefaultKubeconfig() {
  if (const char* given = std::getenv("KUBECONFIG"); given != nullptr && *given != '\0') {
    const std::string list = given;
    return list.substr(0, list.find(':'));
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr) return "";
  const std::string path = std::string(home) + "/.kube/config";
  return std::filesystem::exists(path) ? path : "";
}

void AddServerFlags(term::Flags& flags, ExplainServer* server) {
  flags.AddText("server", "URL", "address of the scheduler's secure port or of berth up",
                &server->server);
  flags.AddText("kubeconfig", "FILE", "server and credentials ($KUBECONFIG, ~/.kube/config)",
                &server->kubeconfig);
  flags.AddText("token", "TOKEN", "bearer token for the server", &server->token);
  flags.AddText("token-file", "FILE", "file that contains the bearer token", &server->token_file);
  flags.AddText("ca-file", "FILE", "CA certificates to verify the server with", &server->ca_file);
  flags.AddSwitch("insecure-skip-tls-verify", "do not verify the server certificate",
                  &server->insecure);
}

Result<std::string> Fetch(const ExplainServer& from, const std::string& path,
                          const std::string& query) {
  auto config = ConfigOf(from);
  if (!config) return Fail(config.error());
  const auto loop = net::MakeSystemLoop();
  auto credentials = kube::MakeCredentials(*loop, *config);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = "berth-explain";
  rest.accept = std::string(kube::kJson);
  rest.content_type = std::string(kube::kJson);
  rest.qps = -1;
  auto client = kube::MakeRestClient(*loop, *config, *credentials, rest);
  if (!client) return Fail(client.error());
  std::optional<kube::ApiResponse> answer;
  loop->Post([&] {
    kube::ApiRequest request;
    request.path = path;
    request.query = query;
    request.timeout = kPatience;
    (*client)->Send(std::move(request), [&](kube::ApiResponse response) {
      answer = std::move(response);
      loop->Stop();
    });
  });
  loop->Run();
  if (!answer) return Fail("no answer");
  if (!answer->Ok()) return Fail(ErrorOf(*answer, config->server));
  return std::move(answer->body);
}

}  // namespace berth::cli
