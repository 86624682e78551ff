#include "api/storage/csi_node.h"

namespace berth::api {

const TypeInfo& VolumeNodeResources::Type() {
  static const TypeInfo type = Describe<VolumeNodeResources>("VolumeNodeResources")
                                   .Field(1, "count", &VolumeNodeResources::count)
                                   .Build();
  return type;
}

const TypeInfo& CSINodeDriver::Type() {
  static const TypeInfo type = Describe<CSINodeDriver>("CSINodeDriver")
                                   .Always(1, "name", &CSINodeDriver::name)
                                   .Always(2, "nodeID", &CSINodeDriver::node_id)
                                   .Always(3, "topologyKeys", &CSINodeDriver::topology_keys)
                                   .Field(4, "allocatable", &CSINodeDriver::allocatable)
                                   .Build();
  return type;
}

const TypeInfo& CSINodeSpec::Type() {
  static const TypeInfo type =
      Describe<CSINodeSpec>("CSINodeSpec").Always(1, "drivers", &CSINodeSpec::drivers).Build();
  return type;
}

const TypeInfo& CSINode::Type() {
  static const TypeInfo type = Describe<CSINode>("CSINode")
                                   .Always(1, "metadata", &CSINode::metadata)
                                   .Always(2, "spec", &CSINode::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
