#include "plugins/registry.h"

#include <array>

#include "plugins/capacity_scheduling/capacity_scheduling.h"
#include "plugins/coscheduling/coscheduling.h"
#include "plugins/default_binder/default_binder.h"
#include "plugins/default_preemption/default_preemption.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/energy_aware/energy_aware.h"
#include "plugins/gang_scheduling/gang_scheduling.h"
#include "plugins/gpu_fragmentation/gpu_fragmentation.h"
#include "plugins/image_locality/image_locality.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/load_aware/load_aware.h"
#include "plugins/load_variation_risk_balancing/load_variation_risk_balancing.h"
#include "plugins/low_risk_over_commitment/low_risk_over_commitment.h"
#include "plugins/network_overhead/network_overhead.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_declared_features/node_declared_features.h"
#include "plugins/node_metadata/node_metadata.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resource_topology/node_resource_topology.h"
#include "plugins/node_resources/balanced_allocation.h"
#include "plugins/node_resources/fit.h"
#include "plugins/node_resources_allocatable/node_resources_allocatable.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/node_volume_limits/node_volume_limits.h"
#include "plugins/peaks/peaks.h"
#include "plugins/pod_group_pods_count/pod_group_pods_count.h"
#include "plugins/pod_state/pod_state.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"
#include "plugins/preemption_toleration/preemption_toleration.h"
#include "plugins/priority_sort/priority_sort.h"
#include "plugins/qos_sort/qos_sort.h"
#include "plugins/scheduling_gates/scheduling_gates.h"
#include "plugins/sy_sched/sy_sched.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/target_load_packing/target_load_packing.h"
#include "plugins/topological_sort/topological_sort.h"
#include "plugins/topology_placement/topology_placement.h"
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
    framework::RegistryRow{gang_scheduling::kName, &gang_scheduling::Make},
    framework::RegistryRow{topology_placement::kName, &topology_placement::Make},
    framework::RegistryRow{pod_group_pods_count::kName, &pod_group_pods_count::Make},
    // Of scheduler-plugins.
    framework::RegistryRow{capacity_scheduling::kName, &capacity_scheduling::Make,
                           &capacity_scheduling::Inputs},
    framework::RegistryRow{coscheduling::kName, &coscheduling::Make, &coscheduling::Inputs},
    framework::RegistryRow{load_variation_risk_balancing::kName,
                           &load_variation_risk_balancing::Make},
    framework::RegistryRow{low_risk_over_commitment::kName, &low_risk_over_commitment::Make},
    framework::RegistryRow{network_overhead::kName, &network_overhead::Make,
                           &network_overhead::Inputs},
    framework::RegistryRow{node_metadata::kName, &node_metadata::Make, &node_metadata::Inputs},
    framework::RegistryRow{node_resource_topology::kName, &node_resource_topology::Make,
                           &node_resource_topology::Inputs},
    framework::RegistryRow{node_resources_allocatable::kName, &node_resources_allocatable::Make},
    framework::RegistryRow{peaks::kName, &peaks::Make, &peaks::Inputs},
    framework::RegistryRow{pod_state::kName, &pod_state::Make},
    framework::RegistryRow{preemption_toleration::kName, &preemption_toleration::Make,
                           &preemption_toleration::Inputs},
    framework::RegistryRow{qos_sort::kName, &qos_sort::Make},
    framework::RegistryRow{sy_sched::kName, &sy_sched::Make, &sy_sched::Inputs},
    framework::RegistryRow{target_load_packing::kName, &target_load_packing::Make,
                           &target_load_packing::Inputs},
    framework::RegistryRow{topological_sort::kName, &topological_sort::Make,
                           &topological_sort::Inputs},
    // Of berth.
    framework::RegistryRow{energy_aware::kName, &energy_aware::Make},
    framework::RegistryRow{gpu_fragmentation::kName, &gpu_fragmentation::Make},
    framework::RegistryRow{load_aware::kName, &load_aware::Make},
};

}  // namespace

std::span<const framework::RegistryRow> InTree() { return kInTree; }

}  // namespace berth::plugins
