// Search: the filters and scores of a profile over all nodes, for one pod, to look at afterwards.
//
// Unlike Algorithm it never samples, takes no lots and leaves nominations of the pod itself aside.
// It has tables of its own, so the engine's cycles are as before.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/transaction.h"
#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"

namespace berth::explain {

class Search {
 public:
  // Both outlive the search.
  Search(cluster::Cluster& cluster, const framework::Profile& profile);

  // Looks for nodes for `pod`, which stays as it is while results are read. With `score` feasible
  // nodes are scored. The cluster is as before.
  void Run(const cluster::Pod& pod, bool score);

  const framework::Profile& profile() const { return cycle_.profile(); }
  framework::Cycle& cycle() { return cycle_; }
  const framework::Cycle& cycle() const { return cycle_; }
  const framework::Status& pre_filter() const { return pre_filter_; }
  const framework::Diagnosis& diagnosis() const { return diagnosis_; }
  const framework::NodeSet& feasible() const { return feasible_; }
  size_t feasible_count() const { return feasible_count_; }
  bool scored() const { return scored_; }
  // Of the cycle itself, not of the pod; empty: none.
  const std::string& error() const { return error_; }
  // Why nodes were refused, most nodes first.
  std::string Message(std::vector<framework::ReasonCount>* reasons = nullptr) const;

 private:
  void Filter();
  void Score();

  cluster::Cluster& cluster_;
  framework::Cycle cycle_;
  framework::Status pre_filter_;
  framework::Diagnosis diagnosis_;
  framework::NodeSet feasible_;
  size_t feasible_count_ = 0;
  bool scored_ = false;
  std::string error_;
};

// The pod without its place: a copy to search for, while the pod is off its node in the cluster.
class Displaced {
 public:
  // Takes the pod off its node, if it has one. The destructor puts it back.
  Displaced(cluster::Cluster& cluster, cluster::PodId id);

  const cluster::Pod& pod() const { return pod_; }
  cluster::NodeIndex node() const { return node_; }

 private:
  cluster::Pod pod_;
  cluster::NodeIndex node_;
  std::optional<cluster::Transaction> off_node_;  // open while the pod is off its node
};

}  // namespace berth::explain
