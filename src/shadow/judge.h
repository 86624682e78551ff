// Judge: compares what the watched scheduler decided about a pod with what berth decides on the
// cluster as it is now.
//
// All nodes are looked at, whatever percentageOfNodesToScore says. Where kube-scheduler would have
// sampled, the judge looks for a sample that explains its choice. The cluster is as before when a
// function returns.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "config/config.h"
#include "scheduler/algorithm.h"
#include "scheduler/profile_set.h"
#include "shadow/outcome.h"
#include "shadow/weights.h"

namespace berth::shadow {

// A plugin whose weighted scores of the two nodes differ.
struct PluginGap {
  std::string plugin;
  int64_t weight = 0;
  int64_t ours = 0;    // of berth's node, weighted
  int64_t theirs = 0;  // of the chosen node, weighted

  static const api::TypeInfo& Type();
};

struct Finding {
  Outcome outcome = Outcome::kSame;
  std::string node;  // berth's; empty: none
  int64_t ours = 0;  // totals
  int64_t theirs = 0;
  std::vector<PluginGap> gaps;
  std::string plugin;  // that rejects the chosen node
  std::string reason;
  std::vector<WeightRange> ranges;  // of a score gap: weights under which the choice is best
  cluster::NodeIndex better = cluster::kNoNode;  // berth's node
};

class Judge {
 public:
  static Result<std::unique_ptr<Judge>> Make(config::KubeSchedulerConfiguration config,
                                             const config::Behaviour& behaviour,
                                             cluster::Cluster& cluster,
                                             std::span<const scheduler::ExtraPlugin> extra);

  // Whether one of the profiles schedules pods of this name.
  bool Serves(std::string_view scheduler_name);

  // They bound the pending pod to `node`.
  Finding OfBinding(cluster::PodId pod, std::string_view node);
  // They found no node. `nominated`: the node they preempt pods on; empty: none.
  // `compare_preemption`: otherwise only whether a node fits is compared.
  Finding OfWaiting(cluster::PodId pod, std::string_view nominated, bool compare_preemption);
  // Off: sampling is not looked at, which costs a decision per possible sample.
  void set_tries_samples(bool tries) { tries_samples_ = tries; }
  // Whether `node` passes all filters for the pod.
  bool Fits(cluster::PodId pod, std::string_view node);

 private:
  explicit Judge(cluster::Cluster& cluster) : cluster_(cluster), algorithm_({.classes = false}) {}

  framework::Cycle& Decide(const cluster::Pod& pod);
  void Rejected(framework::Cycle& cycle, cluster::NodeIndex node, Finding* finding);
  void Compare(framework::Cycle& cycle, cluster::NodeIndex node, Finding* finding);
  bool SampleExplains(framework::Cycle& cycle, const cluster::Pod& pod, cluster::NodeIndex node);
  void ComparePreemption(framework::Cycle& cycle, std::string_view nominated, Finding* finding);

  cluster::Cluster& cluster_;
  scheduler::Algorithm algorithm_;
  std::unique_ptr<scheduler::ProfileSet> profiles_;
  std::map<std::string, int32_t, std::less<>> percentages_;  // by scheduler name
  scheduler::Decision decision_;
  scheduler::Decision sampled_;  // scratch
  bool tries_samples_ = true;
};

}  // namespace berth::shadow
