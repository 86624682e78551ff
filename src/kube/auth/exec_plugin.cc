#include "kube/auth/exec_plugin.h"

#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "api/codec/yaml.h"
#include "api/go/go_text.h"

namespace berth::kube {
namespace {

constexpr std::string_view kInfoVariable = "KUBERNETES_EXEC_INFO";
constexpr std::string_view kInstallHelp =
    "\n\nIt looks like you are trying to use a client-go credential plugin that is not installed."
    "\n\nTo learn more about this feature, consult the documentation available at:"
    "\n      https://kubernetes.io/docs/reference/access-authn-authz/authentication/"
    "#client-go-credential-plugins";

struct CredentialStatus {
  std::optional<api::Time> expiration;
  std::string token;
  std::string client_cert;
  std::string client_key;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type =
        api::Describe<CredentialStatus>("ExecCredentialStatus")
            .Field(0, "expirationTimestamp", &CredentialStatus::expiration)
            .Field(0, "token", &CredentialStatus::token)
            .Field(0, "clientCertificateData", &CredentialStatus::client_cert)
            .Field(0, "clientKeyData", &CredentialStatus::client_key)
            .Build();
    return type;
  }
};

struct CredentialDocument {
  std::string kind;
  std::string api_version;
  std::optional<CredentialStatus> status;

  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<CredentialDocument>("ExecCredential")
                                          .Field(0, "kind", &CredentialDocument::kind)
                                          .Field(0, "apiVersion", &CredentialDocument::api_version)
                                          .Field(0, "status", &CredentialDocument::status)
                                          .Build();
    return type;
  }
};

// Only where it went wrong: the words of a decoder may quote what they read.
tl::unexpected<Error> BadOutput() {
  return Fail("decoding stdout: the output is no ExecCredential");
}

Result<CredentialDocument> Decode(const std::string& output) {
  // JSON is YAML too.
  const auto json = api::YamlToJson(output);
  if (!json) return BadOutput();
  auto document = api::FromJson<CredentialDocument>(*json);
  if (!document) return BadOutput();
  if (document->kind.empty()) return Fail("decoding stdout: Object 'Kind' is missing");
  if (document->api_version.empty()) {
    return Fail("decoding stdout: Object 'apiVersion' is missing");
  }
  if (document->kind != "ExecCredential") {
    return Fail(fmt::format("decoding stdout: no kind {} is registered for version {}",
                            api::GoQuote(document->kind), api::GoQuote(document->api_version)));
  }
  return document;
}

Result<void> CheckExit(const ExecConfig& config, const ProcessResult& result, bool with_hint) {
  switch (result.kind) {
    case ProcessResult::Kind::kExited:
      if (result.exit_code == 0) return {};
      return Fail(fmt::format("exec: executable {} failed with exit code {}", config.command,
                              result.exit_code));
    case ProcessResult::Kind::kNotFound: {
      std::string words = fmt::format("exec: executable {} not found", config.command);
      if (with_hint) {
        words += kInstallHelp;
        if (!config.install_hint.empty()) words += "\n\n" + config.install_hint;
      }
      return Fail(std::move(words));
    }
    case ProcessResult::Kind::kFailed:
      break;
  }
  return Fail("exec: " + result.error);
}

}  // namespace

Result<bool> IsInteractive(const ExecConfig& config, bool stdin_is_terminal) {
  if (config.interactive_mode == "Never") return false;
  if (config.interactive_mode == "IfAvailable") return stdin_is_terminal;
  if (config.interactive_mode == "Always") {
    if (stdin_is_terminal) return true;
    return Fail("exec plugin cannot support interactive mode: standard input is not a terminal");
  }
  return Fail("exec plugin cannot support interactive mode: unknown interactiveMode: " +
              api::GoQuote(config.interactive_mode));
}

std::string ExecInfo(const ExecConfig& config, bool interactive) {
  std::string json = R"({"kind":"ExecCredential","apiVersion":)";
  api::AppendJsonString(json, config.api_version);
  json += R"(,"spec":{)";
  if (config.provide_cluster_info) {
    json += "\"cluster\":" + config.cluster_info_json + ",";
  }
  json += fmt::format("\"interactive\":{}}}}}\n", interactive);
  return json;
}

ProcessSpec ExecProcess(const ExecConfig& config, bool interactive) {
  ProcessSpec spec;
  spec.command = config.command;
  spec.args = config.args;
  spec.inherit_stdin = interactive;
  // Of equal names the last one counts, as in Go.
  const auto set = [&](std::string_view name, std::string_view value) {
    const std::string prefix = fmt::format("{}=", name);
    std::erase_if(spec.env, [&](const std::string& entry) { return entry.starts_with(prefix); });
    spec.env.push_back(prefix + std::string(value));
  };
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    spec.env.emplace_back(*entry);
  }
  for (const auto& [name, value] : config.env) set(name, value);
  set(kInfoVariable, ExecInfo(config, interactive));
  return spec;
}

Result<ExecCredential> ReadExecCredential(const ExecConfig& config, const ProcessResult& result,
                                          bool with_hint) {
  if (auto ok = CheckExit(config, result, with_hint); !ok) return Fail(ok.error());
  auto document = Decode(result.output);
  if (!document) return Fail(document.error());
  if (document->api_version != config.api_version) {
    return Fail(
        fmt::format("exec plugin is configured to use API version {}, plugin returned version {}",
                    config.api_version, document->api_version));
  }
  if (!document->status) return Fail("exec plugin didn't return a status field");
  CredentialStatus& status = *document->status;
  if (status.token.empty() && status.client_cert.empty() && status.client_key.empty()) {
    return Fail("exec plugin didn't return a token or cert/key pair");
  }
  if (status.client_cert.empty() != status.client_key.empty()) {
    return Fail("exec plugin returned only certificate or key, not both");
  }
  ExecCredential credential;
  credential.token = std::move(status.token);
  credential.client_cert_pem = std::move(status.client_cert);
  credential.client_key_pem = std::move(status.client_key);
  credential.expiration = status.expiration;
  return credential;
}

}  // namespace berth::kube
