// Where the API server is and how to be known there: kubeconfig files, service accounts, --master.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http/http_client.h"

namespace berth::kube {

// An exec credential plugin: a program that prints an ExecCredential.
struct ExecConfig {
  std::string api_version;
  std::string command;
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;
  std::string install_hint;
  bool provide_cluster_info = false;
  std::string interactive_mode;   // only Never and IfAvailable can work here
  std::string cluster_info_json;  // the spec.cluster to hand over, when asked for
};

// How to reach one API server as one user.
struct ClientConfig {
  std::string server;   // scheme://host[:port][/path]; the path is in front of every request's
  net::TlsOptions tls;  // certificates inline or as read from their files
  std::string proxy_url;
  bool disable_compression = false;
  // At most one of these speaks for us, in this order.
  std::string token_file;  // read again every minute: it is rotated
  std::string token;       // also when the file cannot be read
  std::string username;
  std::string password;
  ExecConfig exec;  // when exec.command is not empty
  std::string impersonate_user;
  std::string impersonate_uid;
  std::vector<std::string> impersonate_groups;
  std::vector<std::pair<std::string, std::vector<std::string>>> impersonate_extra;
  // Files that tls was read from; watched for new certificates.
  std::string ca_file;
  std::string client_cert_file;
  std::string client_key_file;
};

// Reads the file (relative paths in it are relative to its folder) and takes its current context,
// or the one called `context`. `master` overrides the server. File and `master` empty: the
// service account of the pod we run in, else an error in kube-scheduler's words.
Result<ClientConfig> LoadClientConfig(const std::string& kubeconfig, const std::string& master,
                                      const std::string& context = "");

// From the text of a kubeconfig; `directory` is where relative paths start, `file_name` what errors
// call it.
Result<ClientConfig> ParseKubeconfig(std::string_view text, const std::string& directory,
                                     const std::string& file_name, const std::string& master = "");

}  // namespace berth::kube
