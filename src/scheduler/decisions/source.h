// Source: what explanations are made from. A view of the engine, or of a cluster without one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/core/node.h"
#include "api/time.h"
#include "cluster/cluster.h"
#include "framework/runtime/profile.h"
#include "queue/scheduling_queue.h"

namespace berth::scheduler {

class DecisionLog;
struct EventMoves;

using NodeObjects = boost::unordered_flat_map<std::string, std::shared_ptr<const api::Node>>;

struct Source {
  // Changed for a hypothesis and changed back.
  cluster::Cluster* cluster = nullptr;
  std::vector<const framework::Profile*> profiles;
  const DecisionLog* log = nullptr;               // null: nothing was recorded
  const queue::SchedulingQueue* queue = nullptr;  // null: there is none
  const NodeObjects* nodes = nullptr;             // by name
  api::Time now;
  uint64_t changes = 0;  // as the log counts them
  size_t waiting = 0;    // pods between their cycle and their binding: for Permit
  size_t binding = 0;    // and beyond it
  // As Engine::WhereIs. May be empty, like the next.
  std::function<std::string_view(std::string_view uid)> where;
  std::function<cluster::PodId(std::string_view namespace_, std::string_view name)> find_pod;

  // Null: no profile of that name.
  const framework::Profile* ProfileFor(std::string_view scheduler_name) const {
    for (const framework::Profile* profile : profiles) {
      if (profile->Name() == scheduler_name) return profile;
    }
    return nullptr;
  }
};

}  // namespace berth::scheduler
