#include "framework/classes/class_cache.h"

#include <algorithm>

#include "base/wrap.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/nominated_filter.h"

namespace berth::framework {
namespace {

constexpr uint32_t kOnNodeItself = kOnNodeObject | kOnNodePods;
constexpr uint32_t kOnClaims = kOnVolumes | kOnDevices;
constexpr size_t kWordBits = NodeSet::kWordBits;

// With more cells than one in this many rows, a scan of all rows is as fast.
constexpr size_t kRowsPerCell = 16;
constexpr size_t kFewCells = 64;
// Looking at a single row costs as much as at this many in a scan.
constexpr size_t kScanAdvantage = 32;
constexpr size_t kFewRows = 16;

// Limit of nodes with nominated pods that are evaluated one by one; with more, all nodes are
// scanned.
constexpr size_t kFewNominations = 64;
// Answers of a class after which its memory is looked at again.
constexpr uint32_t kWeighEvery = 1024;

const NodeSet kNoNodes;

}  // namespace

ClassCache::ClassCache(const Profile& profile, size_t memory_bytes)
    : profile_(profile), memory_limit_(memory_bytes) {
  for (const auto& plugin : profile.Plugins()) {
    Role& role = roles_.emplace_back();
    role.depends_on = plugin->DependsOn();
    role.aware = dynamic_cast<const ClassAwarePlugin*>(plugin.get());
    role.claims = dynamic_cast<const ClaimAwarePlugin*>(plugin.get());
    role.by_domain = role.aware != nullptr && (role.depends_on & kOnDomainPods) != 0;
    role.labels = dynamic_cast<const LabelAwarePlugin*>(plugin.get());
    if (role.labels == nullptr && role.depends_on != kOnEverything) {
      reads_labels_ = reads_labels_ || (role.depends_on & kOnPodLabels) != 0;
    }
    role.unknown =
        (role.aware == nullptr && (role.depends_on & ~(kOnNodeItself | kOnPodLabels)) != 0) ||
        (role.claims == nullptr && (role.depends_on & kOnClaims) != 0);
  }
  skipped_.resize(roles_.size());
}

// --- Which plugins concern the pod, and how

// Plugins that read nodes or their number are called later, per cell.
bool ClassCache::AskPreScores(Cycle& cycle) {
  skipped_ = cycle.pre_scores_skipped();
  pre_scored_.clear();
  for (const auto& [plugin, index] : cycle.pre_scores()) {
    const Role& role = roles_[index];
    if (role.by_domain) continue;
    if ((role.depends_on & (kOnNodeCount | kOnDomainPods)) != 0) return false;
    const Status status = plugin->PreScore(cycle.context(), cycle.state(index), kNoNodes);
    if (status.IsSkip()) {
      skipped_[index] = 1;
      continue;
    }
    if (!status.Ok()) return false;
    pre_scored_.push_back(index);
  }
  return true;
}

// Mostly the same plugins concern the pod as concerned the last one.
bool ClassCache::SortPlugins(Cycle& cycle) {
  if (cycle.filters_skipped() == sorted_filters_ && skipped_ == sorted_scores_) return sorted_well_;
  sorted_filters_ = cycle.filters_skipped();
  sorted_scores_ = skipped_;
  aware_.clear();
  sorted_well_ = SortFilters(cycle) && SortScores();
  if (!sorted_well_) return false;
  premises_.clear();
  for (const auto* filters : {&local_filters_, &domain_filters_}) {
    for (const auto& served : *filters) premises_.push_back(served.index);
    premises_.push_back(-1);
  }
  for (const auto* scores : {&local_scores_, &normalized_scores_, &domain_scores_}) {
    for (const size_t i : *scores) {
      NoteAware(profile_.score[i].index);
      premises_.push_back(static_cast<int64_t>(i));
    }
    premises_.push_back(-1);
  }
  sorted_premises_ = premises_.size();
  return true;
}

void ClassCache::NoteAware(uint8_t index) {
  const ClassAwarePlugin* aware = roles_[index].aware;
  if (aware == nullptr) return;
  for (const auto& known : aware_) {
    if (known.index == index) return;
  }
  aware_.push_back({aware, index});
}

bool ClassCache::SortFilters(Cycle& cycle) {
  local_filters_.clear();
  domain_filters_.clear();
  domains_last_ = true;
  logs_.clear();
  for (const auto& served : profile_.filter) {
    if (cycle.FilterSkipped(served.index)) continue;
    const Role& role = roles_[served.index];
    if (role.unknown) return false;
    domains_last_ = domains_last_ && (role.by_domain || domain_filters_.empty());
    (role.by_domain ? domain_filters_ : local_filters_).push_back(served);
    NoteAware(served.index);
    if (role.claims == nullptr) continue;
    if (const cluster::RowLog* log = role.claims->ChangedRows()) logs_.push_back(log);
  }
  return true;
}

bool ClassCache::SortScores() {
  local_scores_.clear();
  normalized_scores_.clear();
  domain_scores_.clear();
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    const auto& [plugin, index, weight] = profile_.score[i];
    const Role& role = roles_[index];
    if (skipped_[index] != 0) continue;
    // Scores do not define the meaning of claims.
    if (role.unknown || role.claims != nullptr) return false;
    if (role.by_domain) {
      domain_scores_.push_back(i);
    } else {
      (plugin->HasNormalize() ? normalized_scores_ : local_scores_).push_back(i);
    }
  }
  return true;
}

// Inputs of a cached verdict other than the node itself.
bool ClassCache::CollectPremises(Cycle& cycle) {
  premises_.resize(sorted_premises_);
  const CycleContext& c = cycle.context();
  const bool in_key = HasClaims(c.shape);
  for (const auto& [plugin, index] : aware_) {
    PluginState* state = cycle.state(index);
    const ClaimAwarePlugin* claims = in_key ? nullptr : roles_[index].claims;
    if (claims != nullptr && !claims->AppendClaims(c, state, &premises_)) return false;
    if (!plugin->AppendPremises(c, state, &premises_)) return false;
  }
  return true;
}

// --- Bringing a class up to date

bool ClassCache::Refresh(Cycle& cycle, Entry& entry) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  const size_t rows = cluster.Rows();
  if (one_.Capacity() < rows) one_.Resize(rows);
  column_.MakeDense(one_.Words().size() * kWordBits);
  const bool current = entry.nodes != nullptr && entry.premises == premises_ &&
                       IsNear(cluster, entry) &&
                       entry.nodes->Cells().size() <= kFewCells + 2 * entry.nodes->LiveCells() &&
                       CatchUp(cycle, entry);
  if (!current && !Build(cycle, entry)) return false;
  entry.position = cluster.Changes().Read();
  entry.positions.resize(logs_.size());
  for (size_t i = 0; i < logs_.size(); ++i) entry.positions[i] = logs_[i]->Read();
  if (entry.nodes->LiveCells() > kFewCells + rows / kRowsPerCell) {
    entry.wait = kLongestWait;
    entry.waited = 0;
    Drop(entry);
    return false;
  }
  return true;
}

// Has so little changed that looking at those rows costs less than looking at all?
bool ClassCache::IsNear(const cluster::Cluster& cluster, const Entry& entry) const {
  const uint64_t few = kFewRows + cluster.Rows() / kScanAdvantage;
  if (cluster.Changes().Missed(entry.position) > few) return false;
  for (size_t i = 0; i < logs_.size(); ++i) {
    if (logs_[i]->Missed(entry.positions[i]) > few) return false;
  }
  return true;
}

// Looks at the rows that changed. False: they are not known any more, or a scan must report one.
bool ClassCache::CatchUp(Cycle& cycle, Entry& entry) {
  const cluster::Cluster& cluster = cycle.context().cluster;
  nodes_ = entry.nodes.get();
  nodes_->Grow(cluster.Rows());
  verdicts_ = entry.verdicts.get();
  if (verdicts_ != nullptr) verdicts_->Grow(cluster.Rows());
  again_.clear();
  const auto note = [&](NodeIndex row) { again_.push_back(row); };
  if (!cluster.Changes().ForEachSince(entry.position, note)) return false;
  for (size_t i = 0; i < logs_.size(); ++i) {
    if (!logs_[i]->ForEachSince(entry.positions[i], note)) return false;
  }
  // A pod that was placed is in all logs.
  if (!logs_.empty()) {
    std::sort(again_.begin(), again_.end());
    again_.erase(std::unique(again_.begin(), again_.end()), again_.end());
  }
  bool plain = true;
  for (const NodeIndex row : again_) plain = LookAgain(cycle, row) && plain;
  return plain;
}

// Filters and scores one row. False: something is odd that a scan must report.
bool ClassCache::LookAgain(Cycle& cycle, NodeIndex row) {
  const CycleContext& c = cycle.context();
  ++statistics_.rows;
  ++rows_asked_;
  if (!c.cluster.Nodes().Contains(row)) {
    nodes_->Remove(row);
    if (verdicts_ != nullptr) verdicts_->Remove(row);
    return true;
  }
  const size_t word = row / kWordBits;
  one_.Insert(row);
  FilterBatch batch(one_, cycle.mutable_verdicts(), word, word + 1);
  for (const auto& [plugin, index] : local_filters_) {
    batch.SetPlugin(index);
    plugin->Filter(c, cycle.state(index), batch);
  }
  if (!one_.Contains(row)) {
    nodes_->Remove(row);
    if (verdicts_ != nullptr) verdicts_->Put(row, cycle.verdicts()[row]);
    return cycle.verdicts()[row].code != Code::kError;
  }
  if (verdicts_ != nullptr) verdicts_->Remove(row);
  int64_t local = 0;
  bool in_range = true;
  traits_.clear();
  const auto score = [&](size_t i) {
    ScoreBatch scores(one_, column_.Dense(), word, word + 1);
    profile_.score[i].plugin->Score(c, cycle.state(profile_.score[i].index), scores);
    return column_.Dense()[row];
  };
  for (const size_t i : local_scores_) {
    const int64_t raw = score(i);
    in_range = in_range && raw >= 0 && raw <= kMaxNodeScore;
    local = WrapAdd(local, WrapMul(raw, profile_.score[i].weight));
  }
  for (const size_t i : normalized_scores_) traits_.push_back(score(i));
  one_.Erase(row);
  for (const auto& [plugin, index] : aware_) {
    if (roles_[index].by_domain) plugin->AppendTraits(c, cycle.state(index), row, &traits_);
  }
  nodes_->Put(row, traits_, local);
  return in_range;
}

// Scores all feasible rows with one plugin, into column_.
bool ClassCache::AddLocal(Cycle& cycle, size_t i, std::vector<int64_t>& sums) {
  const auto& [plugin, index, weight] = profile_.score[i];
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

// Asks the filters of nodes themselves about all nodes, into feasible_.
void ClassCache::FilterAll(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  feasible_ = c.cluster.Nodes();
  cycle.ForRanges(feasible_.Words().size(), [&](size_t first, size_t end) {
    FilterBatch batch(feasible_, cycle.mutable_verdicts(), first, end);
    for (const auto& [plugin, index] : local_filters_) {
      batch.SetPlugin(index);
      plugin->Filter(c, cycle.state(index), batch);
    }
  });
}

bool ClassCache::Build(Cycle& cycle, Entry& entry) {
  if (entry.nodes != nullptr) {
    PutOff(entry);
    Drop(entry);
  }
  if (!eager_ && entry.waited < entry.wait) {
    ++entry.waited;
    return false;
  }
  const CycleContext& c = cycle.context();
  const size_t rows = c.cluster.Rows();
  FilterAll(cycle);
  bool plain = true;
  for (size_t w = 0; w < feasible_.Words().size(); ++w) {
    NodeSet::ForEachBit(c.cluster.Nodes().Words()[w] & ~feasible_.Words()[w], w, [&](NodeIndex n) {
      plain = plain && cycle.verdicts()[n].code != Code::kError;
    });
  }
  local_.assign(rows, 0);
  for (const size_t i : local_scores_) plain = AddLocal(cycle, i, local_) && plain;
  if (raw_.size() < normalized_scores_.size()) raw_.resize(normalized_scores_.size());
  for (size_t k = 0; k < normalized_scores_.size(); ++k) {
    raw_[k].resize(rows);
    AddLocal(cycle, normalized_scores_[k], raw_[k]);
  }
  if (!plain) {
    entry.wait = kLongestWait;
    entry.waited = 0;
    return false;
  }
  entry.nodes = std::make_unique<PodClass>();
  entry.nodes->Reset(rows);
  entry.held_at = held_.size();
  held_.push_back(&entry);
  nodes_ = entry.nodes.get();
  verdicts_ = nullptr;
  feasible_.ForEach([&](NodeIndex n) {
    traits_.clear();
    for (size_t k = 0; k < normalized_scores_.size(); ++k) traits_.push_back(raw_[k][n]);
    for (const auto& [plugin, index] : aware_) {
      if (roles_[index].by_domain) plugin->AppendTraits(c, cycle.state(index), n, &traits_);
    }
    nodes_->Put(n, traits_, local_[n]);
  });
  rows_asked_ = c.cluster.NodeCount();
  entry.premises = premises_;
  entry.answers = 0;
  ++statistics_.builds;
  LimitMemory(entry);
  return true;
}

// --- The decision

// Takes out the nodes where the pod would be in the way of pods nominated to them. The hypothesis
// that showed it is a change of the row, so the next pod finds the node looked at again.
bool ClassCache::LeaveRoom(Cycle& cycle, cluster::Cluster& cluster) {
  const cluster::Nominations& nominations = cluster.Nominated();
  in_the_way_.clear();
  if (nominations.Empty()) return true;
  bool plain = true;
  size_t nodes = 0;
  nominations.ForEachNode([&](cluster::StringId name, const std::vector<cluster::PodId>& pods) {
    plain = plain && ++nodes <= kFewNominations;
    if (!plain) return;
    const NodeIndex n = cluster.FindNode(cluster.Strings().Text(name));
    if (n == cluster::kNoNode || FitsBesideNominated(cycle, cluster, n, pods)) return;
    plain = cycle.verdicts()[n].code != Code::kError;
    in_the_way_.emplace_back(n, cycle.verdicts()[n]);
    nodes_->Remove(n);
  });
  return plain;
}

// Asks the filters that look at topology domains about one node of each cell.
bool ClassCache::FilterCells(Cycle& cycle) {
  cells_.clear();
  alike_.clear();
  cell_verdicts_.resize(nodes_->Cells().size());
  for (PodClass::Cell& cell : nodes_->Cells()) {
    if (cell.count == 0) continue;
    const NodeIndex n = nodes_->MemberOf(cell);
    if (!domain_filters_.empty()) {
      const size_t word = n / kWordBits;
      one_.Insert(n);
      FilterBatch batch(one_, cycle.mutable_verdicts(), word, word + 1);
      for (const auto& [plugin, index] : domain_filters_) {
        batch.SetPlugin(index);
        plugin->Filter(cycle.context(), cycle.state(index), batch);
      }
      const bool passed = one_.Contains(n);
      one_.Erase(n);
      if (!passed && cycle.verdicts()[n].code == Code::kError) return false;
      cell_verdicts_[static_cast<size_t>(&cell - nodes_->Cells().data())] = cycle.verdicts()[n];
      if (!passed) continue;
    }
    cells_.push_back(&cell);
    alike_.push_back({n, cell.count});
  }
  return true;
}

bool ClassCache::AddCellScores(int64_t weight) {
  for (size_t i = 0; i < cells_.size(); ++i) {
    if (cell_scores_[i] < 0 || cell_scores_[i] > kMaxNodeScore) return false;
    offsets_[i] = WrapAdd(offsets_[i], WrapMul(cell_scores_[i], weight));
  }
  return true;
}

bool ClassCache::ScoreCells(Cycle& cycle) {
  const CycleContext& c = cycle.context();
  const size_t count = cells_.size();
  offsets_.assign(count, 0);
  cell_scores_.resize(count);
  if (!normalized_scores_.empty() && some_cells_.Capacity() != count) {
    some_cells_.Resize(0);
    some_cells_.Resize(count);
    for (size_t i = 0; i < count; ++i) some_cells_.Insert(static_cast<NodeIndex>(i));
  }
  for (size_t k = 0; k < normalized_scores_.size(); ++k) {
    const auto& [plugin, index, weight] = profile_.score[normalized_scores_[k]];
    int64_t* scores = column_.MakeDense(some_cells_.Words().size() * kWordBits);
    for (size_t i = 0; i < count; ++i) scores[i] = cells_[i]->traits[k];
    plugin->Normalize(c, cycle.state(index), some_cells_, column_);
    for (size_t i = 0; i < count; ++i) cell_scores_[i] = column_.Get(static_cast<NodeIndex>(i));
    if (!AddCellScores(weight)) return false;
  }
  for (const size_t s : domain_scores_) {
    const auto& [plugin, index, weight] = profile_.score[s];
    const ClassAwarePlugin& aware = *roles_[index].aware;
    PluginState* state = cycle.state(index);
    const Status status = aware.PreScoreAlike(c, state, alike_);
    if (status.IsSkip()) continue;
    if (!status.Ok()) return false;
    ++cycle.mutable_calls(index).pre_score;
    cycle.mutable_calls(index).score += count;
    int64_t* scores = column_.MakeDense(one_.Words().size() * kWordBits);
    for (size_t i = 0; i < count; ++i) {
      const NodeIndex n = alike_[i].node;
      one_.Insert(n);
      ScoreBatch batch(one_, scores, n / kWordBits, n / kWordBits + 1);
      plugin->Score(c, state, batch);
      one_.Erase(n);
      cell_scores_[i] = scores[n];
    }
    if (plugin->HasNormalize()) aware.NormalizeAlike(c, state, alike_, cell_scores_);
    if (!AddCellScores(weight)) return false;
  }
  return true;
}

void ClassCache::CountCalls(Cycle& cycle) const {
  for (const uint8_t index : pre_scored_) ++cycle.mutable_calls(index).pre_score;
  const size_t cells = nodes_->LiveCells();
  for (const auto& served : local_filters_) cycle.mutable_calls(served.index).filter += rows_asked_;
  for (const auto& served : domain_filters_) cycle.mutable_calls(served.index).filter += cells;
  for (const auto* scores : {&local_scores_, &normalized_scores_}) {
    for (const size_t i : *scores) {
      cycle.mutable_calls(profile_.score[i].index).score += rows_asked_;
    }
  }
}

std::optional<ClassAnswer> ClassCache::Find(Cycle& cycle, cluster::Cluster& cluster) {
  const CycleContext& c = cycle.context();
  if (!c.pod.node_name.empty() || !cycle.restriction().all_nodes) return std::nullopt;
  if (cluster_ != &c.cluster) {
    ForgetAll();
    cluster_ = &c.cluster;
  }
  Shape& shape = ShapeOf(c.shape);
  Entry* const last = LastOf(c.shape, shape);
  if (last != nullptr && Waits(*last)) return std::nullopt;
  if (!BeginKey(cycle)) return std::nullopt;
  rows_asked_ = 0;
  WatchedPoint pre_score(cycle.watch(), Point::kPreScore);
  if (!AskPreScores(cycle) || !SortPlugins(cycle) || !CollectPremises(cycle)) return std::nullopt;
  FinishKey(cycle);
  Entry& entry = EntryFor(shape, last);
  if (&entry != last && Waits(entry)) return std::nullopt;
  pre_score.End(Code::kSuccess);
  WatchedPoint filter(cycle.watch(), Point::kFilter);
  if (!Refresh(cycle, entry) || !LeaveRoom(cycle, cluster) || !FilterCells(cycle)) {
    return std::nullopt;
  }
  filter.End(Code::kSuccess);
  WatchedPoint score(cycle.watch(), Point::kScore);
  const std::optional<ClassAnswer> answer = Answer(cycle, entry);
  if (!answer) return std::nullopt;
  if (answer->scored) score.End(Code::kSuccess);
  CountCalls(cycle);
  if (++entry.answers % kWeighEvery == 0) LimitMemory(entry);
  ++statistics_.answers;
  return answer;
}

// --- Where nothing fits

// From now on the class knows why nodes do not suit. False: something is odd that a scan must
// report.
bool ClassCache::KeepVerdicts(Cycle& cycle, Entry& entry) {
  const NodeSet& nodes = cycle.context().cluster.Nodes();
  FilterAll(cycle);
  entry.verdicts = std::make_unique<ClassVerdicts>(cycle.context().cluster.Rows());
  verdicts_ = entry.verdicts.get();
  bool plain = true;
  for (size_t w = 0; w < nodes.Words().size(); ++w) {
    NodeSet::ForEachBit(nodes.Words()[w] & ~feasible_.Words()[w], w, [&](NodeIndex n) {
      plain = plain && cycle.verdicts()[n].code != Code::kError;
      verdicts_->Put(n, cycle.verdicts()[n]);
    });
  }
  rows_asked_ += cycle.context().cluster.NodeCount();
  LimitMemory(entry);
  return plain;
}

// Gives the cycle the verdict on every node that a scan would give.
bool ClassCache::TellVerdicts(Cycle& cycle, Entry& entry) {
  // Otherwise a scan might reject a node by its domain before it evaluates the node itself.
  if (!domains_last_) return false;
  // Their reasons may belong to a cycle.
  for (const auto& served : local_filters_) {
    if (roles_[served.index].aware != nullptr) return false;
  }
  if (entry.verdicts == nullptr && !KeepVerdicts(cycle, entry)) {
    entry.verdicts.reset();
    return false;
  }
  rejections_ = verdicts_->Counts();
  const auto cells = nodes_->Cells();
  for (size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].count > 0) rejections_.Add(cell_verdicts_[i], cells[i].count);
  }
  for (const auto& [n, verdict] : in_the_way_) {
    if (verdicts_->Has(n)) rejections_.Take(verdicts_->ByRow()[n]);
    rejections_.Add(verdict, 1);
  }
  cycle.LeaveVerdictsToClasses();
  return true;
}

void ClassCache::WriteVerdicts(VerdictTable* table) const {
  const std::span<const Verdict> known = verdicts_->ByRow();
  std::copy(known.begin(), known.end(), table->begin());
  if (nodes_->LiveCells() > 0) {
    const PodClass::Cell* first = nodes_->Cells().data();
    for (NodeIndex n = 0; n < known.size(); ++n) {
      const PodClass::Cell* cell = nodes_->CellOf(n);
      if (cell != nullptr) (*table)[n] = cell_verdicts_[static_cast<size_t>(cell - first)];
    }
  }
  for (const auto& [n, verdict] : in_the_way_) (*table)[n] = verdict;
}

// From the cells that passed: their scores, and the best of them.
std::optional<ClassAnswer> ClassCache::Answer(Cycle& cycle, Entry& entry) {
  ClassAnswer answer;
  for (const AlikeNodes& alike : alike_) answer.feasible_count += alike.count;
  if (answer.feasible_count == 0) {
    best_.clear();
    if (!TellVerdicts(cycle, entry)) return std::nullopt;
    return answer;
  }
  answer.scored = answer.feasible_count > 1;
  if (!answer.scored) {
    offsets_.assign(1, 0);
  } else if (!ScoreCells(cycle)) {
    return std::nullopt;
  }
  best_.clear();
  for (size_t i = 0; i < cells_.size(); ++i) {
    const int64_t total = WrapAdd(offsets_[i], cells_[i]->HighestLocal());
    if (best_.empty() || total > answer.total) {
      best_.clear();
      answer.best_count = 0;
      answer.total = total;
    }
    if (total < answer.total) continue;
    best_.push_back(cells_[i]->Highest());
    answer.best_count += nodes_->Sets().Count(cells_[i]->Highest());
  }
  if (!answer.scored) answer.total = 0;
  return answer;
}

NodeIndex ClassCache::Pick(size_t rank) { return nodes_->Sets().Nth(best_, rank); }

void ClassCache::List(NodeSet* feasible, NodeSet* best) {
  for (NodeSet* set : {feasible, best}) {
    set->Resize(0);
    set->Resize(cluster_->Rows());
  }
  size_t best_count = 0;
  for (const RowSets::Id id : best_) best_count += nodes_->Sets().Count(id);
  for (size_t rank = 0; rank < best_count; ++rank) best->Insert(Pick(rank));
  for (NodeIndex n = 0; n < cluster_->Rows(); ++n) {
    const PodClass::Cell* cell = nodes_->CellOf(n);
    if (std::find(cells_.begin(), cells_.end(), cell) != cells_.end()) feasible->Insert(n);
  }
}

}  // namespace berth::framework
