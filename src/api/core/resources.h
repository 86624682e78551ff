// Resource requests and limits of containers, pods and volume claims.
#pragma once

#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "api/rules/resource_list.h"

namespace berth::api {

// A container uses a claim (or one request of it) of the pod's resourceClaims.
struct ContainerResourceClaim {
  std::string name;
  std::string request;

  bool operator==(const ContainerResourceClaim&) const = default;
  static const TypeInfo& Type();
};

// Requests and limits of a container or a whole pod.
struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;
  std::vector<ContainerResourceClaim> claims;

  bool operator==(const ResourceRequirements&) const = default;
  static const TypeInfo& Type();
};

// The requested size of a volume claim.
struct VolumeResourceRequirements {
  ResourceList limits;
  ResourceList requests;

  bool operator==(const VolumeResourceRequirements&) const = default;
  static const TypeInfo& Type();
};

}  // namespace berth::api
