#include <algorithm>

#include "plugins/common/hints.h"
#include "plugins/node_ports/node_ports.h"

namespace berth::plugins::node_ports {
namespace {

using cluster::HostPort;

// Only a pod that held one of the wanted ports can have been in the way.
Result<framework::Hint> AfterPodDeleted(const cluster::Cluster& cluster, const cluster::Pod& pod,
                                        const queue::Event& event) {
  const auto* deleted = event.Old<cluster::Pod>();
  if (deleted == nullptr) return NoObject("pod");
  const auto& held = deleted->shape->host_ports;
  if (!HasNode(*deleted) || held.empty()) return framework::Hint::kSkip;
  const cluster::StringId any_ip = cluster.Strings().Find("0.0.0.0");
  const auto conflict = [&](const HostPort& a, const HostPort& b) {
    return a.port == b.port && a.protocol == b.protocol &&
           (a.ip == b.ip || a.ip == any_ip || b.ip == any_ip);
  };
  const auto& wanted = pod.shape->host_ports;
  return QueueIf(std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& want) {
    return std::any_of(held.begin(), held.end(),
                       [&](const HostPort& have) { return conflict(want, have); });
  }));
}

}  // namespace

std::vector<framework::RegisteredEvent> NodePorts::EventsToRegister(
    const config::Behaviour& behaviour) const {
  return {OnAssignedPod(behaviour, queue::kDelete, "isSchedulableAfterAssignedPodDeleted",
                        "isSchedulableAfterPodDeleted", AfterPodDeleted),
          On(queue::EventResource::kNode, queue::kAdd)};
}

}  // namespace berth::plugins::node_ports
