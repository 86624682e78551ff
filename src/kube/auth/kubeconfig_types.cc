#include "kube/auth/kubeconfig_types.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/yaml.h"
#include "api/go/go_text.h"
#include "kube/json_kind.h"

namespace berth::kube {
namespace {

using api::Describe;
using api::TypeInfo;

// The value of the first entry of that name.
template <class Named, class T>
const T* Find(const std::vector<Named>& list, std::string_view name, T Named::*value) {
  for (const Named& entry : list) {
    if (entry.name == name) return &(entry.*value);
  }
  return nullptr;
}

template <class Named>
Result<void> RefuseDuplicates(const std::vector<Named>& list, std::string_view named,
                              std::string_view type) {
  std::set<std::string_view> names;
  for (const Named& entry : list) {
    if (!names.insert(entry.name).second) {
      return Fail(fmt::format(
          "error converting *[]{} into *map[string]*api.{}: duplicate name \"{}\" in list", named,
          type, entry.name));
    }
  }
  return {};
}

Result<void> CheckKind(const Kubeconfig& config) {
  const bool ok = (config.kind.empty() || config.kind == "Config") &&
                  (config.api_version.empty() || config.api_version == "v1");
  if (ok) return {};
  return Fail(
      fmt::format("no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:110\"",
                  api::GoQuote(config.kind.empty() ? "Config" : config.kind),
                  api::GoQuote(config.api_version.empty() ? "v1" : config.api_version)));
}

// The words of the decoder quote what they could not read: that may be a token or a key.
std::string WithoutValues(std::string words) {
  if (const size_t got = words.find(", got "); got != std::string::npos) words.resize(got);
  const size_t first = words.find('"');
  if (first != std::string::npos) {
    words.replace(first, words.rfind('"') + 1 - first, "the value");
  }
  return words;
}

// Of the API versions that had no interactive mode yet, the old behaviour.
void SetDefaults(Kubeconfig& config) {
  for (NamedUser& named : config.users) {
    if (!named.user.exec || !named.user.exec->interactive_mode.empty()) continue;
    const std::string& version = named.user.exec->api_version;
    if (version == "client.authentication.k8s.io/v1beta1" ||
        version == "client.authentication.k8s.io/v1alpha1") {
      named.user.exec->interactive_mode = "IfAvailable";
    }
  }
}

}  // namespace

const TypeInfo& NamedExtension::Type() {
  static const TypeInfo type = Describe<NamedExtension>("NamedExtension")
                                   .Field(0, "name", &NamedExtension::name)
                                   .Field(0, "extension", &NamedExtension::extension)
                                   .Build();
  return type;
}

const TypeInfo& KubeconfigCluster::Type() {
  using C = KubeconfigCluster;
  static const TypeInfo type =
      Describe<C>("Cluster")
          .Field(0, "server", &C::server)
          .Field(0, "tls-server-name", &C::tls_server_name)
          .Field(0, "insecure-skip-tls-verify", &C::insecure_skip_tls_verify)
          .Field(0, "certificate-authority", &C::certificate_authority)
          .Field(0, "certificate-authority-data", &C::certificate_authority_data)
          .Field(0, "proxy-url", &C::proxy_url)
          .Field(0, "disable-compression", &C::disable_compression)
          .Field(0, "extensions", &C::extensions)
          .Build();
  return type;
}

const TypeInfo& ExecEnvVar::Type() {
  static const TypeInfo type = Describe<ExecEnvVar>("ExecEnvVar")
                                   .Field(0, "name", &ExecEnvVar::name)
                                   .Field(0, "value", &ExecEnvVar::value)
                                   .Build();
  return type;
}

const TypeInfo& KubeconfigExec::Type() {
  using E = KubeconfigExec;
  static const TypeInfo type = Describe<E>("ExecConfig")
                                   .Field(0, "command", &E::command)
                                   .Field(0, "args", &E::args)
                                   .Field(0, "env", &E::env)
                                   .Field(0, "apiVersion", &E::api_version)
                                   .Field(0, "installHint", &E::install_hint)
                                   .Field(0, "provideClusterInfo", &E::provide_cluster_info)
                                   .Field(0, "interactiveMode", &E::interactive_mode)
                                   .Build();
  return type;
}

const TypeInfo& KubeconfigAuthProvider::Type() {
  static const TypeInfo type = Describe<KubeconfigAuthProvider>("AuthProviderConfig")
                                   .Field(0, "name", &KubeconfigAuthProvider::name)
                                   .Build();
  return type;
}

const TypeInfo& KubeconfigUser::Type() {
  using U = KubeconfigUser;
  static const TypeInfo type = Describe<U>("AuthInfo")
                                   .Field(0, "client-certificate", &U::client_certificate)
                                   .Field(0, "client-certificate-data", &U::client_certificate_data)
                                   .Field(0, "client-key", &U::client_key)
                                   .Field(0, "client-key-data", &U::client_key_data)
                                   .Field(0, "token", &U::token)
                                   .Field(0, "tokenFile", &U::token_file)
                                   .Field(0, "as", &U::as)
                                   .Field(0, "as-uid", &U::as_uid)
                                   .Field(0, "as-groups", &U::as_groups)
                                   .Field(0, "as-user-extra", &U::as_user_extra)
                                   .Field(0, "username", &U::username)
                                   .Field(0, "password", &U::password)
                                   .Field(0, "auth-provider", &U::auth_provider)
                                   .Field(0, "exec", &U::exec)
                                   .Build();
  return type;
}

const TypeInfo& KubeconfigContext::Type() {
  static const TypeInfo type = Describe<KubeconfigContext>("Context")
                                   .Field(0, "cluster", &KubeconfigContext::cluster)
                                   .Field(0, "user", &KubeconfigContext::user)
                                   .Field(0, "namespace", &KubeconfigContext::namespace_)
                                   .Build();
  return type;
}

const TypeInfo& NamedCluster::Type() {
  static const TypeInfo type = Describe<NamedCluster>("NamedCluster")
                                   .Field(0, "name", &NamedCluster::name)
                                   .Field(0, "cluster", &NamedCluster::cluster)
                                   .Build();
  return type;
}

const TypeInfo& NamedUser::Type() {
  static const TypeInfo type = Describe<NamedUser>("NamedAuthInfo")
                                   .Field(0, "name", &NamedUser::name)
                                   .Field(0, "user", &NamedUser::user)
                                   .Build();
  return type;
}

const TypeInfo& NamedContext::Type() {
  static const TypeInfo type = Describe<NamedContext>("NamedContext")
                                   .Field(0, "name", &NamedContext::name)
                                   .Field(0, "context", &NamedContext::context)
                                   .Build();
  return type;
}

const TypeInfo& Kubeconfig::Type() {
  static const TypeInfo type = Describe<Kubeconfig>("Config")
                                   .Field(0, "kind", &Kubeconfig::kind)
                                   .Field(0, "apiVersion", &Kubeconfig::api_version)
                                   .Field(0, "clusters", &Kubeconfig::clusters)
                                   .Field(0, "users", &Kubeconfig::users)
                                   .Field(0, "contexts", &Kubeconfig::contexts)
                                   .Field(0, "current-context", &Kubeconfig::current_context)
                                   .Build();
  return type;
}

const KubeconfigCluster* Kubeconfig::FindCluster(std::string_view name) const {
  return Find(clusters, name, &NamedCluster::cluster);
}
const KubeconfigUser* Kubeconfig::FindUser(std::string_view name) const {
  return Find(users, name, &NamedUser::user);
}
const KubeconfigContext* Kubeconfig::FindContext(std::string_view name) const {
  return Find(contexts, name, &NamedContext::context);
}

Result<Kubeconfig> DecodeKubeconfig(std::string_view text) {
  if (text.empty()) return Kubeconfig{};
  // JSON is YAML too.
  auto json = api::YamlToJson(text);
  if (!json) return Fail(json.error());
  if (*json == "null") return Kubeconfig{};
  if (!json->starts_with('{')) {
    return Fail(fmt::format(
        "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go value of "
        R"(type struct {{ APIVersion string "json:\"apiVersion,omitempty\""; )"
        R"(Kind string "json:\"kind,omitempty\"" }})",
        JsonKind(*json)));
  }
  auto config = api::FromJson<Kubeconfig>(*json);
  if (!config) return Fail(WithoutValues(config.error().Message()));
  if (auto ok = CheckKind(*config); !ok) return Fail(ok.error());
  auto unique = RefuseDuplicates(config->clusters, "NamedCluster", "Cluster");
  if (unique) unique = RefuseDuplicates(config->users, "NamedAuthInfo", "AuthInfo");
  if (unique) unique = RefuseDuplicates(config->contexts, "NamedContext", "Context");
  if (!unique) return Fail(unique.error());
  SetDefaults(*config);
  return config;
}

}  // namespace berth::kube
