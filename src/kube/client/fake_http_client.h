// FakeHttpClient: an HttpClient that a test answers by hand.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kube/http/http_client.h"

namespace berth::kube {

// Outlives the client, so that a test can look at it after the client is gone.
struct FakeHttp {
  struct Exchange {
    HttpRequest request;
    Nanoseconds timeout{0};
    HttpClient::Callback done = nullptr;
    StreamSink* sink = nullptr;
    bool cancelled = false;

    // The first header of that name, or "".
    std::string Get(std::string_view name) const {
      return std::string(HttpResponse{0, request.headers.List(), ""}.Get(name));
    }
  };

  std::deque<Exchange> exchanges;
  std::vector<TlsOptions> tls;
  Result<void> tls_answer = {};

  size_t Size() const { return exchanges.size(); }
  Exchange& Last() { return exchanges.back(); }
  // To the last request.
  void Respond(int status, std::vector<Header> headers = {}, std::string body = {}) {
    Take()(HttpResponse{status, std::move(headers), std::move(body)});
  }
  void Break(HttpError::Kind kind, std::string message) {
    Take()(tl::unexpected<HttpError>(HttpError{kind, std::move(message)}));
  }

 private:
  HttpClient::Callback Take() { return std::exchange(exchanges.back().done, nullptr); }
};

class FakeHttpClient final : public HttpClient {
 public:
  explicit FakeHttpClient(FakeHttp& state) : state_(state) {}

  Id Send(HttpRequest request, Nanoseconds timeout, Callback done) override {
    state_.exchanges.push_back(
        {.request = std::move(request), .timeout = timeout, .done = std::move(done)});
    return state_.exchanges.size();
  }
  Id Stream(HttpRequest request, StreamSink* sink) override {
    state_.exchanges.push_back({.request = std::move(request), .sink = sink});
    return state_.exchanges.size();
  }
  void Cancel(Id id) override { state_.exchanges.at(id - 1).cancelled = true; }
  Result<void> SetTls(const TlsOptions& tls) override {
    state_.tls.push_back(tls);
    return state_.tls_answer;
  }

 private:
  FakeHttp& state_;
};

}  // namespace berth::kube
