// Seccomp profiles of pods and containers.
#pragma once

#include <string>

#include "api/core/container.h"
#include "api/core/pod.h"

namespace berth::api {

// The file on the node that a pod's or a container's security context names as its profile. Null:
// it has the runtime's profile, or none.
template <class SecurityContext>
const std::string* LocalhostProfile(const SecurityContext& context) {
  if (!context || !context->seccomp_profile) return nullptr;
  const SeccompProfile& profile = *context->seccomp_profile;
  if (profile.type != "Localhost" || !profile.localhost_profile) return nullptr;
  return &*profile.localhost_profile;
}

}  // namespace berth::api
