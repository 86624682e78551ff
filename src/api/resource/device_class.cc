#include "api/resource/device_class.h"

namespace berth::api {

const TypeInfo& DeviceClassSpec::Type() {
  static const TypeInfo type =
      Describe<DeviceClassSpec>("DeviceClassSpec")
          .Field(1, "selectors", &DeviceClassSpec::selectors)
          .Field(2, "config", &DeviceClassSpec::config)
          .Field(4, "extendedResourceName", &DeviceClassSpec::extended_resource_name)
          .Build();
  return type;
}

const TypeInfo& DeviceClass::Type() {
  static const TypeInfo type = Describe<DeviceClass>("DeviceClass")
                                   .Always(1, "metadata", &DeviceClass::metadata)
                                   .Always(2, "spec", &DeviceClass::spec)
                                   .Object(kApiVersion, kKind)
                                   .Build();
  return type;
}

}  // namespace berth::api
