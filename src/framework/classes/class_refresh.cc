#include "framework/classes/class_refresh.h"

#include <algorithm>

#include "base/wrap.h"
#include "framework/runtime/cycle.h"

namespace berth::framework {
namespace {

constexpr size_t kWordBits = NodeSet::kWordBits;

// With more cells than one in so many rows, a scan is as fast.
constexpr size_t kRowsPerCell = 16;
constexpr size_t kFewCells = 64;
// Evaluating a single row costs as much as this many rows in a scan.
constexpr size_t kScanAdvantage = 32;
constexpr size_t kFewRows = 16;

}  // namespace

bool ClassRefresh::Refresh(Cycle& cycle, const ClassKey& key, ClassEntry& entry) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  const size_t rows = cluster.Rows();
  rows_evaluated_ = 0;
  if (one_.Capacity() < rows) one_.Resize(rows);
  column_.MakeDense(one_.Words().size() * kWordBits);
  const bool current = entry.nodes != nullptr && entry.premises == key.premises() &&
                       MissedFew(cluster, entry) &&
                       entry.nodes->Cells().size() <= kFewCells + 2 * entry.nodes->LiveCells() &&
                       CatchUp(cycle, entry);
  if (!current && !Build(cycle, key, entry)) return false;
  entry.position = cluster.Changes().Read();
  const auto logs = plan_.Logs();
  entry.positions.resize(logs.size());
  for (size_t i = 0; i < logs.size(); ++i) entry.positions[i] = logs[i]->Read();
  if (entry.nodes->LiveCells() > kFewCells + rows / kRowsPerCell) {
    ClassStore::PutOffLong(entry);
    store_.Drop(entry);
    return false;
  }
  return true;
}

// Is evaluating the rows that changed cheaper than a scan?
bool ClassRefresh::MissedFew(const cluster::Cluster& cluster, const ClassEntry& entry) const {
  const uint64_t few = kFewRows + cluster.Rows() / kScanAdvantage;
  if (cluster.Changes().Missed(entry.position) > few) return false;
  const auto logs = plan_.Logs();
  for (size_t i = 0; i < logs.size(); ++i) {
    if (logs[i]->Missed(entry.positions[i]) > few) return false;
  }
  return true;
}

// False: a log no longer reaches back that far, or a scan must report an error.
bool ClassRefresh::CatchUp(Cycle& cycle, ClassEntry& entry) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  entry.nodes->Grow(cluster.Rows());
  if (entry.verdicts != nullptr) entry.verdicts->Grow(cluster.Rows());
  stale_.clear();
  const auto note = [&](NodeIndex row) { stale_.push_back(row); };
  if (!cluster.Changes().ForEachSince(entry.position, note)) return false;
  const auto logs = plan_.Logs();
  for (size_t i = 0; i < logs.size(); ++i) {
    if (!logs[i]->ForEachSince(entry.positions[i], note)) return false;
  }
  // A pod that was placed is in all logs.
  if (!logs.empty()) {
    std::sort(stale_.begin(), stale_.end());
    stale_.erase(std::unique(stale_.begin(), stale_.end()), stale_.end());
  }
  bool plain = true;
  for (const NodeIndex row : stale_) plain = EvaluateRow(cycle, entry, row) && plain;
  return plain;
}

// Filters and scores one row. False: a scan must report an error.
bool ClassRefresh::EvaluateRow(Cycle& cycle, ClassEntry& entry, NodeIndex row) {
  ++rows_refreshed_;
  ++rows_evaluated_;
  if (!cycle.context().cluster.Nodes().Contains(row)) {
    entry.nodes->Remove(row);
    if (entry.verdicts != nullptr) entry.verdicts->Remove(row);
    return true;
  }
  if (!FilterRow(cycle, entry, row)) return cycle.verdicts()[row].code != Code::kError;
  int64_t local = 0;
  bool in_range = true;
  for (const size_t i : plan_.LocalScores()) {
    const int64_t raw = ScoreRow(cycle, i, row);
    in_range = in_range && raw >= 0 && raw <= kMaxNodeScore;
    local = WrapAdd(local, WrapMul(raw, plan_.profile().score[i].weight));
  }
  traits_.clear();
  for (const size_t i : plan_.NormalizedScores()) traits_.push_back(ScoreRow(cycle, i, row));
  one_.Erase(row);
  AppendDomainTraits(cycle, row);
  entry.nodes->Put(row, traits_, local);
  return in_range;
}

// True: the row fits and is in one_. False: one_ is empty, and the class knows the verdict.
bool ClassRefresh::FilterRow(Cycle& cycle, ClassEntry& entry, NodeIndex row) {
  const size_t word = row / kWordBits;
  one_.Insert(row);
  FilterBatch batch(one_, cycle.mutable_verdicts(), word, word + 1);
  for (const auto& [plugin, index] : plan_.LocalFilters()) {
    batch.SetPlugin(index);
    plugin->Filter(cycle.context(), cycle.state(index), batch);
  }
  if (!one_.Contains(row)) {
    entry.nodes->Remove(row);
    if (entry.verdicts != nullptr) entry.verdicts->Put(row, cycle.verdicts()[row]);
    return false;
  }
  if (entry.verdicts != nullptr) entry.verdicts->Remove(row);
  return true;
}

int64_t ClassRefresh::ScoreRow(Cycle& cycle, size_t score, NodeIndex row) {
  const size_t word = row / kWordBits;
  const auto& [plugin, index, weight] = plan_.profile().score[score];
  ScoreBatch batch(one_, column_.Dense(), word, word + 1);
  plugin->Score(cycle.context(), cycle.state(index), batch);
  return column_.Dense()[row];
}

void ClassRefresh::AppendDomainTraits(Cycle& cycle, NodeIndex row) {
  for (const auto& [plugin, index] : plan_.Aware()) {
    if (!plan_.RoleOf(index).by_domain) continue;
    plugin->AppendTraits(cycle.context(), cycle.state(index), row, &traits_);
  }
}

// Runs the local filters over all nodes, into feasible_.
void ClassRefresh::FilterAll(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  feasible_ = c.cluster.Nodes();
  cycle.ForRanges(feasible_.Words().size(), [&](size_t first, size_t end) {
    FilterBatch batch(feasible_, cycle.mutable_verdicts(), first, end);
    for (const auto& [plugin, index] : plan_.LocalFilters()) {
      batch.SetPlugin(index);
      plugin->Filter(c, cycle.state(index), batch);
    }
  });
}

// Adds the weighted score of all feasible rows to `sums`; raw scores of a plugin that normalises
// are stored instead. False: a score is out of range.
bool ClassRefresh::ScoreAll(Cycle& cycle, size_t score, std::vector<int64_t>& sums) {
  const auto& [plugin, index, weight] = plan_.profile().score[score];
  int64_t* scores = column_.Dense();
  cycle.ForRanges(feasible_.Words().size(), [&, p = plugin, at = index](size_t first, size_t end) {
    ScoreBatch batch(feasible_, scores, first, end);
    p->Score(cycle.context(), cycle.state(at), batch);
  });
  const bool normalizes = plugin->HasNormalize();
  bool in_range = true;
  feasible_.ForEach([&, w = weight](NodeIndex n) {
    if (normalizes) {
      sums[n] = scores[n];
      return;
    }
    in_range = in_range && scores[n] >= 0 && scores[n] <= kMaxNodeScore;
    sums[n] = WrapAdd(sums[n], WrapMul(scores[n], w));
  });
  return in_range;
}

bool ClassRefresh::Build(Cycle& cycle, const ClassKey& key, ClassEntry& entry) {
  if (entry.nodes != nullptr) {
    ClassStore::PutOff(entry);
    store_.Drop(entry);
  }
  if (store_.Waits(entry)) return false;
  const cluster::Cluster& cluster = cycle.context().cluster;
  const size_t rows = cluster.Rows();
  FilterAll(cycle);
  bool plain = true;
  for (size_t w = 0; w < feasible_.Words().size(); ++w) {
    NodeSet::ForEachBit(cluster.Nodes().Words()[w] & ~feasible_.Words()[w], w, [&](NodeIndex n) {
      plain = plain && cycle.verdicts()[n].code != Code::kError;
    });
  }
  local_.assign(rows, 0);
  for (const size_t i : plan_.LocalScores()) plain = ScoreAll(cycle, i, local_) && plain;
  const auto normalized = plan_.NormalizedScores();
  if (raw_.size() < normalized.size()) raw_.resize(normalized.size());
  for (size_t k = 0; k < normalized.size(); ++k) {
    raw_[k].resize(rows);
    ScoreAll(cycle, normalized[k], raw_[k]);
  }
  if (!plain) {
    ClassStore::PutOffLong(entry);
    return false;
  }
  store_.Hold(entry, rows);
  feasible_.ForEach([&](NodeIndex n) {
    traits_.clear();
    for (size_t k = 0; k < normalized.size(); ++k) traits_.push_back(raw_[k][n]);
    AppendDomainTraits(cycle, n);
    entry.nodes->Put(n, traits_, local_[n]);
  });
  rows_evaluated_ = cluster.NodeCount();
  entry.premises = key.premises();
  entry.answers = 0;
  ++builds_;
  store_.LimitMemory(entry);
  return true;
}

bool ClassRefresh::RecordVerdicts(Cycle& cycle, ClassEntry& entry) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  const NodeSet& nodes = cluster.Nodes();
  FilterAll(cycle);
  entry.verdicts = std::make_unique<ClassVerdicts>(cluster.Rows());
  bool plain = true;
  for (size_t w = 0; w < nodes.Words().size(); ++w) {
    NodeSet::ForEachBit(nodes.Words()[w] & ~feasible_.Words()[w], w, [&](NodeIndex n) {
      plain = plain && cycle.verdicts()[n].code != Code::kError;
      entry.verdicts->Put(n, cycle.verdicts()[n]);
    });
  }
  rows_evaluated_ += cluster.NodeCount();
  store_.LimitMemory(entry);
  if (!plain) entry.verdicts.reset();
  return plain;
}

}  // namespace berth::framework
