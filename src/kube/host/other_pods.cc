#include "kube/host/other_pods.h"

#include <utility>
#include <variant>

#include "api/rules/pod_requests.h"

namespace berth::kube {

void OtherPods::Serve(std::set<std::string, std::less<>> names) {
  ours_ = std::move(names);
  pods_.clear();
}

void OtherPods::Upsert(const api::Object& object) {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod == nullptr) return;
  if (!pod->spec.node_name.empty() || ours_.contains(pod->spec.scheduler_name)) {
    if (!pods_.empty()) pods_.erase(pod->metadata.uid);
    return;
  }
  OtherPod& other = pods_[pod->metadata.uid];
  other.namespace_ = pod->metadata.namespace_;
  other.name = pod->metadata.name;
  other.scheduler_name = pod->spec.scheduler_name;
  other.priority = pod->spec.priority;
  other.requests = api::PodRequests(*pod);
  other.limits = api::PodLimits(*pod);
}

void OtherPods::Delete(const api::Object& object) {
  const auto* pod = std::get_if<api::Pod>(&object);
  if (pod != nullptr) pods_.erase(pod->metadata.uid);
}

void OtherPods::Replace(std::string_view kind, const std::vector<api::Object>& objects,
                        scheduler::ListPart part) {
  if (kind != "Pod") return;
  if (part == scheduler::ListPart::kWhole || part == scheduler::ListPart::kFirst) pods_.clear();
  for (const api::Object& object : objects) Upsert(object);
}

}  // namespace berth::kube
