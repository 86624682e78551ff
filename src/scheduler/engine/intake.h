// Intake: what happens to the cluster and the queue when an object changes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "cluster/objects/kind_table.h"
#include "scheduler/engine/context.h"

namespace berth::scheduler {

// What is in a list: uids of pods, "namespace/name" of others.
using ListKeys = boost::unordered_flat_set<std::string>;

class Intake {
 public:
  using Nodes = boost::unordered_flat_map<std::string, std::shared_ptr<const api::Node>>;

  explicit Intake(EngineContext& context) : c_(context) {}

  // The inputs of Engine of the same names.
  void Upsert(api::Object&& object);
  void UpdateStatus(api::Pod&& pod);
  void Delete(const api::Object& object);
  void Replace(std::string_view kind, std::vector<api::Object> objects, ListPart part);

  // The new version of a pending pod.
  void TakeUp(PodId id, const api::Pod& pod);
  // The pod leaves the cluster and all tables.
  void ForgetPod(PodId id);

  const Nodes& nodes() const { return nodes_; }

 private:
  bool EventBegan();
  void EventEnded();
  void Handled(queue::ClusterEvent what);
  void HandleMove(queue::ClusterEvent what, queue::EventObject old_object,
                  queue::EventObject new_object);
  void TellPod(Change change, PodId id, bool assigned);
  // `status_only`: the pod is as Engine::UpdateStatus gets it.
  void UpsertPod(const api::Pod& pod, bool status_only = false);
  void AddPod(const api::Pod& pod);
  void PodAssigned(PodId id, const api::Pod& pod, bool status_only);
  void PodUpdated(PodId id, const api::Pod& pod, bool status_only);  // assigned before and after
  void UpdateInCluster(PodId id, const api::Pod& pod, bool status_only);
  void NominatedPodLeft(const PodSnapshot& pod);       // the queue; nothing if it was not nominated
  void PendingUpdated(PodId id, const api::Pod& pod);  // not assigned before nor after
  void DeletePod(PodId id);
  void AssumedPodLeaves(PodId id);
  void UpsertNode(api::Node node);
  void DeleteNode(const std::string& name);
  using Events = std::optional<cluster::KindEvents>;  // that changes of an object cause
  template <class T>
  void UpsertOther(cluster::Store<T>& store, T object, Events events);
  template <class T>
  void DeleteOther(cluster::Store<T>& store, const std::string& namespace_, const std::string& name,
                   Events events);
  // The object of another API's group has come, changed or gone (`gone`); or a PriorityClass has.
  void FollowGroup(const api::UnknownObject& object, bool gone);
  void AdoptGroup(const api::UnknownObject& object, bool gone);
  // A pod keeps the group it had when it was first seen.
  void JoinGroup(api::Pod& pod) const;
  // Deletes what is not `there`.
  template <class T>
  void Sweep(cluster::Store<T>& store, const ListKeys& there, Events events);
  bool KnowsAny(std::string_view kind) const;
  void RemoveMissing(std::string_view kind, const ListKeys& there);
  void NoteConditions(PodRecord& record, const api::Pod& pod);

  EngineContext& c_;
  Nodes nodes_;
  std::map<std::string, ListKeys> listed_;           // by kind, of lists whose last part is to come
  std::vector<queue::ClusterEvent> handled_events_;  // of the object that is being taken up
  bool timing_event_ = false;
};

}  // namespace berth::scheduler
