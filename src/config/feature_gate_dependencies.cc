// Which feature gates need which others: see FeatureGates::Set.
#include <fmt/format.h>

#include <algorithm>

#include "config/feature_gates.h"

namespace berth::config {
namespace {

// `gate` needs `other`, from Kubernetes 1.`since` on, in minors that know both.
struct Dependency {
  Gate gate;
  Gate other;
  uint8_t since;
};

// As kube-scheduler v1.35.8, v1.36.4 and v1.37.1 have them, sorted by name.
constexpr Dependency kDependencies[] = {
    {Gate::kAuthorizeNodeWithSelectors, Gate::kAuthorizeWithSelectors, 35},
    {Gate::kClusterTrustBundleProjection, Gate::kClusterTrustBundle, 35},
    {Gate::kCompositePodGroup, Gate::kGenericWorkload, 37},
    {Gate::kCompositePodGroup, Gate::kTopologyAwareWorkloadScheduling, 37},
    {Gate::kDRAAdminAccess, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAConsumableCapacity, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRADerivedAttributes, Gate::kDynamicResourceAllocation, 37},
    {Gate::kDRADeviceBindingConditions, Gate::kDRAResourceClaimDeviceStatus, 35},
    {Gate::kDRADeviceBindingConditions, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRADeviceCompatibilityGroups, Gate::kDRAPartitionableDevices, 37},
    {Gate::kDRADeviceCompatibilityGroups, Gate::kDynamicResourceAllocation, 37},
    {Gate::kDRADeviceTaintRules, Gate::kDRADeviceTaints, 35},
    {Gate::kDRADeviceTaints, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAExtendedResource, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAFractionalCapacityRange, Gate::kDRAConsumableCapacity, 37},
    {Gate::kDRAListTypeAttributes, Gate::kDynamicResourceAllocation, 36},
    {Gate::kDRANodeAllocatableResources, Gate::kDynamicResourceAllocation, 36},
    {Gate::kDRAOptionalNodeOperations, Gate::kDynamicResourceAllocation, 37},
    {Gate::kDRAOptionalNodeOperations, Gate::kNodeDeclaredFeatures, 37},
    {Gate::kDRAPartitionableDevices, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAPartitionableDevicesType, Gate::kDRAPartitionableDevices, 37},
    {Gate::kDRAPartitionableDevicesType, Gate::kDRAResourcePoolStatus, 37},
    {Gate::kDRAPartitionableDevicesType, Gate::kDynamicResourceAllocation, 37},
    {Gate::kDRAPrioritizedList, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAResourceClaimGranularStatusAuthorization, Gate::kDRAResourceClaimDeviceStatus, 36},
    {Gate::kDRAResourceClaimGranularStatusAuthorization, Gate::kDynamicResourceAllocation, 36},
    {Gate::kDRAResourcePoolStatus, Gate::kDynamicResourceAllocation, 36},
    {Gate::kDRASchedulerFilterTimeout, Gate::kDynamicResourceAllocation, 35},
    {Gate::kDRAWorkloadResourceClaims, Gate::kDynamicResourceAllocation, 36},
    {Gate::kDRAWorkloadResourceClaims, Gate::kGenericWorkload, 36},
    {Gate::kDeclarativeValidationBeta, Gate::kDeclarativeValidation, 36},
    {Gate::kDeclarativeValidationTakeover, Gate::kDeclarativeValidation, 35},
    {Gate::kDisableAllocatorDualWrite, Gate::kMultiCIDRServiceAllocator, 35},
    {Gate::kEventedPLEG, Gate::kPLEGOnDemandRelist, 37},
    {Gate::kExtendWebSocketsToKubelet, Gate::kNodeDeclaredFeatures, 36},
    {Gate::kGangScheduling, Gate::kGenericWorkload, 35},
    {Gate::kGracefulNodeShutdownBasedOnPodPriority, Gate::kGracefulNodeShutdown, 35},
    {Gate::kH2CContainerProbe, Gate::kNodeDeclaredFeatures, 37},
    {Gate::kImageVolumeWithDigest, Gate::kImageVolume, 36},
    {Gate::kInPlacePodLevelResourcesVerticalScaling, Gate::kInPlacePodVerticalScaling, 35},
    {Gate::kInPlacePodLevelResourcesVerticalScaling, Gate::kNodeDeclaredFeatures, 35},
    {Gate::kInPlacePodLevelResourcesVerticalScaling, Gate::kPodLevelResources, 35},
    {Gate::kInPlacePodVerticalScalingAllocatedStatus, Gate::kInPlacePodVerticalScaling, 35},
    {Gate::kInPlacePodVerticalScalingExclusiveCPUs, Gate::kInPlacePodVerticalScaling, 35},
    {Gate::kInPlacePodVerticalScalingExclusiveMemory, Gate::kInPlacePodVerticalScaling, 35},
    {Gate::kInPlacePodVerticalScalingExclusiveMemory, Gate::kMemoryManager, 35},
    {Gate::kInPlacePodVerticalScalingInitContainers, Gate::kInPlacePodVerticalScaling, 36},
    {Gate::kInPlacePodVerticalScalingInitContainers, Gate::kNodeDeclaredFeatures, 36},
    {Gate::kInPlacePodVerticalScalingMemoryBackedVolumes, Gate::kInPlacePodVerticalScaling, 37},
    {Gate::kInPlacePodVerticalScalingMemoryBackedVolumes, Gate::kNodeDeclaredFeatures, 37},
    {Gate::kInPlacePodVerticalScalingSchedulerPreemption, Gate::kInPlacePodVerticalScaling, 37},
    {Gate::kKubeletAllocatedPodsEndpoint, Gate::kInPlacePodVerticalScaling, 37},
    {Gate::kMatchLabelKeysInPodTopologySpreadSelectorMerge,
     Gate::kMatchLabelKeysInPodTopologySpread, 35},
    {Gate::kNodeControllerLeaseCircuitBreaker, Gate::kAtomicFIFO, 37},
    {Gate::kPodCertificateRequest, Gate::kAuthorizeNodeWithSelectors, 35},
    {Gate::kPodGroupPreemptionPolicy, Gate::kGenericWorkload, 37},
    {Gate::kPodLevelResourceManagers, Gate::kPodLevelResources, 36},
    {Gate::kPodLevelResourcesFixDefaulting, Gate::kPodLevelResources, 37},
    {Gate::kPodLevelResourcesFixKubeletQOSClass, Gate::kPodLevelResources, 37},
    {Gate::kPodLifecycleSleepActionAllowZero, Gate::kPodLifecycleSleepAction, 35},
    {Gate::kProcMountType, Gate::kUserNamespacesSupport, 35},
    {Gate::kResourceHealthStatus, Gate::kDynamicResourceAllocation, 35},
    {Gate::kResourceHealthStatusMessage, Gate::kResourceHealthStatus, 36},
    {Gate::kRestartAllContainersOnContainerExits, Gate::kContainerRestartRules, 35},
    {Gate::kRestartAllContainersOnContainerExits, Gate::kNodeDeclaredFeatures, 35},
    {Gate::kServiceAccountTokenNodeBinding, Gate::kServiceAccountTokenNodeBindingValidation, 35},
    {Gate::kStaleControllerConsistencyDaemonSet, Gate::kAtomicFIFO, 36},
    {Gate::kStaleControllerConsistencyHPA, Gate::kAtomicFIFO, 37},
    {Gate::kStaleControllerConsistencyJob, Gate::kAtomicFIFO, 36},
    {Gate::kStaleControllerConsistencyReplicaSet, Gate::kAtomicFIFO, 36},
    {Gate::kStaleControllerConsistencyStatefulSet, Gate::kAtomicFIFO, 36},
    {Gate::kStorageVersionAPI, Gate::kAPIServerIdentity, 35},
    {Gate::kStructuredAuthenticationConfigurationEgressSelector,
     Gate::kStructuredAuthenticationConfiguration, 35},
    {Gate::kStructuredAuthenticationConfigurationJWKSMetrics,
     Gate::kStructuredAuthenticationConfiguration, 35},
    {Gate::kTopologyAwareWorkloadScheduling, Gate::kGenericWorkload, 36},
    {Gate::kUnknownVersionInteroperabilityProxy, Gate::kAPIServerIdentity, 35},
    {Gate::kUserNamespacesHostNetworkSupport, Gate::kNodeDeclaredFeatures, 36},
    {Gate::kUserNamespacesHostNetworkSupport, Gate::kUserNamespacesSupport, 35},
    {Gate::kWindowsCPUAndMemoryAffinity, Gate::kMemoryManager, 35},
    {Gate::kWindowsGracefulNodeShutdown, Gate::kGracefulNodeShutdown, 35},
    {Gate::kWorkloadAwarePreemption, Gate::kGangScheduling, 36},
    {Gate::kWorkloadWithJob, Gate::kGenericWorkload, 36},
};

}  // namespace

std::vector<std::string> FeatureGates::BrokenDependencies() const {
  std::vector<std::string> broken;
  const auto in_use = [this](const Dependency& d) {
    return d.since <= minor_ && FeatureOf(d.gate).KnownIn(minor_) &&
           FeatureOf(d.other).KnownIn(minor_);
  };
  for (const auto* d = std::begin(kDependencies); d != std::end(kDependencies);) {
    const Gate gate = d->gate;
    std::string missing;
    for (; d != std::end(kDependencies) && d->gate == gate; ++d) {
      if (!in_use(*d) || Enabled(d->other)) continue;
      missing += (missing.empty() ? "" : " ") + std::string(FeatureOf(d->other).name);
    }
    if (missing.empty() || !Enabled(gate)) continue;
    broken.push_back(fmt::format("{} is enabled, but depends on features that are disabled: [{}]",
                                 FeatureOf(gate).name, missing));
  }
  return broken;
}

}  // namespace berth::config
