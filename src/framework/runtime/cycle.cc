#include "framework/runtime/cycle.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/vectorize.h"
#include "base/wrap.h"
#include "framework/classes/class_cache.h"
#include "framework/points/out_of_tree.h"

namespace berth::framework {
namespace {

// Words (of 64 nodes) a range has: small enough that its columns stay in the first-level cache from
// filter to filter.
constexpr size_t kRangeWords = 16;
// From this many words on, a scan is worth spreading over the executor.
constexpr size_t kParallelWords = 256;

constexpr uint32_t kAllParts = cluster::kShapePartSets - 1;

Status Wrapped(std::string_view what, std::string_view plugin, const Status& status) {
  return Status::Error(fmt::format("running {} plugin \"{}\": {}", what, plugin, status.Message()));
}

}  // namespace

Cycle::Cycle(const Profile& profile, Executor* executor)
    : profile_(profile),
      executor_(executor),
      classes_(std::make_unique<ClassCache>(profile)),
      class_answer_(std::make_unique<ClassAnswer>()) {
  for (const auto& plugin : profile.Plugins()) states_.push_back(plugin->NewState());
  idle_states_.resize(states_.size());
  calls_.resize(states_.size());
  filter_skipped_.resize(states_.size());
  pre_score_skipped_.resize(states_.size());
  score_skipped_.resize(profile.score.size());
  raw_.resize(profile.score.size());
  normalized_.resize(profile.score.size());
  plan_ = &PlanFor(kAllParts);
}

Cycle::~Cycle() = default;

void Cycle::Begin(const cluster::Cluster& cluster, const cluster::Pod& pod, const NodeSet* within) {
  context_.emplace(CycleContext{cluster, pod, *pod.shape});
  within_ = within;
  plan_ = &PlanFor(ask_all_ ? kAllParts : pod.shape->parts);
  filter_skipped_ = plan_->filter_skipped;
  ForgetRestriction();
  pre_filter_end_ = kNoPlugin;  // no plugin was called
  errors_.clear();
  verdicts_left_ = false;
  if (verdicts_.size() < cluster.Rows()) verdicts_.resize(cluster.Rows());
  for (const uint8_t index : plan_->begin) {
    profile_.At(index).BeginCycle(*context_, plan_->states[index]);
  }
}

CycleState Cycle::MakeState() const {
  CycleState state;
  for (const auto& plugin : profile_.Plugins()) state.states.push_back(plugin->NewState());
  state.filter_skipped.resize(state.states.size());
  return state;
}

void Cycle::Exchange(CycleState& state) {
  const cluster::Pod* pod = context_ ? &context_->pod : nullptr;
  states_.swap(state.states);
  filter_skipped_.swap(state.filter_skipped);
  std::swap(within_, state.within);
  for (const auto& plan : plans_) {
    if (plan == nullptr) continue;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (plan->idle[i] == 0) plan->states[i] = states_[i].get();
    }
  }
  if (state.pod != nullptr) {
    const cluster::Cluster& cluster = context_->cluster;
    context_.emplace(CycleContext{cluster, *state.pod, *state.pod->shape});
    plan_ = &PlanFor(ask_all_ ? kAllParts : state.pod->shape->parts);
  }
  state.pod = pod;
}

// The cycle's pod has exactly these parts, or the plan is the one for all parts.
const Cycle::Plan& Cycle::PlanFor(uint32_t parts) {
  std::unique_ptr<Plan>& plan = plans_[parts];
  if (plan != nullptr) return *plan;
  plan = std::make_unique<Plan>();
  std::vector<uint8_t> idle(states_.size());
  for (size_t i = 0; i < states_.size(); ++i) {
    const auto index = static_cast<uint8_t>(i);
    const Plugin& plugin = profile_.At(index);
    idle[i] = (plugin.Concerns() & (parts | kEveryPod)) == 0 && IsIdle(index);
    plan->states.push_back((idle[i] != 0 ? idle_states_ : states_)[i].get());
    if (idle[i] == 0 && states_[i]) plan->begin.push_back(index);
  }
  const auto sort = [&](const auto& all, auto* asked, std::vector<uint8_t>* skipped) {
    skipped->resize(states_.size());
    for (const auto& served : all) {
      (*skipped)[served.index] = idle[served.index];
      if (idle[served.index] == 0) asked->push_back(served);
    }
  };
  sort(profile_.pre_filter, &plan->pre_filter, &plan->filter_skipped);
  sort(profile_.pre_score, &plan->pre_score, &plan->pre_score_skipped);
  plan->idle = std::move(idle);
  return *plan;
}

// The cycle's pod does not concern the plugin. Prepares the state for all such pods. False: the
// plugin did not return Skip.
bool Cycle::IsIdle(uint8_t index) {
  const Plugin& plugin = profile_.At(index);
  std::unique_ptr<PluginState>& state = idle_states_[index];
  if (state == nullptr) {
    state = plugin.NewState();
    if (state != nullptr) plugin.BeginCycle(*context_, state.get());
  }
  for (const auto& served : profile_.pre_filter) {
    if (served.index != index) continue;
    PreFilterResult result;
    return served.plugin->PreFilter(*context_, state.get(), &result).IsSkip();
  }
  return true;
}

// --- PreFilter

Status Cycle::RunPreFilter() {
  WatchedPoint point(watch_, Point::kPreFilter);
  pre_filter_end_.reset();
  Status status = AskPreFilters();
  point.End(status.code());
  return status;
}

// Who wants to know about plugins hears of all of them.
std::span<const Served<PreFilterPlugin>> Cycle::AskedPreFilters() const {
  return plugin_watch_ == nullptr ? plan_->pre_filter : profile_.pre_filter;
}

Status Cycle::AskPreFilters() {
  Status outcome;
  for (const auto& [plugin, index] : AskedPreFilters()) {
    PreFilterResult& result = restricting_.empty() ? restriction_ : scratch_restriction_;
    result.all_nodes = true;
    result.nodes.clear();
    Status status = Watched(Point::kPreFilter, *plugin, [&, p = plugin, at = index] {
      return p->PreFilter(*context_, plan_->states[at], &result);
    });
    // With any other status, its restriction of nodes is ignored.
    if (!status.Ok()) result.all_nodes = true;
    if (status.IsSkip()) {
      filter_skipped_[index] = 1;
      continue;
    }
    ++calls_[index].pre_filter;
    if (!status.Ok()) {
      status.set_plugin(plugin->Name());
      if (status.code() == Code::kUnschedulableAndUnresolvable) {
        EndPreFilters(index);
        return status;
      }
      // Preemption may still help, and it needs what the remaining plugins prepare.
      if (status.code() == Code::kUnschedulable) {
        outcome = std::move(status);
        continue;
      }
      EndPreFilters(index);
      Status error = Wrapped("PreFilter", plugin->Name(), status);
      error.set_plugin(plugin->Name());
      return error;
    }
    if (result.all_nodes) continue;
    if (!restricting_.empty()) MergeRestriction(result, &restriction_);
    restricting_.push_back(index);
    if (restriction_.node_names.empty()) {
      MissedPreFilters(index);
      return NoNodeLeft();
    }
  }
  return outcome;
}

bool Cycle::PreFilterReached(uint8_t plugin) const {
  if (pre_filter_end_ == kNoPlugin) return false;
  for (const auto& served : profile_.pre_filter) {
    if (served.index == plugin) return true;
    if (served.index == pre_filter_end_) return false;
  }
  return false;
}

// Later plugins are not called, not even those that would return Skip.
void Cycle::MissedPreFilters(uint8_t plugin) {
  pre_filter_end_ = plugin;
  for (const auto& served : profile_.pre_filter) {
    if (!PreFilterReached(served.index)) filter_skipped_[served.index] = 0;
  }
}

void Cycle::EndPreFilters(uint8_t plugin) {
  ForgetRestriction();
  MissedPreFilters(plugin);
}

void Cycle::ForgetRestriction() {
  restriction_.all_nodes = true;
  restricting_.clear();
}

void Cycle::MergeRestriction(const PreFilterResult& from, PreFilterResult* into) {
  std::erase_if(into->node_names, [&](const std::string& name) {
    return !std::binary_search(from.node_names.begin(), from.node_names.end(), name);
  });
  std::vector<NodeIndex> others = from.nodes;
  std::sort(others.begin(), others.end());
  std::erase_if(into->nodes,
                [&](NodeIndex n) { return !std::binary_search(others.begin(), others.end(), n); });
}

Status Cycle::NoNodeLeft() const {
  std::set<std::string_view> names;
  for (const uint8_t index : restricting_) names.insert(profile_.At(index).Name());
  if (names.size() == 1) {
    return Status::Unresolvable(fmt::format("node(s) didn't satisfy plugin {}", *names.begin()));
  }
  return Status::Unresolvable(
      fmt::format("node(s) didn't satisfy plugin(s) [{}] simultaneously", fmt::join(names, " ")));
}

// --- Filter

void Cycle::WriteVerdictsOfClass() const {
  verdicts_left_ = false;
  class_answer_->WriteVerdicts(&verdicts_);
}

void Cycle::FilterRange(NodeSet& nodes, size_t first_word, size_t end_word) {
  FilterBatch batch(nodes, verdicts_, first_word, end_word);
  for (const auto& [plugin, index] : profile_.filter) {
    if (filter_skipped_[index] != 0) continue;
    batch.SetPlugin(index);
    plugin->Filter(*context_, plan_->states[index], batch);
  }
}

// To time them, each plugin looks at all nodes before the next one does.
void Cycle::FilterPluginByPlugin(NodeSet& nodes, size_t first_word, size_t end_word) {
  for (const auto& [plugin, index] : profile_.filter) {
    if (filter_skipped_[index] != 0) continue;
    plugin_watch_->PluginBegan();
    ForRanges(end_word - first_word, [&, p = plugin, at = index](size_t first, size_t end) {
      FilterBatch batch(nodes, verdicts_, first_word + first, first_word + end);
      batch.SetPlugin(at);
      p->Filter(*context_, plan_->states[at], batch);
    });
    const auto words = nodes.Words().subspan(first_word, end_word - first_word);
    const bool some = std::any_of(words.begin(), words.end(), [](uint64_t w) { return w != 0; });
    plugin_watch_->PluginEnded(Point::kFilter, plugin->Name(),
                               some ? Code::kSuccess : Code::kUnschedulable);
  }
}

void Cycle::RunFilter(NodeSet& nodes, size_t first_word, size_t end_word) {
  WriteVerdicts();
  if (plugin_watch_ != nullptr) return FilterPluginByPlugin(nodes, first_word, end_word);
  FilterRange(nodes, first_word, end_word);
}

void Cycle::RunFilter(NodeSet& nodes) {
  WriteVerdicts();
  if (plugin_watch_ != nullptr) return FilterPluginByPlugin(nodes, 0, nodes.Words().size());
  ForRanges(nodes.Words().size(),
            [&](size_t first, size_t end) { FilterRange(nodes, first, end); });
}

void Cycle::CountFilters(uint64_t nodes, std::span<const uint32_t> rejected_by) {
  for (const auto& [plugin, index] : profile_.filter) {
    if (filter_skipped_[index] != 0) continue;
    calls_[index].filter += nodes;
    nodes -= std::min<uint64_t>(nodes, rejected_by[index]);
  }
}

// Cuts `words` into cache-sized ranges; spreads them over the executor when there are many.
void Cycle::ForRanges(size_t words, FunctionRef<void(size_t, size_t)> range) {
  const size_t ranges = (words + kRangeWords - 1) / kRangeWords;
  const auto run = [&](size_t i) {
    range(i * kRangeWords, std::min(words, (i + 1) * kRangeWords));
  };
  if (executor_ != nullptr && executor_->Width() > 1 && words >= kParallelWords) {
    executor_->Run(ranges, run);
  } else {
    for (size_t i = 0; i < ranges; ++i) run(i);
  }
}

Status Cycle::AddPod(const cluster::Pod& pod, NodeIndex node) {
  for (const auto& [plugin, index] : profile_.pre_filter) {
    if (filter_skipped_[index] != 0 || !plugin->HasExtensions()) continue;
    const Status status = plugin->AddPod(*context_, plan_->states[index], pod, node);
    if (!status.Ok()) return Wrapped("AddPod on PreFilter", plugin->Name(), status);
  }
  return {};
}

Status Cycle::RemovePod(const cluster::Pod& pod, NodeIndex node) {
  for (const auto& [plugin, index] : profile_.pre_filter) {
    if (filter_skipped_[index] != 0 || !plugin->HasExtensions()) continue;
    const Status status = plugin->RemovePod(*context_, plan_->states[index], pod, node);
    if (!status.Ok()) return Wrapped("RemovePod on PreFilter", plugin->Name(), status);
  }
  return {};
}

bool Cycle::FilterOne(NodeIndex n) {
  WriteVerdicts();
  const size_t word = n / NodeSet::kWordBits;
  if (one_.Capacity() < context_->cluster.Rows()) one_.Resize(context_->cluster.Rows());
  one_.Insert(n);
  FilterRange(one_, word, word + 1);
  const bool feasible = one_.Contains(n);
  one_.Erase(n);
  return feasible;
}

void Cycle::RejectWithError(const Status& status, NodeIndex n) {
  mutable_verdicts()[n] = {kNoPlugin, Code::kError, 0, static_cast<uint32_t>(errors_.size())};
  errors_.push_back(status.Message());
}

// Extenders tend to give many nodes the same reason, one after the other.
void Cycle::RejectForeign(NodeIndex n, Code code, std::string_view reason) {
  if (errors_.empty() || errors_.back() != reason) errors_.emplace_back(reason);
  mutable_verdicts()[n] = {kNoPlugin, code, kForeignVerdict,
                           static_cast<uint32_t>(errors_.size() - 1)};
}

std::vector<std::string> Cycle::Reasons(const Verdict& verdict) const {
  std::vector<std::string> reasons;
  if (verdict.plugin != kNoPlugin) {
    profile_.At(verdict.plugin)
        .Reasons(*context_, plan_->states[verdict.plugin], verdict, &reasons);
    if (verdict.code == Code::kError) {
      reasons = {fmt::format("running \"{}\" filter plugin: {}", profile_.At(verdict.plugin).Name(),
                             fmt::join(reasons, ", "))};
    }
  } else if (verdict.code == Code::kError || verdict.detail == kForeignVerdict) {
    reasons.push_back(errors_[verdict.reason]);
  }
  return reasons;
}

// --- Score

Status Cycle::RunPreScore(const NodeSet& feasible) {
  std::fill(pre_score_skipped_.begin(), pre_score_skipped_.end(), 0);
  for (const auto& [plugin, index] : profile_.pre_score) {
    const Status status = Watched(Point::kPreScore, *plugin, [&, p = plugin, at = index] {
      return p->PreScore(*context_, plan_->states[at], feasible);
    });
    if (status.IsSkip()) {
      pre_score_skipped_[index] = 1;
      continue;
    }
    ++calls_[index].pre_score;
    if (!status.Ok()) {
      return Wrapped("PreScore", plugin->Name(), status);
    }
  }
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    score_skipped_[i] = pre_score_skipped_[profile_.score[i].index];
  }
  return {};
}

Status Cycle::RunScore(const NodeSet& feasible) {
  WatchedPoint pre_score(watch_, Point::kPreScore);
  Status status = RunPreScore(feasible);
  pre_score.End(status.code());
  if (!status.Ok()) return status;
  WatchedPoint score(watch_, Point::kScore);
  AskScores(feasible);
  Normalize(feasible);
  status = AddUp(feasible);
  score.End(status.code());
  return status;
}

void Cycle::AskScores(const NodeSet& feasible) {
  // Whole words, so that a kernel may write all 64 scores of one.
  const size_t rows = feasible.Words().size() * NodeSet::kWordBits;
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (score_skipped_[i] != 0) continue;
    const auto& [plugin, index, weight] = profile_.score[i];
    PluginState* state = plan_->states[index];
    if (plugin_watch_ != nullptr) plugin_watch_->PluginBegan();
    if (const auto uniform = plugin->UniformScore(*context_, state, feasible)) {
      raw_[i].SetUniform(*uniform);
    } else {
      int64_t* scores = raw_[i].MakeDense(rows);
      ForRanges(feasible.Words().size(), [&, p = plugin](size_t first, size_t end) {
        ScoreBatch batch(feasible, scores, first, end);
        p->Score(*context_, state, batch);
      });
    }
    if (plugin_watch_ != nullptr) {
      plugin_watch_->PluginEnded(Point::kScore, plugin->Name(), Code::kSuccess);
    }
  }
}

void Cycle::CountScores(uint64_t nodes) {
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (score_skipped_[i] == 0) calls_[profile_.score[i].index].score += nodes;
  }
}

void Cycle::Normalize(const NodeSet& feasible) {
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    const auto& [plugin, index, weight] = profile_.score[i];
    if (score_skipped_[i] != 0 || !plugin->HasNormalize()) continue;
    ScoreColumn& column = keep_raw_ ? normalized_[i] : raw_[i];
    if (keep_raw_) column = raw_[i];
    if (plugin_watch_ != nullptr) plugin_watch_->PluginBegan();
    plugin->Normalize(*context_, plan_->states[index], feasible, column);
    if (plugin_watch_ != nullptr) {
      plugin_watch_->PluginEnded(Point::kNormalize, plugin->Name(), Code::kSuccess);
    }
  }
}

namespace {

// Is every one of 64 scores within 0..100? Signs are collected: s is negative, or 100 - s is.
BERTH_VECTORIZED bool WordInRange(const int64_t* scores) {
  uint64_t signs = 0;
  for (size_t i = 0; i < NodeSet::kWordBits; ++i) {
    const auto s = static_cast<uint64_t>(scores[i]);
    signs |= s | (static_cast<uint64_t>(kMaxNodeScore) - s);
  }
  return (signs >> 63) == 0;
}

bool OutOfRange(int64_t score) { return score < 0 || score > kMaxNodeScore; }

// Is every feasible score within 0..100? `bad` gets one that is not.
bool InRange(const ScoreColumn& column, const NodeSet& feasible, int64_t* bad) {
  if (column.IsUniform()) {
    *bad = column.Uniform();
    return !OutOfRange(column.Uniform());
  }
  const auto words = feasible.Words();
  for (size_t w = 0; w < words.size(); ++w) {
    if (words[w] == ~uint64_t{0} && WordInRange(column.Dense() + w * NodeSet::kWordBits)) continue;
    bool out = false;
    NodeSet::ForEachBit(words[w], w, [&](NodeIndex n) {
      if (OutOfRange(column.Dense()[n])) {
        *bad = column.Dense()[n];
        out = true;
      }
    });
    if (out) return false;
  }
  return true;
}

// total += weight * scores. Rows that are not feasible hold leftovers, so the sums wrap rather than
// overflow.
BERTH_VECTORIZED void AddWeighted(const int64_t* scores, int64_t weight, size_t rows,
                                  int64_t* total) {
  if (weight == 1) {
    for (size_t n = 0; n < rows; ++n) total[n] = WrapAdd(total[n], scores[n]);
  } else {
    for (size_t n = 0; n < rows; ++n) total[n] = WrapAdd(total[n], WrapMul(scores[n], weight));
  }
}

}  // namespace

Status Cycle::AddUp(const NodeSet& feasible) {
  int64_t base = 0;
  bool dense = false;
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (score_skipped_[i] != 0) continue;
    const ScoreColumn& column = Normalized(i);
    int64_t bad = 0;
    if (!InRange(column, feasible, &bad)) {
      const auto& [plugin, index, weight] = profile_.score[i];
      const auto* fallible = dynamic_cast<const FallibleScorePlugin*>(plugin);
      const Status failed = fallible ? fallible->ScoreFailure(plan_->states[index]) : Status();
      if (!failed.Ok()) {
        return Status::Error(fmt::format("running Score plugins: plugin \"{}\" failed with: {}",
                                         plugin->Name(), failed.Message()));
      }
      return Status::Error(fmt::format(
          "applying score defaultWeights on Score plugins: plugin \"{}\" returns an invalid score "
          "{}, it should in the range of [0, 100] after normalizing",
          plugin->Name(), bad));
    }
    if (column.IsUniform()) {
      base = WrapAdd(base, WrapMul(column.Uniform(), profile_.score[i].weight));
    } else {
      dense = true;
    }
  }
  total_.SetUniform(base);
  if (!dense) return {};
  const size_t rows = feasible.Words().size() * NodeSet::kWordBits;
  int64_t* total = total_.MakeDense(rows);
  std::fill(total, total + rows, base);
  for (size_t i = 0; i < profile_.score.size(); ++i) {
    if (score_skipped_[i] != 0 || Normalized(i).IsUniform()) continue;
    AddWeighted(Normalized(i).Dense(), profile_.score[i].weight, rows, total);
  }
  return {};
}

void Cycle::AddToTotal(NodeIndex n, int64_t score) {
  if (total_.IsUniform()) {
    const int64_t base = total_.Uniform();
    const size_t rows = (context_->cluster.Rows() + NodeSet::kWordBits - 1) / NodeSet::kWordBits *
                        NodeSet::kWordBits;
    int64_t* total = total_.MakeDense(rows);
    std::fill(total, total + rows, base);
  }
  total_.Dense()[n] = WrapAdd(total_.Dense()[n], score);
}

}  // namespace berth::framework
