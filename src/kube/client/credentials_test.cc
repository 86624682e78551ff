#include "kube/client/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "kube/testing/fake_exec_plugin.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CredentialsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir_ = fmt::format("{}credentials_{}", ::testing::TempDir(), getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::string Write(const std::string& name, std::string_view text) const {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  std::string dir_;
  net::FakeLoop loop_;
};

// What would be sent, as lines; "-" when it has to be fetched first.
std::vector<std::string> Lines(Credentials& credentials) {
  const Credentials::Credential* credential = credentials.Current();
  if (credential == nullptr) return {"-"};
  std::vector<std::string> lines;
  for (const net::Header& header : credential->headers) {
    lines.push_back(header.name + ": " + header.value);
  }
  return lines;
}

std::shared_ptr<Credentials> Make(net::Loop& loop, const ClientConfig& config,
                                  std::unique_ptr<ProcessRunner> runner = nullptr) {
  auto made = Credentials::Make(loop, config, std::move(runner));
  EXPECT_TRUE(made);
  return made ? *made : nullptr;
}

TEST_F(CredentialsTest, FixedOnes) {
  ClientConfig config;
  EXPECT_THAT(Lines(*Make(loop_, config)), ElementsAre());
  config.token = "t";
  EXPECT_THAT(Lines(*Make(loop_, config)), ElementsAre("authorization: Bearer t"));
  EXPECT_FALSE(Make(loop_, config)->Refused(1)) << "there is no other";
  config.token = "";
  config.username = "a";
  config.password = "b";
  EXPECT_THAT(Lines(*Make(loop_, config)), ElementsAre("authorization: Basic YTpi"));
}

TEST_F(CredentialsTest, SpeakingForSomebodyElse) {
  ClientConfig config;
  config.token = "t";
  config.impersonate_user = "bob";
  config.impersonate_uid = "7";
  config.impersonate_groups = {"g", "h"};
  config.impersonate_extra = {{"Example.com/a b", {"v", "w"}}};
  EXPECT_THAT(Lines(*Make(loop_, config)),
              ElementsAre("impersonate-user: bob", "impersonate-uid: 7", "impersonate-group: g",
                          "impersonate-group: h", "impersonate-extra-example.com%2fa%20b: v",
                          "impersonate-extra-example.com%2fa%20b: w", "authorization: Bearer t"));
}

TEST_F(CredentialsTest, WhatWouldBreakAHeaderIsRefused) {
  ClientConfig config;
  config.token = "t\r\nx-admin: yes";
  EXPECT_FALSE(Credentials::Make(loop_, config));
  config.token = "t";
  config.impersonate_user = "a\nb";
  EXPECT_FALSE(Credentials::Make(loop_, config));
}

TEST_F(CredentialsTest, ATokenFileIsReadAgain) {
  ClientConfig config;
  config.token = "first";
  config.token_file = Write("token", "one\n");
  const auto credentials = Make(loop_, config);
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer one"));
  Write("token", "two\n");
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer one")) << "not yet";
  loop_.Advance(seconds(50));
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer two"));

  // Refused: at once, and only what is new is worth another try.
  const uint64_t version = credentials->Current()->version;
  EXPECT_FALSE(credentials->Refused(version));
  Write("token", "three\n");
  EXPECT_TRUE(credentials->Refused(version));
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer three"));
  EXPECT_TRUE(credentials->Refused(version)) << "it was an old one";

  // What cannot be read leaves the last one.
  std::filesystem::remove(config.token_file);
  loop_.Advance(minutes(2));
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer three"));
  Write("token", "  \n");
  loop_.Advance(minutes(2));
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer three"));
  Write("token", "a\nb");
  loop_.Advance(minutes(2));
  EXPECT_THAT(Lines(*credentials), ElementsAre("authorization: Bearer three"));
}

TEST_F(CredentialsTest, TheTokenStandsInForAFileThatIsNotThere) {
  ClientConfig config;
  config.token = "t";
  config.token_file = dir_ + "/none";
  EXPECT_THAT(Lines(*Make(loop_, config)), ElementsAre("authorization: Bearer t"));
}

TEST_F(CredentialsTest, NewCertificatesReachAllListeners) {
  ClientConfig config;
  config.client_cert_file = Write("crt", "cert-1");
  config.client_key_file = Write("key", "key-1");
  config.tls.client_cert_pem = "cert-1";
  config.tls.client_key_pem = "key-1";
  const auto credentials = Make(loop_, config);
  std::vector<std::string> seen;
  Result<void> second_answer;
  const auto first = credentials->AddListener([&](const net::TlsOptions& tls) -> Result<void> {
    seen.push_back("first " + tls.client_cert_pem);
    return {};
  });
  credentials->AddListener([&](const net::TlsOptions& tls) {
    seen.push_back("second " + tls.client_cert_pem);
    return second_answer;
  });

  loop_.Advance(minutes(5));
  EXPECT_THAT(seen, ElementsAre()) << "nothing has changed";
  Write("crt", "cert-2");
  Write("key", "key-2");
  loop_.Advance(minutes(5));
  EXPECT_THAT(seen, ElementsAre("first cert-2", "second cert-2"));
  EXPECT_EQ(credentials->Tls().client_key_pem, "key-2");

  // One that cannot take them: all keep the old ones.
  seen.clear();
  second_answer = Fail("tls: private key does not match public key");
  Write("crt", "cert-3");
  loop_.Advance(minutes(5));
  EXPECT_THAT(seen, ElementsAre("first cert-3", "second cert-3", "first cert-2"));
  EXPECT_EQ(credentials->Tls().client_cert_pem, "cert-2");

  // A refusal or a failed connection does not wait for the next look, but does not look all the
  // time either.
  seen.clear();
  second_answer = {};
  credentials->ConnectFailed();
  EXPECT_THAT(seen, ElementsAre()) << "it has just looked";
  loop_.Advance(seconds(2));
  credentials->ConnectFailed();
  EXPECT_THAT(seen, ElementsAre("first cert-3", "second cert-3"));
  credentials->RemoveListener(first);
  seen.clear();
  std::filesystem::remove(config.client_key_file);
  Write("crt", "cert-4");
  loop_.Advance(seconds(2));
  credentials->Refused(1);
  EXPECT_THAT(seen, ElementsAre()) << "half a pair is none";
  Write("key", "key-4");
  loop_.Advance(seconds(2));
  credentials->Refused(1);
  EXPECT_THAT(seen, ElementsAre("second cert-4"));
}

TEST_F(CredentialsTest, NoTimerOutlivesThem) {
  ClientConfig config;
  config.ca_file = Write("ca", "x");
  auto credentials = Make(loop_, config);
  EXPECT_EQ(loop_.Timers(), 1u);
  credentials.reset();
  EXPECT_EQ(loop_.Timers(), 0u);
}

class ExecCredentialsTest : public CredentialsTest {
 protected:
  void SetUp() override {
    CredentialsTest::SetUp();
    ClientConfig config;
    config.exec.command = "plugin";
    config.exec.api_version = "client.authentication.k8s.io/v1";
    config.exec.interactive_mode = "Never";
    credentials_ = Make(loop_, config, std::make_unique<FakePlugin>(plugin_));
  }
  void Print(const std::string& status) {
    plugin_.done({ProcessResult::Kind::kExited, 0,
                  "{kind: ExecCredential, apiVersion: client.authentication.k8s.io/v1, status: " +
                      status + "}",
                  ""});
  }
  Credentials::Done Into(std::vector<std::string>& answers) {
    return [&answers](const Result<void>& outcome) {
      answers.push_back(outcome ? "ok" : outcome.error().Message());
    };
  }

  FakePlugin::State plugin_;
  std::shared_ptr<Credentials> credentials_;
};

TEST_F(ExecCredentialsTest, AllWaitForOneRun) {
  EXPECT_THAT(Lines(*credentials_), ElementsAre("-"));
  std::vector<std::string> answers;
  credentials_->Fetch(Into(answers));
  credentials_->Fetch(Into(answers));
  EXPECT_EQ(plugin_.runs, 1);
  Print("{token: one}");
  EXPECT_THAT(answers, ElementsAre("ok", "ok"));
  EXPECT_THAT(Lines(*credentials_), ElementsAre("authorization: Bearer one"));
  credentials_->Fetch(Into(answers));
  EXPECT_EQ(answers.size(), 2u) << "from the loop";
  loop_.RunPosted();
  EXPECT_EQ(answers.size(), 3u);
  EXPECT_EQ(plugin_.runs, 1);
}

TEST_F(ExecCredentialsTest, AFailureIsToldToAllWhoWait) {
  std::vector<std::string> answers;
  credentials_->Fetch(Into(answers));
  credentials_->Fetch(Into(answers));
  plugin_.done({ProcessResult::Kind::kExited, 1, "", ""});
  EXPECT_THAT(answers, ElementsAre("exec: executable plugin failed with exit code 1",
                                   "exec: executable plugin failed with exit code 1"));
  credentials_->Fetch(Into(answers));
  EXPECT_EQ(plugin_.runs, 2) << "the next one tries again";
}

TEST_F(ExecCredentialsTest, HowToInstallItIsSaidTenTimesAnHour) {
  int hints = 0;
  const auto ask = [&] {
    std::vector<std::string> answers;
    credentials_->Fetch(Into(answers));
    plugin_.done({ProcessResult::Kind::kNotFound, 0, "", ""});
    if (answers.at(0).find("not installed") != std::string::npos) ++hints;
  };
  for (int i = 0; i < 15; ++i) ask();
  EXPECT_EQ(hints, 10);
  loop_.Advance(std::chrono::hours(1));
  ask();
  EXPECT_EQ(hints, 11);
}

TEST_F(ExecCredentialsTest, ExpiredAndRefusedOnesAreRenewed) {
  std::vector<std::string> answers;
  credentials_->Fetch(Into(answers));
  Print("{token: one, expirationTimestamp: '2023-11-14T22:14:20Z'}");  // in a minute
  EXPECT_THAT(Lines(*credentials_), ElementsAre("authorization: Bearer one"));
  loop_.Advance(seconds(61));
  EXPECT_THAT(Lines(*credentials_), ElementsAre("-"));
  credentials_->Fetch(Into(answers));
  Print("{token: two}");
  EXPECT_THAT(Lines(*credentials_), ElementsAre("authorization: Bearer two"));
  const uint64_t version = credentials_->Current()->version;
  EXPECT_TRUE(credentials_->Refused(version - 1)) << "it was the old one";
  EXPECT_THAT(Lines(*credentials_), ElementsAre("authorization: Bearer two"));
  EXPECT_TRUE(credentials_->Refused(version));
  EXPECT_THAT(Lines(*credentials_), ElementsAre("-"));
  EXPECT_EQ(plugin_.runs, 2);
}

TEST_F(ExecCredentialsTest, ItsCertificatesReachTheListeners) {
  std::vector<std::string> seen;
  Result<void> answer;
  credentials_->AddListener([&](const net::TlsOptions& tls) {
    seen.push_back(tls.client_cert_pem + tls.client_key_pem);
    return answer;
  });
  std::vector<std::string> answers;
  credentials_->Fetch(Into(answers));
  Print("{clientCertificateData: c, clientKeyData: k}");
  EXPECT_THAT(answers, ElementsAre("ok"));
  EXPECT_THAT(seen, ElementsAre("ck"));
  EXPECT_THAT(Lines(*credentials_), ElementsAre());
  credentials_->Refused(credentials_->Current()->version);
  answer = Fail("tls: no PEM");
  credentials_->Fetch(Into(answers));
  Print("{clientCertificateData: d, clientKeyData: k}");
  EXPECT_EQ(answers.back(), "failed parsing client key/certificate: tls: no PEM");
}

TEST_F(ExecCredentialsTest, AProgramThatNeedsATerminalWithoutOne) {
  ClientConfig config;
  config.exec.command = "plugin";
  config.exec.interactive_mode = "Sometimes";
  const auto credentials = Make(loop_, config, std::make_unique<FakePlugin>(plugin_));
  std::vector<std::string> answers;
  credentials->Fetch(Into(answers));
  EXPECT_THAT(answers, ElementsAre());
  loop_.RunPosted();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_THAT(answers[0], HasSubstr("exec plugin cannot support interactive mode"));
  EXPECT_EQ(plugin_.runs, 0);
}

TEST_F(ExecCredentialsTest, NobodyIsCalledAfterTheyAreGone) {
  std::vector<std::string> answers;
  credentials_->Fetch(Into(answers));
  Print("{token: one}");
  credentials_->Fetch(Into(answers));
  credentials_.reset();
  loop_.RunPosted();
  EXPECT_THAT(answers, ElementsAre("ok"));
}

}  // namespace
}  // namespace berth::kube
