#include "api/resource/resource_slice.h"

namespace berth::api {

const TypeInfo& ResourcePool::Type() {
  static const TypeInfo type =
      Describe<ResourcePool>("ResourcePool")
          .Always(1, "name", &ResourcePool::name)
          .Always(2, "generation", &ResourcePool::generation)
          .Always(3, "resourceSliceCount", &ResourcePool::resource_slice_count)
          .Build();
  return type;
}

const TypeInfo& ResourceSliceSpec::Type() {
  static const TypeInfo type =
      Describe<ResourceSliceSpec>("ResourceSliceSpec")
          .Always(1, "driver", &ResourceSliceSpec::driver)
          .Always(2, "pool", &ResourceSliceSpec::pool)
          .Field(3, "nodeName", &ResourceSliceSpec::node_name)
          .Field(4, "nodeSelector", &ResourceSliceSpec::node_selector)
          .Field(5, "allNodes", &ResourceSliceSpec::all_nodes)
          .Always(6, "devices", &ResourceSliceSpec::devices)
          .Field(7, "perDeviceNodeSelection", &ResourceSliceSpec::per_device_node_selection)
          .Field(8, "sharedCounters", &ResourceSliceSpec::shared_counters)
          .Build();
  return type;
}

const TypeInfo& ResourceSlice::Type() {
  static const TypeInfo type = Describe<ResourceSlice>("ResourceSlice")
                                   .Always(1, "metadata", &ResourceSlice::metadata)
                                   .Always(2, "spec", &ResourceSlice::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
