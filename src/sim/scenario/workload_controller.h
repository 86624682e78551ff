// WorkloadController: keeps as many pods as the workloads of the model API ask for.
//
//   Deployment             a ReplicaSet per template; the older ones go to zero at once
//   ReplicaSet, Job, …     pods are replaced when they are deleted; surplus ones go, pending first
//   Job                    pods that have succeeded count as done
//   StatefulSet            pods by ordinal, all at once, with their claims
//   DaemonSet              a pod per node that takes it
//
// Reacts a little later than the change, as controllers do.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"
#include "sim/scenario/clerk.h"

namespace berth::sim {

class WorkloadController {
 public:
  // All outlive it. `warn` is called with problems.
  WorkloadController(EventLoop& loop, ModelApi& api, Clerk& clerk,
                     std::function<void(const std::string&)> warn);
  WorkloadController(const WorkloadController&) = delete;
  WorkloadController& operator=(const WorkloadController&) = delete;

  // Called once all objects of the input exist. The controllers of pods that are not among them are
  // inferred: they replace pods that are deleted. Returns them, as "ReplicaSet shop/web-5d4f".
  std::vector<std::string> InferMissing();

 private:
  // The pods of one workload.
  struct Owned {
    std::set<std::string> alive;  // keys
    int64_t succeeded = 0;
    int64_t next = 1;  // number of the next pod
    bool pending = false;
  };

  // Of a controller that is not there: what it keeps.
  struct Inferred {
    std::vector<api::Pod> pods;  // as they would be created
    bool same_names = false;     // as a StatefulSet's
  };

  void OnChange(const ApiChange& change);
  void OnPod(const ApiChange& change, const api::Pod& pod);
  void Mark(const std::string& workload);
  void Sync(const std::string& workload);
  void SyncDeployment(const api::Deployment& deployment);
  void SyncNumbered(const api::Object& object, int64_t wanted, Owned& owned);
  void SyncStatefulSet(const api::StatefulSet& set, Owned& owned);
  void SyncDaemonSet(const api::DaemonSet& set, Owned& owned);
  void SyncInferred(const std::string& name, const Inferred& inferred, Owned& owned);
  void Shrink(Owned& owned, int64_t wanted);
  void RemoveAll(const std::string& workload, Owned& owned);
  // False: there is one of that name.
  bool Create(api::Object object);
  void DeletePod(const std::string& key);

  EventLoop& loop_;
  ModelApi& api_;
  Clerk& clerk_;
  std::function<void(const std::string&)> warn_;
  std::map<std::string, Owned> owned_;  // by KIND/NAMESPACE/NAME
  std::set<std::string> daemon_sets_;
  std::map<std::string, Inferred> inferred_;  // by KIND/NAMESPACE/NAME
};

}  // namespace berth::sim
