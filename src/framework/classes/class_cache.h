// ClassCache: decides about a pod from what earlier pods of its class found, when that is exact.
//
// A PodClass holds, for the pods of one class, what is known of every node: whether it fits, its
// local score, its traits. The parts are
//   ClassPlan       how the plugins of the profile take part
//   ClassKey        which class a pod belongs to, and the premises under which it is valid
//   ClassStore      the classes that are kept
//   ClassRefresh    brings the rows of a class up to date
//   ClassEvaluator  decides from it
// Where a plugin that concerns the pod declares too much there is no answer, and the caller scans
// all nodes. With or without classes decisions are the same: the same feasible nodes, the same
// totals, and so the same choice; where nothing fits, the same verdict on every node.
#pragma once

#include <cstddef>
#include <cstdint>

#include "framework/classes/class_answer.h"
#include "framework/classes/class_evaluator.h"
#include "framework/classes/class_heap.h"
#include "framework/classes/class_key.h"
#include "framework/classes/class_plan.h"
#include "framework/classes/class_refresh.h"
#include "framework/classes/class_store.h"

namespace berth::framework {

class ClassCache {
 public:
  // What all classes may hold together; beyond it the least recently used one is evicted.
  static constexpr size_t kDefaultMemory = size_t{512} << 20;

  explicit ClassCache(const Profile& profile, size_t memory_bytes = kDefaultMemory);

  // Decides about the cycle's pod among its candidates (Cycle::within). REQUIRES: RunPreFilter
  // succeeded. Null: scan all nodes. `cluster` is the cycle's, and unchanged on return. The answer
  // is the cycle's (Cycle::class_answer).
  const ClassAnswer* Find(Cycle& cycle, cluster::Cluster& cluster);

  // Chooses among the best nodes of what Find returned.
  ClassHeap& heap() { return heap_; }

  // For tests: build a class for every pod that may have one, whether it pays or not.
  void set_eager(bool eager) { store_.set_eager(eager); }

  struct Statistics {
    uint64_t answers = 0;
    uint64_t builds = 0;     // of a class, by a scan
    uint64_t rows = 0;       // evaluated again one by one
    uint64_t evictions = 0;  // for lack of memory
  };
  Statistics statistics() const {
    return {answers_, refresh_.Builds(), refresh_.RowsRefreshed(), store_.Evictions()};
  }
  size_t MemoryBytes() const { return store_.MemoryBytes(); }

 private:
  ClassPlan plan_;
  ClassKey key_;  // of the pod at hand
  ClassStore store_;
  ClassRefresh refresh_;
  ClassEvaluator evaluator_;
  ClassHeap heap_;
  const cluster::Cluster* cluster_ = nullptr;  // that the classes describe
  uint64_t answers_ = 0;
};

}  // namespace berth::framework
