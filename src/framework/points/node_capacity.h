// NodeCapacityPlugin: a filter that can say how many equal pods a node takes, so that they need not
// be placed one after the other to find out.
#pragma once

#include <cstdint>

#include "framework/points/plugin.h"

namespace berth::framework {

class NodeCapacityPlugin {
 public:
  virtual ~NodeCapacityPlugin() = default;
  // How many pods like the cycle's the filter lets onto `node`, one after the other and beside the
  // pods that are there. Negative: it cannot say. REQUIRES: PreFilter has run.
  virtual int64_t MorePods(const CycleContext&, const PluginState*,
                           cluster::NodeIndex node) const = 0;
};

}  // namespace berth::framework
