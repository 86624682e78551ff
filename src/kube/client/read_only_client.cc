#include "kube/client/read_only_client.h"

#include <limits>
#include <utility>

namespace berth::kube {
namespace {

// Of a request that was not sent; cancelling it does nothing.
constexpr ApiClient::Id kNotSent = std::numeric_limits<ApiClient::Id>::max();

ApiResponse Refused(const ApiRequest& request) {
  ApiResponse response;
  response.message = "not sent, this client only reads: " + request.method + " " + request.path;
  return response;
}

}  // namespace

ApiClient::Id ReadOnlyClient::Send(ApiRequest request, Callback done) {
  if (request.method == "GET" && request.body.empty()) {
    return client_->Send(std::move(request), std::move(done));
  }
  done(Refused(request));
  return kNotSent;
}

ApiClient::Id ReadOnlyClient::Watch(ApiRequest request, WatchSink* sink) {
  if (request.method == "GET" && request.body.empty()) {
    return client_->Watch(std::move(request), sink);
  }
  sink->OnEnd(Refused(request));
  return kNotSent;
}

}  // namespace berth::kube
