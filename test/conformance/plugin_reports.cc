#include "conformance/plugin_reports.h"

#include <algorithm>

#include "plugins/volume_binding/volume_binding.h"

namespace berth::conformance {

namespace {

void AddVolumes(const framework::PluginState& state, ReserveResult* result) {
  const auto* reserved = plugins::volume_binding::VolumeBinding::Reserved(state);
  if (reserved == nullptr) return;
  const auto key = [](const api::PersistentVolumeClaim& claim) {
    return claim.metadata.namespace_ + "/" + claim.metadata.name;
  };
  for (const auto& binding : reserved->bindings) {
    result->static_bindings[key(*binding.claim)] = binding.volume->metadata.name;
  }
  for (const auto& claim : reserved->provisions) result->provisioned.push_back(key(*claim));
  std::sort(result->provisioned.begin(), result->provisioned.end());
}

}  // namespace

void AddReserveReport(const framework::Plugin& plugin, const framework::PluginState* state,
                      ReserveResult* result) {
  if (plugin.Name() == plugins::volume_binding::kName) AddVolumes(*state, result);
}

void AddPreemptionReport(const framework::Cycle&, const cluster::Cluster&, PreemptionOutcome*) {}

void ApplyPostFilter(cluster::Cluster&, cluster::PodId, const framework::PostFilterResult&,
                     const std::optional<PreemptionOutcome>&, PreemptionOutcome*) {}

}  // namespace berth::conformance
