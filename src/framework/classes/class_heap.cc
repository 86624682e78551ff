#include "framework/classes/class_heap.h"

#include <algorithm>

#include "framework/runtime/heap_choice.h"

namespace berth::framework {

using cluster::NodeIndex;

namespace {

// With more sets of best nodes, membership is not tested by going through them.
constexpr size_t kFewSets = 4;

// Calls f(row) for the rows of a cell.
template <class F>
void ForEachRow(PodClass& nodes, const PodClass::Cell& cell, const F& f) {
  for (const auto& [local, set] : cell.by_local) nodes.Sets().ForEach(set, f);
}

}  // namespace

NodeIndex ClassHeap::Choose(const ClassAnswer& answer, const cluster::Cluster& cluster,
                            size_t start) {
  if (answer.best_count == 1) return answer.Pick(0);
  positions_.Update(cluster);
  if (answer.within != nullptr) return ChooseWithin(answer, start);
  const FeasibleList list(positions_.Order(), Feasible(answer), start);
  const auto is_best = [&](NodeIndex row) {
    return std::ranges::find(answer.best_sets, answer.nodes->SetOf(row)) != answer.best_sets.end();
  };
  const auto for_each = [&](const auto& f) {
    for (const RowSets::Id set : answer.best_sets) {
      answer.nodes->Sets().ForEach(set, [&](NodeIndex row) { f(positions_.Of(row), row); });
    }
  };
  if (answer.best_sets.size() <= kFewSets) {
    return HeapChoice(list, answer.best_count, is_best, for_each);
  }
  return HeapChoice(list, /*ties=*/0, is_best, for_each);
}

// The cells with rows that are not among the answer's. Both are in the order of PodClass::Cells.
void ClassHeap::CollectRefused(const ClassAnswer& answer) {
  refused_.clear();
  auto passed = answer.cells.begin();
  for (const PodClass::Cell& cell : answer.nodes->Cells()) {
    if (passed != answer.cells.end() && passed->cell == &cell) {
      ++passed;
    } else if (cell.count > 0) {
      refused_.push_back(&cell);
    }
  }
}

const RankedSet& ClassHeap::Feasible(const ClassAnswer& answer) {
  PodClass& nodes = *answer.nodes;
  if (answer.feasible_count == nodes.FeasibleCount()) {
    RankedSet& all = nodes.FitsByPosition(positions_);
    all.Prepare();
    return all;
  }
  if (2 * answer.feasible_count > nodes.FeasibleCount()) {
    fits_ = nodes.FitsByPosition(positions_);
    CollectRefused(answer);
    for (const PodClass::Cell* cell : refused_) {
      ForEachRow(nodes, *cell, [&](NodeIndex row) { fits_.Erase(positions_.Of(row)); });
    }
  } else {
    fits_.Assign(positions_.Order().size(), false);
    for (const ClassAnswer::CellView& view : answer.cells) {
      ForEachRow(nodes, *view.cell, [&](NodeIndex row) { fits_.Insert(positions_.Of(row)); });
    }
  }
  fits_.Prepare();
  return fits_;
}

NodeIndex ClassHeap::ChooseWithin(const ClassAnswer& answer, size_t start) {
  candidates_.clear();
  answer.within->ForEach([&](NodeIndex row) { candidates_.push_back(row); });
  std::ranges::sort(candidates_, {}, [&](NodeIndex row) { return positions_.Of(row); });
  CollectRefused(answer);
  const auto is_feasible = [&](NodeIndex row) {
    const PodClass::Cell* cell = answer.nodes->CellOf(row);
    return cell != nullptr && !std::ranges::binary_search(refused_, cell);
  };
  const auto is_best = [&](NodeIndex row) {
    return std::ranges::binary_search(answer.best_rows, row);
  };
  return HeapChoice(candidates_, start, is_feasible, is_best);
}

}  // namespace berth::framework
