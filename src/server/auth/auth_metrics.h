// AuthMetrics: what is counted of requests to the secure port, and of the reviews they cost.
//
// Names, help texts, labels and buckets are those of the library kube-scheduler serves with.
#pragma once

#include <string_view>

#include "kube/client/api_client.h"
#include "net/loop.h"
#include "server/auth/user.h"
#include "server/metrics/registry.h"

namespace berth::server {

class AuthMetrics {
 public:
  // `registry` null: nothing is counted.
  explicit AuthMetrics(Registry* registry);

  // A review was answered.
  void Reviewed(bool token, const kube::ApiResponse& response, net::Nanoseconds took) const;
  void Authenticated(const UserInfo& user, net::Nanoseconds took) const;
  void NotAuthenticated(net::Nanoseconds took) const;
  void Authorized(std::string_view result, net::Nanoseconds took) const;
  // A token was looked up among those kept; reviews are under way, and requests wait for them.
  void AskedToken(bool kept, net::Nanoseconds took) const;
  void FetchedToken(bool ok) const;
  void FetchesToken(int more) const;
  void WaitsForToken(int more) const;

 private:
  CounterFamily* token_requests_ = nullptr;
  HistogramFamily* token_seconds_ = nullptr;
  CounterFamily* access_requests_ = nullptr;
  HistogramFamily* access_seconds_ = nullptr;
  CounterFamily* authenticated_ = nullptr;
  HistogramFamily* authenticated_seconds_ = nullptr;
  CounterFamily* users_ = nullptr;
  CounterFamily* authorized_ = nullptr;
  HistogramFamily* authorized_seconds_ = nullptr;
  CounterFamily* cache_requests_ = nullptr;
  HistogramFamily* cache_seconds_ = nullptr;
  CounterFamily* cache_fetches_ = nullptr;
  GaugeFamily* cache_active_ = nullptr;
};

}  // namespace berth::server
