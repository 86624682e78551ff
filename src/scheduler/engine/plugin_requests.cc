#include "scheduler/engine/plugin_requests.h"

#include <algorithm>
#include <set>
#include <utility>

#include "scheduler/engine/bindings.h"
#include "scheduler/engine/extender_calls.h"

namespace berth::scheduler {

void PluginRequests::ForEachWaiting(FunctionRef<void(const framework::WaitingPod&)> visit) const {
  std::vector<const Binding*> waiting;
  for (const auto& [key, binding] : c_.bindings->bindings()) {
    if (binding->stage == Binding::Stage::kWaiting) waiting.push_back(binding.get());
  }
  std::sort(waiting.begin(), waiting.end(),
            [](const Binding* a, const Binding* b) { return a->key.serial < b->key.serial; });
  for (const Binding* binding : waiting) {
    framework::WaitingPod pod{*binding->snapshot, binding->node, {}};
    const framework::Profile& profile = *c_.runtimes[binding->profile].profile;
    for (const Binding::Wait& wait : binding->waits) {
      pod.plugins.push_back(profile.At(wait.plugin).Name());
    }
    visit(pod);
  }
}

void PluginRequests::Allow(std::string_view pod_uid, std::string_view plugin) {
  requests_.emplace_back(Decision{true, c_.KeyOf(pod_uid), std::string(plugin), {}});
}

void PluginRequests::Reject(std::string_view pod_uid, std::string_view plugin,
                            std::string_view message) {
  requests_.emplace_back(
      Decision{false, c_.KeyOf(pod_uid), std::string(plugin), std::string(message)});
}

void PluginRequests::Activate(std::string_view namespace_, std::string_view name) {
  std::string key(namespace_);
  key.append("/").append(name);
  requests_.emplace_back(Activation{std::move(key)});
}

void PluginRequests::CarryOut() {
  if (requests_.empty() || c_.extender_calls->Waiting()) return;
  std::set<std::string> activated;
  while (!requests_.empty()) {
    for (auto& request : std::exchange(requests_, {})) {
      if (const auto* decision = std::get_if<Decision>(&request)) {
        if (decision->allow) {
          c_.bindings->Allow(decision->pod, decision->plugin);
        } else {
          c_.bindings->Reject(decision->pod, decision->plugin, decision->message);
        }
        continue;
      }
      const std::string& name = std::get<Activation>(request).pod;
      if (!activated.insert(name).second) continue;
      const auto it = c_.pods.by_name.find(name);
      if (it != c_.pods.by_name.end()) c_.queue->Activate(it->second, c_.now);
    }
  }
}

}  // namespace berth::scheduler
