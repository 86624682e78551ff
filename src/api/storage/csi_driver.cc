#include "api/storage/csi_driver.h"

namespace berth::api {

const TypeInfo& CSIDriverSpec::Type() {
  static const TypeInfo type =
      Describe<CSIDriverSpec>("CSIDriverSpec")
          .Field(1, "attachRequired", &CSIDriverSpec::attach_required)
          .Field(2, "podInfoOnMount", &CSIDriverSpec::pod_info_on_mount)
          .Field(3, "volumeLifecycleModes", &CSIDriverSpec::volume_lifecycle_modes)
          .Field(4, "storageCapacity", &CSIDriverSpec::storage_capacity)
          .Field(5, "fsGroupPolicy", &CSIDriverSpec::fs_group_policy)
          .Field(7, "requiresRepublish", &CSIDriverSpec::requires_republish)
          .Field(8, "seLinuxMount", &CSIDriverSpec::se_linux_mount)
          .Field(9, "nodeAllocatableUpdatePeriodSeconds",
                 &CSIDriverSpec::node_allocatable_update_period_seconds)
          .Field(11, "preventPodSchedulingIfMissing",
                 &CSIDriverSpec::prevent_pod_scheduling_if_missing)
          .Ignore({"tokenRequests"})
          .Build();
  return type;
}

const TypeInfo& CSIDriver::Type() {
  static const TypeInfo type = Describe<CSIDriver>("CSIDriver")
                                   .Always(1, "metadata", &CSIDriver::metadata)
                                   .Always(2, "spec", &CSIDriver::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
