#include "cli/observe/observed_cluster.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/visible.h"
#include "cli/scheduler/flags.h"
#include "cli/scheduler/kubernetes_choice.h"
#include "cli/scheduler/version.h"
#include "kube/client/rest_client.h"
#include "kube/client/server_version.h"

namespace berth::cli {
namespace {

namespace cmd = berth::cli::scheduler;

constexpr int kUnusable = 2;
constexpr std::chrono::seconds kPatience(15);  // for the API server's version

// The minor of the API server.
Result<int> AskMinor(net::SystemLoop& loop, kube::ReadOnlyClient& client,
                     const std::string& command) {
  Result<kube::ServerVersion> answer = Fail("no answer in time");
  loop.Post([&] {
    loop.After(kPatience, [&] { loop.Stop(); });
    client.Send(kube::VersionRequest(), [&](const kube::ApiResponse& response) {
      answer = kube::ReadServerVersion(response);
      loop.Stop();
    });
  });
  loop.Run();
  if (!answer) return Fail(answer.error());
  if (const std::string far = kube::DistanceWarning(*answer); !far.empty()) {
    fmt::print(stderr, "{}: {}\n", command, far);
  }
  return kube::NearestKubernetes(*answer);
}

// The version of the API server where the flags leave it open.
Result<std::string> VersionOf(const kube::ClientConfig& client, const cmd::Flags& flags,
                              const std::string& command) {
  const std::string& wanted = flags.Values().kubernetes_version;
  if (wanted != "auto") return wanted;
  const auto loop = net::MakeSystemLoop();
  auto reader = MakeReader(*loop, client, "v1", command.substr(command.find(' ') + 1));
  if (!reader) return Fail(reader.error());
  const auto minor = AskMinor(*loop, **reader, command);
  if (!minor) return Fail(minor.error().In(client.server));
  return fmt::format("1.{}", *minor);
}

}  // namespace

Result<std::unique_ptr<kube::ReadOnlyClient>> MakeReader(net::SystemLoop& loop,
                                                         const kube::ClientConfig& config,
                                                         std::string_view version,
                                                         std::string_view name) {
  auto credentials = kube::MakeCredentials(loop, config);
  if (!credentials) return Fail(credentials.error());
  kube::RestClientOptions rest;
  rest.user_agent = cmd::UserAgent(version, name);
  rest.qps = -1;
  auto client = kube::MakeRestClient(loop, config, std::move(*credentials), rest);
  if (!client) return Fail(client.error());
  return std::make_unique<kube::ReadOnlyClient>(std::move(*client));
}

tl::expected<ObservedCluster, int> FindObservedCluster(const std::string& command,
                                                       std::vector<std::string> args) {
  const auto complain = [&](const Error& error) {
    fmt::print(stderr, "{}: {}\n", command, Visible(error.Message(), "\n"));
    return tl::unexpected(kUnusable);
  };
  const auto report = [](const cmd::Exit& exit) {
    const int code = cmd::Report(exit);
    return tl::unexpected(exit.code == 0 ? code : kUnusable);
  };
  auto flags = cmd::ParseFlags(args);
  if (!flags) return report(flags.error());
  const cmd::FlagValues& values = (*flags)->Values();
  const std::string kubeconfig = (*flags)->Changed("kubeconfig") || values.config.empty()
                                     ? values.kubeconfig
                                     : cmd::KubeconfigIn(values.config);
  auto client = kube::LoadClientConfig(kubeconfig, values.master);
  if (!client) return complain(client.error());
  const auto version = VersionOf(*client, **flags, command);
  if (!version) return complain(version.error());
  args.push_back("--kubernetes-version=" + *version);
  flags = cmd::ParseFlags(args);
  if (!flags) return report(flags.error());
  auto options = cmd::Complete(**flags, cmd::ChooseKubernetes(**flags));
  if (!options) return report(options.error());
  return ObservedCluster{std::move(*options), std::move(*client), (*flags)->Changed("secure-port"),
                         (*flags)->Changed("bind-address")};
}

}  // namespace berth::cli
