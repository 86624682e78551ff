#include "kube/auth/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace berth::kube {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

ExecConfig Config() {
  ExecConfig config;
  config.api_version = "client.authentication.k8s.io/v1";
  config.command = "plugin";
  config.interactive_mode = "Never";
  return config;
}

ProcessResult Printed(std::string output) {
  return {ProcessResult::Kind::kExited, 0, std::move(output), ""};
}

TEST(ExecPlugin, WhatThePluginIsTold) {
  ExecConfig config = Config();
  EXPECT_EQ(ExecInfo(config, false),
            "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
            "\"spec\":{\"interactive\":false}}\n");
  config.provide_cluster_info = true;
  config.cluster_info_json = R"({"server":"https://h","config":null})";
  EXPECT_EQ(ExecInfo(config, true),
            "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
            "\"spec\":{\"cluster\":{\"server\":\"https://h\",\"config\":null},"
            "\"interactive\":true}}\n");
}

TEST(ExecPlugin, ItsEnvironmentIsOursAndWhatTheFileSays) {
  setenv("BERTH_TEST_KEPT", "kept", 1);
  setenv("BERTH_TEST_SET", "old", 1);
  ExecConfig config = Config();
  config.args = {"a"};
  config.env = {{"BERTH_TEST_SET", "new"}};
  const ProcessSpec spec = ExecProcess(config, false);
  EXPECT_EQ(spec.command, "plugin");
  EXPECT_FALSE(spec.inherit_stdin);
  EXPECT_THAT(spec.env, Contains("BERTH_TEST_KEPT=kept"));
  EXPECT_THAT(spec.env, Contains("BERTH_TEST_SET=new"));
  EXPECT_THAT(spec.env, Not(Contains("BERTH_TEST_SET=old")));
  EXPECT_EQ(spec.env.back(), "KUBERNETES_EXEC_INFO=" + ExecInfo(config, false));
}

TEST(ExecPlugin, WhetherItMayTalkToATerminal) {
  struct Row {
    std::string mode;
    bool terminal;
    std::string answer;
  };
  const Row rows[] = {
      {"Never", true, "no"},
      {"IfAvailable", false, "no"},
      {"IfAvailable", true, "yes"},
      {"Always", true, "yes"},
      {"Always", false,
       "exec plugin cannot support interactive mode: standard input is not a terminal"},
      {"Foo", false,
       "exec plugin cannot support interactive mode: unknown interactiveMode: \"Foo\""},
  };
  for (const Row& row : rows) {
    ExecConfig config = Config();
    config.interactive_mode = row.mode;
    const auto interactive = IsInteractive(config, row.terminal);
    const std::string answer = !interactive   ? interactive.error().Message()
                               : *interactive ? "yes"
                                              : "no";
    EXPECT_EQ(answer, row.answer) << row.mode;
  }
}

TEST(ExecPlugin, CredentialsItPrints) {
  const auto json = ReadExecCredential(
      Config(),
      Printed(R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1",)"
              R"("status":{"token":"t","clientCertificateData":"c","clientKeyData":"k",)"
              R"("expirationTimestamp":"2023-11-14T22:13:20Z"}})"),
      false);
  ASSERT_TRUE(json) << json.error().Message();
  EXPECT_EQ(json->token, "t");
  EXPECT_EQ(json->client_cert_pem, "c");
  EXPECT_EQ(json->client_key_pem, "k");
  ASSERT_TRUE(json->expiration);
  EXPECT_EQ(json->expiration->UnixNano(), 1'700'000'000'000'000'000);
  const auto yaml = ReadExecCredential(
      Config(),
      Printed("kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\nstatus:\n  "
              "token: t\n"),
      false);
  ASSERT_TRUE(yaml);
  EXPECT_EQ(yaml->token, "t");
  EXPECT_FALSE(yaml->expiration);
}

TEST(ExecPlugin, WhatItMayDoWrong) {
  const std::string head = "kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1\n";
  struct Row {
    std::string what;
    ProcessResult result;
    std::string error;
  };
  const Row rows[] = {
      {"a failure",
       {ProcessResult::Kind::kExited, 3, "secret", ""},
       "exec: executable plugin failed with exit code 3"},
      {"a signal",
       {ProcessResult::Kind::kExited, -1, "", ""},
       "exec: executable plugin failed with exit code -1"},
      {"no such program",
       {ProcessResult::Kind::kNotFound, 0, "", ""},
       "exec: executable plugin not found"},
      {"it cannot be run",
       {ProcessResult::Kind::kFailed, 0, "", "fork/exec plugin: exec format error"},
       "exec: fork/exec plugin: exec format error"},
      {"no output", Printed(""), "decoding stdout: Object 'Kind' is missing"},
      {"no object", Printed("secret"), "decoding stdout: the output is no ExecCredential"},
      {"broken JSON", Printed("{\"token\":\"secret"),
       "decoding stdout: the output is no ExecCredential"},
      {"no version", Printed("kind: ExecCredential"),
       "decoding stdout: Object 'apiVersion' is missing"},
      {"another kind", Printed("kind: Pod\napiVersion: v1"),
       "decoding stdout: no kind \"Pod\" is registered for version \"v1\""},
      {"another version",
       Printed("kind: ExecCredential\napiVersion: client.authentication.k8s.io/v1beta1"),
       "exec plugin is configured to use API version client.authentication.k8s.io/v1, plugin "
       "returned version client.authentication.k8s.io/v1beta1"},
      {"no status", Printed(head), "exec plugin didn't return a status field"},
      {"an empty status", Printed(head + "status: {}"),
       "exec plugin didn't return a token or cert/key pair"},
      {"half a pair", Printed(head + "status: {clientKeyData: secret}"),
       "exec plugin returned only certificate or key, not both"},
      {"a time that is none", Printed(head + "status: {token: secret, expirationTimestamp: x}"),
       "decoding stdout: the output is no ExecCredential"},
  };
  for (const Row& row : rows) {
    const auto credential = ReadExecCredential(Config(), row.result, false);
    ASSERT_FALSE(credential) << row.what;
    EXPECT_EQ(credential.error().Message(), row.error) << row.what;
  }
}

TEST(ExecPlugin, HowToInstallItIsSaidWhenWanted) {
  ExecConfig config = Config();
  config.install_hint = "ask the admin";
  const ProcessResult missing = {ProcessResult::Kind::kNotFound, 0, "", ""};
  const auto credential = ReadExecCredential(config, missing, true);
  ASSERT_FALSE(credential);
  EXPECT_THAT(credential.error().Message(), HasSubstr("that is not installed."));
  EXPECT_THAT(credential.error().Message(), HasSubstr("\n\nask the admin"));
}

}  // namespace
}  // namespace berth::kube
