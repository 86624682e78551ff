// KubernetesChoice: see kubernetes_choice.h.
#include "cli/scheduler/kubernetes_choice.h"

#include <chrono>
#include <optional>

#include <fmt/format.h>
#include <simdjson.h>

#include "api/codec/yaml.h"
#include "cli/scheduler/version.h"
#include "config/behaviour.h"
#include "files/read.h"
#include "kube/client/rest_client.h"
#include "kube/client/server_version.h"
#include "net/loop.h"

namespace berth::cli::scheduler {
namespace {

constexpr std::string_view kAuto = "auto";
constexpr std::chrono::seconds kPatience(10);
constexpr std::chrono::milliseconds kPause(500);

// One question, put until it is answered.
class Question {
 public:
  Question(net::SystemLoop& loop, kube::ApiClient& client) : loop_(loop), client_(client) {}

  Result<kube::ServerVersion> Ask() {
    loop_.Post([this] {
      loop_.After(kPatience, [this] { loop_.Stop(); });
      Send();
    });
    loop_.Run();
    return answer_;
  }

 private:
  void Send() {
    client_.Send(kube::VersionRequest(), [this](const kube::ApiResponse& response) {
      answer_ = kube::ReadServerVersion(response);
      const bool final = answer_ || response.code == 401 || response.code == 403;
      if (final) return loop_.Stop();
      loop_.After(kPause, [this] { Send(); });
    });
  }

  net::SystemLoop& loop_;
  kube::ApiClient& client_;
  Result<kube::ServerVersion> answer_ = Fail("no answer in time");
};

// Nothing: there is nobody to ask.
std::optional<Result<kube::ServerVersion>> AskServer(const FlagValues& flags) {
  const std::string kubeconfig =
      flags.config.empty() ? flags.kubeconfig : KubeconfigIn(flags.config);
  const auto config = kube::LoadClientConfig(kubeconfig, flags.master);
  if (!config) return std::nullopt;
  const std::unique_ptr<net::SystemLoop> loop = net::MakeSystemLoop();
  auto credentials = kube::MakeCredentials(*loop, *config);
  if (!credentials) return std::nullopt;
  kube::RestClientOptions options;
  options.user_agent =
      UserAgent(KubernetesVersion(
                    config::Behaviour(config::FeatureGates(config::NewestKubernetes())).release),
                "version");
  auto client = kube::MakeRestClient(*loop, *config, *credentials, options);
  if (!client) return std::nullopt;
  return Question(*loop, **client).Ask();
}

KubernetesChoice Follow(const FlagValues& flags) {
  KubernetesChoice choice{.follows = true, .answered = false};
  const auto asked = AskServer(flags);
  if (!asked) return choice;
  if (!*asked) {
    choice.warnings.push_back(
        fmt::format("The API server has not said its version, so until it does berth decides as "
                    "kube-scheduler 1.{} does: {}",
                    choice.minor, asked->error().Message()));
    return choice;
  }
  const kube::ServerVersion& server = **asked;
  choice.minor = kube::NearestKubernetes(server);
  choice.answered = true;
  if (std::string warning = kube::DistanceWarning(server); !warning.empty()) {
    choice.warnings.push_back(std::move(warning));
  }
  return choice;
}

}  // namespace

std::string KubeconfigIn(const std::string& path) {
  const auto text = files::ReadFile(path);
  const auto json = text ? api::YamlToJson(*text) : Result<std::string>(std::string());
  if (!json) return {};
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  std::string_view kubeconfig;
  if (parser.parse(*json).get(root) != simdjson::SUCCESS) return {};
  if (root["clientConnection"]["kubeconfig"].get(kubeconfig) != simdjson::SUCCESS) return {};
  return std::string(kubeconfig);
}

Result<std::string> ParseKubernetesFlag(const std::string& value) {
  if (value == kAuto) return value;
  const auto minor = config::ParseKubernetesVersion(value);
  if (!minor) return Fail(minor.error().Message() + ", nor \"auto\"");
  return fmt::format("1.{}", *minor);
}

KubernetesChoice ChooseKubernetes(const Flags& flags) {
  const FlagValues& values = flags.Values();
  if (values.kubernetes_version != kAuto) {
    return {.minor = *config::ParseKubernetesVersion(values.kubernetes_version)};
  }
  const bool only_prints = values.version == "true" || values.version == "raw";
  return only_prints ? KubernetesChoice() : Follow(values);
}

}  // namespace berth::cli::scheduler
