// GangInvariants: what must hold of pod groups with a minimum, whatever goes wrong.
//
// After every cycle:
//   held     of the pods of a gang that the engine has on nodes there are none, or the minimum
// At rest:
//   gang     of the pods of a gang that the API server has on nodes there are none, or the minimum
//   starved  no gang waits whose minimum fits beside the pods that are there: of gangs that fit one
//            after the other, all get their turn. Checked of gangs whose pods are alike and have no
//            rules about other pods.
//
// The first two not of gangs that something else has diminished: a pod was deleted, has finished,
// was bound by others or could not be bound, or the scheduler has crashed.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scheduler/engine.h"
#include "sim/host/model_api.h"

namespace berth::sim {

class GangInvariants {
 public:
  explicit GangInvariants(const ModelApi& api) : api_(api) {}

  void OnChange(const ApiChange& change);
  // A pod could not be bound, or was bound by others.
  void Diminished(const api::Pod& pod);
  void Crashed();

  // The name of the pod's group; empty: it has none.
  static std::string GroupOf(const api::Pod& pod);

  // What is violated; empty: nothing.
  std::string WhatIsHeld(const scheduler::Engine& engine) const;
  std::string WhatIsSplit() const;
  // `waits`: a pod is ready to be scheduled and is not under way. `nominated`: the node that the
  // scheduler keeps free for a pod, which the API server may not know; empty: none.
  std::string WhatIsStarved(const std::function<bool(const api::Pod&)>& waits,
                            const std::function<std::string(const api::Pod&)>& nominated) const;

 private:
  // A group of the API server that is a gang.
  struct Gang {
    std::string name;
    int64_t min_count = 0;
  };
  std::vector<Gang> Gangs() const;

  const ModelApi& api_;
  std::set<std::string, std::less<>> diminished_;  // names of groups
};

}  // namespace berth::sim
