#include "plugins/common/hints.h"
#include "plugins/node_name/node_name.h"

namespace berth::plugins::node_name {

std::vector<framework::RegisteredEvent> NodeName::EventsToRegister(const config::Behaviour&) const {
  return {On(queue::EventResource::kNode, queue::kAdd)};
}

}  // namespace berth::plugins::node_name
