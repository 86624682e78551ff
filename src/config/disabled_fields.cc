#include "config/disabled_fields.h"

#include <vector>

namespace berth::config {

void HideDisabledFields(const Behaviour& behaviour, api::Pod& pod) {
  if (!behaviour.match_label_keys_in_spread) {
    for (auto& constraint : pod.spec.topology_spread_constraints) {
      constraint.match_label_keys.clear();
    }
  }
  if (!behaviour.taint_comparison_operators) {
    std::erase_if(pod.spec.tolerations, [](const api::Toleration& toleration) {
      return toleration.operator_ == "Gt" || toleration.operator_ == "Lt";
    });
  }
  if (!behaviour.pod_level_resources) pod.spec.resources = std::nullopt;
  if (!behaviour.in_place_scaling) {
    for (auto* statuses : {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
      for (api::ContainerStatus& status : *statuses) {
        status.allocated_resources.clear();
        status.resources = std::nullopt;
      }
    }
  }
}

}  // namespace berth::config
