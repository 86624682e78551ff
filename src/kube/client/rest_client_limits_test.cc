// What the client does not send, and for how long it waits.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/client/credentials.h"
#include "kube/client/fence.h"
#include "kube/client/rest_client.h"
#include "kube/testing/fake_exec_plugin.h"
#include "kube/testing/fake_http_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

class RestClientLimitsTest : public ::testing::Test {
 protected:
  void Make() {
    ClientConfig config;
    config.server = "https://h:6443";
    config.token = "t";
    options_.qps = -1;
    auto credentials = Credentials::Make(loop_, config, std::make_unique<FakePlugin>(plugin_));
    ASSERT_TRUE(credentials);
    auto client = MakeRestClientOver(loop_, std::make_unique<FakeHttpClient>(http_), config,
                                     *credentials, options_);
    ASSERT_TRUE(client) << client.error().Message();
    client_ = std::move(*client);
  }
  void Send(std::string method, std::string path, bool event = false) {
    ApiRequest request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.event = event;
    client_->Send(std::move(request),
                  [this](ApiResponse response) { answers_.push_back(std::move(response)); });
  }

  net::FakeLoop loop_;
  FakeHttp http_;
  FakePlugin::State plugin_;
  RestClientOptions options_;
  std::unique_ptr<ApiClient> client_;
  std::vector<ApiResponse> answers_;
};

TEST_F(RestClientLimitsTest, M7WritesHaveATimeLimitPerAttempt) {
  Make();
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_EQ(http_.Last().timeout, seconds(90));
  http_.Respond(429, {{"retry-after", "200"}});
  loop_.Advance(seconds(200));
  ASSERT_EQ(http_.Size(), 2u);
  EXPECT_EQ(http_.Last().timeout, seconds(90));
  http_.Break(net::HttpError::Kind::kTimeout, "context deadline exceeded");
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_FALSE(answers_[0].error.SurelyNotDone());
  Send("GET", "/api/v1/pods");
  EXPECT_EQ(http_.Last().timeout, seconds(0));
}

TEST_F(RestClientLimitsTest, L7NamesThatAreDotsAreNotSent) {
  Make();
  for (const std::string name : {".", ".."}) {
    answers_.clear();
    Send("POST", "/api/v1/namespaces/n/pods/" + name + "/binding");
    Send("DELETE", "/api/v1/namespaces/n/pods/" + name);
    EXPECT_TRUE(answers_.empty()) << "answers never come from inside a call";
    loop_.Advance(seconds(0));
    ASSERT_EQ(answers_.size(), 2u);
    EXPECT_THAT(answers_[0].message,
                HasSubstr("invalid resource name \"" + name + "\": [may not be '" + name + "']"));
    EXPECT_TRUE(answers_[1].error.SurelyNotDone());
  }
  EXPECT_EQ(http_.Size(), 0u);
  Send("DELETE", "/api/v1/namespaces/n/pods/a..b");
  EXPECT_EQ(http_.Size(), 1u);
}

TEST_F(RestClientLimitsTest, L1NothingIsWrittenAfterTheLeaseHasEnded) {
  Fence fence;
  options_.fence = &fence;
  Make();
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_EQ(http_.Size(), 1u) << "without an election";
  fence.Move(seconds(15));
  loop_.Freeze(seconds(14));
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_EQ(http_.Size(), 2u);
  loop_.Freeze(seconds(1));
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_EQ(http_.Size(), 2u);
  loop_.Advance(seconds(0));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_THAT(answers_[0].message, HasSubstr("lease has ended"));
  EXPECT_TRUE(answers_[0].error.SurelyNotDone());
  Send("GET", "/api/v1/pods");
  Send("POST", "/apis/events.k8s.io/v1/namespaces/n/events", true);
  EXPECT_EQ(http_.Size(), 4u);
}

TEST_F(RestClientLimitsTest, WritesSayHowLongTheServerMayTake) {
  Fence fence;
  options_.fence = &fence;
  options_.server_write_timeout = std::chrono::milliseconds(2500);
  Make();
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  EXPECT_EQ(http_.exchanges.at(0).request.target,
            "/api/v1/namespaces/n/pods/p/binding?timeout=2.5s");
  EXPECT_EQ(http_.exchanges.at(0).request.send_by, seconds(0)) << "without an election";
  fence.Move(seconds(10));
  Send("DELETE", "/api/v1/namespaces/n/pods/p");
  EXPECT_EQ(http_.exchanges.at(1).request.target, "/api/v1/namespaces/n/pods/p?timeout=2.5s");
  EXPECT_EQ(http_.exchanges.at(1).request.send_by, seconds(10));
  Send("GET", "/api/v1/pods");
  EXPECT_EQ(http_.exchanges.at(2).request.target, "/api/v1/pods");
  EXPECT_EQ(http_.exchanges.at(2).request.send_by, seconds(0));
  Send("POST", "/apis/events.k8s.io/v1/namespaces/n/events", true);
  EXPECT_EQ(http_.exchanges.at(3).request.target, "/apis/events.k8s.io/v1/namespaces/n/events");
  EXPECT_EQ(http_.exchanges.at(3).request.send_by, seconds(0));
}

TEST_F(RestClientLimitsTest, AWriteIsLostOnlyOnceTheServerHasGivenItUp) {
  options_.server_write_timeout = seconds(2);
  Make();
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  loop_.Advance(seconds(1));
  http_.Break(net::HttpError::Kind::kBroken, "cut");
  loop_.Advance(std::chrono::milliseconds(999));
  EXPECT_TRUE(answers_.empty());
  loop_.Advance(std::chrono::milliseconds(1));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_[0].message.substr(answers_[0].message.size() - 3), "cut");
  Send("POST", "/api/v1/namespaces/n/pods/p/binding");
  http_.Break(net::HttpError::Kind::kRefused, "refused");
  EXPECT_EQ(answers_.size(), 2u) << "surely not done";
}

}  // namespace
}  // namespace berth::kube
