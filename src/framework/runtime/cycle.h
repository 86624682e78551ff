// Cycle: runs the extension points of a profile for one pod, on sets of nodes.
//
// Created once per profile and reused for every pod, so its tables are allocated once. A cycle
// reads the cluster and does not change it. Its results (verdicts, feasible nodes, scores) stay
// valid until the next Begin.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/points/batch.h"
#include "framework/points/executor.h"
#include "framework/points/plugin.h"
#include "framework/runtime/cycle_watch.h"
#include "framework/runtime/profile.h"

namespace berth::framework {

class ClassCache;
struct ClassAnswer;

// More than twenty fields: the tables of every extension point, kept from pod to pod so that a
// cycle allocates nothing.
class Cycle {
 public:
  // `executor` may be null: then scans are serial. Both arguments outlive the cycle.
  explicit Cycle(const Profile& profile, Executor* executor = nullptr);
  ~Cycle();

  const Profile& profile() const { return profile_; }

  // Starts on `pod`. The arguments must stay as they are until the cycle is over. `within` narrows
  // the candidates to these nodes; null: every node is one. What plugins count over the cluster
  // (topology domains, nodes) is not narrowed.
  void Begin(const cluster::Cluster& cluster, const cluster::Pod& pod,
             const NodeSet* within = nullptr);
  const CycleContext& context() const { return *context_; }
  const NodeSet* within() const { return within_; }

  // A state for Exchange that belongs to no pod yet.
  CycleState MakeState() const;
  // Swaps what the plugins derived about the cycle's pod with `state`. With that of another pod,
  // AddPod, RemovePod, FilterOne, Reserve and Unreserve concern that pod; with an empty one the
  // next call is Begin. Verdicts and scores do not move along.
  void Exchange(CycleState& state);

  // --- For metrics
  // Observer of points and, with `plugins`, of single plugins, from the next Begin on; null: none.
  void set_watch(CycleWatch* watch, bool plugins) {
    watch_ = watch;
    plugin_watch_ = plugins ? watch : nullptr;
  }
  CycleWatch* watch() const { return watch_; }
  CycleWatch* plugin_watch() const { return plugin_watch_; }
  // Calls of each plugin since the cycle was created, by plugin position.
  const std::vector<PluginCalls>& calls() const { return calls_; }
  PluginCalls& mutable_calls(uint8_t plugin) { return calls_[plugin]; }
  // Filters evaluated `nodes` nodes, and each plugin (by position) rejected some of them.
  void CountFilters(uint64_t nodes, std::span<const uint32_t> rejected_by);
  // Filters evaluated one node, and it passed.
  void CountPassed() {
    for (const auto& [plugin, index] : profile_.filter) {
      calls_[index].filter += filter_skipped_[index] == 0;
    }
  }
  // RunScore scored this many nodes.
  void CountScores(uint64_t nodes);

  // --- PreFilter
  // Success, a rejection, or an error. On success `restriction()` holds the candidate nodes.
  Status RunPreFilter();
  const PreFilterResult& restriction() const { return restriction_; }
  // Plugins that restricted the nodes, in profile order.
  const std::vector<uint8_t>& restricting_plugins() const { return restricting_; }
  // Was this plugin (position in the plugin table) called, or did an earlier one end the cycle?
  bool PreFilterReached(uint8_t plugin) const;

  // --- Filter
  // Rejects from `nodes`, within the words [first_word, end_word), every node a filter rejects; the
  // reasons are in verdicts().
  void RunFilter(NodeSet& nodes, size_t first_word, size_t end_word);
  // The same over the whole set, spread over the executor when the set is large.
  void RunFilter(NodeSet& nodes);
  // Notifies the plugins that `pod` was placed on / removed from `node` in the cluster since
  // PreFilter ran. The change is hypothetical: the opposite call reverts it later.
  Status AddPod(const cluster::Pod& pod, NodeIndex node);
  Status RemovePod(const cluster::Pod& pod, NodeIndex node);
  // Filters one node. False: its verdict is in verdicts().
  bool FilterOne(NodeIndex n);
  // The verdict on a node where the cycle itself failed.
  void RejectWithError(const Status& status, NodeIndex n);
  // The verdict of an extender. Kept until the next Begin.
  void RejectForeign(NodeIndex n, Code code, std::string_view reason);
  const VerdictTable& verdicts() const {
    WriteVerdicts();
    return verdicts_;
  }
  VerdictTable& mutable_verdicts() {
    WriteVerdicts();
    return verdicts_;
  }
  // Until the next Begin the verdict on every node is that of class_answer(). It is copied to
  // verdicts() on first use: mostly only the counts are needed.
  void LeaveVerdictsToClass() { verdicts_left_ = true; }
  // The reasons of a verdict of this cycle.
  std::vector<std::string> Reasons(const Verdict& verdict) const;

  // --- Score
  // PreScore, Score, Normalize and weights over `feasible`. An error when a plugin fails or returns
  // a score outside 0..100.
  Status RunScore(const NodeSet& feasible);
  // After RunScore: was this score plugin (position in profile().score) skipped for this pod?
  bool ScoreSkipped(size_t i) const { return score_skipped_[i] != 0; }
  // Did PreScore of this plugin (position in the plugin table) return Skip?
  bool PreScoreSkipped(uint8_t plugin) const { return pre_score_skipped_[plugin] != 0; }
  int64_t RawScore(size_t i, NodeIndex n) const { return raw_[i].Get(n); }
  int64_t NormalizedScore(size_t i, NodeIndex n) const { return Normalized(i).Get(n); }
  int64_t TotalScore(NodeIndex n) const { return total_.Get(n); }
  const ScoreColumn& total() const { return total_; }
  // After RunScore: adds an extender's score. REQUIRES: `n` is feasible.
  void AddToTotal(NodeIndex n, int64_t score);
  // Keep raw scores beside normalized ones, at the cost of a copy. Off: RawScore of a plugin that
  // normalizes is its normalized score.
  void set_keep_raw(bool keep) { keep_raw_ = keep; }
  // For tests: call every plugin for every pod, regardless of Plugin::Concerns.
  void set_ask_all(bool all) { ask_all_ = all; }

  PluginState* state(uint8_t plugin) { return plan_->states[plugin]; }
  const PluginState* state(uint8_t plugin) const { return plan_->states[plugin]; }
  bool FilterSkipped(uint8_t plugin) const { return filter_skipped_[plugin] != 0; }
  const std::vector<uint8_t>& filters_skipped() const { return filter_skipped_; }
  // PreScore plugins that concern the pod, and by plugin position those that do not.
  std::span<const Served<PreScorePlugin>> pre_scores() const { return plan_->pre_score; }
  const std::vector<uint8_t>& pre_scores_skipped() const { return plan_->pre_score_skipped; }

  // Calls range(first word, end word) for all of `words`, spread over the executor when there are
  // many.
  void ForRanges(size_t words, FunctionRef<void(size_t, size_t)> range);
  // Results of earlier pods, cached for later ones.
  ClassCache& classes() { return *classes_; }
  // What classes() said about the cycle's pod last.
  const ClassAnswer& class_answer() const { return *class_answer_; }
  ClassAnswer& mutable_class_answer() { return *class_answer_; }

 private:
  // Calls `ask`, which returns a Status, and notifies the watch of the plugin.
  template <class Ask>
  Status Watched(Point point, const Plugin& plugin, Ask&& ask) {
    if (plugin_watch_ == nullptr) return ask();
    plugin_watch_->PluginBegan();
    Status status = ask();
    plugin_watch_->PluginEnded(point, plugin.Name(), status.code());
    return status;
  }
  // The plan for all pods that have the same parts (Plugin::Concerns).
  struct Plan {
    std::vector<PluginState*> states;  // by plugin position
    std::vector<uint8_t> idle;         // the same: 1, the state is one for all such pods
    std::vector<uint8_t> begin;        // plugins to notify of a pod
    // The plugins to call, and by plugin position those that would return Skip.
    std::vector<Served<PreFilterPlugin>> pre_filter;
    std::vector<uint8_t> filter_skipped;
    std::vector<Served<PreScorePlugin>> pre_score;
    std::vector<uint8_t> pre_score_skipped;
  };
  const Plan& PlanFor(uint32_t parts);
  bool IsIdle(uint8_t plugin);
  std::span<const Served<PreFilterPlugin>> AskedPreFilters() const;
  Status AskPreFilters();
  void MissedPreFilters(uint8_t plugin);
  void EndPreFilters(uint8_t plugin);
  // Does nothing unless they were left to the class. Not from several threads at once.
  void WriteVerdicts() const {
    if (verdicts_left_) WriteVerdictsOfClass();
  }
  void WriteVerdictsOfClass() const;
  void FilterRange(NodeSet& nodes, size_t first_word, size_t end_word);
  void FilterPluginByPlugin(NodeSet& nodes, size_t first_word, size_t end_word);
  void AskScores(const NodeSet& feasible);
  const ScoreColumn& Normalized(size_t i) const {
    return keep_raw_ && profile_.score[i].plugin->HasNormalize() ? normalized_[i] : raw_[i];
  }
  void ForgetRestriction();
  static void MergeRestriction(const PreFilterResult& from, PreFilterResult* into);
  Status NoNodeLeft() const;
  Status RunPreScore(const NodeSet& feasible);
  void Normalize(const NodeSet& feasible);
  Status AddUp(const NodeSet& feasible);

  const Profile& profile_;
  Executor* executor_;
  CycleWatch* watch_ = nullptr;
  CycleWatch* plugin_watch_ = nullptr;
  std::vector<PluginCalls> calls_;  // by plugin position
  std::optional<CycleContext> context_;
  const NodeSet* within_ = nullptr;
  std::vector<std::unique_ptr<PluginState>>
      states_;  // by plugin position; null for plugins without state
  std::vector<std::unique_ptr<PluginState>>
      idle_states_;  // the same, for pods that do not concern the plugin
  std::array<std::unique_ptr<Plan>, cluster::kShapePartSets> plans_;
  const Plan* plan_ = nullptr;  // never null
  bool ask_all_ = false;
  std::optional<uint8_t> pre_filter_end_;  // the plugin that ended PreFilter early

  std::vector<uint8_t> filter_skipped_;  // by plugin position
  PreFilterResult restriction_;
  PreFilterResult scratch_restriction_;  // from the second restricting plugin on
  std::vector<uint8_t> restricting_;
  mutable VerdictTable verdicts_;
  mutable bool verdicts_left_ = false;
  NodeSet one_;                      // scratch of FilterOne; empty in between
  std::vector<std::string> errors_;  // messages of verdicts without a plugin, by reason

  std::vector<uint8_t> pre_score_skipped_;  // by plugin position
  std::vector<uint8_t> score_skipped_;      // by position in profile_.score
  std::vector<ScoreColumn> raw_;
  std::vector<ScoreColumn> normalized_;
  ScoreColumn total_;
  bool keep_raw_ = false;
  std::unique_ptr<ClassCache> classes_;
  std::unique_ptr<ClassAnswer> class_answer_;
};

}  // namespace berth::framework
