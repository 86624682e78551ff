// Gangs: pod groups whose pods run together, and how many of them must.
//
// A group of scheduling.k8s.io (PodGroup with a gang policy) or of scheduler-plugins (PodGroup
// with minMember). The scheduler starts a gang with its minimum or not at all; a plan keeps that:
// no pod is evicted if the gang would be left with fewer, and pods of a gang that cannot reach its
// minimum have no place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/inventory.h"
#include "plan/mover.h"
#include "plan/plan.h"

namespace berth::plan {

class Gangs {
 public:
  explicit Gangs(const Inventory& inventory) : inventory_(inventory) {}

  // Whether the pod, which has a node, may be evicted. Otherwise `why` names the gang.
  bool MayLeave(const cluster::Pod& pod, std::string* why) const;

  // Takes back what the plan says of pods whose gang is below its minimum: they are homeless.
  // `steps` has the pod of each step of the plan.
  void Withdraw(Mover& mover, const std::vector<cluster::PodId>& steps, Plan* plan) const;

 private:
  const Inventory& inventory_;
};

}  // namespace berth::plan
