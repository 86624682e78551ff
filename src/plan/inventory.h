// Inventory: a cluster to plan on, with what a plan must know of its pods beyond scheduling.
//
// Scheduling reads neither a pod's controller (but for spreading) nor the annotations that keep
// autoscalers away. They are kept here, by pod, while the objects go into a sim::World.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/object.h"
#include "api/rules/label_selector.h"
#include "base/string_hash.h"
#include "sim/world.h"

namespace berth::plan {

// What becomes of a pod that is evicted.
enum class Fate : uint8_t {
  kReplaced,  // its controller creates another
  kStays,     // of a DaemonSet, or static: goes with its node, and is not evicted
  kLost,      // has no controller: nothing replaces it
};

struct PodFacts {
  Fate fate = Fate::kLost;
  uint32_t workload = 0;    // see Inventory::Workload
  uint32_t gang = 0;        // see Inventory::GangOf
  bool local_data = false;  // local storage whose content an eviction loses
  // Local storage that keeps autoscalers from evicting the pod, and no annotation allows it.
  bool local_blocks = false;
  std::string_view protected_by;  // the annotation that forbids eviction, a literal; empty: none
  int32_t deletion_cost = 0;      // controller.kubernetes.io/pod-deletion-cost
};

// Pods that the scheduler starts together.
struct Gang {
  std::string name;  // "namespace/name"
  int64_t min = 0;   // pods without which none of them is of use
  std::vector<cluster::PodId> pods;
};

class Inventory {
 public:
  explicit Inventory(const config::Behaviour& behaviour = {})
      : world_(behaviour), pod_groups_(behaviour.pod_groups) {}

  // Takes in one object; Finish follows the last one. Errors as of sim::World.
  Result<void> Add(api::Object object);
  Result<void> Finish();

  sim::World& world() { return world_; }
  const sim::World& world() const { return world_; }
  cluster::Cluster& cluster() { return world_.GetCluster(); }
  const cluster::Cluster& cluster() const { return world_.GetCluster(); }

  const PodFacts& Facts(const cluster::Pod& pod) const {
    return pod.id < facts_.size() ? facts_[pod.id] : kNone;
  }
  // "Deployment shop/web": what creates the pod; empty: nothing does.
  const std::string& Workload(const cluster::Pod& pod) const {
    return workloads_[Facts(pod).workload].name;
  }
  // Null: the pod is in no group that has a minimum.
  const Gang* GangOf(const cluster::Pod& pod) const {
    const uint32_t gang = Facts(pod).gang;
    return gang == 0 || gangs_[gang].min <= 1 ? nullptr : &gangs_[gang];
  }
  // The annotation of the node that keeps autoscalers from removing it; empty: none.
  std::string_view ProtectionOf(std::string_view node) const;
  // Null when there is no such node.
  const api::Node* FindNode(std::string_view name) const;
  // Names of nodes whose labels match, sorted.
  std::vector<std::string> Select(const api::Selector& selector) const;

  // Marks the node as kubectl cordon does, or takes the mark off. REQUIRES: the node exists.
  void SetCordoned(std::string_view name, bool cordoned);
  // The node is gone; its pods stay on a ghost row until they are moved.
  void RemoveNode(std::string_view name);
  // One more node like `model`, under another name, without its pods.
  std::string AddNodeLike(const api::Node& model);

  // Pods with a controller that the input does not hold.
  size_t OwnersMissing() const { return owners_missing_; }

 private:
  // A controller that pods name.
  struct WorkloadFacts {
    std::string name;  // "ReplicaSet shop/web-7d4f"; after Finish that of its Deployment
    size_t pods = 0;   // that are replaced when they go
  };
  Result<void> AddPod(api::Object object);
  uint32_t WorkloadOf(const api::Pod& pod);
  uint32_t GangOf(const api::Pod& pod);
  Gang& GangCalled(std::string_view api_group, std::string_view namespace_, std::string_view name);
  void LearnGang(const api::Object& object);
  void Keep(cluster::PodId id, const PodFacts& facts);

  static const PodFacts kNone;

  sim::World world_;
  const bool pod_groups_;        // those of scheduling.k8s.io count
  std::vector<PodFacts> facts_;  // by PodId
  // Of pods that get their id in Finish, by "namespace/name".
  std::vector<std::pair<std::string, PodFacts>> facts_by_hand_;
  std::vector<WorkloadFacts> workloads_{{}};  // the first is none
  ByString<uint32_t> workload_ids_;           // by name
  std::vector<Gang> gangs_{{}};               // the first is none
  ByString<uint32_t> gang_ids_;               // by group of the API, namespace and name
  std::string scratch_;
  ByString<api::Node> nodes_;             // by name
  ByString<std::string> replica_set_of_;  // "namespace/replicaset" to its Deployment's name
  ByString<bool> owners_;                 // "Kind namespace/name" of controllers in the input
  size_t owners_missing_ = 0;
  uint64_t added_nodes_ = 0;
};

}  // namespace berth::plan
