// KnownVictims: results of dry runs, cached for later pods of the same shape.
//
// If every filter that concerns the pod depends on the node alone, a dry run reads the node, the
// pods on it and nominated to it, the pod's shape and the disruption budgets. The cluster logs the
// rows that change (Cluster::Changes), so a result is valid until its row is logged. New budgets
// invalidate all results, and nodes with nominated pods are evaluated every time. Dry runs revert
// their changes, so their own log entries are ignored.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/default_preemption/dry_run.h"

namespace berth::plugins::default_preemption {

// How much a preemption hurts; less is better, compared in this order.
struct Harm {
  int64_t pdb_violations = 0;
  int64_t highest_priority = 0;  // of the victims
  int64_t sum_of_priorities = 0;
  size_t victims = 0;
  int64_t ran_since = 0;  // negated start of the longest running of the most important victims

  auto operator<=>(const Harm&) const = default;
};
Harm HarmOf(const cluster::Cluster& cluster, const Candidate& candidate);

// What a dry run on one node found.
struct Finding {
  bool is_candidate = false;
  Candidate candidate;  // if it is one
  Harm harm;            // the same
  NoCandidate why;      // if it is none
};

class KnownVictims {
 public:
  KnownVictims();
  ~KnownVictims();

  // What all tables may hold together. Beyond, the one that was not used for longest goes.
  static constexpr size_t kMostFindings = size_t{1} << 17;

  // A search on one cluster, for one pod. What it has found stays until the next one begins.
  class Search {
   public:
    Search(KnownVictims& known, framework::Cycle& cycle, cluster::Cluster& cluster,
           const DisruptionBudgets& budgets, const UnitRules& rules);
    ~Search();
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;

    const Finding& LookAt(cluster::NodeIndex node);

   private:
    // On its own, because most looks find what is known already and need no frame for a new
    // finding.
    [[gnu::noinline]] const Finding& DryRunOn(cluster::NodeIndex node, bool keep);

    KnownVictims& known_;
    framework::Cycle& cycle_;
    cluster::Cluster& cluster_;
    DryRun dry_run_;
    bool kept_ = false;  // findings may be kept and used again
  };

  // For tests: off, every look is a dry run.
  void set_enabled(bool enabled) { enabled_ = enabled; }

  struct Statistics {
    uint64_t reused = 0;
    uint64_t dry_runs = 0;
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  struct Table;

  bool BeginKept(const framework::Cycle& cycle, const cluster::Cluster& cluster,
                 const DisruptionBudgets& budgets);
  void Clear();
  void MakeRoom();
  Table& TableFor(const cluster::PodShape& shape);

  bool enabled_ = true;
  std::vector<std::unique_ptr<Table>> tables_;
  Table* current_ = nullptr;
  std::deque<Finding> passing_;   // of this search alone
  std::vector<uint8_t> filters_;  // that concern the pod; scratch
  const cluster::Cluster* cluster_ = nullptr;
  uint64_t budgets_ = 0;   // their generation
  uint64_t position_ = 0;  // in the cluster's log
  uint64_t clock_ = 0;
  size_t held_ = 0;
  Statistics statistics_;
};

}  // namespace berth::plugins::default_preemption
