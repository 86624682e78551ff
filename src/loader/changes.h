// Events as plugins in shared objects name and see them. The interface has its own numbers, which
// stay as they are.
#pragma once

#include <cstdint>
#include <optional>

#include "berth/plugin_abi.h"
#include "cluster/cluster.h"
#include "loader/views.h"
#include "queue/cluster_event.h"

// The event that a hint is about; made on the stack for the duration of a call.
struct berth_change {
  uint32_t resource;  // enum berth_resource
  uint32_t actions;   // enum berth_action
  std::optional<berth_pod> pod;
  std::optional<berth_node> node;
};

namespace berth::loader {

// What plugins register for. Nothing, or no actions: there is no such event.
std::optional<queue::EventResource> ResourceOf(uint32_t resource);
uint16_t ActionsOf(uint32_t actions);

// Nothing when the interface has no number for what the event is about. `event` outlives the
// change.
std::optional<berth_change> ChangeOf(const cluster::Cluster& cluster, const queue::Event& event);

// Sets the functions of berth_host that read a change.
void FillChanges(berth_host& host);

}  // namespace berth::loader
