// Shadow: berth beside another scheduler of the same cluster, as a deterministic machine.
//
// Takes object events and time. For every pod that the other scheduler binds, or reports as
// unschedulable, it compares the decision with berth's own on the cluster of that moment, and then
// takes over the real node. No I/O, no clock: the host feeds it and reads comparisons.
//
//   shadow.AdvanceTo(now); shadow.Replace(...) for every kind; shadow.Start();
//   for (;;) { shadow.AdvanceTo(now); shadow.Upsert(...); for (c : shadow.TakeComparisons()) … }
//   shadow.Finish();
//
// A decision that differs is not reported at once: when the lag window has passed it is judged
// again on the states within that window (lag_search.h).
//
// A decision can be seen before the binding: volumes and devices are written first, and from 1.35
// on status.nominatedNodeName. The pod is then compared at that moment; if the write names the
// node, the pod counts there from that moment on, as it does in the other scheduler's cache.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "api/object.h"
#include "api/time.h"
#include "config/config.h"
#include "scheduler/profile_set.h"
#include "shadow/comparison.h"
#include "shadow/history.h"
#include "shadow/judge.h"
#include "shadow/state.h"

namespace berth::shadow {

struct ShadowOptions {
  // Changes results: the one the configuration was loaded with.
  config::Behaviour behaviour = {};
  // Changes results: how far the other scheduler's view may be before or behind.
  int64_t lag_ns = 5'000'000'000;
  // Changes results: plugins in shared objects.
  std::vector<scheduler::ExtraPlugin> extra_plugins = {};
};

class Shadow {
 public:
  // At most so many decisions wait for the end of their window; the oldest is judged early then.
  static constexpr size_t kMostOpen = 20'000;
  // At most so many changes are remembered; decisions before them are judged without the window.
  static constexpr size_t kMostChanges = 200'000;

  // Fails as the scheduler does on a bad configuration, and on one with extenders: they would have
  // to be called.
  static Result<std::unique_ptr<Shadow>> Make(const config::KubeSchedulerConfiguration& config,
                                              ShadowOptions options);

  // --- Inputs
  // Time has passed; never goes back.
  void AdvanceTo(const api::Time& now);
  void Upsert(api::Object object);
  void Delete(const api::Object& object);
  // All objects of a kind: what is not among them is gone. Pods that got their node unseen are
  // taken over without a comparison.
  void Replace(std::string_view kind, std::vector<api::Object> objects);
  // Every kind is listed: comparisons begin.
  void Start();
  // No further decisions are compared; those that wait for the end of their window still are.
  void Drain() { draining_ = true; }
  // Judges what still waits for the end of its window.
  void Finish();

  // --- Results
  // Those since the last call, in the order in which they were settled.
  std::vector<Comparison> TakeComparisons();
  // Decisions that wait for the end of their window.
  size_t Open() const { return open_.size(); }
  // Pods of the profiles that wait for a node.
  size_t PendingPods() const { return pending_.size(); }
  // Pods of the profiles whose binding was not seen as it happened.
  uint64_t Unseen() const { return unseen_; }
  const cluster::Cluster& GetCluster() const { return state_.GetCluster(); }

 private:
  // A pod of the profiles without a node.
  struct Pending {
    uint64_t since = 0;  // the change that made it known, or after its last failed attempt
    std::optional<uint64_t> traced;  // the change before which its decision became visible
    std::vector<uint64_t> own;       // objects that are written for it, by NumberOf
    std::string assumed;             // the node on which it counts already
    std::optional<api::PodCondition> scheduled;
  };
  struct Question {
    Comparison comparison;
    int64_t time_ns = 0;
    uint64_t first = 0;  // see LagWindow
    uint64_t at = 0;
    std::vector<uint64_t> own;  // see LagWindow
    bool compare_preemption = false;
  };
  using PendingByUid = boost::unordered_flat_map<std::string, Pending>;

  Shadow(const ShadowOptions& options, const cluster::PluginInputs& inputs)
      : options_(options), state_(options.behaviour, inputs) {}

  bool Compares() const { return comparing_ && !draining_ && !relisting_; }
  uint64_t Apply(const ObjectPtr& before, const ObjectPtr& after, bool placement);
  void UpsertPod(api::Pod pod);
  void AddPod(api::Pod pod);
  void PendingChanged(cluster::PodId id, Pending& pending, api::Pod pod);
  void PodBound(cluster::PodId id, Pending& pending, api::Pod pod);
  void AssumedChanged(Pending& pending, const api::Pod& pod);
  void TakeUp(const api::Pod& pod, bool placement);
  // Takes the pod off the node that it was assumed on.
  void Forget(Pending& pending, const api::Pod& pod);
  void Assume(Pending& pending, cluster::PodId id, const std::string& node);
  void UpsertOther(api::Object object);
  void NoteTraces(const ObjectPtr& before, const api::Object& after);
  // `object`: what was written, by NumberOf.
  void NoteClaim(const std::string& namespace_, const std::string& name, const std::string& node,
                 uint64_t object);
  void CompareBinding(cluster::PodId id, const Pending& pending, const std::string& node);
  void CompareWaiting(cluster::PodId id, const Pending& pending, const api::Pod& pod,
                      bool compare_preemption);
  Question Ask(const cluster::Pod& pod, const Pending& pending) const;
  Finding JudgeNow(const Question& question);
  void Answer(Question question, Finding finding);
  void Resolve(Question question);
  void Settle(Comparison comparison);

  const ShadowOptions options_;
  State state_;
  History history_;
  std::unique_ptr<Judge> judge_;
  bool comparing_ = false;
  bool draining_ = false;
  bool relisting_ = false;  // within Replace after Start
  int64_t now_ns_ = 0;
  PendingByUid pending_;  // by uid
  std::deque<Question> open_;
  std::vector<Comparison> settled_;
  uint64_t sequence_ = 0;
  uint64_t unseen_ = 0;
};

}  // namespace berth::shadow
