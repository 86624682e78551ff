// Inventory: a cluster to plan on, with what a plan must know of its pods beyond scheduling.
//
// Scheduling reads neither a pod's controller (but for spreading) nor the annotations that keep
// autoscalers away. They are kept here, by pod, while the objects go into a sim::World.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  std::string workload;        // "Deployment shop/web"; empty: none
  bool owner_missing = false;  // the controller is named by the pod, but not in the input
  std::string protected_by;    // the annotation that forbids eviction; empty: none
  bool local_data = false;     // emptyDir: its content is lost
  int32_t deletion_cost = 0;   // controller.kubernetes.io/pod-deletion-cost
};

class Inventory {
 public:
  explicit Inventory(const config::Behaviour& behaviour = {}) : world_(behaviour) {}

  // Takes in one object; Finish follows the last one. Errors as of sim::World.
  Result<void> Add(api::Object object);
  Result<void> Finish();

  sim::World& world() { return world_; }
  cluster::Cluster& cluster() { return world_.GetCluster(); }
  const cluster::Cluster& cluster() const { return world_.GetCluster(); }

  const PodFacts& Facts(const cluster::Pod& pod) const;
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
  sim::World world_;
  ByString<PodFacts> facts_;              // by \"namespace/name\"
  ByString<api::Node> nodes_;             // by name
  ByString<std::string> replica_set_of_;  // "namespace/replicaset" to its Deployment's name
  ByString<bool> owners_;                 // "Kind/namespace/name" of controllers in the input
  size_t owners_missing_ = 0;
  uint64_t added_nodes_ = 0;
};

}  // namespace berth::plan
