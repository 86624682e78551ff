// Cycle: one pod's way through the extension points of a profile, on sets of nodes.
//
// Made once per profile and used for pod after pod, so its tables are allocated once. A cycle reads
// the cluster and changes nothing in it. What it found stays readable until the next Begin:
// verdicts, feasible nodes, scores.
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

class Cycle {
 public:
  // `executor` may be null: then scans are serial. Both arguments outlive the cycle.
  explicit Cycle(const Profile& profile, Executor* executor = nullptr);
  ~Cycle();

  const Profile& profile() const { return profile_; }

  // Starts on `pod`. Both arguments must stay as they are until the cycle is over.
  void Begin(const cluster::Cluster& cluster, const cluster::Pod& pod);
  const CycleContext& context() const { return *context_; }

  // --- For metrics
  // Who is told of points, and of single plugins besides, from the next Begin on; null: nobody.
  void set_watch(CycleWatch* watch, bool plugins) {
    watch_ = watch;
    plugin_watch_ = plugins ? watch : nullptr;
  }
  CycleWatch* watch() const { return watch_; }
  CycleWatch* plugin_watch() const { return plugin_watch_; }
  // How often each plugin was asked since the cycle was made, by plugin position.
  const std::vector<PluginCalls>& calls() const { return calls_; }
  PluginCalls& mutable_calls(uint8_t plugin) { return calls_[plugin]; }
  // Filters looked at `nodes` nodes, and each plugin (by position) rejected some of them.
  void CountFilters(uint64_t nodes, std::span<const uint32_t> rejected_by);
  // They looked at one node, and it passed.
  void CountPassed() {
    for (const auto& [plugin, index] : profile_.filter) {
      calls_[index].filter += filter_skipped_[index] == 0;
    }
  }
  // What RunScore asked was about so many nodes.
  void CountScores(uint64_t nodes);

  // --- PreFilter
  // Success, a rejection, or an error. On success `restriction()` says which nodes are worth
  // looking at.
  Status RunPreFilter();
  const PreFilterResult& restriction() const { return restriction_; }
  // Plugins that restricted the nodes, in profile order.
  const std::vector<uint8_t>& restricting_plugins() const { return restricting_; }
  // Did it come to this plugin (position in the plugin table), or did one before it end the cycle?
  bool PreFilterReached(uint8_t plugin) const;

  // --- Filter
  // Rejects from `nodes`, within the words [first_word, end_word), every node a filter refuses;
  // verdicts() says why.
  void RunFilter(NodeSet& nodes, size_t first_word, size_t end_word);
  // The same over the whole set, spread over the executor when the set is large.
  void RunFilter(NodeSet& nodes);
  // Tells the plugins that `pod` was put on / taken off `node` in the cluster since PreFilter ran:
  // a hypothesis that is taken back later by the opposite call.
  Status AddPod(const cluster::Pod& pod, NodeIndex node);
  Status RemovePod(const cluster::Pod& pod, NodeIndex node);
  // One node alone. False: verdicts() says why.
  bool FilterOne(NodeIndex n);
  // The verdict on a node where the cycle itself failed.
  void RejectWithError(const Status& status, NodeIndex n);
  // The verdict of somebody who is no plugin: an extender. Kept until the next Begin.
  void RejectForeign(NodeIndex n, Code code, std::string_view reason);
  const VerdictTable& verdicts() const {
    WriteVerdicts();
    return verdicts_;
  }
  VerdictTable& mutable_verdicts() {
    WriteVerdicts();
    return verdicts_;
  }
  // The verdict on every node is what classes() knows, until the next Begin. It is written down
  // when somebody asks for verdicts: mostly their counts are all that is wanted.
  void LeaveVerdictsToClasses() { verdicts_left_ = true; }
  // The words for a verdict of this cycle.
  std::vector<std::string> Reasons(const Verdict& verdict) const;

  // --- Score
  // PreScore, Score, Normalize and weights over `feasible`. An error when a plugin fails or leaves
  // 0..100.
  Status RunScore(const NodeSet& feasible);
  // After RunScore: was this score plugin (position in profile().score) left out for this pod?
  bool ScoreSkipped(size_t i) const { return score_skipped_[i] != 0; }
  // Did PreScore of this plugin (position in the plugin table) answer Skip?
  bool PreScoreSkipped(uint8_t plugin) const { return pre_score_skipped_[plugin] != 0; }
  int64_t RawScore(size_t i, NodeIndex n) const { return raw_[i].Get(n); }
  int64_t NormalizedScore(size_t i, NodeIndex n) const { return Normalized(i).Get(n); }
  int64_t TotalScore(NodeIndex n) const { return total_.Get(n); }
  const ScoreColumn& total() const { return total_; }
  // After RunScore: somebody who is no plugin has a say, too. REQUIRES: `n` is feasible.
  void AddToTotal(NodeIndex n, int64_t score);
  // Keep raw scores apart from normalised ones, at the price of a copy. Off: RawScore of a plugin
  // that normalises is its normalised score.
  void set_keep_raw(bool keep) { keep_raw_ = keep; }
  // For tests: every plugin is asked about every pod, whoever says it has nothing to say.
  void set_ask_all(bool all) { ask_all_ = all; }

  PluginState* state(uint8_t plugin) { return plan_->states[plugin]; }
  const PluginState* state(uint8_t plugin) const { return plan_->states[plugin]; }
  bool FilterSkipped(uint8_t plugin) const { return filter_skipped_[plugin] != 0; }
  const std::vector<uint8_t>& filters_skipped() const { return filter_skipped_; }
  // PreScore plugins that may have something to say about the pod, and by plugin position those
  // that need not be asked.
  std::span<const Served<PreScorePlugin>> pre_scores() const { return plan_->pre_score; }
  const std::vector<uint8_t>& pre_scores_skipped() const { return plan_->pre_score_skipped; }

  // Calls range(first word, end word) for all of `words`, spread over the executor when there are
  // many.
  void ForRanges(size_t words, FunctionRef<void(size_t, size_t)> range);
  // What earlier pods found, for later ones of their shape.
  ClassCache& classes() { return *classes_; }

 private:
  // Calls `ask`, which gives a Status, and tells who wants to know about plugins.
  template <class Ask>
  Status Watched(Point point, const Plugin& plugin, Ask&& ask) {
    if (plugin_watch_ == nullptr) return ask();
    plugin_watch_->PluginBegan();
    Status status = ask();
    plugin_watch_->PluginEnded(point, plugin.Name(), status.code());
    return status;
  }
  // What is done for all pods that have the same parts (Plugin::Concerns).
  struct Plan {
    std::vector<PluginState*> states;  // by plugin position
    std::vector<std::pair<const Plugin*, PluginState*>> begin;
    // Who is asked, and by plugin position who would say Skip.
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
  // Does nothing unless they were left to classes. Not from several threads at once.
  void WriteVerdicts() const {
    if (verdicts_left_) WriteVerdictsOfClasses();
  }
  void WriteVerdictsOfClasses() const;
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
  std::vector<std::unique_ptr<PluginState>>
      states_;  // by plugin position; null where a plugin keeps none
  std::vector<std::unique_ptr<PluginState>> idle_states_;  // the same, for pods it has no say about
  std::array<std::unique_ptr<Plan>, cluster::kShapePartSets> plans_;
  const Plan* plan_ = nullptr;  // never null
  bool ask_all_ = false;
  std::optional<uint8_t> pre_filter_end_;  // the plugin that ended PreFilter before all were asked

  std::vector<uint8_t> filter_skipped_;  // by plugin position
  PreFilterResult restriction_;
  PreFilterResult scratch_restriction_;  // of the second plugin that restricts, and on
  std::vector<uint8_t> restricting_;
  mutable VerdictTable verdicts_;
  mutable bool verdicts_left_ = false;
  NodeSet one_;                      // scratch of FilterOne; empty in between
  std::vector<std::string> errors_;  // texts of verdicts that no plugin gave, by reason

  std::vector<uint8_t> pre_score_skipped_;  // by plugin position
  std::vector<uint8_t> score_skipped_;      // by position in profile_.score
  std::vector<ScoreColumn> raw_;
  std::vector<ScoreColumn> normalized_;
  ScoreColumn total_;
  bool keep_raw_ = false;
  std::unique_ptr<ClassCache> classes_;
};

}  // namespace berth::framework
