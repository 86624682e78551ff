#include "api/storage/storage_class.h"

namespace berth::api {

const TypeInfo& StorageClass::Type() {
  static const TypeInfo type =
      Describe<StorageClass>("StorageClass")
          .Always(1, "metadata", &StorageClass::metadata)
          .Always(2, "provisioner", &StorageClass::provisioner)
          .Field(3, "parameters", &StorageClass::parameters)
          .Field(4, "reclaimPolicy", &StorageClass::reclaim_policy)
          .Field(5, "mountOptions", &StorageClass::mount_options)
          .Field(6, "allowVolumeExpansion", &StorageClass::allow_volume_expansion)
          .Field(7, "volumeBindingMode", &StorageClass::volume_binding_mode)
          .Field(8, "allowedTopologies", &StorageClass::allowed_topologies)
          .Object(kApiVersion, kKind)
          .Build();
  return type;
}

}  // namespace berth::api
