#include "kube/hands/replica_leases.h"

#include <utility>

#include <fmt/format.h>

#include "api/codec/proto.h"
#include "base/visible.h"
#include "kube/kinds.h"
#include "kube/watch/decode.h"
#include "kube/write/bodies.h"
#include "log/log.h"

namespace berth::kube {

namespace {

using std::chrono::seconds;

constexpr net::Nanoseconds kWritePause = seconds(5);
constexpr net::Nanoseconds kListPause = seconds(1);
constexpr net::Nanoseconds kSoon = std::chrono::milliseconds(200);
constexpr net::Nanoseconds kTimeout = seconds(4);
constexpr seconds kDuration(15);
constexpr net::Nanoseconds kForgotten = seconds(60);

const Kind& LeaseKind() { return *FindKind("Lease"); }

}  // namespace

ReplicaLeases::ReplicaLeases(net::Loop& loop, ApiClient& client, std::string lease_namespace,
                             std::string election, std::string identity)
    : loop_(loop),
      client_(client),
      namespace_(std::move(lease_namespace)),
      election_(std::move(election)),
      identity_(std::move(identity)),
      name_(ReplicaLeaseName(election_, identity_)) {}

ReplicaLeases::~ReplicaLeases() {
  for (const ApiClient::Id id : {write_, list_, removal_}) client_.Cancel(id);
  for (const net::Loop::TimerId id : {write_timer_, list_timer_, end_timer_}) loop_.Cancel(id);
}

std::string ReplicaLeases::OwnPath() const { return ObjectPath(LeaseKind(), namespace_, name_); }

ApiRequest ReplicaLeases::Request(std::string method, std::string path) const {
  ApiRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.timeout = kTimeout;
  request.accept = kAcceptProtobuf;
  return request;
}

// --- The own Lease

void ReplicaLeases::Start(Describe describe) {
  describe_ = std::move(describe);
  Write();
}

void ReplicaLeases::WriteSoon() {
  if (!describe_ || ended_ || write_ != 0) return;
  loop_.Cancel(write_timer_);
  write_timer_ = loop_.After(kSoon, [this] { Write(); });
}

void ReplicaLeases::Write() {
  write_timer_ = 0;
  api::Lease lease = exists_ ? own_ : api::Lease();
  lease.metadata.name = name_;
  lease.metadata.namespace_ = namespace_;
  const auto now = api::MicroTime::FromUnixNano(loop_.Now().UnixNano() / 1000 * 1000);
  lease.spec.lease_duration_seconds = static_cast<int32_t>(kDuration.count());
  lease.spec.renew_time = now;
  if (!exists_) lease.spec.acquire_time = now;
  PutRecord(describe_(), election_, lease);
  ApiRequest request = Request(exists_ ? "PUT" : "POST",
                               exists_ ? OwnPath() : NamespacePath(LeaseKind(), namespace_));
  request.content_type = kProtobuf;
  request.body = api::WrapEnvelope(api::Lease::kApiVersion, api::Lease::kKind, api::ToProto(lease));
  write_ = client_.Send(std::move(request),
                        [this](const ApiResponse& response) { OnWritten(response); });
}

void ReplicaLeases::OnWritten(const ApiResponse& response) {
  write_ = 0;
  net::Nanoseconds pause = kWritePause;
  if (response.Ok()) {
    auto object = DecodeAnswer(LeaseKind(), response.content_type, response.body);
    auto* lease = object ? std::get_if<api::Lease>(&*object) : nullptr;
    exists_ = lease != nullptr;
    if (exists_) own_ = std::move(*lease);
  } else {
    log::Error(response.message, "Failed to write the Lease of this replica",
               {{"lease", namespace_ + "/" + name_}});
    // Somebody has removed it, or it was written and the answer was lost.
    if (response.code == 404) exists_ = false;
    pause = kListPause;
  }
  const bool unknown = response.code == 409 || (response.Ok() && !exists_);
  if (!unknown) {
    write_timer_ = loop_.After(pause, [this] { Write(); });
    return;
  }
  write_ = client_.Send(Request("GET", OwnPath()), [this](const ApiResponse& read) {
    write_ = 0;
    auto object = read.Ok() ? DecodeAnswer(LeaseKind(), read.content_type, read.body)
                            : Result<api::Object>(Fail(read.message));
    auto* lease = object ? std::get_if<api::Lease>(&*object) : nullptr;
    exists_ = lease != nullptr;
    if (exists_) own_ = std::move(*lease);
    write_timer_ = loop_.After(kListPause, [this] { Write(); });
  });
}

void ReplicaLeases::Leave(net::Nanoseconds patience, std::function<void()> done) {
  ended_ = true;
  client_.Cancel(std::exchange(write_, 0));
  client_.Cancel(std::exchange(list_, 0));
  loop_.Cancel(std::exchange(write_timer_, 0));
  loop_.Cancel(std::exchange(list_timer_, 0));
  client_.Cancel(removal_);
  const auto finish = [this, done = std::move(done)] {
    client_.Cancel(std::exchange(removal_, 0));
    loop_.Cancel(std::exchange(end_timer_, 0));
    done();
  };
  end_timer_ = loop_.After(patience, finish);
  removal_ = client_.Send(Request("DELETE", OwnPath()), [this, finish](const ApiResponse&) {
    removal_ = 0;
    finish();
  });
}

// --- The others

void ReplicaLeases::Follow(Seen seen) {
  if (ended_) return;
  seen_ = std::move(seen);
  if (list_ == 0 && list_timer_ == 0) List();
}

void ReplicaLeases::List() {
  list_timer_ = 0;
  ApiRequest request = Request("GET", NamespacePath(LeaseKind(), namespace_));
  request.query = "labelSelector=" + QueryEscape(std::string(kReplicaLabel) + "=" + election_);
  list_ =
      client_.Send(std::move(request), [this](const ApiResponse& response) { OnListed(response); });
}

bool ReplicaLeases::IsThere(const api::Lease& lease) {
  Other& other = others_[lease.metadata.name];
  if (other.resource_version != lease.metadata.resource_version) {
    other = {lease.metadata.resource_version, loop_.Steady()};
  }
  return loop_.Steady() - other.changed < net::Nanoseconds(kDuration);
}

void ReplicaLeases::OnListed(const ApiResponse& response) {
  list_ = 0;
  list_timer_ = loop_.After(kListPause, [this] { List(); });
  if (!response.Ok()) {
    log::Error(response.message, "Failed to list the Leases of other replicas");
    return;
  }
  std::vector<ReplicaRecord> there;
  std::map<std::string, Other, std::less<>> listed;
  const auto take = [&](api::Object&& object, std::string_view) {
    const auto* lease = std::get_if<api::Lease>(&object);
    if (lease == nullptr || lease->metadata.name == name_) return;
    const bool is_there = IsThere(*lease);
    listed[lease->metadata.name] = others_[lease->metadata.name];
    if (!is_there) return;
    auto record = RecordOf(*lease);
    if (record && record->identity != identity_) {
      there.push_back(std::move(*record));
    } else if (!record) {
      log::Info(2, "Not a replica to share work with", {{"reason", record.error().Message()}});
    }
  };
  const auto meta = DecodeList(LeaseKind(), response.content_type, response.body, take,
                               [](const ItemName& item, const Error& error) {
                                 log::Info(2, "Not a replica to share work with",
                                           {{"lease", item.name}, {"reason", error.Message()}});
                               });
  if (!meta) {
    log::Error(meta.error().Message(), "Failed to list the Leases of other replicas");
    return;
  }
  others_ = std::move(listed);
  RemoveForgotten();
  if (seen_) seen_(there);
}

// One at a time.
void ReplicaLeases::RemoveForgotten() {
  if (removal_ != 0) return;
  for (const auto& [name, other] : others_) {
    if (loop_.Steady() - other.changed < kForgotten) continue;
    ApiRequest request = Request("DELETE", ObjectPath(LeaseKind(), namespace_, name));
    removal_ = client_.Send(std::move(request), [this](const ApiResponse&) { removal_ = 0; });
    return;
  }
}

}  // namespace berth::kube
