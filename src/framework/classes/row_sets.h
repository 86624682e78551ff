// RowSets: many disjoint sets of rows with lookup of the n-th row.
//
// A set is a tree of three levels: a short top, directories of 64 leaves, leaves of 64 words, with
// the number of rows at every step. Directories and leaves exist where a set has rows, and come
// from pools that all sets share, so many small sets cost little. Insert, Erase and Nth take a few
// steps per level; nothing is allocated once the pools have grown.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/table/node_set.h"

namespace berth::framework {

class RowSets {
 public:
  using Id = uint32_t;

  // Removes all sets.
  void Clear();
  // A new, empty set.
  Id Make();
  // REQUIRES: the set is empty.
  void Free(Id id);

  // REQUIRES: the row is not in the set.
  void Insert(Id id, cluster::NodeIndex row);
  // REQUIRES: the row is in the set.
  void Erase(Id id, cluster::NodeIndex row);
  size_t Count(Id id) const { return sets_[id].count; }

  // The rank-th row of all rows in `ids`, in order. REQUIRES: there are more than `rank`.
  cluster::NodeIndex Nth(std::span<const Id> ids, size_t rank);
  cluster::NodeIndex First(Id id) { return Nth({&id, 1}, 0); }

  // Calls f(row) for every row of the set, in order.
  template <class F>
  void ForEach(Id id, const F& f) const {
    const Set& set = sets_[id];
    for (size_t t = 0; t < set.top.size(); ++t) {
      if (set.top[t].count == 0) continue;
      const Directory& directory = directories_[set.top[t].directory];
      for (size_t d = 0; d < kFan; ++d) {
        if (directory.counts[d] == 0) continue;
        const Leaf& leaf = leaves_[directory.leaves[d]];
        const size_t first_word = (t * kFan + d) * kFan;
        for (size_t w = 0; w < kFan; ++w) {
          cluster::NodeSet::ForEachBit(leaf.words[w], first_word + w, f);
        }
      }
    }
  }

  size_t MemoryBytes() const;

 private:
  static constexpr size_t kFan = 64;
  static constexpr size_t kLeafRows = kFan * 64;
  static constexpr size_t kDirectoryRows = kFan * kLeafRows;
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Leaf {
    std::array<uint64_t, kFan> words;
    std::array<uint8_t, kFan> counts;  // bits per word
    uint32_t next_free;
  };
  struct Directory {
    std::array<uint32_t, kFan> counts;
    std::array<uint32_t, kFan> leaves;
    uint32_t next_free;
  };
  struct Top {
    uint32_t count = 0;
    uint32_t directory = kNone;
  };
  struct Set {
    size_t count = 0;
    std::vector<Top> top;
  };

  uint32_t NewLeaf();
  uint32_t NewDirectory();
  size_t PickLeaves(std::span<const Id> ids, size_t* rank);

  std::vector<Set> sets_;
  std::vector<Id> free_sets_;
  std::vector<Directory> directories_;
  std::vector<Leaf> leaves_;
  uint32_t free_directory_ = kNone;
  uint32_t free_leaf_ = kNone;
  std::vector<uint32_t> picked_;  // scratch of Nth
};

}  // namespace berth::framework
