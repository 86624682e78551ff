// Suggester: tries changes for a pending pod and keeps those with which its whole workload fits.
//
// Private to the Suggest function. One is made per list.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "explain/rehearsal.h"
#include "explain/suggestions.h"
#include "explain/workload.h"

namespace berth::explain {

class Suggester {
 public:
  Suggester(const scheduler::Source& source, const framework::Profile& profile, cluster::PodId id,
            const SuggestOptions& options);

  SuggestionList Run(std::vector<ChangedInput>* inputs);

 private:
  struct Found {
    Suggestion suggestion;
    ChangedInput input;
  };
  struct Demand {
    std::string resource;
    int64_t amount = 0;
  };

  // suggestions.cc
  bool Exhausted() const;
  TrialResult Try(Trial trial);
  TrialResult Try(const PodEdit& edit) { return Try(Trial{edit, {}, false, false}); }
  TrialResult TryAsIs() { return Try(Trial{}); }
  std::string Fits(const TrialResult& result) const;
  std::string Fit() const;
  ChangedInput InputOf(const PodEdit& edit) const;
  Found& Add(std::string kind, std::string text, const TrialResult& result,
             ByName<std::string> change, const PodEdit& edit);
  void AddPatch(Found& found, const PodEdit& edit) const;
  void AddWhatIf(Found& found) const;
  void Gates();
  void PodChanges(const std::vector<PodChange>& changes);
  void Pairs(const std::vector<PodChange>& changes);
  bool OnlyNewNodes() const;
  void AddCauses();
  SuggestionList Finish(std::vector<ChangedInput>* inputs);

  // suggest_requests.cc: requests low enough for some nodes. `also` was changed as well.
  struct Also {
    std::string text;
    ByName<std::string> change;
    PodEdit edit;
  };
  std::vector<Demand> Demands(const PodEdit& edit) const;
  int64_t Free(const Demand& demand, cluster::NodeIndex n) const;
  void Requests(const Also& also);
  std::vector<int64_t> Targets(const Demand& demand, const std::vector<Demand>& demands,
                               const std::vector<cluster::NodeIndex>& nodes) const;
  bool TryLower(const std::vector<Demand>& targets, const std::vector<Demand>& demands,
                const Also& also, bool add);
  bool LowerForAll(const Demand& demand, const std::vector<int64_t>& targets,
                   const std::vector<Demand>& demands, const Also& also);
  void LowerSeveral(const std::vector<Demand>& demands,
                    const std::vector<cluster::NodeIndex>& nodes, const Also& also);

  // suggest_nodes.cc
  const api::Node* NodeObject(const std::string& name) const;
  void Cordoned();
  bool UncordonSeveral(const std::vector<std::string>& names);
  void LabelNodes(const std::string& key, const std::string& value,
                  const std::vector<std::string>& names);
  std::vector<const api::Node*> Largest() const;
  void NewNodes();
  bool NewNodesLike(const api::Node& like);
  TrialResult TryNewNodes(const api::Node& like, size_t count, std::vector<api::Node>* made);

  // suggest_evictions.cc
  bool InTheWay(const cluster::Pod& other) const;
  void PodsInTheWay();
  bool MovePods(cluster::NodeIndex node, const std::vector<cluster::PodId>& pods);
  void Evictions(std::string kind, const std::string& condition, const TrialResult& result,
                 ByName<std::string> change, const PodEdit& edit);
  void Preemption();

  const scheduler::Source& source_;
  cluster::Cluster& cluster_;
  SuggestOptions options_;
  Workload workload_;
  const cluster::PodId id_;
  Rehearsal rehearsal_;
  PodEdit base_;  // part of every edit: gates are taken off
  std::string gated_;
  TrialResult now_;  // as things are
  std::vector<Found> found_;
  SuggestionList list_;
};

}  // namespace berth::explain
