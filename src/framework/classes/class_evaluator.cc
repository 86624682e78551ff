#include "framework/classes/class_evaluator.h"

#include <algorithm>

#include "base/wrap.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::framework {
namespace {

constexpr size_t kWordBits = NodeSet::kWordBits;

// Nodes with nominated pods that are evaluated one by one; with more, a scan decides.
constexpr size_t kFewNominations = 64;

}  // namespace

bool ClassEvaluator::Filter(Cycle& cycle, cluster::Cluster& cluster, ClassEntry& entry,
                            const NodeSet* within, ClassAnswer* answer) {
  answer->nodes = entry.nodes.get();
  answer->verdicts = entry.verdicts.get();
  answer->within = within;
  if (one_.Capacity() < cluster.Rows()) one_.Resize(cluster.Rows());
  if (!LeaveCapacityToNominated(cycle, cluster, answer)) return false;
  CollectCells(answer);
  answer->cells.clear();
  answer->cell_verdicts.resize(answer->nodes->Cells().size());
  for (const ClassAnswer::CellView& view : live_) {
    if (FilterCell(cycle, *view.cell, answer)) {
      answer->cells.push_back(view);
    } else if (cycle.verdicts()[answer->nodes->MemberOf(*view.cell)].code == Code::kError) {
      return false;
    }
  }
  return true;
}

// Removes candidates where the pod would take what was promised to nominated pods. The hypothesis
// that showed it is logged as a change of the row, so the next pod evaluates the row again.
bool ClassEvaluator::LeaveCapacityToNominated(Cycle& cycle, cluster::Cluster& cluster,
                                              ClassAnswer* answer) {
  const cluster::Nominations& nominations = cluster.Nominated();
  answer->beside_nominated.clear();
  if (nominations.Empty()) return true;
  bool plain = true;
  size_t nodes = 0;
  nominations.ForEachNode([&](cluster::StringId name, const std::vector<cluster::PodId>& pods) {
    plain = plain && ++nodes <= kFewNominations;
    if (!plain) return;
    const NodeIndex n = cluster.FindNode(cluster.Strings().Text(name));
    if (n == cluster::kNoNode) return;
    if (answer->within != nullptr && !answer->within->Contains(n)) return;
    if (FitsBesideNominated(cycle, cluster, n, pods)) return;
    plain = cycle.verdicts()[n].code != Code::kError;
    answer->beside_nominated.emplace_back(n, cycle.verdicts()[n]);
    answer->nodes->Remove(n);
  });
  return plain;
}

// The cells with candidates, into live_.
void ClassEvaluator::CollectCells(ClassAnswer* answer) {
  live_.clear();
  PodClass& nodes = *answer->nodes;
  if (answer->within == nullptr) {
    for (PodClass::Cell& cell : nodes.Cells()) {
      if (cell.count > 0) live_.push_back({&cell, cell.count, cell.HighestLocal()});
    }
    return;
  }
  const std::span<PodClass::Cell> cells = nodes.Cells();
  views_.resize(cells.size());
  for (size_t i = 0; i < cells.size(); ++i) views_[i] = {&cells[i], 0, 0};
  answer->within->ForEach([&](NodeIndex n) {
    const PodClass::Cell* cell = nodes.CellOf(n);
    if (cell == nullptr) return;
    ClassAnswer::CellView& view = views_[static_cast<size_t>(cell - cells.data())];
    const int64_t local = nodes.LocalOf(n);
    view.highest_local = view.count == 0 ? local : std::max(view.highest_local, local);
    ++view.count;
  });
  for (const ClassAnswer::CellView& view : views_) {
    if (view.count > 0) live_.push_back(view);
  }
}

// Runs the filters of topology domains on one node of the cell.
bool ClassEvaluator::FilterCell(Cycle& cycle, PodClass::Cell& cell, ClassAnswer* answer) {
  if (plan_.DomainFilters().empty()) return true;
  const NodeIndex n = answer->nodes->MemberOf(cell);
  const size_t word = n / kWordBits;
  one_.Insert(n);
  FilterBatch batch(one_, cycle.mutable_verdicts(), word, word + 1);
  for (const auto& [plugin, index] : plan_.DomainFilters()) {
    batch.SetPlugin(index);
    plugin->Filter(cycle.context(), cycle.state(index), batch);
  }
  const bool passed = one_.Contains(n);
  one_.Erase(n);
  const auto position = static_cast<size_t>(&cell - answer->nodes->Cells().data());
  answer->cell_verdicts[position] = cycle.verdicts()[n];
  return passed;
}

bool ClassEvaluator::Decide(Cycle& cycle, ClassEntry& entry, ClassAnswer* answer) {
  answer->feasible_count = 0;
  answer->best_count = 0;
  answer->total = 0;
  answer->best_sets.clear();
  answer->best_rows.clear();
  for (const ClassAnswer::CellView& view : answer->cells) answer->feasible_count += view.count;
  answer->scored = answer->feasible_count > 1;
  if (answer->feasible_count == 0) return Reject(cycle, entry, answer);
  if (!answer->scored) {
    offsets_.assign(1, 0);
  } else if (!ScoreCells(cycle, *answer)) {
    return false;
  }
  FindBest(answer);
  return true;
}

bool ClassEvaluator::AddCellScores(int64_t weight) {
  for (size_t i = 0; i < cell_scores_.size(); ++i) {
    if (cell_scores_[i] < 0 || cell_scores_[i] > kMaxNodeScore) return false;
    offsets_[i] = WrapAdd(offsets_[i], WrapMul(cell_scores_[i], weight));
  }
  return true;
}

bool ClassEvaluator::ScoreCells(Cycle& cycle, const ClassAnswer& answer) {
  const CycleContext& c = cycle.context();
  const size_t count = answer.cells.size();
  offsets_.assign(count, 0);
  cell_scores_.resize(count);
  const auto normalized = plan_.NormalizedScores();
  if (!normalized.empty() && positions_.Capacity() != count) {
    positions_.Resize(0);
    positions_.Resize(count);
    for (size_t i = 0; i < count; ++i) positions_.Insert(static_cast<NodeIndex>(i));
  }
  for (size_t k = 0; k < normalized.size(); ++k) {
    const auto& [plugin, index, weight] = plan_.profile().score[normalized[k]];
    int64_t* scores = column_.MakeDense(positions_.Words().size() * kWordBits);
    for (size_t i = 0; i < count; ++i) scores[i] = answer.cells[i].cell->traits[k];
    plugin->Normalize(c, cycle.state(index), positions_, column_);
    for (size_t i = 0; i < count; ++i) cell_scores_[i] = column_.Get(static_cast<NodeIndex>(i));
    if (!AddCellScores(weight)) return false;
  }
  if (plan_.DomainScores().empty()) return true;
  alike_.clear();
  for (const auto& view : answer.cells) {
    alike_.push_back({answer.nodes->MemberOf(*view.cell), view.count});
  }
  return std::ranges::all_of(plan_.DomainScores(),
                             [&](size_t score) { return ScoreDomains(cycle, score); });
}

bool ClassEvaluator::ScoreDomains(Cycle& cycle, size_t score) {
  const CycleContext& c = cycle.context();
  const auto& [plugin, index, weight] = plan_.profile().score[score];
  const ClassAwarePlugin& aware = *plan_.RoleOf(index).aware;
  PluginState* state = cycle.state(index);
  const Status status = aware.PreScoreAlike(c, state, alike_);
  if (status.IsSkip()) return true;
  if (!status.Ok()) return false;
  ++cycle.mutable_calls(index).pre_score;
  cycle.mutable_calls(index).score += alike_.size();
  int64_t* scores = column_.MakeDense(one_.Words().size() * kWordBits);
  for (size_t i = 0; i < alike_.size(); ++i) {
    const NodeIndex n = alike_[i].node;
    one_.Insert(n);
    ScoreBatch batch(one_, scores, n / kWordBits, n / kWordBits + 1);
    plugin->Score(c, state, batch);
    one_.Erase(n);
    cell_scores_[i] = scores[n];
  }
  if (plugin->HasNormalize()) aware.NormalizeAlike(c, state, alike_, cell_scores_);
  return AddCellScores(weight);
}

void ClassEvaluator::FindBest(ClassAnswer* answer) {
  const bool all = answer->within == nullptr;
  for (size_t i = 0; i < answer->cells.size(); ++i) {
    const ClassAnswer::CellView& view = answer->cells[i];
    const int64_t total = WrapAdd(offsets_[i], view.highest_local);
    if (i == 0 || total > answer->total) {
      answer->best_sets.clear();
      answer->best_count = 0;
      answer->total = total;
    }
    if (total < answer->total || !all) continue;
    answer->best_sets.push_back(view.cell->Highest());
    answer->best_count += answer->nodes->Sets().Count(view.cell->Highest());
  }
  if (!all) CollectBestRows(answer);
  if (!answer->scored) answer->total = 0;
}

void ClassEvaluator::CollectBestRows(ClassAnswer* answer) const {
  const PodClass::Cell* first = answer->nodes->Cells().data();
  // By position in Cells: the local score that makes a node one of the best, if any does.
  std::vector<std::pair<bool, int64_t>> wanted(answer->nodes->Cells().size());
  for (size_t i = 0; i < answer->cells.size(); ++i) {
    const ClassAnswer::CellView& view = answer->cells[i];
    if (WrapAdd(offsets_[i], view.highest_local) != answer->total) continue;
    wanted[static_cast<size_t>(view.cell - first)] = {true, view.highest_local};
  }
  answer->within->ForEach([&](NodeIndex n) {
    const PodClass::Cell* cell = answer->nodes->CellOf(n);
    if (cell == nullptr) return;
    const auto& [is_best, local] = wanted[static_cast<size_t>(cell - first)];
    if (is_best && answer->nodes->LocalOf(n) == local) answer->best_rows.push_back(n);
  });
  answer->best_count = answer->best_rows.size();
}

// Gives the cycle the verdict on every candidate that a scan would give.
bool ClassEvaluator::Reject(Cycle& cycle, ClassEntry& entry, ClassAnswer* answer) {
  // Otherwise a scan may reject a node for its domain before a local filter sees it.
  if (!plan_.DomainsLast()) return false;
  // Reasons of a class-aware plugin may belong to the cycle in which they were given.
  for (const auto& served : plan_.LocalFilters()) {
    if (plan_.RoleOf(served.index).aware != nullptr) return false;
  }
  if (entry.verdicts == nullptr && !refresh_.RecordVerdicts(cycle, entry)) return false;
  answer->verdicts = entry.verdicts.get();
  if (answer->within == nullptr) {
    CountRejections(answer);
  } else {
    CountRejectionsWithin(answer);
  }
  cycle.LeaveVerdictsToClass();
  return true;
}

void ClassEvaluator::CountRejections(ClassAnswer* answer) const {
  answer->rejections = answer->verdicts->Counts();
  const auto cells = answer->nodes->Cells();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].count > 0) answer->rejections.Add(answer->cell_verdicts[i], cells[i].count);
  }
  for (const auto& [n, verdict] : answer->beside_nominated) {
    if (answer->verdicts->Has(n)) answer->rejections.Take(answer->verdicts->ByRow()[n]);
    answer->rejections.Add(verdict, 1);
  }
}

void ClassEvaluator::CountRejectionsWithin(ClassAnswer* answer) const {
  answer->rejections.Clear();
  for (const auto& [n, verdict] : answer->beside_nominated) answer->rejections.Add(verdict, 1);
  const PodClass::Cell* first = answer->nodes->Cells().data();
  answer->within->ForEach([&](NodeIndex n) {
    const auto is_same = [&](const auto& entry) { return entry.first == n; };
    if (std::ranges::any_of(answer->beside_nominated, is_same)) return;
    const PodClass::Cell* cell = answer->nodes->CellOf(n);
    if (cell != nullptr) {
      answer->rejections.Add(answer->cell_verdicts[static_cast<size_t>(cell - first)], 1);
    } else if (answer->verdicts->Has(n)) {
      answer->rejections.Add(answer->verdicts->ByRow()[n], 1);
    }
  });
}

void ClassEvaluator::CountCalls(Cycle& cycle, const ClassAnswer& answer) const {
  for (const uint8_t index : plan_.PreScored()) ++cycle.mutable_calls(index).pre_score;
  const size_t cells = answer.nodes->LiveCells();
  const uint64_t rows = refresh_.RowsEvaluated();
  for (const auto& served : plan_.LocalFilters()) cycle.mutable_calls(served.index).filter += rows;
  for (const auto& served : plan_.DomainFilters()) {
    cycle.mutable_calls(served.index).filter += cells;
  }
  for (const auto scores : {plan_.LocalScores(), plan_.NormalizedScores()}) {
    for (const size_t i : scores) cycle.mutable_calls(plan_.profile().score[i].index).score += rows;
  }
}

}  // namespace berth::framework
