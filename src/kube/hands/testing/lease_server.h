// LeaseServer: an ApiClient that is a small API server of Leases, for tests. Answers come from the
// loop.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/codec/json.h"
#include "api/codec/proto.h"
#include "api/coordination/lease.h"
#include "kube/client/api_client.h"
#include "kube/testing/fake_api_client.h"
#include "net/loop.h"

namespace berth::kube {

class LeaseServer final : public ApiClient {
 public:
  explicit LeaseServer(net::Loop& loop) : loop_(loop) {}

  Id Send(ApiRequest request, Callback done) override {
    const Id id = ++last_;
    open_.insert(id);
    lines.push_back(request.method + " " + request.path);
    loop_.Post([this, id, request = std::move(request), done = std::move(done)] {
      if (open_.erase(id) > 0) done(Serve(request));
    });
    return id;
  }
  Id Watch(ApiRequest, WatchSink*) override { return ++last_; }
  void Cancel(Id id) override { open_.erase(id); }
  std::string_view ContentType() const override { return kProtobuf; }

  // Seen as if somebody had written it.
  void Touch(const std::string& name) {
    leases.at(name).metadata.resource_version = std::to_string(++version_);
  }

  std::map<std::string, api::Lease> leases;  // by name
  std::vector<std::string> lines;            // of requests
  bool down = false;

 private:
  ApiResponse Serve(const ApiRequest& request) {
    if (down) return FakeApiClient::Failure(503, "ServiceUnavailable", "down");
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    if (request.method == "POST") {
      api::Lease lease = LeaseIn(request);
      if (leases.contains(lease.metadata.name)) {
        return FakeApiClient::Failure(409, "AlreadyExists", "it exists");
      }
      return Store(std::move(lease));
    }
    if (request.method == "GET" && name == "leases") return List();
    const auto found = leases.find(name);
    if (found == leases.end()) return FakeApiClient::Failure(404, "NotFound", "not found");
    if (request.method == "DELETE") {
      leases.erase(found);
      return FakeApiClient::Success("{}", kJson);
    }
    if (request.method == "PUT") {
      api::Lease lease = LeaseIn(request);
      if (lease.metadata.resource_version != found->second.metadata.resource_version) {
        return FakeApiClient::Failure(409, "Conflict", "it has changed");
      }
      return Store(std::move(lease));
    }
    return FakeApiClient::Success(api::ToJson(found->second), kJson);
  }
  ApiResponse Store(api::Lease lease) {
    lease.metadata.resource_version = std::to_string(++version_);
    api::Lease& stored = leases[lease.metadata.name] = std::move(lease);
    return FakeApiClient::Success(api::ToJson(stored), kJson);
  }
  ApiResponse List() const {
    std::string items;
    for (const auto& [name, lease] : leases) {
      items += (items.empty() ? "" : ",") + api::ToJson(lease);
    }
    return FakeApiClient::Success(
        fmt::format(R"({{"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",
                        "metadata":{{"resourceVersion":"1"}},"items":[{}]}})",
                    items),
        kJson);
  }
  static api::Lease LeaseIn(const ApiRequest& request) {
    return *api::FromProto<api::Lease>(api::UnwrapEnvelope(request.body)->raw);
  }

  net::Loop& loop_;
  Id last_ = 0;
  std::set<Id> open_;
  uint64_t version_ = 0;
};

}  // namespace berth::kube
