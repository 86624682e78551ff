#include "apiserver/registry/disruption.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>

#include "api/codec/json.h"
#include "api/meta.h"
#include "api/rules/label_selector.h"

namespace berth::apiserver {
namespace {

api::Selector SelectorOf(const Json& selector) {
  if (selector.IsNull()) return api::Selector::Nothing();
  const auto typed = api::FromJson<api::LabelSelector>(selector.Dump());
  if (!typed) return api::Selector::Nothing();
  return api::Selector::From(*typed).value_or(api::Selector::Nothing());
}

// A number, or a percentage of `total` rounded up.
int64_t Scaled(const Json& value, int64_t total) {
  if (value.IsInt()) return value.Int();
  const int64_t percent = std::atoll(std::string(value.Str()).c_str());
  return (percent * total + 99) / 100;
}

}  // namespace

bool PodReady(const Json& pod) {
  for (const Json& condition : pod["status"]["conditions"].Items()) {
    if (condition["type"].Str() == "Ready") return condition["status"].Str() == "True";
  }
  return false;
}

bool BudgetMatches(const Json& budget, const StoredObject& pod) {
  return SelectorOf(budget["spec"]["selector"]).Matches(pod.labels);
}

BudgetState CountBudget(Registry& registry, const Json& budget) {
  const Catalog& catalog = registry.Resources();
  const Store& store = registry.Objects();
  const std::string_view namespace_ = budget["metadata"]["namespace"].Str();
  const api::Selector selector = SelectorOf(budget["spec"]["selector"]);
  BudgetState state;
  std::set<std::string> owners;
  int64_t owned = 0;
  int64_t pods = 0;
  const uint32_t id = catalog.Core("pods").storage_id;
  for (auto [at, end] = store.Range(id, namespace_); at != end; ++at) {
    if (!selector.Matches(at->second->labels)) continue;
    const Json pod = at->second->Value();
    const std::string_view phase = pod["status"]["phase"].Str();
    if (phase == "Succeeded" || phase == "Failed") continue;
    ++pods;
    if (pod["metadata"]["deletionTimestamp"].IsNull() && PodReady(pod)) ++state.current_healthy;
    for (const Json& owner : pod["metadata"]["ownerReferences"].Items()) {
      if (!owner["controller"].Bool()) continue;
      ++owned;
      if (!owners.insert(std::string(owner["uid"].Str())).second) continue;
      const Resource* kind = catalog.FindKind(owner["apiVersion"].Str(), owner["kind"].Str());
      if (!kind) continue;
      const ObjectPtr controller = store.Get(kind->storage_id, namespace_, owner["name"].Str());
      if (controller) state.expected_pods += controller->Value()["spec"]["replicas"].Int(1);
    }
  }
  const Json& spec = budget["spec"];
  if (const Json* max = spec.Find("maxUnavailable"); max && !max->IsNull()) {
    if (owned < pods) state.expected_pods = std::max(state.expected_pods, pods);
    const int64_t unavailable = Scaled(*max, state.expected_pods);
    state.desired_healthy = std::max<int64_t>(0, state.expected_pods - unavailable);
  } else {
    const Json& min = spec["minAvailable"];
    if (min.IsInt()) {
      state.expected_pods = pods;
      state.desired_healthy = min.Int();
    } else if (min.IsString()) {
      state.desired_healthy = Scaled(min, state.expected_pods);
    } else {
      state.expected_pods = pods;
      state.desired_healthy = 1;
    }
  }
  if (state.expected_pods > 0) {
    state.disruptions_allowed = std::max<int64_t>(0, state.current_healthy - state.desired_healthy);
  }
  return state;
}

}  // namespace berth::apiserver
