#include "plugins/node_declared_features/node_declared_features.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "plugins/common/hints.h"

namespace berth::plugins::node_declared_features {
namespace {

constexpr std::string_view kRestartAll = "RestartAllContainersOnContainerExits";
constexpr std::string_view kHostNetwork = "UserNamespacesHostNetworkSupport";

bool RestartsAll(const std::vector<api::Container>& containers) {
  return std::any_of(containers.begin(), containers.end(), [](const api::Container& container) {
    return std::any_of(container.restart_policy_rules.begin(), container.restart_policy_rules.end(),
                       [](const auto& rule) { return rule.action == "RestartAllContainers"; });
  });
}

}  // namespace

std::vector<std::string_view> RequiredFeatures(const api::PodSpec& spec,
                                               const config::Behaviour& behaviour) {
  std::vector<std::string_view> features;
  if (RestartsAll(spec.containers) || RestartsAll(spec.init_containers)) {
    features.push_back(kRestartAll);
  }
  if (behaviour.host_network_user_namespaces && spec.host_network && spec.host_users == false) {
    features.push_back(kHostNetwork);
  }
  return features;
}

struct NodeDeclaredFeatures::State : framework::PluginState {
  std::vector<cluster::StringId> required;  // sorted
  std::vector<std::string_view> names;
};

std::unique_ptr<framework::PluginState> NodeDeclaredFeatures::NewState() const {
  return std::make_unique<State>();
}

framework::Status NodeDeclaredFeatures::PreFilter(const framework::CycleContext& c,
                                                  framework::PluginState* plugin_state,
                                                  framework::PreFilterResult*) const {
  State& state = *static_cast<State*>(plugin_state);
  state.names = RequiredFeatures(c.shape.source.spec, behaviour_);
  if (state.names.empty()) return framework::Status::Skip();
  state.required.clear();
  for (const std::string_view name : state.names) {
    state.required.push_back(c.cluster.Strings().Intern(name));
  }
  std::sort(state.required.begin(), state.required.end());
  return {};
}

void NodeDeclaredFeatures::Filter(const framework::CycleContext& c,
                                  const framework::PluginState* plugin_state,
                                  framework::FilterBatch& batch) const {
  const State& state = *static_cast<const State*>(plugin_state);
  batch.ForEach([&](cluster::NodeIndex n) {
    const auto& declared = c.cluster.Record(n).declared_features;
    if (std::includes(declared.begin(), declared.end(), state.required.begin(),
                      state.required.end())) {
      return;
    }
    batch.Reject(n, framework::Code::kUnschedulableAndUnresolvable, n);
  });
}

void NodeDeclaredFeatures::Reasons(const framework::CycleContext& c,
                                   const framework::PluginState* plugin_state,
                                   const framework::Verdict& verdict,
                                   std::vector<std::string>* out) const {
  if (!behaviour_.names_missing_declared_features) {
    out->emplace_back(kReason);
    return;
  }
  const State& state = *static_cast<const State*>(plugin_state);
  const auto& declared = c.cluster.Record(verdict.reason).declared_features;
  std::vector<std::string_view> missing;
  for (const std::string_view name : state.names) {
    if (!std::binary_search(declared.begin(), declared.end(), c.cluster.Strings().Intern(name))) {
      missing.push_back(name);
    }
  }
  out->push_back(fmt::format("node declared features check failed - unsatisfied requirements: {}",
                             fmt::join(missing, ", ")));
}

Result<std::unique_ptr<framework::Plugin>> Make(const config::PluginArgs&,
                                                const framework::PluginHandle& handle) {
  return std::make_unique<NodeDeclaredFeatures>(handle.behaviour);
}

}  // namespace berth::plugins::node_declared_features
