#include "kube/auth/kubeconfig_build.h"

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/codec/base64.h"
#include "api/go/go_text.h"
#include "kube/auth/read_file.h"
#include "kube/auth/server_url.h"

namespace berth::kube {
namespace {

constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";
constexpr std::string_view kEmptyCluster = "cluster has no server defined";

// What the current context chooses, with the override in it.
struct Chosen {
  std::string user_name;
  KubeconfigUser user;
  std::string cluster_name;
  KubeconfigCluster cluster;
  bool cluster_found = false;  // in the file
};

using Errors = std::vector<std::string>;

Chosen Choose(const Kubeconfig& config, const std::string& master) {
  Chosen chosen;
  if (const KubeconfigContext* context = config.FindContext(config.current_context)) {
    chosen.user_name = context->user;
    chosen.cluster_name = context->cluster;
  }
  if (const KubeconfigUser* user = config.FindUser(chosen.user_name)) chosen.user = *user;
  if (const KubeconfigCluster* cluster = config.FindCluster(chosen.cluster_name)) {
    chosen.cluster = *cluster;
    chosen.cluster_found = true;
  }
  if (!master.empty()) {
    chosen.cluster.server = master;
    // The name belongs to the server that was replaced.
    chosen.cluster.tls_server_name.clear();
  }
  return chosen;
}

void CheckReadable(std::string_view what, const std::string& path, std::string_view owner,
                   Errors& errors) {
  if (path.empty()) return;
  if (const auto text = ReadFile(path); !text) {
    errors.push_back(fmt::format("unable to read {} {} for {} due to {}", what, path, owner,
                                 text.error().Message()));
  }
}

void ValidateCertificate(const std::string& name, const KubeconfigUser& user, Errors& errors) {
  const bool cert_data = !user.client_certificate_data.data.empty();
  const bool key_data = !user.client_key_data.data.empty();
  if (user.client_certificate.empty() && !cert_data) return;
  if (!user.client_certificate.empty() && cert_data) {
    errors.push_back(fmt::format(
        "client-cert-data and client-cert are both specified for {}. client-cert-data will "
        "override.",
        name));
  }
  if (!user.client_key.empty() && key_data) {
    errors.push_back(fmt::format(
        "client-key-data and client-key are both specified for {}; client-key-data will override",
        name));
  }
  if (user.client_key.empty() && !key_data) {
    errors.push_back(
        fmt::format("client-key-data or client-key must be specified for {} to use the clientCert "
                    "authentication method.",
                    name));
  }
  CheckReadable("client-cert", user.client_certificate, name, errors);
  CheckReadable("client-key", user.client_key, name, errors);
}

void ValidateExec(const std::string& name, const KubeconfigUser& user, Errors& errors) {
  if (!user.exec) return;
  const auto require = [&](bool present, std::string_view what) {
    if (present) return;
    errors.push_back(
        fmt::format("{} must be specified for {} to use exec authentication plugin", what, name));
  };
  if (user.auth_provider) {
    errors.push_back(fmt::format(
        "authProvider cannot be provided in combination with an exec plugin for {}", name));
  }
  require(!user.exec->command.empty(), "command");
  require(!user.exec->api_version.empty(), "apiVersion");
  for (const ExecEnvVar& variable : user.exec->env) {
    require(!variable.name.empty(), "env variable name");
  }
  const std::string& mode = user.exec->interactive_mode;
  require(!mode.empty(), "interactiveMode");
  if (!mode.empty() && mode != "Never" && mode != "IfAvailable" && mode != "Always") {
    errors.push_back(fmt::format("invalid interactiveMode for {}: {}", name, api::GoQuote(mode)));
  }
}

void ValidateUser(const std::string& name, const KubeconfigUser& user, Errors& errors) {
  ValidateCertificate(name, user, errors);
  ValidateExec(name, user, errors);
  if (!user.token.empty() && (!user.username.empty() || !user.password.empty())) {
    errors.push_back(fmt::format(
        "more than one authentication method found for {}; found [token basicAuth], only one is "
        "allowed",
        name));
  }
  if (user.as.empty() &&
      (!user.as_uid.empty() || !user.as_groups.empty() || !user.as_user_extra.empty())) {
    errors.push_back(fmt::format(
        "requesting uid, groups or user-extra for {} without impersonating a user", name));
  }
}

// Why the proxy cannot be used; empty when it can.
std::string ProxyFault(const std::string& proxy_url) {
  const auto parts = SplitUrl(proxy_url);
  if (!parts) return "could not parse: " + proxy_url;
  if (parts->scheme == "http" || parts->scheme == "https" || parts->scheme == "socks5") return "";
  return fmt::format("unsupported scheme {}, must be http, https, or socks5",
                     api::GoQuote(parts->scheme));
}

void ValidateCluster(const Chosen& chosen, Errors& errors) {
  const KubeconfigCluster& cluster = chosen.cluster;
  const std::string& name = chosen.cluster_name;
  if (!chosen.cluster_found && cluster.server.empty()) {
    errors.emplace_back(kEmptyCluster);
    return;
  }
  if (cluster.server.empty()) {
    errors.push_back(name.empty()
                         ? "default cluster has no server defined"
                         : fmt::format("no server found for cluster {}", api::GoQuote(name)));
  }
  if (!cluster.proxy_url.empty()) {
    if (const std::string fault = ProxyFault(cluster.proxy_url); !fault.empty()) {
      errors.push_back(fmt::format("invalid 'proxy-url' {} for cluster {}: {}",
                                   api::GoQuote(cluster.proxy_url), api::GoQuote(name), fault));
    }
  }
  if (!cluster.certificate_authority.empty() && !cluster.certificate_authority_data.data.empty()) {
    errors.push_back(fmt::format(
        "certificate-authority-data and certificate-authority are both specified for {}. "
        "certificate-authority-data will override.",
        name));
  }
  CheckReadable("certificate-authority", cluster.certificate_authority, name, errors);
}

Result<void> Validate(const Kubeconfig& config, const Chosen& chosen) {
  Errors errors;
  if (!config.current_context.empty() && config.FindContext(config.current_context) == nullptr) {
    errors.push_back("context was not found for specified context: " + config.current_context);
  }
  ValidateUser(chosen.user_name, chosen.user, errors);
  ValidateCluster(chosen, errors);
  if (errors.empty()) return {};
  if (errors.size() == 1 && errors[0] == kEmptyCluster) return Fail(std::string(kEmptyConfig));
  if (errors.size() == 1) return Fail("invalid configuration: " + errors[0]);
  return Fail(fmt::format("invalid configuration: [{}]", fmt::join(errors, ", ")));
}

// The data, or what the file holds. `file` is kept only when it is what was read.
Result<std::string> DataOrFile(const std::string& data, std::string& file) {
  if (!data.empty()) {
    file.clear();
    return data;
  }
  if (file.empty()) return std::string();
  return ReadFile(file);
}

std::string TrimSpace(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

Result<void> TakeCertificates(const Chosen& chosen, ClientConfig& out) {
  const auto& [user_name, user, cluster_name, cluster, found] = chosen;
  out.tls.insecure = cluster.insecure_skip_tls_verify;
  out.tls.server_name = cluster.tls_server_name;
  out.ca_file = cluster.certificate_authority;
  auto ca = DataOrFile(cluster.certificate_authority_data.data, out.ca_file);
  if (!ca) return Fail(ca.error());
  out.tls.ca_pem = std::move(*ca);
  if (!out.tls.ca_pem.empty() && out.tls.insecure) {
    return Fail("specifying a root certificates file with the insecure flag is not allowed");
  }
  if (user.client_certificate.empty() && user.client_certificate_data.data.empty()) return {};
  out.client_cert_file = user.client_certificate;
  out.client_key_file = user.client_key;
  auto cert = DataOrFile(user.client_certificate_data.data, out.client_cert_file);
  if (!cert) return Fail(cert.error());
  auto key = DataOrFile(user.client_key_data.data, out.client_key_file);
  if (!key) return Fail(key.error());
  out.tls.client_cert_pem = std::move(*cert);
  out.tls.client_key_pem = std::move(*key);
  return {};
}

Result<void> TakeToken(const KubeconfigUser& user, ClientConfig& out) {
  out.token = user.token;
  out.token_file = user.token_file;
  if (out.token.empty() && !out.token_file.empty()) {
    auto token = ReadFile(out.token_file);
    if (!token) return Fail(token.error());
    out.token = TrimSpace(*token);
    if (out.token.empty()) {
      return Fail(fmt::format("read empty token from file {}", api::GoQuote(out.token_file)));
    }
  }
  out.username = user.username;
  out.password = user.password;
  if (!out.username.empty() && !out.token.empty()) {
    return Fail("username/password or bearer token may be set, but not both");
  }
  return {};
}

// spec.cluster of an ExecCredential.
std::string ClusterInfo(const KubeconfigCluster& cluster, const ClientConfig& config) {
  std::string json = "{";
  const auto member = [&](std::string_view name, std::string_view value) {
    if (json.size() > 1) json += ',';
    api::AppendJsonString(json, name);
    json += ':';
    api::AppendJsonString(json, value);
  };
  member("server", cluster.server);
  if (!config.tls.server_name.empty()) member("tls-server-name", config.tls.server_name);
  if (config.tls.insecure) json += ",\"insecure-skip-tls-verify\":true";
  if (!config.tls.ca_pem.empty()) {
    std::string base64;
    api::AppendBase64(base64, config.tls.ca_pem);
    member("certificate-authority-data", base64);
  }
  if (!config.proxy_url.empty()) member("proxy-url", config.proxy_url);
  if (config.disable_compression) json += ",\"disable-compression\":true";
  std::string extension = "null";
  for (const NamedExtension& named : cluster.extensions) {
    if (named.name == kExecExtension && !named.extension.text.empty()) {
      extension = named.extension.text;
    }
  }
  return json + ",\"config\":" + extension + "}";
}

// Letters and signs pass; what could steer a terminal is shown as its number.
std::string WithoutEscapeCodes(std::string_view text) {
  std::string out;
  for (size_t pos = 0; pos < text.size();) {
    bool valid = true;
    const uint32_t c = api::DecodeUtf8(text, &pos, &valid);
    const bool control = (c < 0x20 && (c < 0x09 || c > 0x0d)) || (c >= 0x7f && c < 0xa0);
    if (control) {
      out += fmt::format("U+{:04X}", c);
    } else {
      api::AppendUtf8(out, c);
    }
  }
  return out;
}

Result<void> TakeExec(const Chosen& chosen, ClientConfig& out) {
  if (!chosen.user.exec) return {};
  const KubeconfigExec& exec = *chosen.user.exec;
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    return Fail("exec plugin: invalid apiVersion " + api::GoQuote(exec.api_version));
  }
  // Whoever has a credential of his own is not asked for another.
  if (!out.token.empty() || !out.username.empty() || !out.tls.client_cert_pem.empty()) return {};
  out.exec.api_version = exec.api_version;
  out.exec.command = exec.command;
  out.exec.args = exec.args;
  for (const auto& [name, value] : exec.env) out.exec.env.emplace_back(name, value);
  out.exec.install_hint = WithoutEscapeCodes(exec.install_hint);
  out.exec.provide_cluster_info = exec.provide_cluster_info;
  out.exec.interactive_mode = exec.interactive_mode;
  if (exec.provide_cluster_info) out.exec.cluster_info_json = ClusterInfo(chosen.cluster, out);
  return {};
}

void TakeImpersonation(const KubeconfigUser& user, ClientConfig& out) {
  if (user.as.empty()) return;
  out.impersonate_user = user.as;
  out.impersonate_uid = user.as_uid;
  out.impersonate_groups = user.as_groups;
  for (const auto& [key, values] : user.as_user_extra) {
    out.impersonate_extra.emplace_back(key, values);
  }
}

}  // namespace

void ResolvePaths(Kubeconfig& config, const std::string& directory) {
  const auto resolve = [&](std::string& path) {
    if (path.empty() || path[0] == '/') return;
    path = (std::filesystem::path(directory) / path).lexically_normal().string();
  };
  for (NamedCluster& named : config.clusters) resolve(named.cluster.certificate_authority);
  for (NamedUser& named : config.users) {
    resolve(named.user.client_certificate);
    resolve(named.user.client_key);
    resolve(named.user.token_file);
    // A bare name is looked for in $PATH.
    if (named.user.exec && named.user.exec->command.find('/') != std::string::npos) {
      resolve(named.user.exec->command);
    }
  }
}

Result<ClientConfig> BuildClientConfig(const Kubeconfig& config, const std::string& master) {
  const Chosen chosen = Choose(config, master);
  if (auto ok = Validate(config, chosen); !ok) return Fail(ok.error());
  const auto url = ParseServerUrl(chosen.cluster.server, false);
  if (!url) return Fail(url.error());

  ClientConfig out;
  out.server = url->Text();
  out.proxy_url = chosen.cluster.proxy_url;
  out.disable_compression = chosen.cluster.disable_compression;
  TakeImpersonation(chosen.user, out);
  if (!url->Tls()) return out;
  if (auto ok = TakeCertificates(chosen, out); !ok) return Fail(ok.error());
  if (auto ok = TakeToken(chosen.user, out); !ok) return Fail(ok.error());
  if (chosen.user.auth_provider) {
    return Fail("no Auth Provider found for name " + api::GoQuote(chosen.user.auth_provider->name));
  }
  if (auto ok = TakeExec(chosen, out); !ok) return Fail(ok.error());
  return out;
}

}  // namespace berth::kube
