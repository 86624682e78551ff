#include "kube/election/lease_lock.h"

#include <utility>

#include "api/codec/proto_merge.h"
#include "kube/kinds.h"
#include "kube/watch/decode.h"
#include "kube/write/bodies.h"

namespace berth::kube {

namespace {

const Kind& LeaseKind() { return *FindKind("Lease"); }

LeaderRecord ToRecord(const api::Lease& lease) {
  const api::LeaseSpec& spec = lease.spec;
  LeaderRecord record;
  const auto in_sync = lease.metadata.annotations.find(std::string(kInSyncAnnotation));
  if (in_sync != lease.metadata.annotations.end()) record.in_sync = in_sync->second;
  record.holder = spec.holder_identity.value_or("");
  record.lease_duration_seconds = spec.lease_duration_seconds.value_or(0);
  record.acquire_time = spec.acquire_time.value_or(api::MicroTime());
  record.renew_time = spec.renew_time.value_or(api::MicroTime());
  record.transitions = spec.lease_transitions.value_or(0);
  return record;
}

api::LeaseSpec ToSpec(const LeaderRecord& record) {
  api::LeaseSpec spec;
  spec.holder_identity = record.holder;
  spec.lease_duration_seconds = record.lease_duration_seconds;
  spec.acquire_time = record.acquire_time;
  spec.renew_time = record.renew_time;
  spec.lease_transitions = record.transitions;
  return spec;
}

}  // namespace

LeaseLock::LeaseLock(ApiClient& client, std::string lease_namespace, std::string lease_name,
                     net::Nanoseconds timeout)
    : client_(client),
      namespace_(std::move(lease_namespace)),
      name_(std::move(lease_name)),
      timeout_(timeout) {}

void LeaseLock::Cancel() { client_.Cancel(std::exchange(request_, 0)); }

void LeaseLock::Get(Done done) {
  Send("GET", ObjectPath(LeaseKind(), namespace_, name_), "", std::move(done));
}

void LeaseLock::Create(const LeaderRecord& record, Done done) {
  api::Lease lease;
  lease.metadata.name = name_;
  lease.metadata.namespace_ = namespace_;
  lease.spec = ToSpec(record);
  Send("POST", NamespacePath(LeaseKind(), namespace_), api::ToProto(lease), std::move(done));
}

void LeaseLock::Update(const LeaderRecord& record, Done done) {
  api::Lease lease = lease_;
  lease.spec = ToSpec(record);
  lease.metadata.annotations.erase(std::string(kInSyncAnnotation));
  if (!record.in_sync.empty()) {
    lease.metadata.annotations[std::string(kInSyncAnnotation)] = record.in_sync;
  }
  auto message = api::MergeProto(raw_, lease);
  Send("PUT", ObjectPath(LeaseKind(), namespace_, name_), message ? *message : api::ToProto(lease),
       std::move(done));
}

void LeaseLock::Send(std::string method, std::string path, std::string message, Done done) {
  ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.query = "timeout=" + QueryEscape(api::Duration{timeout_.count()}.Format());
  request.timeout = timeout_;
  request.accept = kAcceptProtobuf;
  if (request.method != "GET") {
    request.content_type = kProtobuf;
    request.body = api::WrapEnvelope(api::Lease::kApiVersion, api::Lease::kKind, message);
  }
  request_ =
      client_.Send(std::move(request), [this, done = std::move(done)](const ApiResponse& response) {
        request_ = 0;
        if (!response.Ok()) {
          return done({.not_found = response.code == 404, .message = response.message});
        }
        auto taken = Take(response);
        done({.ok = taken.has_value(), .message = taken ? "" : taken.error().Message()});
      });
}

Result<void> LeaseLock::Take(const ApiResponse& response) {
  auto object = DecodeAnswer(LeaseKind(), response.content_type, response.body);
  if (!object) return Fail(std::move(object.error()));
  auto* lease = std::get_if<api::Lease>(&*object);
  if (!lease) return Fail("the server answered with a Lease of an unknown version");
  raw_.clear();
  if (IsProtobuf(response.content_type)) {
    auto kept = api::DropManagedFields(api::UnwrapEnvelope(response.body)->raw);
    if (!kept) return Fail(std::move(kept.error()));
    raw_ = std::move(*kept);
  }
  lease_ = std::move(*lease);
  record_ = ToRecord(lease_);
  return {};
}

}  // namespace berth::kube
