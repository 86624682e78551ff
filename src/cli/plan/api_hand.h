// ApiHand: plan::Hand over an API server. The one place from which `berth plan` writes.
//
// What it sends besides reads: PATCH of spec.unschedulable of nodes, and POST of evictions.
#pragma once

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "config/behaviour.h"
#include "kube/client/api_client.h"
#include "net/loop.h"
#include "plan/apply/hand.h"

namespace berth::cli {

// The requests, also for a dry run to show.
kube::ApiRequest CordonRequest(std::string_view node);
kube::ApiRequest EvictionRequest(const plan::PodRef& pod);

class ApiHand final : public plan::Hand {
 public:
  // Of the context ("": the current one) of a kubeconfig ("": kubectl's own).
  static Result<std::unique_ptr<ApiHand>> Make(const std::string& kubeconfig,
                                               const std::string& context,
                                               const config::Behaviour& behaviour);
  ~ApiHand() override;

  const std::string& Server() const { return server_; }

  Result<void> Read(const api::ObjectConsumer& consume) override;
  Result<void> Cordon(const std::string& node) override;
  Result<Eviction> Evict(const plan::PodRef& pod, std::string* why) override;
  Result<std::vector<api::Pod>> PodsWith(const std::string& namespace_,
                                         const api::StringMap& labels) override;
  Result<std::vector<api::Pod>> PodsOn(const std::string& node) override;
  int64_t Pause() override;

 private:
  ApiHand() = default;
  // Sends and waits for the answer.
  kube::ApiResponse Send(kube::ApiRequest request);
  Result<std::vector<api::Pod>> List(std::string path, const std::string& selector);

  std::string server_;
  config::Behaviour behaviour_;
  std::unique_ptr<net::SystemLoop> loop_;
  std::unique_ptr<kube::ApiClient> client_;
  std::thread thread_;  // of the loop
};

}  // namespace berth::cli
