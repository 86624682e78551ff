// World: a cluster read from manifests, with its pending pods.
//
// Objects arrive in any order and are added one by one, so a dump of any size needs the memory of
// the compact cluster, not of its text. Hand-written objects get what the API server would have
// added; workloads are expanded into pods.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/admission/defaults.h"
#include "api/object.h"
#include "cluster/cluster.h"
#include "config/behaviour.h"

namespace berth::sim {

class World {
 public:
  explicit World(const config::Behaviour& behaviour = {}) : behaviour_(behaviour) {
    cluster_.SetRequestRules(behaviour_.requests);
  }

  // Takes in one object. An error names what is wrong with it.
  Result<void> Add(api::Object object);

  // After the last object: admits hand-written objects, expands workloads, orders the queue.
  Result<void> Finish();

  cluster::Cluster& GetCluster() { return cluster_; }
  const cluster::Cluster& GetCluster() const { return cluster_; }

  const config::Behaviour& GetBehaviour() const { return behaviour_; }

  // Pods to schedule: by priority, then by age, then by order of appearance.
  const std::vector<cluster::PodId>& Pending() const { return pending_; }

  // The workload called `name` ("name", "namespace/name", also with a kind in front:
  // "deployment/name"); null and a reason in `why` when there is none or more than one.
  const api::Object* FindWorkload(std::string_view name, std::string* why) const;

  // Creates one more pod of `workload`, admitted and pending, but not in Pending().
  Result<cluster::PodId> AddPodOf(const api::Object& workload, const std::string& name);

  // Kinds that were read but not used, with counts.
  const std::vector<std::pair<std::string, size_t>>& Ignored() const { return ignored_; }

 private:
  Result<void> AddPod(api::Pod pod);
  Result<void> ExpandCustomWorkloads();
  Result<void> ExpandWorkload(const api::Object& workload);
  int32_t Missing(const api::Object& workload) const;
  bool HasPodsOfReplicaSet(const api::Object& workload) const;
  void CountIgnored(const std::string& kind);
  void CountOwner(const api::ObjectMeta& metadata);

  const config::Behaviour behaviour_;
  cluster::Cluster cluster_;
  api::Admission admission_;
  std::vector<cluster::PodId> pending_;
  std::vector<api::Object> by_hand_;    // admitted in Finish, when all classes are known
  std::vector<api::Object> workloads_;  // expanded in Finish, like the next
  std::vector<api::UnknownObject> custom_;
  std::vector<api::Node> daemon_nodes_;  // name, labels and taints of nodes, for DaemonSets
  boost::unordered_flat_map<std::string, int32_t> owned_;  // pods and replica sets by controller
  std::vector<std::pair<std::string, size_t>> ignored_;
  uint64_t next_uid_ = 1;
};

}  // namespace berth::sim
