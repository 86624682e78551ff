// Transaction: changes of a cluster that can be taken back.
//
// While one is open the cluster keeps an undo log of everything that deciding changes: pods placed
// and taken off (with the order of pods on a node), spec.nodeName of assumed pods, nominations,
// host ports, volumes in use, topology counters, resource claims and claims in flight. Rollback
// undoes it in the number of changes; a pod that is back where it was costs only its place in the
// node's list. Transactions nest: an inner one is a savepoint of the outer one, and is closed
// first.
//
// After a roll-back nothing tells the cluster from what it was. Logs of changes (Cluster::Changes,
// VolumeUseTable::Changes, Store::Changes) are not rewound: whoever followed them in between is
// told of the rows and objects that changed back, so that caches derive the same answers again.
//
// Objects are not changed in a transaction: no pod or node is added, updated or removed.
//
//   Transaction trial(cluster);
//   cluster.Unplace(victim);
//   if (!Fits(pod)) return;  // the destructor rolls back
//   trial.Commit();
#pragma once

#include <cstddef>
#include <cstdint>

#include "cluster/cluster.h"
#include "cluster/undo_log.h"

namespace berth::cluster {

class Transaction {
 public:
  explicit Transaction(Cluster& cluster);
  // Rolls back what was neither committed nor rolled back.
  ~Transaction() {
    if (depth_ != 0) Rollback();
  }
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  // Keeps the changes. In an inner transaction they become the outer one's.
  // REQUIRES: it is open, and every transaction begun after it is closed.
  void Commit();
  // Takes the changes back. REQUIRES: as Commit.
  void Rollback();

  bool IsOpen() const { return depth_ != 0; }

 private:
  void UndoPlacements();
  void UndoPlacement(const UndoLog::Placement& change);
  void Close();

  Cluster& cluster_;
  UndoLog& log_;
  const UndoLog::Mark mark_;
  uint32_t depth_;  // 0: closed
};

}  // namespace berth::cluster
