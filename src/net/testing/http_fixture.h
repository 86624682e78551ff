// What tests of the HTTP client share: a loop on a thread of its own, and waiting for answers.
//
// Everything that touches the loop runs there (On); the test's thread only waits.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "net/http/http_client.h"
#include "net/testing/http_server.h"

namespace berth::net::testing {

using Outcome = tl::expected<HttpResponse, HttpError>;

// Keeps what a stream brought.
class RecordingSink : public StreamSink {
 public:
  void OnResponse(int status, const std::vector<Header>&) override { got_status = status; }
  void OnData(std::string_view bytes) override {
    body += bytes;
    if (on_data) on_data();
  }
  void OnDone(const HttpError* error) override {
    ++ended;
    if (error != nullptr) failure = *error;
  }

  int got_status = 0;
  std::string body;
  int ended = 0;
  std::optional<HttpError> failure;
  std::function<void()> on_data;
};

class HttpTest : public ::testing::Test {
 protected:
  HttpTest() : loop_(MakeSystemLoop()), thread_([this] { loop_->Run(); }) {}
  ~HttpTest() override {
    loop_->Stop();
    thread_.join();
  }
  void TearDown() override {
    On([&] {
      clients_.clear();
      servers_.clear();
    });
    On([] {});  // what they left on the loop
  }

  // Runs on the loop, returns what it returns.
  template <class F>
  std::invoke_result_t<F> On(F run) {
    std::promise<std::invoke_result_t<F>> promise;
    auto future = promise.get_future();
    loop_->Post([&] {
      if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
        run();
        promise.set_value();
      } else {
        promise.set_value(run());
      }
    });
    return future.get();
  }

  // Waits for something that is true on the loop sooner or later. A hang is a failure.
  void Until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!On(condition)) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << "waited in vain";
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  Server& Serve(std::function<void(Peer&)> opened, const ServerTls* tls = nullptr) {
    return *On([&] {
      servers_.push_back(std::make_unique<Server>(*loop_, std::move(opened), tls));
      return servers_.back().get();
    });
  }

  HttpClient& Connect(HttpClientOptions options) {
    return *On([&] {
      auto made = MakeHttpClient(*loop_, std::move(options));
      EXPECT_TRUE(made) << made.error().Message();
      clients_.push_back(std::move(*made));
      return clients_.back().get();
    });
  }
  HttpClient& Connect(const Server& server) {
    HttpClientOptions options;
    options.url = server.Url();
    return Connect(std::move(options));
  }

  // Sends from the loop and waits.
  Outcome Send(HttpClient& client, HttpRequest request, Nanoseconds timeout = Nanoseconds(0)) {
    auto promise = std::make_shared<std::promise<Outcome>>();
    auto future = promise->get_future();
    On([&] {
      client.Send(std::move(request), timeout,
                  [promise](Outcome outcome) { promise->set_value(std::move(outcome)); });
    });
    if (future.wait_for(std::chrono::seconds(60)) != std::future_status::ready) {
      ADD_FAILURE() << "no answer";
      return tl::unexpected<HttpError>(HttpError{HttpError::Kind::kBroken, "no answer"});
    }
    return future.get();
  }
  Outcome Get(HttpClient& client, const std::string& target = "/") {
    return Send(client, {"GET", target, {}, ""});
  }
  std::string Words(const Outcome& outcome) {
    return outcome ? "status " + std::to_string(outcome->status) : outcome.error().message;
  }

  std::unique_ptr<SystemLoop> loop_;
  std::thread thread_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::vector<std::unique_ptr<HttpClient>> clients_;
};

}  // namespace berth::net::testing
