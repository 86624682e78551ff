#include "kube/hands/replica_record.h"

#include <fmt/format.h>

#include "api/codec/json.h"
#include "base/visible.h"

namespace berth::kube {

namespace {

constexpr uint32_t kJsonOnly = 0;

std::string Annotation(const api::Lease& lease, std::string_view name) {
  const auto found = lease.metadata.annotations.find(std::string(name));
  return found == lease.metadata.annotations.end() ? "" : found->second;
}

}  // namespace

const api::TypeInfo& HandStatus::Type() {
  static const api::TypeInfo type = api::Describe<HandStatus>("HandStatus")
                                        .Field(kJsonOnly, "id", &HandStatus::id)
                                        .Field(kJsonOnly, "role", &HandStatus::role)
                                        .Always(kJsonOnly, "lag", &HandStatus::lag)
                                        .Always(kJsonOnly, "tasks", &HandStatus::tasks)
                                        .Always(kJsonOnly, "waiting", &HandStatus::waiting)
                                        .Always(kJsonOnly, "drops", &HandStatus::drops)
                                        .Build();
  return type;
}

const api::TypeInfo& SharingStatus::Type() {
  static const api::TypeInfo type = api::Describe<SharingStatus>("SharingStatus")
                                        .Field(kJsonOnly, "role", &SharingStatus::role)
                                        .Always(kJsonOnly, "epoch", &SharingStatus::epoch)
                                        .Always(kJsonOnly, "log", &SharingStatus::log)
                                        .Always(kJsonOnly, "waiting", &SharingStatus::waiting)
                                        .Field(kJsonOnly, "hands", &SharingStatus::hands)
                                        .Build();
  return type;
}

std::string ReplicaLeaseName(std::string_view election, std::string_view identity) {
  const size_t underscore = identity.rfind('_');
  if (underscore != std::string_view::npos) identity.remove_prefix(underscore + 1);
  return fmt::format("{}-{}", election, identity);
}

void PutRecord(const ReplicaRecord& record, std::string_view election, api::Lease& lease) {
  lease.metadata.labels[std::string(kReplicaLabel)] = election;
  auto& annotations = lease.metadata.annotations;
  annotations[std::string(kAddressAnnotation)] = record.address;
  annotations[std::string(kServerNameAnnotation)] = record.server_name;
  annotations[std::string(kCertificateAnnotation)] = record.certificate;
  annotations[std::string(kVersionAnnotation)] = record.version;
  annotations[std::string(kStatusAnnotation)] = api::ToJson(record.status);
  lease.spec.holder_identity = record.identity;
}

Result<ReplicaRecord> RecordOf(const api::Lease& lease) {
  const auto fail = [&](std::string_view what) {
    return Fail(fmt::format("lease {}: {}", Visible(lease.metadata.name), what));
  };
  ReplicaRecord record;
  record.identity = lease.spec.holder_identity.value_or("");
  if (record.identity.empty()) return fail("no holderIdentity");
  if (record.identity.find(',') != std::string::npos) return fail("a comma in holderIdentity");
  record.address = Annotation(lease, kAddressAnnotation);
  const size_t colon = record.address.rfind(':');
  const bool plain = record.address.find_first_of("/@?# \t\r\n") == std::string::npos;
  if (colon == 0 || colon == std::string::npos || !plain) {
    return fail(
        fmt::format("{}: {} is not HOST:PORT", kAddressAnnotation, Visible(record.address)));
  }
  record.server_name = Annotation(lease, kServerNameAnnotation);
  record.certificate = Annotation(lease, kCertificateAnnotation);
  if (record.certificate.empty()) return fail(fmt::format("no {}", kCertificateAnnotation));
  record.version = Annotation(lease, kVersionAnnotation);
  // A later version may say more, or other things: that is no reason not to work with it.
  if (auto status = api::FromJson<SharingStatus>(Annotation(lease, kStatusAnnotation))) {
    record.status = std::move(*status);
  }
  return record;
}

}  // namespace berth::kube
