#include "framework/classes/row_sets.h"

#include <algorithm>

#include "base/check.h"
#include "base/nth_bit.h"

namespace berth::framework {

using cluster::NodeIndex;

void RowSets::Clear() {
  sets_.clear();
  free_sets_.clear();
  directories_.clear();
  leaves_.clear();
  free_directory_ = kNone;
  free_leaf_ = kNone;
}

RowSets::Id RowSets::Make() {
  if (free_sets_.empty()) {
    sets_.emplace_back();
    return static_cast<Id>(sets_.size() - 1);
  }
  const Id id = free_sets_.back();
  free_sets_.pop_back();
  return id;
}

void RowSets::Free(Id id) {
  BERTH_DCHECK(sets_[id].count == 0);
  sets_[id].top.clear();
  free_sets_.push_back(id);
}

// What is free is all zero, and so is what is new.
uint32_t RowSets::NewLeaf() {
  if (free_leaf_ == kNone) {
    leaves_.emplace_back(Leaf{});
    return static_cast<uint32_t>(leaves_.size() - 1);
  }
  const uint32_t leaf = free_leaf_;
  free_leaf_ = leaves_[leaf].next_free;
  return leaf;
}

uint32_t RowSets::NewDirectory() {
  if (free_directory_ == kNone) {
    Directory& made = directories_.emplace_back(Directory{});
    made.leaves.fill(kNone);
    return static_cast<uint32_t>(directories_.size() - 1);
  }
  const uint32_t directory = free_directory_;
  free_directory_ = directories_[directory].next_free;
  return directory;
}

void RowSets::Insert(Id id, NodeIndex row) {
  Set& set = sets_[id];
  const size_t t = row / kDirectoryRows;
  if (t >= set.top.size()) set.top.resize(t + 1);
  Top& top = set.top[t];
  if (top.directory == kNone) top.directory = NewDirectory();
  const size_t d = row / kLeafRows % kFan;
  if (directories_[top.directory].leaves[d] == kNone) {
    directories_[top.directory].leaves[d] = NewLeaf();
  }
  Directory& directory = directories_[top.directory];
  Leaf& leaf = leaves_[directory.leaves[d]];
  const size_t w = row / 64 % kFan;
  BERTH_DCHECK((leaf.words[w] >> (row % 64) & 1) == 0);
  leaf.words[w] |= uint64_t{1} << (row % 64);
  ++leaf.counts[w];
  ++directory.counts[d];
  ++top.count;
  ++set.count;
}

void RowSets::Erase(Id id, NodeIndex row) {
  Set& set = sets_[id];
  Top& top = set.top[row / kDirectoryRows];
  Directory& directory = directories_[top.directory];
  const size_t d = row / kLeafRows % kFan;
  Leaf& leaf = leaves_[directory.leaves[d]];
  const size_t w = row / 64 % kFan;
  BERTH_DCHECK((leaf.words[w] >> (row % 64) & 1) == 1);
  leaf.words[w] &= ~(uint64_t{1} << (row % 64));
  --leaf.counts[w];
  --set.count;
  if (--directory.counts[d] == 0) {
    leaf.next_free = free_leaf_;
    free_leaf_ = directory.leaves[d];
    directory.leaves[d] = kNone;
  }
  if (--top.count == 0) {
    directory.next_free = free_directory_;
    free_directory_ = top.directory;
    top.directory = kNone;
  }
}

// Finds the 4096 rows the wanted one is among, and each set's leaf for them; `rank` becomes the
// rank there. Returns the first row.
size_t RowSets::PickLeaves(std::span<const Id> ids, size_t* rank) {
  size_t t = 0;
  for (;; ++t) {
    size_t here = 0;
    for (const Id id : ids) {
      if (t < sets_[id].top.size()) here += sets_[id].top[t].count;
    }
    if (*rank < here) break;
    *rank -= here;
  }
  picked_.clear();
  for (const Id id : ids) {
    if (t < sets_[id].top.size() && sets_[id].top[t].count > 0) {
      picked_.push_back(sets_[id].top[t].directory);
    }
  }
  size_t d = 0;
  for (;; ++d) {
    size_t here = 0;
    for (const uint32_t directory : picked_) here += directories_[directory].counts[d];
    if (*rank < here) break;
    *rank -= here;
  }
  for (uint32_t& picked : picked_) picked = directories_[picked].leaves[d];
  std::erase(picked_, kNone);
  return t * kDirectoryRows + d * kLeafRows;
}

NodeIndex RowSets::Nth(std::span<const Id> ids, size_t rank) {
  const size_t first = PickLeaves(ids, &rank);
  for (size_t w = 0;; ++w) {
    size_t here = 0;
    for (const uint32_t leaf : picked_) here += leaves_[leaf].counts[w];
    if (rank >= here) {
      rank -= here;
      continue;
    }
    uint64_t word = 0;
    for (const uint32_t leaf : picked_) word |= leaves_[leaf].words[w];
    return static_cast<NodeIndex>(first + w * 64 + NthBit(word, rank));
  }
}

size_t RowSets::MemoryBytes() const {
  return sets_.capacity() * sizeof(Set) + directories_.capacity() * sizeof(Directory) +
         leaves_.capacity() * sizeof(Leaf);
}

}  // namespace berth::framework
