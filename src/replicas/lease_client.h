// LeaseClient: the ApiClient of a simulated replica's leader elector. Its requests are about the
// Lease in a ModelApi, over a Link that may be cut.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "kube/client/api_client.h"
#include "replicas/link.h"
#include "replicas/replica_loop.h"
#include "sim/host/model_api.h"

namespace berth::replicas {

class LeaseClient final : public kube::ApiClient {
 public:
  // All outlive the client. `hidden`: so much shorter than it is does a Lease of another look; for
  // a planted bug.
  LeaseClient(ReplicaLoop& loop, sim::EventLoop& world, sim::ModelApi& api, Link& link,
              int32_t hidden_seconds)
      : loop_(loop), world_(world), api_(api), link_(link), hidden_seconds_(hidden_seconds) {}

  Id Send(kube::ApiRequest request, Callback done) override;
  Id Watch(kube::ApiRequest, kube::WatchSink*) override { return ++last_; }
  void Cancel(Id id) override { calls_->erase(id); }
  std::string_view ContentType() const override { return kube::kProtobuf; }

 private:
  using Calls = std::map<Id, Callback>;

  static void Answer(const std::shared_ptr<Calls>& calls, Id id, kube::ApiResponse response);
  static kube::ApiResponse Serve(sim::ModelApi& api, const kube::ApiRequest& request,
                                 int32_t hidden_seconds);

  ReplicaLoop& loop_;
  sim::EventLoop& world_;
  sim::ModelApi& api_;
  Link& link_;
  const int32_t hidden_seconds_;
  Id last_ = 0;
  std::shared_ptr<Calls> calls_ = std::make_shared<Calls>();
};

}  // namespace berth::replicas
