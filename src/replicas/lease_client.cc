#include "replicas/lease_client.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "api/codec/proto.h"
#include "api/coordination/lease.h"
#include "api/object.h"

namespace berth::replicas {
namespace {

kube::ApiResponse ToResponse(const sim::ApiAnswer& answer, int32_t hidden_seconds) {
  kube::ApiResponse response;
  response.code = answer.code;
  response.message = answer.message;
  if (!answer.Ok()) return response;
  auto lease = std::get<api::Lease>(*answer.object);
  if (lease.spec.lease_duration_seconds) {
    *lease.spec.lease_duration_seconds =
        std::max(*lease.spec.lease_duration_seconds - hidden_seconds, 1);
  }
  response.content_type = kube::kProtobuf;
  response.body = api::ToEnvelope(lease);
  return response;
}

}  // namespace

kube::ApiClient::Id LeaseClient::Send(kube::ApiRequest request, Callback done) {
  const Id id = ++last_;
  calls_->emplace(id, std::move(done));
  kube::ApiResponse late;
  late.error = {net::HttpError::Kind::kTimeout, "context deadline exceeded"};
  late.message = late.error.message;
  loop_.After(request.timeout, [calls = calls_, id, late] { Answer(calls, id, late); });
  // The request is on its way: a crash of the replica does not call it back.
  world_.After(link_.Wire(), [weak = loop_.weak_from_this(), calls = calls_, id,
                              request = std::move(request), &api = api_, &link = link_,
                              hidden = hidden_seconds_] {
    if (link.cut || link.lease_cut) return;
    kube::ApiResponse response = Serve(api, request, hidden);
    const auto loop = weak.lock();
    if (!loop || link.dice.PerMille(link.lost_answers)) return;
    loop->Arrive(link.Wire(),
                 [calls, id, response = std::move(response)] { Answer(calls, id, response); });
  });
  return id;
}

void LeaseClient::Answer(const std::shared_ptr<Calls>& calls, Id id, kube::ApiResponse response) {
  const auto found = calls->find(id);
  if (found == calls->end()) return;
  const Callback done = std::move(found->second);
  calls->erase(found);
  done(std::move(response));
}

kube::ApiResponse LeaseClient::Serve(sim::ModelApi& api, const kube::ApiRequest& request,
                                     int32_t hidden_seconds) {
  if (request.method == "GET") {
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    const std::string_view before =
        std::string_view(request.path)
            .substr(0, request.path.size() - name.size() - std::string_view("/leases/").size());
    const std::string_view lease_namespace = before.substr(before.rfind('/') + 1);
    const sim::ObjectPtr lease =
        api.Get(api::Lease::kKind, sim::ModelApi::Key(lease_namespace, name));
    if (lease == nullptr) return ToResponse({.code = 404, .message = "not found"}, 0);
    return ToResponse({.object = lease}, hidden_seconds);
  }
  auto object = api::DecodeObjectProto(request.body);
  if (!object) return ToResponse({.code = 400, .message = object.error().Message()}, 0);
  return ToResponse(
      request.method == "POST" ? api.Create(std::move(*object)) : api.Update(std::move(*object)),
      0);
}

}  // namespace berth::replicas
