// UndoLog: what open transactions have to take back. Owned by the cluster, written by Cluster,
// Nominations and Store, read by Transaction.
//
// Each list is undone from its end; the lists are independent of each other. Invariant: all of them
// are empty while no transaction is open.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "cluster/ids.h"
#include "cluster/pods/host_ports.h"
#include "cluster/pods/nominations.h"

namespace berth::cluster {

struct UndoLog {
  // A pod was put on a node or taken off it.
  struct Placement {
    PodId pod;
    NodeIndex node;
    uint32_t position;  // of the pod in the node's list
    bool placed;        // false: taken off
    bool assumed;       // taken off: as it was before
    bool named;         // spec.nodeName was set or cleared too
    bool freed;         // taken off: the row went with its last pod, see `freed`
  };
  struct Row {
    NodeIndex row;
    StringId name;
  };
  struct Port {
    NodeIndex node;
    HostPort port;
    bool taken;  // false: released
  };
  // The length of every list.
  struct Mark {
    size_t placements = 0;
    size_t freed = 0;
    size_t ports = 0;
    size_t nominations = 0;
    size_t objects = 0;
  };

  Mark Now() const {
    return {placements.size(), freed.size(), ports.size(), nominations.size(), objects.size()};
  }

  std::vector<Placement> placements;
  std::vector<Row> freed;
  std::vector<Port> ports;
  std::vector<Nominations::Change> nominations;
  std::vector<std::function<void()>> objects;
  uint32_t depth = 0;  // open transactions
  // By pod: the last roll-back that has seen it.
  std::vector<uint32_t> seen;
  uint32_t rollbacks = 0;
};

}  // namespace berth::cluster
