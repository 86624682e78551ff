#include "plugins/common/hints.h"

#include <algorithm>

#include "plugins/common/volume_claims.h"

namespace berth::plugins {

bool UsesClaim(const cluster::Pod& pod, const api::PersistentVolumeClaim& claim, bool ephemeral) {
  if (claim.metadata.namespace_ != pod.namespace_()) return false;
  const auto& volumes = pod.shape->source.spec.volumes;
  return std::any_of(volumes.begin(), volumes.end(), [&](const api::Volume& volume) {
    const VolumeClaim used = ClaimOf(pod, volume);
    if (used.kind == VolumeClaim::Kind::kNone) return false;
    if (used.kind == VolumeClaim::Kind::kEphemeral && !ephemeral) return false;
    return used.name == claim.metadata.name;
  });
}

}  // namespace berth::plugins
