#include "framework/classes/pod_class.h"

#include <algorithm>

namespace berth::framework {

using cluster::NodeIndex;

bool PodClass::TraitsEqual::operator()(std::span<const int64_t> a,
                                       std::span<const int64_t> b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

void PodClass::Reset(size_t rows) {
  set_of_.assign(rows, kNone);
  sets_.Clear();
  infos_.clear();
  cells_.clear();
  cell_of_.clear();
  last_cell_ = kNone;
  feasible_ = 0;
  live_cells_ = 0;
  ForgetOrder();
}

// Neighbours are often alike, so the last answer is tried first.
uint32_t PodClass::CellFor(std::span<const int64_t> traits) {
  if (last_cell_ != kNone && TraitsEqual()(cells_[last_cell_].traits, traits)) return last_cell_;
  const auto it = cell_of_.find(traits);
  if (it != cell_of_.end()) return last_cell_ = it->second;
  last_cell_ = static_cast<uint32_t>(cells_.size());
  Cell& cell = cells_.emplace_back();
  cell.traits.assign(traits.begin(), traits.end());
  cell_of_.emplace(cell.traits, last_cell_);
  return last_cell_;
}

RowSets::Id PodClass::SetFor(uint32_t cell, int64_t local) {
  auto& by_local = cells_[cell].by_local;
  const auto at = std::lower_bound(by_local.begin(), by_local.end(), local,
                                   [](const auto& entry, int64_t l) { return entry.first < l; });
  if (at != by_local.end() && at->first == local) return at->second;
  const RowSets::Id id = sets_.Make();
  if (id >= infos_.size()) infos_.resize(id + size_t{1});
  infos_[id] = {cell, local};
  by_local.insert(at, {local, id});
  return id;
}

void PodClass::Put(NodeIndex row, std::span<const int64_t> traits, int64_t local) {
  const RowSets::Id before = set_of_[row];
  if (before != kNone) {
    const SetInfo& info = infos_[before];
    const bool same_cell = TraitsEqual()(cells_[info.cell].traits, traits);
    if (same_cell && info.local == local) return;
    if (same_cell) last_cell_ = info.cell;
    Remove(row);
  }
  const uint32_t index = CellFor(traits);
  const RowSets::Id id = SetFor(index, local);
  sets_.Insert(id, row);
  set_of_[row] = id;
  Cell& cell = cells_[index];
  cell.member = row;
  if (++cell.count == 1) ++live_cells_;
  ++feasible_;
  NoteMoved(row);
}

void PodClass::Remove(NodeIndex row) {
  const RowSets::Id id = set_of_[row];
  if (id == kNone) return;
  set_of_[row] = kNone;
  sets_.Erase(id, row);
  --feasible_;
  NoteMoved(row);
  Cell& cell = cells_[infos_[id].cell];
  if (cell.member == row) cell.member = cluster::kNoNode;
  if (--cell.count == 0) --live_cells_;
  if (sets_.Count(id) > 0) return;
  auto& by_local = cell.by_local;
  by_local.erase(std::lower_bound(by_local.begin(), by_local.end(), infos_[id].local,
                                  [](const auto& entry, int64_t l) { return entry.first < l; }));
  sets_.Free(id);
}

NodeIndex PodClass::MemberOf(Cell& cell) {
  if (cell.member == cluster::kNoNode) cell.member = sets_.First(cell.Highest());
  return cell.member;
}

RankedSet& PodClass::FitsByPosition(const NodePositions& positions) {
  if (order_version_ != positions.Version()) {
    fits_.Assign(positions.Order().size(), false);
    for (uint32_t i = 0; i < positions.Order().size(); ++i) {
      if (set_of_[positions.Order()[i]] != kNone) fits_.Insert(i);
    }
    order_version_ = positions.Version();
  } else {
    for (const NodeIndex row : moved_) {
      const uint32_t position = positions.Of(row);
      if (position != NodePositions::kNone) fits_.Set(position, set_of_[row] != kNone);
    }
  }
  moved_.clear();
  return fits_;
}

size_t PodClass::MemoryBytes() const {
  size_t bytes = set_of_.capacity() * sizeof(RowSets::Id) + sets_.MemoryBytes() +
                 infos_.capacity() * sizeof(SetInfo);
  for (const Cell& cell : cells_) {
    bytes += 2 * sizeof(Cell) + 2 * cell.traits.capacity() * sizeof(int64_t) +
             cell.by_local.capacity() * sizeof(cell.by_local[0]);
  }
  return bytes;
}

}  // namespace berth::framework
