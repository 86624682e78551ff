// ReadOnlyClient: an ApiClient that cannot write.
//
// Owns the client that it wraps, so whoever holds a ReadOnlyClient has no other way to the API
// server. A request that is not a GET is not sent; it gets an answer without a code.
#pragma once

#include <memory>
#include <string_view>

#include "kube/client/api_client.h"

namespace berth::kube {

class ReadOnlyClient final : public ApiClient {
 public:
  explicit ReadOnlyClient(std::unique_ptr<ApiClient> client) : client_(std::move(client)) {}

  Id Send(ApiRequest request, Callback done) override;
  Id Watch(ApiRequest request, WatchSink* sink) override;
  void Cancel(Id id) override { client_->Cancel(id); }
  std::string_view ContentType() const override { return client_->ContentType(); }

 private:
  const std::unique_ptr<ApiClient> client_;
};

}  // namespace berth::kube
