// Batching: OpportunisticBatching, as kube-scheduler has it from 1.35 on.
//
// A cycle that has scored nodes keeps the ranking of those it did not choose. The next pod of the
// same signature tries the best of them first: it is filtered there and goes there without scoring.
// Until 1.36 this happens only if the pod no longer fits the node of the last one; from 1.37 on
// that node is scored again and takes part. A ranking is used for half a second, by consecutive
// cycles of one profile.
//
// This changes results only among equals and where other nodes have changed meanwhile, and berth's
// pod classes are faster. It is here because it decides which of several equal nodes a pod gets.
//
// One per profile, owned by Attempts. Unlike kube-scheduler, which keeps the scores it found, berth
// computes those of all ranked nodes when the last node is scored again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/time.h"
#include "scheduler/algorithm.h"
#include "scheduler/engine/pod_signature.h"
#include "scheduler/observer.h"

namespace berth::scheduler {

class Batching {
 public:
  // `observer` may be null; both outlive the object.
  Batching(PodSigner signer, std::string profile, EngineObserver* observer);

  // A cycle of the profile, in this order. REQUIRES of all: the cycle's PreFilter has succeeded.
  // `number` counts the cycles of all profiles.
  //
  // The node to try first; kNoNode: none, or one that is gone. `watched`: the observer wants the
  // steps.
  cluster::NodeIndex FindHint(framework::Cycle& cycle, cluster::Cluster& cluster, uint64_t number,
                              const api::Time& now, bool watched);
  // A node was chosen. `start`: where the search began in the order of nodes.
  void Store(framework::Cycle& cycle, const Decision& decision, size_t start, const api::Time& now,
             bool watched);

 private:
  // By name, because a row may be another node's by then.
  struct Ranked {
    cluster::StringId node;
    int64_t total;
  };
  // A max-heap in the layout of Go's container/heap.
  struct Ranking {
    std::string signature;
    std::vector<Ranked> nodes;
    int64_t made_ns = 0;
  };

  // The name of the node; kNoString: there is no hint.
  cluster::StringId TakeHint(framework::Cycle& cycle, cluster::Cluster& cluster,
                             const api::Time& now);
  bool IsUsable(const cluster::Pod& pod, const api::Time& now);
  bool RankLastAgain(framework::Cycle& cycle, const cluster::Cluster& cluster,
                     cluster::NodeIndex last);
  void KeepOthers(const framework::Cycle& cycle, const Decision& decision, size_t start,
                  const api::Time& now);
  bool Flush(std::string_view reason);
  static void MakeHeap(std::vector<Ranked>& nodes);
  static Ranked Pop(std::vector<Ranked>& nodes);

  const PodSigner signer_;
  const std::string profile_;
  EngineObserver* const observer_;
  bool rescores_ = false;

  std::optional<Ranking> ranking_;
  uint64_t last_number_ = 0;  // of the last cycle that chose a node; 0: none yet
  cluster::StringId last_node_ = cluster::kNoString;
  // Of the cycle that runs
  uint64_t number_ = 0;
  std::string signature_;
  cluster::StringId hint_ = cluster::kNoString;
  bool watched_ = false;
};

}  // namespace berth::scheduler
