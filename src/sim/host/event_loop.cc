#include "sim/host/event_loop.h"

#include <algorithm>

namespace berth::sim {

EventLoop::Ticket EventLoop::At(Nanos at, Action action) {
  const Ticket ticket{std::max(at, now_), next_sequence_++};
  actions_.emplace(ticket, std::move(action));
  return ticket;
}

std::optional<Nanos> EventLoop::Next() const {
  if (actions_.empty()) return std::nullopt;
  return actions_.begin()->first.at;
}

bool EventLoop::RunNext(Nanos limit) {
  if (actions_.empty() || actions_.begin()->first.at > limit) return false;
  auto node = actions_.extract(actions_.begin());
  now_ = node.key().at;
  node.mapped()();
  return true;
}

void EventLoop::RunUntil(Nanos limit) {
  while (RunNext(limit)) {
  }
  now_ = std::max(now_, limit);
}

}  // namespace berth::sim
