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
  SetCondition(status, std::move(condition), std::string_view(now.Format()));
}

void SetCondition(Json& status, Json condition, std::string_view now) {
  Json& conditions = status.At("conditions");
  for (Json& known : conditions.MutableItems()) {
    if (known["type"].Str() != condition["type"].Str()) continue;
    if (known["status"].Str() == condition["status"].Str()) {
      condition.Set("lastTransitionTime", known["lastTransitionTime"]);
    }
    condition.Default("lastTransitionTime", now);
    known = std::move(condition);
    return;
  }
  condition.Default("lastTransitionTime", now);
  conditions.Append(std::move(condition));
}

Answer<void> Registry::Bind(std::string_view namespace_, std::string_view name, const Json& binding,
                            const WriteOptions& options) {
  const Resource& pods = pods_;
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
  if (old->deleting) {
    return Refuse(
        Conflict(BindingResource(), name,
                 fmt::format("pod {} is being deleted, cannot be assigned to a host", name)));
  }
  const std::string_view text = old->text;
  if (const std::string& host = old->fields[node_field_]; !host.empty()) {
    return Refuse(Conflict(BindingResource(), name,
                           fmt::format("pod {} is already assigned to node \"{}\"", name, host)));
  }
  if (!FindValue(text, "spec.schedulingGates").Empty()) {
    return Refuse(Conflict(BindingResource(), name,
                           fmt::format("pod {} has non-empty .spec.schedulingGates", name)));
  }
  if (options.dry_run) return {};
  std::vector<Edit> edits;
  if (const Json& given = binding["metadata"]["annotations"]; !given.Empty()) {
    Json annotations = FindValue(text, "metadata.annotations");
    for (const auto& [key, value] : given.Members()) annotations.Set(key, value);
    edits.push_back({"metadata.annotations", std::move(annotations)});
  }
  const Json generation = FindValue(text, "metadata.generation");
  Json condition = Json::MakeObject({{"type", "PodScheduled"}, {"status", "True"}});
  condition.Set("observedGeneration", generation);
  Json status = FindValue(text, "status");
  SetCondition(status, std::move(condition), options_.now());
  edits.push_back({"metadata.generation", generation.Int() + 1});
  edits.push_back({"spec.nodeName", node});
  edits.push_back({"status", std::move(status)});
  store_.Derive(pods_.storage_id, *old, std::move(edits));
  return {};
}

Answer<void> Registry::Evict(std::string_view namespace_, std::string_view name,
                             const Json& eviction) {
  const Resource& pods = pods_;
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
