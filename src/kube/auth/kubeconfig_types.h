// A kubeconfig file as it is written (v1 Config). Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/box.h"
#include "api/codec/schema.h"
#include "api/string_map.h"
#include "api/values.h"
#include "base/error.h"

namespace berth::kube {

struct NamedExtension {
  std::string name;
  api::RawJson extension;
  static const api::TypeInfo& Type();
};

struct KubeconfigCluster {
  std::string server;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string certificate_authority;
  api::Bytes certificate_authority_data;
  std::string proxy_url;
  bool disable_compression = false;
  std::vector<NamedExtension> extensions;
  static const api::TypeInfo& Type();
};

struct ExecEnvVar {
  std::string name;
  std::string value;
  static const api::TypeInfo& Type();
};

struct KubeconfigExec {
  std::string command;
  std::vector<std::string> args;
  std::vector<ExecEnvVar> env;
  std::string api_version;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;
  static const api::TypeInfo& Type();
};

struct KubeconfigAuthProvider {
  std::string name;
  static const api::TypeInfo& Type();
};

struct KubeconfigUser {
  std::string client_certificate;
  api::Bytes client_certificate_data;
  std::string client_key;
  api::Bytes client_key_data;
  std::string token;
  std::string token_file;
  std::string as;
  std::string as_uid;
  std::vector<std::string> as_groups;
  api::Map<std::vector<std::string>> as_user_extra;
  std::string username;
  std::string password;
  std::optional<KubeconfigAuthProvider> auth_provider;
  std::optional<KubeconfigExec> exec;
  static const api::TypeInfo& Type();
};

struct KubeconfigContext {
  std::string cluster;
  std::string user;
  std::string namespace_;
  static const api::TypeInfo& Type();
};

struct NamedCluster {
  std::string name;
  KubeconfigCluster cluster;
  static const api::TypeInfo& Type();
};
struct NamedUser {
  std::string name;
  KubeconfigUser user;
  static const api::TypeInfo& Type();
};
struct NamedContext {
  std::string name;
  KubeconfigContext context;
  static const api::TypeInfo& Type();
};

struct Kubeconfig {
  std::string kind;
  std::string api_version;
  std::vector<NamedCluster> clusters;
  std::vector<NamedUser> users;
  std::vector<NamedContext> contexts;
  std::string current_context;
  static const api::TypeInfo& Type();

  // Null: no such name.
  const KubeconfigCluster* FindCluster(std::string_view name) const;
  const KubeconfigUser* FindUser(std::string_view name) const;
  const KubeconfigContext* FindContext(std::string_view name) const;
};

// JSON or YAML; an empty text is an empty Kubeconfig. Unknown fields are skipped, names given twice
// refused. No error shows a value of the file.
Result<Kubeconfig> DecodeKubeconfig(std::string_view text);

}  // namespace berth::kube
