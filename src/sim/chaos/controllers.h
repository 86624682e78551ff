// Controllers: react to changes of a cluster, each with a delay.
//
//   workloads  keep the number of pods of every group, and make and remove the claims of pods
//   kubelet    starts pods that got a node
//   volumes    binds claims to the volumes the scheduler chose, or provisions; now and then fails
//   pod GC     removes the pods of nodes that are gone
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/chaos/dice.h"
#include "sim/chaos/inhabitants.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::sim {

class Controllers {
 public:
  // `loop` and `api` outlive them.
  Controllers(EventLoop& loop, ModelApi& api, uint64_t seed);
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  // --- Workloads
  void SetGroup(GroupTemplate group);
  void Scale(const std::string& group, int64_t replicas);
  // The group is deleted, and so are its pods.
  void RemoveGroup(const std::string& group);
  std::vector<std::string> Groups() const;
  // A pod without a controller.
  void AddPod(const GroupTemplate& group);

  // A node with what belongs to it; its name may have been in use before.
  void AddNode(const std::string& name);
  void RemoveNode(const std::string& name);

  // From now on nothing fails.
  void CalmDown() { calm_ = true; }

 private:
  void OnChange(const ApiChange& change);
  void Soon(void (Controllers::*what)(), bool* pending);
  void SyncGroups();
  void SyncVolumes();
  void SyncClaims();
  void CollectPods();
  void MakePod(const GroupTemplate& group);
  void StartPod(const std::string& name, const std::string& uid);
  void Provision(const api::PersistentVolumeClaim& claim, const std::string& node);
  void CompleteBinding(const api::PersistentVolume& volume,
                       const api::PersistentVolumeClaim& claim);

  EventLoop& loop_;
  ModelApi& api_;
  Dice dice_;
  bool calm_ = false;
  std::map<std::string, GroupTemplate> groups_;
  uint64_t next_pod_ = 0;
  uint64_t next_volume_ = 0;
  bool groups_pending_ = false;
  bool volumes_pending_ = false;
  bool claims_pending_ = false;
  bool collect_pending_ = false;
};

}  // namespace berth::sim
