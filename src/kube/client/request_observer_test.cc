#include "kube/client/request_observer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "kube/client/credentials.h"
#include "kube/client/rest_client.h"
#include "kube/testing/fake_http_client.h"
#include "net/testing/fake_loop.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;

class Recorder final : public RequestObserver {
 public:
  void Answered(std::string_view method, std::string_view host, std::string_view code,
                size_t request_bytes) override {
    lines.push_back(fmt::format("answered {} {} {} {}", method, host, code, request_bytes));
  }
  void Finished(std::string_view method, std::string_view host, double seconds,
                size_t response_bytes) override {
    lines.push_back(fmt::format("finished {} {} {} {}", method, host, seconds, response_bytes));
  }
  void HeldBack(std::string_view method, std::string_view host, double seconds) override {
    lines.push_back(fmt::format("held back {} {} {}", method, host, seconds));
  }
  void Retried(std::string_view method, std::string_view host, std::string_view code) override {
    lines.push_back(fmt::format("retried {} {} {}", method, host, code));
  }
  std::vector<std::string> lines;
};

class NoPlugin final : public ProcessRunner {
 public:
  void Run(ProcessSpec, Callback) override {}
};

class RequestObserverTest : public ::testing::Test {
 protected:
  RequestObserverTest() {
    ClientConfig config;
    config.server = "https://h:6443";
    RestClientOptions options;
    options.qps = 2;
    options.burst = 1;
    options.observer = &told_;
    auto credentials = Credentials::Make(loop_, config, std::make_unique<NoPlugin>());
    client_ = std::move(*MakeRestClientOver(loop_, std::make_unique<FakeHttpClient>(http_), config,
                                            *credentials, options));
  }

  net::FakeLoop loop_;
  FakeHttp http_;
  Recorder told_;
  std::unique_ptr<ApiClient> client_;
};

TEST_F(RequestObserverTest, EveryAttemptIsAnsweredAndTheRequestFinishedOnce) {
  ApiRequest request;
  request.method = "POST";
  request.path = "/api/v1/namespaces/n/pods/p/binding";
  request.body = "12345";
  client_->Send(request, [](const ApiResponse&) {});
  http_.Respond(429, {{"retry-after", "1"}});
  loop_.Advance(std::chrono::seconds(1));
  http_.Respond(201, {{"content-type", "application/json"}}, R"({"kind":"Status"})");
  EXPECT_THAT(told_.lines, ElementsAre("held back POST h:6443 0", "answered POST h:6443 429 5",
                                       "retried POST h:6443 429", "held back POST h:6443 0",
                                       "answered POST h:6443 201 5", "finished POST h:6443 1 17"));
}

TEST_F(RequestObserverTest, WhatGetsNoAnswerIsAnError) {
  client_->Send({}, [](const ApiResponse&) {});
  http_.Break(net::HttpError::Kind::kConnect, "refused");
  EXPECT_THAT(told_.lines, ElementsAre("held back GET h:6443 0", "answered GET h:6443 <error> 0",
                                       "finished GET h:6443 0 0"));
}

}  // namespace
}  // namespace berth::kube
