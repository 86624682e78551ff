// FakeHttpClient: an HttpClient that a test answers by hand.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/http/http_client.h"

namespace berth::kube {

// Outlives the client, so that a test can look at it after the client is gone.
struct FakeHttp {
  struct Exchange {
    net::HttpRequest request;
    net::Nanoseconds timeout{0};
    net::HttpClient::Callback done = nullptr;
    net::StreamSink* sink = nullptr;
    bool cancelled = false;

    // The first header of that name, or "".
    std::string Get(std::string_view name) const {
      return std::string(net::HttpResponse{0, request.headers.List(), ""}.Get(name));
    }
  };

  std::deque<Exchange> exchanges;
  std::vector<net::TlsOptions> tls;
  Result<void> tls_answer = {};

  size_t Size() const { return exchanges.size(); }
  Exchange& Last() { return exchanges.back(); }
  // To the last request.
  void Respond(int status, std::vector<net::Header> headers = {}, std::string body = {}) {
    Take()(net::HttpResponse{status, std::move(headers), std::move(body)});
  }
  void Break(net::HttpError::Kind kind, std::string message) {
    Take()(tl::unexpected<net::HttpError>(net::HttpError{kind, std::move(message)}));
  }

 private:
  net::HttpClient::Callback Take() { return std::exchange(exchanges.back().done, nullptr); }
};

class FakeHttpClient final : public net::HttpClient {
 public:
  explicit FakeHttpClient(FakeHttp& state) : state_(state) {}

  Id Send(net::HttpRequest request, net::Nanoseconds timeout, Callback done) override {
    state_.exchanges.push_back(
        {.request = std::move(request), .timeout = timeout, .done = std::move(done)});
    return state_.exchanges.size();
  }
  Id Stream(net::HttpRequest request, net::StreamSink* sink) override {
    state_.exchanges.push_back({.request = std::move(request), .sink = sink});
    return state_.exchanges.size();
  }
  void Cancel(Id id) override { state_.exchanges.at(id - 1).cancelled = true; }
  Result<void> SetTls(const net::TlsOptions& tls) override {
    state_.tls.push_back(tls);
    return state_.tls_answer;
  }

 private:
  FakeHttp& state_;
};

}  // namespace berth::kube
