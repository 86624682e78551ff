// AlignmentMemo: what was found out about nodes for the kinds of pods that came last, so that a
// cycle looks only at nodes that have changed since. Amounts of cells are quantities by name: to
// compare them for thousands of nodes takes milliseconds.
//
// A row has a stamp, which changes with what its results depend on. Threads: Of and Touch on the
// cycle's thread; slots of different rows may be used at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/ids.h"

namespace berth::plugins::node_resource_topology {

class AlignmentMemo {
 public:
  // The results for one row; each holds while its stamp is that of the row.
  struct Slot {
    uint64_t filtered = 0;  // stamps; 0: nothing is known
    uint64_t scored = 0;
    uint32_t misfit = 0;
    int64_t score = 0;
  };
  // The results for pods of one kind (PodShape::kind).
  struct Kind {
    uint64_t kind = 0;
    uint64_t used = 0;  // when it was used last
    bool taken = false;
    std::vector<Slot> rows;
  };

  // The results depend on other things than before, for one row or for all.
  void Touch(cluster::NodeIndex n) { stamps_[n] = ++last_; }
  void TouchAll(size_t rows) { stamps_.assign(rows, ++last_); }
  size_t Rows() const { return stamps_.size(); }
  uint64_t Stamp(cluster::NodeIndex n) const { return stamps_[n]; }

  // The place for a kind, which may have been that of another kind so far. Valid until later calls
  // have given it away.
  Kind* Of(uint64_t kind) {
    auto it = std::find_if(kinds_.begin(), kinds_.end(),
                           [kind](const Kind& k) { return k.taken && k.kind == kind; });
    if (it == kinds_.end()) {
      it = std::min_element(kinds_.begin(), kinds_.end(),
                            [](const Kind& a, const Kind& b) { return a.used < b.used; });
      it->kind = kind;
      it->taken = true;
      it->rows.clear();
    }
    it->used = ++uses_;
    if (it->rows.size() < stamps_.size()) it->rows.resize(stamps_.size());
    return &*it;
  }

 private:
  static constexpr size_t kKinds = 8;

  std::vector<uint64_t> stamps_;  // by row
  uint64_t last_ = 0;
  std::array<Kind, kKinds> kinds_;
  uint64_t uses_ = 0;
};

}  // namespace berth::plugins::node_resource_topology
