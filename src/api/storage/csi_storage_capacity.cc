#include "api/storage/csi_storage_capacity.h"

namespace berth::api {

const TypeInfo& CSIStorageCapacity::Type() {
  static const TypeInfo type =
      Describe<CSIStorageCapacity>("CSIStorageCapacity")
          .Always(1, "metadata", &CSIStorageCapacity::metadata)
          .Field(2, "nodeTopology", &CSIStorageCapacity::node_topology)
          .Always(3, "storageClassName", &CSIStorageCapacity::storage_class_name)
          .Field(4, "capacity", &CSIStorageCapacity::capacity)
          .Field(5, "maximumVolumeSize", &CSIStorageCapacity::maximum_volume_size)
          .Object(kApiVersion, kKind)
          .Build();
  return type;
}

}  // namespace berth::api
