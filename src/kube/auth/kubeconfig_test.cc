// The expected errors are those client-go 0.34 gives for the same files.
#include "kube/auth/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "kube/auth/in_cluster.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr std::string_view kNoConfig =
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
    "environment variable";

// A folder that is empty before each test.
class KubeconfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fmt::format("{}kubeconfig_{}", ::testing::TempDir(), getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    unsetenv("KUBERNETES_SERVICE_HOST");
    unsetenv("KUBERNETES_SERVICE_PORT");
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Write(const std::string& name, std::string_view text) const {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }
  // DIR in `text` stands for the folder.
  std::string Expand(std::string text) const {
    for (size_t at = 0; (at = text.find("DIR", at)) != std::string::npos;) {
      text.replace(at, 3, dir_);
      at += dir_.size();
    }
    return text;
  }

  std::string dir_;
};

struct Parts {
  std::string cluster = "server: https://h:6443";
  std::string user = "token: t";
  std::string context = "cluster: c, user: u";
  std::string current = "x";
};

std::string Document(const Parts& parts) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\n"
      "clusters: [{{name: c, cluster: {{{}}}}}]\n"
      "users: [{{name: u, user: {{{}}}}}]\n"
      "contexts: [{{name: x, context: {{{}}}}}]\n"
      "current-context: {}\n",
      parts.cluster, parts.user, parts.context, parts.current);
}

struct ErrorRow {
  std::string what;
  std::string text;
  std::string error;
  std::string master = "";
};

TEST_F(KubeconfigTest, WhatIsWrongIsSaidInClientGosWords) {
  const std::string file = "error loading config file \"DIR/config\": ";
  const std::string invalid = "invalid configuration: ";
  const ErrorRow rows[] = {
      {"an empty file", "", std::string(kNoConfig)},
      {"a file of comments", "# nothing\n", std::string(kNoConfig)},
      {"null", "null", std::string(kNoConfig)},
      {"a scalar", "hello",
       file +
           "couldn't get version/kind; json parse error: json: cannot unmarshal string into Go "
           "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
           "string \"json:\\\"kind,omitempty\\\"\" }"},
      {"a list", "- a",
       file +
           "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go "
           "value of type struct { APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind "
           "string \"json:\\\"kind,omitempty\\\"\" }"},
      {"broken YAML", "a: b: c", file + "yaml: mapping values are not allowed in this context"},
      {"an unfinished JSON object", "{", file + "yaml: line 1: did not find expected node content"},
      {"another kind", "kind: Foo\napiVersion: v1",
       file + "no kind \"Foo\" is registered for version \"v1\" in scheme "
              "\"pkg/runtime/scheme.go:110\""},
      {"another version", "kind: Config\napiVersion: v2",
       file + "no kind \"Config\" is registered for version \"v2\" in scheme "
              "\"pkg/runtime/scheme.go:110\""},
      {"a context that is not there", Document({.current = "nope"}),
       invalid + "[context was not found for specified context: nope, cluster has no server "
                 "defined]"},
      {"a context that is not there, with a server", Document({.current = "nope"}),
       invalid + "context was not found for specified context: nope", "https://m:1"},
      {"no current context", Document({.current = "''"}), std::string(kNoConfig)},
      {"a cluster that is not there", Document({.context = "cluster: z, user: u"}),
       std::string(kNoConfig)},
      {"a cluster without server", Document({.cluster = ""}),
       invalid + "no server found for cluster \"c\""},
      {"an authority file that is not there",
       Document({.cluster = "server: https://h, certificate-authority: ca.crt"}),
       invalid + "unable to read certificate-authority DIR/ca.crt for c due to open DIR/ca.crt: no "
                 "such file or directory"},
      {"authority by file and inline",
       Document({.cluster = "server: https://h, certificate-authority: there.crt, "
                            "certificate-authority-data: aGVsbG8="}),
       invalid + "certificate-authority-data and certificate-authority are both specified for c. "
                 "certificate-authority-data will override."},
      {"an authority that is not to be asked",
       Document({.cluster = "server: https://h, insecure-skip-tls-verify: true, "
                            "certificate-authority-data: aGVsbG8="}),
       "specifying a root certificates file with the insecure flag is not allowed"},
      {"a proxy of an unknown kind", Document({.cluster = "server: https://h, proxy-url: ftp://p"}),
       invalid + "invalid 'proxy-url' \"ftp://p\" for cluster \"c\": unsupported scheme \"ftp\", "
                 "must be http, https, or socks5"},
      {"a proxy that is no URL",
       Document({.cluster = "server: https://h, proxy-url: 'http://p:x'"}),
       invalid + "invalid 'proxy-url' \"http://p:x\" for cluster \"c\": could not parse: "
                 "http://p:x"},
      {"a certificate without key", Document({.user = "client-certificate-data: aGVsbG8="}),
       invalid + "client-key-data or client-key must be specified for u to use the clientCert "
                 "authentication method."},
      {"certificate and key by file and inline",
       Document({.user = "client-certificate-data: aGVsbG8=, client-certificate: a.crt, "
                         "client-key: a.key, client-key-data: aGVsbG8="}),
       invalid +
           "[client-cert-data and client-cert are both specified for u. client-cert-data will "
           "override., client-key-data and client-key are both specified for u; client-key-data "
           "will override, unable to read client-cert DIR/a.crt for u due to open DIR/a.crt: no "
           "such file or directory, unable to read client-key DIR/a.key for u due to open "
           "DIR/a.key: no such file or directory]"},
      {"token and password", Document({.user = "token: t, username: a, password: b"}),
       invalid + "more than one authentication method found for u; found [token basicAuth], only "
                 "one is allowed"},
      {"token file and user name", Document({.user = "tokenFile: token, username: a"}),
       "username/password or bearer token may be set, but not both"},
      {"a token file that is not there", Document({.user = "tokenFile: none"}),
       "open DIR/none: no such file or directory"},
      {"a token file with nothing in it", Document({.user = "tokenFile: blank"}),
       "read empty token from file \"DIR/blank\""},
      {"a plugin without anything", Document({.user = "exec: {}"}),
       invalid + "[command must be specified for u to use exec authentication plugin, apiVersion "
                 "must be specified for u to use exec authentication plugin, interactiveMode must "
                 "be specified for u to use exec authentication plugin]"},
      {"a plugin with an unknown mode",
       Document({.user = "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
                         "interactiveMode: Foo}"}),
       invalid + "invalid interactiveMode for u: \"Foo\""},
      {"a plugin of a version that is gone",
       Document({.user = "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}"}),
       "exec plugin: invalid apiVersion \"client.authentication.k8s.io/v1alpha1\""},
      {"a plugin variable without name",
       Document({.user = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: x, "
                         "env: [{value: b}]}"}),
       invalid + "env variable name must be specified for u to use exec authentication plugin"},
      {"plugin and provider",
       Document({.user = "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
                         "interactiveMode: Never}, auth-provider: {name: gcp}"}),
       invalid + "authProvider cannot be provided in combination with an exec plugin for u"},
      {"a provider", Document({.user = "auth-provider: {name: gcp}"}),
       "no Auth Provider found for name \"gcp\""},
      {"groups without a user", Document({.user = "as-groups: [a]"}),
       invalid + "requesting uid, groups or user-extra for u without impersonating a user"},
      {"faults of user and cluster",
       Document({.cluster = "proxy-url: ftp://p", .user = "as-uid: x"}),
       invalid + "[requesting uid, groups or user-extra for u without impersonating a user, no "
                 "server found for cluster \"c\", invalid 'proxy-url' \"ftp://p\" for cluster "
                 "\"c\": unsupported scheme \"ftp\", must be http, https, or socks5]"},
      {"a path without scheme", Document({.cluster = "server: 'h:6443/abc'"}),
       "host must be a URL or a host:port pair: \"h:6443/abc\""},
      {"a port that is none", Document({.cluster = "server: 'https://h:abc'"}),
       "host must be a URL or a host:port pair: \"https://h:abc\""},
      {"a host with a blank", Document({.cluster = "server: 'https://h h'"}),
       "host must be a URL or a host:port pair: \"https://h h\""},
      {"no host", Document({.cluster = "server: 'https://'"}),
       "host must be a URL or a host:port pair: \"https://\""},
      {"a bracket that is not closed", Document({.cluster = "server: 'http://[::1'"}),
       "host must be a URL or a host:port pair: \"http://[::1\""},
      {"a server of another kind", Document({.cluster = "server: 'ftp://h'"}),
       "unsupported protocol scheme \"ftp\""},
      {"a name given twice", "clusters: [{name: c}, {name: c}]",
       file + "error converting *[]NamedCluster into *map[string]*api.Cluster: duplicate name "
              "\"c\" in list"},
  };
  Write("there.crt", "x");
  Write("token", "abc\n");
  Write("blank", " \n");
  for (const ErrorRow& row : rows) {
    const auto loaded = LoadClientConfig(Write("config", row.text), row.master);
    ASSERT_FALSE(loaded) << row.what;
    EXPECT_EQ(loaded.error().Message(), Expand(row.error)) << row.what;
    const auto parsed = ParseKubeconfig(row.text, dir_, dir_ + "/config", row.master);
    ASSERT_FALSE(parsed) << row.what;
    EXPECT_EQ(parsed.error().Message(), Expand(row.error)) << row.what;
  }
}

TEST_F(KubeconfigTest, AnotherContextThanTheCurrentOne) {
  const std::string file = Write("config",
                                 "current-context: one\n"
                                 "clusters: [{name: c1, cluster: {server: 'http://one:1'}},\n"
                                 "  {name: c2, cluster: {server: 'http://two:2'}}]\n"
                                 "contexts: [{name: one, context: {cluster: c1}},\n"
                                 "  {name: two, context: {cluster: c2}}]\n");
  const auto current = LoadClientConfig(file, "");
  ASSERT_TRUE(current);
  EXPECT_EQ(current->server, "http://one:1");
  const auto other = LoadClientConfig(file, "", "two");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->server, "http://two:2");
  EXPECT_FALSE(LoadClientConfig(file, "", "three"));
}

TEST_F(KubeconfigTest, ErrorsDoNotShowSecrets) {
  const std::string texts[] = {
      Document({.user = "token: [hunter2]"}),
      Document({.user = "token: {a: hunter2}"}),
      Document({.user = "client-key-data: 'hunter2!'"}),
      "users: [{name: u, user: {password: hunter2, as-groups: hunter2}}]",
      "users: [{name: u, user: {password: hunter2, tokenFile: 7}}]",
      "users: [{name: u, user: {token: 0x68756e746572322}}]",
  };
  for (const std::string& text : texts) {
    const auto loaded = LoadClientConfig(Write("config", text), "");
    ASSERT_FALSE(loaded) << text;
    EXPECT_THAT(loaded.error().Message(), Not(HasSubstr("hunter2"))) << text;
    EXPECT_THAT(loaded.error().Message(), Not(HasSubstr("470369131"))) << text;
    EXPECT_THAT(loaded.error().Message(), HasSubstr("users")) << text;
  }
}

TEST_F(KubeconfigTest, FilesThatCannotBeRead) {
  EXPECT_EQ(LoadClientConfig("missing.conf", "").error().Message(),
            "stat missing.conf: no such file or directory");
  EXPECT_EQ(LoadClientConfig("missing.conf", "https://m").error().Message(),
            "stat missing.conf: no such file or directory");
  EXPECT_EQ(LoadClientConfig(dir_, "").error().Message(),
            fmt::format("error loading config file \"{0}\": read {0}: is a directory", dir_));
}

TEST_F(KubeconfigTest, APipeIsReadToItsEnd) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  std::thread writer([&] {
    const std::string text = Document({});
    for (char c : text) {
      if (write(fds[1], &c, 1) != 1) break;
    }
    close(fds[1]);
  });
  const auto loaded = LoadClientConfig(fmt::format("/dev/fd/{}", fds[0]), "");
  writer.join();
  close(fds[0]);
  ASSERT_TRUE(loaded) << loaded.error().Message();
  EXPECT_EQ(loaded->server, "https://h:6443");
}

TEST_F(KubeconfigTest, ServersAndTheirCredentials) {
  struct Row {
    std::string what;
    std::string text;
    std::string server;
    std::string token;
    std::string master = "";
  };
  const Row rows[] = {
      {"the plain case", Document({}), "https://h:6443", "t"},
      {"kind and apiVersion may be missing", Document({}).substr(27), "https://h:6443", "t"},
      {"no user in the context", Document({.context = "cluster: c"}), "https://h:6443", ""},
      {"a user that is not there", Document({.context = "cluster: c, user: z"}), "https://h:6443",
       ""},
      {"--master replaces the server", Document({}), "https://m:1", "t", "https://m:1"},
      {"--master is enough without context", Document({.current = "''"}), "https://m:1", "",
       "https://m:1"},
      {"no credential without TLS", Document({.cluster = "server: http://h:80"}), "http://h:80",
       ""},
      {"no scheme is no TLS", Document({.cluster = "server: 'h:6443'"}), "http://h:6443", ""},
      {"a path in front of all requests",
       Document({.cluster = "server: 'https://h/k8s/clusters/c-1/?x=1#f'"}),
       "https://h/k8s/clusters/c-1", "t"},
      {"a slash is no path", Document({.cluster = "server: https://h:6443/"}), "https://h:6443",
       "t"},
      {"IPv6", Document({.cluster = "server: 'https://[::1]:6443'"}), "https://[::1]:6443", "t"},
      {"JSON",
       R"({"clusters":[{"name":"c","cluster":{"server":"https://j"}}],"contexts":)"
       R"([{"name":"x","context":{"cluster":"c"}}],"current-context":"x"})",
       "https://j", ""},
  };
  for (const Row& row : rows) {
    const auto loaded = LoadClientConfig(Write("config", row.text), row.master);
    ASSERT_TRUE(loaded) << row.what << ": " << loaded.error().Message();
    EXPECT_EQ(loaded->server, row.server) << row.what;
    EXPECT_EQ(loaded->token, row.token) << row.what;
  }
  const auto alone = LoadClientConfig("", "m:8080");
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->server, "http://m:8080");
}

TEST_F(KubeconfigTest, CertificatesInlineAndFromFilesBesideTheKubeconfig) {
  Write("ca.crt", "authority");
  Write("me.crt", "certificate");
  Write("me.key", "key");
  const auto files = LoadClientConfig(
      Write("config",
            Document({.cluster = "server: https://h, certificate-authority: ca.crt, "
                                 "tls-server-name: api, disable-compression: true, "
                                 "proxy-url: 'http://p:3128'",
                      .user = "client-certificate: ./me.crt, client-key: " + dir_ + "/me.key"})),
      "");
  ASSERT_TRUE(files) << files.error().Message();
  EXPECT_EQ(files->tls.ca_pem, "authority");
  EXPECT_EQ(files->tls.client_cert_pem, "certificate");
  EXPECT_EQ(files->tls.client_key_pem, "key");
  EXPECT_EQ(files->tls.server_name, "api");
  EXPECT_EQ(files->ca_file, dir_ + "/ca.crt");
  EXPECT_EQ(files->client_cert_file, dir_ + "/me.crt");
  EXPECT_EQ(files->client_key_file, dir_ + "/me.key");
  EXPECT_EQ(files->proxy_url, "http://p:3128");
  EXPECT_TRUE(files->disable_compression);

  const auto replaced = LoadClientConfig(dir_ + "/config", "https://m");
  ASSERT_TRUE(replaced);
  EXPECT_EQ(replaced->tls.server_name, "") << "the name of the other server";

  const auto data = LoadClientConfig(
      Write("config", Document({.cluster = "server: https://h, "
                                           "certificate-authority-data: YXV0aG9yaXR5",
                                .user = "client-certificate-data: Y2VydA==, "
                                        "client-key-data: a2V5"})),
      "");
  ASSERT_TRUE(data) << data.error().Message();
  EXPECT_EQ(data->tls.ca_pem, "authority");
  EXPECT_EQ(data->tls.client_cert_pem, "cert");
  EXPECT_EQ(data->tls.client_key_pem, "key");
  EXPECT_EQ(data->ca_file + data->client_cert_file + data->client_key_file, "");
}

TEST_F(KubeconfigTest, TokensAndImpersonation) {
  Write("token", "abc\n");
  const auto file = LoadClientConfig(Write("config", Document({.user = "tokenFile: token"})), "");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->token_file, dir_ + "/token");
  EXPECT_EQ(file->token, "abc");
  const auto both =
      LoadClientConfig(Write("config", Document({.user = "token: t, tokenFile: none"})), "");
  ASSERT_TRUE(both) << "the token stands in for a file that is not there";
  EXPECT_EQ(both->token, "t");
  EXPECT_EQ(both->token_file, dir_ + "/none");
  const auto basic =
      LoadClientConfig(Write("config", Document({.user = "username: a, password: b"})), "");
  ASSERT_TRUE(basic);
  EXPECT_EQ(basic->username + ":" + basic->password, "a:b");
  const auto other =
      LoadClientConfig(Write("config", Document({.cluster = "server: http://h",
                                                 .user = "as: bob, as-uid: '7', as-groups: [g, h], "
                                                         "as-user-extra: {k: [v, w]}"})),
                       "");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->impersonate_user, "bob");
  EXPECT_EQ(other->impersonate_uid, "7");
  EXPECT_THAT(other->impersonate_groups, ElementsAre("g", "h"));
  EXPECT_THAT(other->impersonate_extra, ElementsAre(Pair("k", ElementsAre("v", "w"))));
}

TEST_F(KubeconfigTest, PluginsKnowTheClusterWhenTheyAsk) {
  const auto loaded = LoadClientConfig(
      Write("config",
            Document({.cluster = "server: https://h, certificate-authority-data: YXV0aG9yaXR5, "
                                 "tls-server-name: api, extensions: [{name: "
                                 "client.authentication.k8s.io/exec, extension: {audience: x}}]",
                      .user = "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: "
                              "bin/plugin, args: [a, b], env: [{name: NAME, value: v}], "
                              "provideClusterInfo: true, installHint: \"get\\eit\"}"})),
      "");
  ASSERT_TRUE(loaded) << loaded.error().Message();
  EXPECT_EQ(loaded->exec.command, dir_ + "/bin/plugin");
  EXPECT_THAT(loaded->exec.args, ElementsAre("a", "b"));
  EXPECT_THAT(loaded->exec.env, ElementsAre(Pair("NAME", "v")));
  EXPECT_EQ(loaded->exec.interactive_mode, "IfAvailable") << "of a version before there was any";
  EXPECT_EQ(loaded->exec.install_hint, "getU+001Bit");
  EXPECT_EQ(loaded->exec.cluster_info_json,
            R"({"server":"https://h","tls-server-name":"api",)"
            R"("certificate-authority-data":"YXV0aG9yaXR5","config":{"audience":"x"}})");

  const auto unused = LoadClientConfig(
      Write("config", Document({.user = "token: t, exec: {apiVersion: "
                                        "client.authentication.k8s.io/v1, command: plugin, "
                                        "interactiveMode: Never}"})),
      "");
  ASSERT_TRUE(unused);
  EXPECT_EQ(unused->exec.command, "") << "a token makes the plugin superfluous";
}

TEST_F(KubeconfigTest, InAPod) {
  InClusterPlaces places;
  places.token_file = Write("token", "secret\n");
  places.ca_file = Write("ca.crt", "-----BEGIN CERTIFICATE-----\n");
  EXPECT_EQ(InClusterConfig(places).error().Message(),
            "unable to load in-cluster configuration, KUBERNETES_SERVICE_HOST and "
            "KUBERNETES_SERVICE_PORT must be defined");
  EXPECT_FALSE(InClusterPossible(places));
  places.host = "10.0.0.1";
  places.port = "443";
  auto config = InClusterConfig(places);
  ASSERT_TRUE(config);
  EXPECT_TRUE(InClusterPossible(places));
  EXPECT_EQ(config->server, "https://10.0.0.1:443");
  EXPECT_EQ(config->token, "secret");
  EXPECT_EQ(config->token_file, places.token_file);
  EXPECT_EQ(config->ca_file, places.ca_file);
  places.host = "fd00::1";
  EXPECT_EQ(InClusterConfig(places)->server, "https://[fd00::1]:443");
  places.ca_file = dir_ + "/none";
  config = InClusterConfig(places);
  ASSERT_TRUE(config) << "the system's certificates are tried then";
  EXPECT_EQ(config->tls.ca_pem, "");
  places.token_file = dir_ + "/none";
  EXPECT_FALSE(InClusterPossible(places));
  EXPECT_EQ(InClusterConfig(places).error().Message(),
            fmt::format("open {}/none: no such file or directory", dir_));
}

TEST_F(KubeconfigTest, NothingAtAll) {
  EXPECT_EQ(LoadClientConfig("", "").error().Message(), kNoConfig);
}

}  // namespace
}  // namespace berth::kube
