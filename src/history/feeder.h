// Feeder: applies the history in a recording to a model API server, without what the scheduler did.
//
// What users, kubelets and controllers did happens again at its recorded time: nodes and pods come,
// change and go. What followed from the scheduler's own decisions does not: bindings, nominations,
// evictions by preemption, the binding of volumes and the allocation of claims are left to whoever
// schedules in the model.
//
//   pods of Jobs      run for as long as they ran after their binding
//   other pods        go when they went
//   preempted pods    stay, unless they are preempted again; their replacements come as recorded
//   other schedulers  bind their pods to the recorded nodes
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "api/object.h"
#include "api/rules/label_selector.h"
#include "record/records.h"
#include "sim/host/event_loop.h"
#include "sim/host/model_api.h"

namespace berth::history {

struct FeederOptions {
  std::set<std::string, std::less<>> scheduler_names;  // of the profiles that schedule in the model
  // Matching nodes are cordoned, and pods on them are pending at the beginning, except those of
  // DaemonSets and static pods.
  std::optional<api::Selector> drained;
};

// A pod of the history.
struct PodHistory {
  std::string key;       // "namespace/name"
  std::string workload;  // sim::WorkloadName
  std::string node;      // that it was bound to when recorded; empty: none
  bool ours = false;     // of a scheduler of the options
  bool given = false;    // had its node when it was first seen
};

class Feeder {
 public:
  // Both outlive the feeder.
  Feeder(sim::EventLoop& loop, sim::ModelApi& api, FeederOptions options);
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  // Applies a record now; time is the caller's. Records about decisions are ignored.
  void Apply(const record::Record& record);
  // The lists of the beginning have been applied and the scheduler is about to start.
  void Begin();

  // By the uid that the pod has in the model.
  const std::map<std::string, PodHistory, std::less<>>& Pods() const { return pods_; }
  // Kinds whose objects cannot be modelled, with counts.
  const std::map<std::string, int64_t>& LeftOut() const { return left_out_; }

 private:
  // A pod that is there according to the recording.
  struct Known {
    std::string uid;        // recorded
    std::string model_uid;  // in the model
    bool bound = false;
    int64_t bound_ns = -1;  // since the beginning; -1: bound before, or not bound
    bool preempted = false;
  };

  // A pod of a Job in the model.
  struct Run {
    std::string key;
    int64_t bound_ns = -1;   // in the model
    int64_t length_ns = -1;  // as recorded, from its binding on
  };

  void ApplyObject(const api::Object& object);
  void ApplyPod(const api::Pod& pod, bool status_only);
  void AddPod(const api::Pod& pod);
  void ChangePod(Known& known, const api::Pod& pod, bool status_only);
  void RemovePod(const std::string& key);
  // The pod of a Job ends once both parts of its run are known.
  void MayEnd(const std::string& model_uid);
  void ApplyNode(api::Node node);
  template <class T>
  void ApplyOther(const T& object);
  void Remove(const api::Object& object);
  void ApplyList(const record::Replace& list);
  void OnChange(const sim::ApiChange& change);
  bool IsOurs(const api::Pod& pod) const {
    return options_.scheduler_names.contains(pod.spec.scheduler_name);
  }

  sim::EventLoop& loop_;
  sim::ModelApi& api_;
  const FeederOptions options_;
  bool began_ = false;
  std::map<std::string, Known, std::less<>> known_;                   // pods by "namespace/name"
  std::map<std::string, std::set<std::string>, std::less<>> others_;  // keys by kind
  std::map<std::string, std::set<std::string>, std::less<>> listed_;  // of lists in parts
  std::map<std::string, Run, std::less<>> runs_;                      // by uid in the model
  std::map<std::string, PodHistory, std::less<>> pods_;
  std::map<std::string, int64_t> left_out_;
};

}  // namespace berth::history
