// GroupSearchPlugin: a plugin whose arguments allow a search for places of a pod group.
//
// kube-scheduler tries the pods of a group in one order, each on the best node. With a search,
// which goes beyond that, other orders and nodes are tried where this fails.
#pragma once

#include <cstdint>

#include "framework/points/plugin.h"

namespace berth::framework {

class GroupSearchPlugin : public virtual Plugin {
 public:
  // How many pods a search may place, those that it takes back included; 0: nothing is searched.
  virtual int64_t GroupSearchSteps() const = 0;
};

}  // namespace berth::framework
