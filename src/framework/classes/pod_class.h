// PodClass: results about every node for the pods of one class, organized so that the best nodes
// are found without visiting the others.
//
// A node that fits has a local score: the weighted sum of the scores that depend on the node alone
// and need no comparison with other nodes. Everything else that decides its total (raw scores that
// are normalised, the topology domains it is in) is its traits. Nodes with equal traits form a
// cell. Changes elsewhere move the totals of a cell's nodes by the same amount, so only those with
// the highest local score of their cell can be the best. Rows of a cell with equal local scores
// form a set with lookup of the n-th row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "framework/classes/row_sets.h"
#include "framework/runtime/node_positions.h"
#include "framework/runtime/ranked_set.h"

namespace berth::framework {

class PodClass {
 public:
  struct Cell {
    std::vector<int64_t> traits;
    size_t count = 0;
    cluster::NodeIndex member = cluster::kNoNode;           // some row of the cell, if known
    std::vector<std::pair<int64_t, RowSets::Id>> by_local;  // ascending; no empty set

    int64_t HighestLocal() const { return by_local.back().first; }
    RowSets::Id Highest() const { return by_local.back().second; }
  };

  // No node fits.
  void Reset(size_t rows);
  void Grow(size_t rows) {
    if (set_of_.size() < rows) set_of_.resize(rows, kNone);
  }

  // The node fits, with these traits and this local score.
  void Put(cluster::NodeIndex row, std::span<const int64_t> traits, int64_t local);
  // The node does not fit.
  void Remove(cluster::NodeIndex row);

  size_t Rows() const { return set_of_.size(); }
  size_t FeasibleCount() const { return feasible_; }
  // Some may be empty.
  std::span<Cell> Cells() { return cells_; }
  size_t LiveCells() const { return live_cells_; }
  cluster::NodeIndex MemberOf(Cell& cell);
  RowSets& Sets() { return sets_; }
  // Null: the node does not fit.
  const Cell* CellOf(cluster::NodeIndex row) const {
    return set_of_[row] == kNone ? nullptr : &cells_[infos_[set_of_[row]].cell];
  }

  // The set of the cell's rows with equal local scores that the node is in. REQUIRES: the node
  // fits.
  RowSets::Id SetOf(cluster::NodeIndex row) const { return set_of_[row]; }
  // The nodes that fit, by position in the node order. Kept up to date from the first call on.
  RankedSet& FitsByPosition(const NodePositions& positions);

  // REQUIRES: the node fits.
  int64_t LocalOf(cluster::NodeIndex row) const { return infos_[set_of_[row]].local; }

  size_t MemoryBytes() const;

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct SetInfo {
    uint32_t cell;
    int64_t local;
  };
  struct TraitsHash {
    using is_transparent = void;
    size_t operator()(std::span<const int64_t> traits) const {
      return boost::hash_range(traits.begin(), traits.end());
    }
  };
  struct TraitsEqual {
    using is_transparent = void;
    bool operator()(std::span<const int64_t> a, std::span<const int64_t> b) const;
  };

  uint32_t CellFor(std::span<const int64_t> traits);
  RowSets::Id SetFor(uint32_t cell, int64_t local);
  void ForgetOrder() {
    order_version_ = 0;
    moved_.clear();
  }
  // The node fits now, or no longer does.
  void NoteMoved(cluster::NodeIndex row) {
    if (order_version_ == 0) return;
    moved_.push_back(row);
    if (moved_.size() > set_of_.size()) ForgetOrder();
  }

  std::vector<RowSets::Id> set_of_;  // by row; kNone: does not fit
  RowSets sets_;
  std::vector<SetInfo> infos_;  // by set
  std::vector<Cell> cells_;
  boost::unordered_flat_map<std::vector<int64_t>, uint32_t, TraitsHash, TraitsEqual> cell_of_;
  uint32_t last_cell_ = kNone;
  size_t feasible_ = 0;
  size_t live_cells_ = 0;

  // Of FitsByPosition.
  RankedSet fits_;
  uint64_t order_version_ = 0;             // of the order `fits_` is in; 0: it was never needed
  std::vector<cluster::NodeIndex> moved_;  // rows to look at again
};

}  // namespace berth::framework
