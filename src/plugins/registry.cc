#include "plugins/registry.h"

#include <array>

#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/volume_binding/volume_binding.h"
#include "plugins/volume_restrictions/volume_restrictions.h"
#include "plugins/volume_zone/volume_zone.h"

namespace berth::plugins {
namespace {

constexpr std::array kInTree{
    framework::RegistryRow{scheduling_gates::kName, &scheduling_gates::Make},
    framework::RegistryRow{priority_sort::kName, &priority_sort::Make},
    framework::RegistryRow{node_unschedulable::kName, &node_unschedulable::Make},
    framework::RegistryRow{node_name::kName, &node_name::Make},
    framework::RegistryRow{taint_toleration::kName, &taint_toleration::Make},
    framework::RegistryRow{node_affinity::kName, &node_affinity::Make},
    framework::RegistryRow{node_ports::kName, &node_ports::Make},
    framework::RegistryRow{node_resources::kFitName, &node_resources::MakeFit},
    framework::RegistryRow{volume_restrictions::kName, &volume_restrictions::Make},
    framework::RegistryRow{node_volume_limits::kName, &node_volume_limits::Make},
    framework::RegistryRow{volume_binding::kName, &volume_binding::Make},
    framework::RegistryRow{volume_zone::kName, &volume_zone::Make},
    framework::RegistryRow{pod_topology_spread::kName, &pod_topology_spread::Make},
    framework::RegistryRow{inter_pod_affinity::kName, &inter_pod_affinity::Make},
    framework::RegistryRow{dynamic_resources::kName, &dynamic_resources::Make},
    framework::RegistryRow{default_preemption::kName, &default_preemption::Make},
    framework::RegistryRow{node_resources::kBalancedAllocationName,
                           &node_resources::MakeBalancedAllocation},
    framework::RegistryRow{image_locality::kName, &image_locality::Make},
    framework::RegistryRow{default_binder::kName, &default_binder::Make},
    framework::RegistryRow{node_declared_features::kName, &node_declared_features::Make},
};

}  // namespace

std::span<const framework::RegistryRow> InTree() { return kInTree; }

}  // namespace berth::plugins
