#include "kube/watch/known_pods.h"

#include <exception>
#include <utility>

#include "api/codec/field_reader.h"
#include "api/codec/proto.h"
#include "api/meta.h"

namespace berth::kube {

namespace {

// Numbers of fields in Kubernetes' messages.
enum PodField : uint32_t { kMetadata = 1, kSpec = 2, kStatus = 3 };
enum MetaField : uint32_t { kUid = 5, kLabels = 11, kOwnerReferences = 13 };
enum SpecField : uint32_t { kNodeName = 10, kSchedulerName = 19 };

}  // namespace

void KnownPods::Serve(std::set<std::string, std::less<>> schedulers) {
  schedulers_ = std::move(schedulers);
  Clear();
}

bool KnownPods::Split(std::string_view message, Parts* parts) const {
  try {
    std::string_view of_pod[kStatus + 1];
    uint32_t seen = 0;
    for (api::FieldReader pod(message); pod.Next();) {
      if (pod.Tag() > kStatus) {
        pod.Skip();
        continue;
      }
      ++seen;
      of_pod[pod.Tag()] = pod.View();
    }
    // A part that comes in two pieces is allowed, and unheard of.
    if (seen != kStatus) return false;
    parts->metadata = of_pod[kMetadata];
    parts->status = of_pod[kStatus];
    SplitMetadata(parts);
    SplitSpec(of_pod[kSpec], parts);
  } catch (const std::exception&) {
    return false;
  }
  return !parts->uid.empty();
}

void KnownPods::SplitMetadata(Parts* parts) const {
  for (api::FieldReader metadata(parts->metadata); metadata.Next();) {
    switch (metadata.Tag()) {
      case kUid:
        parts->uid = metadata.View();
        break;
      case kLabels:
      case kOwnerReferences:
        parts->hash = hash_(metadata.View(), parts->hash ^ metadata.Tag());
        break;
      default:
        metadata.Skip();
    }
  }
}

// The name of the node stands in the spec of every pod, empty before it has one: what comes before
// it and what comes after it is hashed.
void KnownPods::SplitSpec(std::string_view spec, Parts* parts) const {
  size_t from = 0;
  api::FieldReader reader(spec);
  for (size_t at = 0; reader.Next(); at = spec.size() - reader.Left()) {
    if (reader.Tag() == kNodeName) {
      parts->node_name = reader.View();
      parts->hash = hash_(spec.substr(from, at - from), parts->hash);
      from = spec.size() - reader.Left();
    } else if (reader.Tag() == kSchedulerName) {
      parts->scheduler_name = reader.View();
    } else {
      reader.Skip();
    }
  }
  parts->hash = hash_(spec.substr(from), parts->hash);
}

void KnownPods::Note(std::string_view message) {
  Parts parts;
  if (!Split(message, &parts)) return Clear();  // whose it is may not be known
  if (parts.node_name.empty() && !schedulers_.contains(parts.scheduler_name)) {
    return Forget(parts.uid);
  }
  hashes_.insert_or_assign(hash_(parts.uid), parts.hash);
}

bool KnownPods::DecodeUpdate(std::string_view message, api::Pod* pod) {
  Parts parts;
  if (!Split(message, &parts) || parts.node_name.empty()) return false;
  const auto known = hashes_.find(hash_(parts.uid));
  if (known == hashes_.end() || known->second != parts.hash) return false;
  pod->spec.node_name = parts.node_name;
  pod->spec.scheduler_name = parts.scheduler_name;
  return api::DecodeProto(api::ObjectMeta::Type(), &pod->metadata, parts.metadata).has_value() &&
         api::DecodeProto(api::PodStatus::Type(), &pod->status, parts.status).has_value();
}

}  // namespace berth::kube
