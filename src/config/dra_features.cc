#include "config/dra_features.h"

namespace berth::config {

DraFeatures DraFeaturesOf(const FeatureGates& gates) {
  if (!gates.Enabled("DynamicResourceAllocation")) return {};
  DraFeatures features;
  features.admin_access = gates.Enabled("DRAAdminAccess");
  features.prioritized_list = gates.Enabled("DRAPrioritizedList");
  features.binding_conditions =
      gates.Enabled("DRADeviceBindingConditions") && gates.Enabled("DRAResourceClaimDeviceStatus");
  features.extended_resource = gates.Enabled("DRAExtendedResource");
  features.partitionable = gates.Enabled("DRAPartitionableDevices");
  features.taints = gates.Enabled("DRADeviceTaints");
  features.consumable_capacity = gates.Enabled("DRAConsumableCapacity");
  return features;
}

void SetDraFeatures(const DraFeatures& features, KubeSchedulerConfiguration& config) {
  for (KubeSchedulerProfile& profile : config.profiles) {
    for (PluginConfig& entry : profile.plugin_config) {
      if (auto* devices = std::get_if<DynamicResourcesArgs>(&entry.args)) {
        devices->features = features;
      } else if (auto* fit = std::get_if<NodeResourcesFitArgs>(&entry.args)) {
        fit->features = features;
      }
    }
  }
}

}  // namespace berth::config
