#include "api/core/resources.h"

namespace berth::api {

const TypeInfo& ContainerResourceClaim::Type() {
  static const TypeInfo type = Describe<ContainerResourceClaim>("ContainerResourceClaim")
                                   .Always(1, "name", &ContainerResourceClaim::name)
                                   .Field(2, "request", &ContainerResourceClaim::request)
                                   .Build();
  return type;
}

const TypeInfo& ResourceRequirements::Type() {
  static const TypeInfo type = Describe<ResourceRequirements>("ResourceRequirements")
                                   .Field(1, "limits", &ResourceRequirements::limits)
                                   .Field(2, "requests", &ResourceRequirements::requests)
                                   .Field(3, "claims", &ResourceRequirements::claims)
                                   .Build();
  return type;
}

const TypeInfo& VolumeResourceRequirements::Type() {
  static const TypeInfo type = Describe<VolumeResourceRequirements>("VolumeResourceRequirements")
                                   .Field(1, "limits", &VolumeResourceRequirements::limits)
                                   .Field(2, "requests", &VolumeResourceRequirements::requests)
                                   .Build();
  return type;
}

}  // namespace berth::api
