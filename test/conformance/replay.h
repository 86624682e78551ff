// Replay: one recorded case, scheduled by berth step by step as the recording was made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <simdjson.h>

#include "base/error.h"
#include "cluster/cluster.h"
#include "conformance/results.h"
#include "framework/classes/class_cache.h"
#include "scheduler/algorithm.h"
#include "scheduler/attempt.h"
#include "scheduler/profile_set.h"

namespace berth::conformance {

class Replay {
 public:
  // Loads the cluster and the configuration of a case.
  static Result<std::unique_ptr<Replay>> Make(int minor, simdjson::dom::element scenario);

  // The pods to schedule, in order.
  const std::vector<cluster::PodId>& Pods() const { return pods_; }

  // Schedules one pod and applies the outcome: of equals the first by name is taken, as in the
  // recording.
  PodResult Schedule(cluster::PodId id, int32_t attempt);

  // Why the pod may not enter the queue; nothing: it may.
  std::optional<PodResult> GatedResult(cluster::PodId id);

  const config::Behaviour& GetBehaviour() const { return behaviour_; }
  cluster::Cluster& GetCluster() { return cluster_; }
  scheduler::ProfileSet& Profiles() { return *profiles_; }

 private:
  explicit Replay(const config::Behaviour& behaviour) : behaviour_(behaviour), algorithm_({}) {
    cluster_.SetRequestRules(behaviour.requests);
  }

  Result<config::KubeSchedulerConfiguration> ConfigOf(simdjson::dom::element scenario) const;
  Result<void> MakeProfiles(const config::KubeSchedulerConfiguration& config);
  Result<void> SetTime(simdjson::dom::element scenario);
  void NominateFromStatus();
  bool FindInClass(framework::Cycle& cycle, const cluster::Pod& pod);
  bool ClassAgrees(const framework::Cycle& cycle) const;
  bool Gated(const framework::Cycle& cycle, const cluster::Pod& pod, PodResult* result) const;
  void ReportPreFilter(const framework::Cycle& cycle, PodResult* result) const;
  void ReportFilter(framework::Cycle& cycle, PodResult* result);
  void ReportScores(const framework::Cycle& cycle, PodResult* result) const;
  void Commit(cluster::PodId id, PodResult* result);
  void Fail(framework::Cycle& cycle, cluster::PodId id, PodResult* result);
  void ClearNomination(cluster::PodId id);
  std::vector<std::string> Names(const framework::NodeSet& nodes) const;

  const config::Behaviour behaviour_;
  cluster::Cluster cluster_;
  std::unique_ptr<scheduler::ProfileSet> profiles_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
  std::optional<framework::ClassAnswer> class_answer_;
  framework::NodeSet class_feasible_;
  framework::NodeSet class_best_;
  framework::VerdictTable class_verdicts_;
  std::vector<cluster::PodId> pods_;
};

}  // namespace berth::conformance
