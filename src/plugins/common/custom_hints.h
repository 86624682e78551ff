// Queueing hints of plugins that read custom resources.
#pragma once

#include <cstdint>

#include "cluster/objects/custom_kinds.h"
#include "plugins/common/hints.h"

namespace berth::plugins {

// An event of any object of `kind` may help.
inline framework::RegisteredEvent OnCustom(const cluster::CustomKind& kind, uint16_t action) {
  const auto is_of_kind = [kind](const cluster::Cluster&, const cluster::Pod&,
                                 const queue::Event& event) -> Result<framework::Hint> {
    const auto* object = event.New<api::UnknownObject>();
    if (object == nullptr) object = event.Old<api::UnknownObject>();
    if (object == nullptr) return NoObject("custom resource");
    return QueueIf(object->kind == kind.kind && object->api_version == kind.ApiVersion());
  };
  return On(queue::EventResource::kCustomResource, action, {}, is_of_kind);
}

}  // namespace berth::plugins
