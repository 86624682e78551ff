// PodTable: what the engine knows of pods beyond the cluster's table.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "base/string_hash.h"
#include "cluster/ids.h"
#include "scheduler/extenders.h"

namespace berth::scheduler {

struct PodRecord {
  bool known = false;
  bool assigned = false;         // the API server has given it a node
  bool deleted = false;          // gone from the API server; kept until its binding is over
  bool unclear_binding = false;  // a binding got no answer, and may still be carried out
  uint8_t profile = 0;           // of a pod that is not assigned
  uint16_t condition_types = 0;  // index into PodTable::condition_types
  int64_t version = -1;
  int64_t generation = 0;
  ExtenderMask extenders = 0;  // that want to be asked about it, while it is not assigned
  std::unique_ptr<api::PodCondition> scheduled;  // PodScheduled, while it is not assigned
  std::unique_ptr<api::Pod> newer;  // seen while it was assumed, taken up when forgotten
};

struct PodTable {
  // Grows the table when the pod is new.
  PodRecord& Of(cluster::PodId id) {
    if (id >= records.size()) records.resize(id + size_t{1});
    return records[id];
  }
  // Null when the engine does not know the pod.
  const PodRecord* Find(cluster::PodId id) const {
    return id < records.size() && records[id].known ? &records[id] : nullptr;
  }
  // The number of the pod's list of condition types. Lists beyond what a number holds count as
  // empty: then a patch leaves their order open.
  uint16_t NumberConditionTypes(const api::Pod& pod);

  std::vector<PodRecord> records;  // by PodId
  // The distinct lists of condition types that pods have; there are few. The first is empty.
  std::vector<std::vector<std::string>> condition_types = {{}};
  ByString<cluster::PodId> by_name;  // "namespace/name"
};

}  // namespace berth::scheduler
