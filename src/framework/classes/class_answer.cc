#include "framework/classes/class_answer.h"

#include <algorithm>

#include "base/check.h"

namespace berth::framework {

using cluster::NodeIndex;
using cluster::NodeSet;

NodeIndex ClassAnswer::Pick(size_t rank) const {
  BERTH_DCHECK(rank < best_count);
  return within == nullptr ? nodes->Sets().Nth(best_sets, rank) : best_rows[rank];
}

void ClassAnswer::List(NodeSet* feasible, NodeSet* best) const {
  const size_t rows = nodes->Rows();
  for (NodeSet* set : {feasible, best}) {
    set->Resize(0);
    set->Resize(rows);
  }
  for (size_t rank = 0; rank < best_count; ++rank) best->Insert(Pick(rank));
  for (NodeIndex n = 0; n < rows; ++n) {
    const PodClass::Cell* cell = nodes->CellOf(n);
    if (cell == nullptr || (within != nullptr && !within->Contains(n))) continue;
    const auto is_same = [&](const CellView& view) { return view.cell == cell; };
    if (std::any_of(cells.begin(), cells.end(), is_same)) feasible->Insert(n);
  }
}

const VerdictCounts& ClassAnswer::Rejections() const {
  BERTH_DCHECK(feasible_count == 0);
  return rejections;
}

void ClassAnswer::WriteVerdicts(VerdictTable* table) const {
  BERTH_DCHECK(feasible_count == 0 && verdicts != nullptr);
  const std::span<const Verdict> known = verdicts->ByRow();
  std::copy(known.begin(), known.end(), table->begin());
  if (nodes->LiveCells() > 0) {
    const PodClass::Cell* first = nodes->Cells().data();
    for (NodeIndex n = 0; n < known.size(); ++n) {
      const PodClass::Cell* cell = nodes->CellOf(n);
      if (cell != nullptr) (*table)[n] = cell_verdicts[static_cast<size_t>(cell - first)];
    }
  }
  for (const auto& [n, verdict] : beside_nominated) (*table)[n] = verdict;
}

}  // namespace berth::framework
