// The subresources of pods: binding and eviction.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "apiserver/registry/disruption.h"
#include "apiserver/registry/registry.h"

namespace berth::apiserver {
namespace {

Resource BindingResource() {
  return {.version = "v1", .kind = "Binding", .plural = "pods/binding"};
}

}  // namespace

void SetCondition(Json& status, Json condition, const api::Time& now) {
  Json& conditions = status.At("conditions");
  for (Json& known : conditions.MutableItems()) {
    if (known["type"].Str() != condition["type"].Str()) continue;
    if (known["status"].Str() == condition["status"].Str()) {
      condition.Set("lastTransitionTime", known["lastTransitionTime"]);
    }
    condition.Default("lastTransitionTime", now.Format());
    known = std::move(condition);
    return;
  }
  condition.Default("lastTransitionTime", now.Format());
  conditions.Append(std::move(condition));
}

Answer<void> Registry::Bind(std::string_view namespace_, std::string_view name, const Json& binding,
                            const WriteOptions& options) {
  const Resource& pods = catalog_.Core("pods");
  const std::string node(binding["target"]["name"].Str());
  const std::string_view kind = binding["target"]["kind"].Str();
  std::vector<FieldError> errors;
  if (!kind.empty() && kind != "Node") {
    errors.push_back(
        UnsupportedField("target.kind", fmt::format("\"{}\"", kind), {"Node", "<empty>"}));
  }
  if (node.empty()) errors.push_back(RequiredField("target.name"));
  if (!errors.empty()) return Refuse(Invalid(BindingResource(), name, errors));
  const ObjectPtr old = store_.Get(pods.storage_id, namespace_, name);
  if (!old) return Refuse(NotFound(pods, name));
  const std::string_view uid = binding["metadata"]["uid"].Str();
  if (!uid.empty() && uid != old->uid) {
    return Refuse(Conflict(BindingResource(), name,
                           fmt::format("Precondition failed: UID in precondition: {}, UID in "
                                       "object meta: {}",
                                       uid, old->uid)));
  }
  Json pod = old->Value();
  if (!pod["metadata"]["deletionTimestamp"].IsNull()) {
    return Refuse(
        Conflict(BindingResource(), name,
                 fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
  }
  if (const std::string_view host = pod["spec"]["nodeName"].Str(); !host.empty()) {
    return Refuse(Conflict(BindingResource(), name,
                           fmt::format("pod {} is already assigned to node \"{}\"", name, host)));
  }
  if (!pod["spec"]["schedulingGates"].Empty()) {
    return Refuse(Conflict(BindingResource(), name,
                           fmt::format("pod {} has non-empty .spec.schedulingGates", name)));
  }
  pod.At("spec").Set("nodeName", node);
  const Json& annotations = binding["metadata"]["annotations"];
  for (const auto& [key, value] : annotations.Members()) {
    pod.At("metadata").At("annotations").Set(key, value);
  }
  Json condition = Json::MakeObject({{"type", "PodScheduled"}, {"status", "True"}});
  condition.Set("observedGeneration", pod["metadata"]["generation"]);
  SetCondition(pod.At("status"), std::move(condition), options_.now());
  pod.At("metadata").Set("generation", pod["metadata"]["generation"].Int() + 1);
  if (!options.dry_run) store_.Put(pods.storage_id, std::move(pod));
  return {};
}

Answer<void> Registry::Evict(std::string_view namespace_, std::string_view name,
                             const Json& eviction) {
  const Resource& pods = catalog_.Core("pods");
  const ObjectPtr old = store_.Get(pods.storage_id, namespace_, name);
  if (!old) return Refuse(NotFound(pods, name));
  auto options = DeleteOptions::From(eviction["deleteOptions"]);
  if (!options) return Refuse(std::move(options.error()));
  const Json pod = old->Value();
  const std::string_view phase = pod["status"]["phase"].Str();
  const bool free = phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
                    !pod["metadata"]["deletionTimestamp"].IsNull();
  const Resource& budgets = catalog_.Named("policy", "poddisruptionbudgets");
  std::vector<ObjectPtr> matching;
  if (!free) {
    for (auto [at, end] = store_.Range(budgets.storage_id, namespace_); at != end; ++at) {
      if (BudgetMatches(at->second->Value(), *old)) matching.push_back(at->second);
    }
  }
  if (matching.size() > 1) {
    return Refuse({500, "InternalError",
                   "This pod has more than one PodDisruptionBudget, which the eviction subresource "
                   "does not support.",
                   Json()});
  }
  if (!matching.empty()) {
    const Json budget = matching[0]->Value();
    const BudgetState state = CountBudget(*this, budget);
    const bool ready = PodReady(pod);
    const bool unhealthy_ok =
        !ready && (budget["spec"]["unhealthyPodEvictionPolicy"].Str() == "AlwaysAllow" ||
                   state.current_healthy >= state.desired_healthy);
    if (state.disruptions_allowed <= 0 && !unhealthy_ok) {
      StatusError error{429, "TooManyRequests",
                        "Cannot evict pod as it would violate the pod's disruption budget.",
                        Json()};
      error.details = Json::MakeObject(
          {{"causes",
            Json::MakeArray({Json::MakeObject(
                {{"reason", "DisruptionBudget"},
                 {"message",
                  fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                              matching[0]->name, state.desired_healthy,
                              state.current_healthy)}})})}});
      return Refuse(std::move(error));
    }
  }
  if (options->dry_run) return {};
  auto deleted = Delete(pods, namespace_, name, *options);
  if (!deleted) return Refuse(std::move(deleted.error()));
  return {};
}

}  // namespace berth::apiserver
