// The extension points, in kube-scheduler's vocabulary. A plugin derives from the points it serves.
//
// Filter and Score work on sets of nodes (batch.h). Per-pod results go into a PluginState, which is
// created once per Cycle object and reused, so that a cycle allocates nothing in steady state.
// Threads: everything but Filter and Score is called from the thread that runs the cycle; Filter
// and Score may be called from several threads at once, for disjoint ranges of nodes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/core/pod.h"
#include "api/core/reference.h"
#include "cluster/cluster.h"
#include "framework/points/batch.h"
#include "framework/points/status.h"

namespace berth::api {
struct ResourceClaim;
}

namespace berth::framework {

inline constexpr int64_t kMaxNodeScore = 100;

// What a result depends on, and so which cluster changes make it stale. Bits combine.
enum Dependency : uint32_t {
  kOnNodeObject = 1u << 0,  // the node's labels, taints, images, allocatable, spec
  kOnNodePods = 1u << 1,    // the pods placed on the node itself
  kOnDomainPods = 1u << 2,  // pods anywhere in the node's topology domains
  kOnVolumes = 1u << 3,     // volumes, claims, classes, CSI objects
  kOnDevices = 1u << 4,     // resource slices, device classes, resource claims
  kOnNodeCount = 1u << 5,   // the number of nodes, or properties of other nodes
  kOnTime = 1u << 6,
  kOnEverything = ~0u,
};

// Plugin::Concerns: every pod, whatever its parts.
inline constexpr uint32_t kEveryPod = 1u << 31;

class Cycle;
struct Diagnosis;

// Per-cycle state of one plugin. Derive from it; the runtime creates one per Cycle with
// Plugin::NewState.
class PluginState {
 public:
  virtual ~PluginState() = default;
};

// What plugins derived about one pod, set aside so that its cycle can go on with others: see
// Cycle::Exchange.
struct CycleState {
  const cluster::Pod* pod = nullptr;
  const NodeSet* within = nullptr;
  std::vector<std::unique_ptr<PluginState>> states;  // by plugin position
  std::vector<uint8_t> filter_skipped;               // the same
};

// The cycle, as passed to a plugin at every extension point.
struct CycleContext {
  const cluster::Cluster& cluster;
  const cluster::Pod& pod;
  const cluster::PodShape& shape;  // == *pod.shape
};

class Plugin {
 public:
  virtual ~Plugin() = default;

  // The name used in configuration and reported to users.
  virtual std::string_view Name() const = 0;

  virtual std::unique_ptr<PluginState> NewState() const { return nullptr; }

  // Called first in every cycle, on the cycle's thread, for plugins with a state: the place to look
  // up what was derived earlier from the pod's shape.
  virtual void BeginCycle(const CycleContext&, PluginState*) const {}

  // The parts of a pod that this plugin reads (cluster::ShapePart). For a pod that has none of them
  // the plugin must have no effect, whatever the cluster is like: PreFilter and PreScore return
  // Skip, Reserve and later points do nothing. The runtime then calls BeginCycle and PreFilter for
  // one such pod only and reuses that state for all of them. The default is always correct.
  virtual uint32_t Concerns() const { return kEveryPod; }

  // What this plugin's verdicts and raw scores depend on. The default is always correct. A plugin
  // that declares less must keep to it: without kOnNodeCount and kOnDomainPods its PreScore and
  // Normalize must not read nodes, only the pod and the given scores.
  virtual uint32_t DependsOn() const { return kOnEverything; }

  // The reasons of a verdict that this plugin gave in this cycle.
  virtual void Reasons(const CycleContext&, const PluginState*, const Verdict&,
                       std::vector<std::string>* /*out*/) const {}
};

// May the pod enter the active queue?
class PreEnqueuePlugin : public virtual Plugin {
 public:
  virtual Status PreEnqueue(const cluster::Cluster&, const cluster::Pod&) const = 0;
};

// Orders the active queue. Exactly one per configuration.
class QueueSortPlugin : public virtual Plugin {
 public:
  // Which time Less is given: when the pod entered the active queue for the first time, or when it
  // last entered the queues.
  virtual bool ByFirstAttempt() const { return false; }
  // True when `a`, queued at `a_queued` (ns), goes before `b`.
  virtual bool Less(const cluster::Cluster&, const cluster::Pod& a, int64_t a_queued,
                    const cluster::Pod& b, int64_t b_queued) const = 0;
};

// A PreFilter plugin may name the only candidate nodes.
struct PreFilterResult {
  bool all_nodes = true;
  // When !all_nodes:
  std::vector<NodeIndex> nodes;  // unknown node names are left out
  // The names as given, known or not, sorted and unique. Unspecified until the plugin assigns them.
  std::vector<std::string> node_names;
};

class PreFilterPlugin : public virtual Plugin {
 public:
  // Skip: this plugin's Filter is not called for this pod.
  virtual Status PreFilter(const CycleContext&, PluginState*, PreFilterResult* result) const = 0;

  // For plugins whose state counts pods: the state as if `pod` were added to / removed from `node`.
  // The cluster has already been changed.
  virtual bool HasExtensions() const { return false; }
  virtual Status AddPod(const CycleContext&, PluginState*, const cluster::Pod&, NodeIndex) const {
    return {};
  }
  virtual Status RemovePod(const CycleContext&, PluginState*, const cluster::Pod&,
                           NodeIndex) const {
    return {};
  }
};

class FilterPlugin : public virtual Plugin {
 public:
  // Rejects the nodes of the batch that cannot run the pod.
  virtual void Filter(const CycleContext&, const PluginState*, FilterBatch&) const = 0;
};

// What a PostFilter plugin proposes.
struct PostFilterResult {
  enum class Nomination : uint8_t { kKeep, kClear, kSet };
  Nomination nomination = Nomination::kKeep;  // of the pod's own status.nominatedNodeName
  std::string nominated_node;                 // with kSet
  std::vector<cluster::PodId> victims;        // pods to delete, most important first
  // A claim that is deallocated in favour of the pod, as it must be written to the API. The
  // plugin's status is Unschedulable nevertheless: the pod is retried when the watch shows the
  // change.
  std::shared_ptr<const api::ResourceClaim> deallocated_claim;
  bool deletes_claim = false;  // deallocated_claim is not written but deleted
};

// Called when no node passed. May preempt pods.
class PostFilterPlugin : public virtual Plugin {
 public:
  // Success: the pod will fit once `result` has been carried out. Unschedulable: this plugin cannot
  // help, its reasons become part of the failure message, and the next plugin is called. `cycle`
  // may be used to filter on a temporarily changed cluster.
  virtual Status PostFilter(Cycle& cycle, cluster::Cluster& cluster, const Diagnosis& diagnosis,
                            PostFilterResult* result) = 0;
};

class PreScorePlugin : public virtual Plugin {
 public:
  // Skip: this plugin does not score this pod.
  virtual Status PreScore(const CycleContext&, PluginState*, const NodeSet& feasible) const = 0;
};

class ScorePlugin : public virtual Plugin {
 public:
  // Called after PreScore and before Score, if all nodes are scored. If the raw score is the same
  // on every feasible node, that score; then Score is not called.
  virtual std::optional<int64_t> UniformScore(const CycleContext&, PluginState*,
                                              const NodeSet& /*feasible*/) const {
    return std::nullopt;
  }
  // Writes the raw score of every feasible node of the batch.
  virtual void Score(const CycleContext&, const PluginState*, ScoreBatch&) const = 0;

  // Maps all raw scores to 0..kMaxNodeScore.
  virtual bool HasNormalize() const { return false; }
  virtual void Normalize(const CycleContext&, const PluginState*, const NodeSet& /*feasible*/,
                         ScoreColumn&) const {}
};

// A node that represents `count` nodes, itself included, which are indistinguishable to a cycle.
struct AlikeNodes {
  NodeIndex node;
  size_t count;
};

// For plugins whose results depend on more than the node: what they must provide so that results
// can be cached for later pods (framework/classes/class_cache.h). If a plugin that concerns a pod
// depends on more than the node and lacks this interface, the pod is decided by scanning.
class ClassAwarePlugin : public virtual Plugin {
 public:
  // Appends what the traits (for a plugin without traits, its results) depend on besides the node
  // and the pods on it. Cached results are used only while the premises are equal. False: nothing
  // can be cached for this pod. Called after PreFilter and before the others.
  virtual bool AppendPremises(const CycleContext&, PluginState*,
                              std::vector<int64_t>* out) const = 0;
  // Appends numbers, always the same count under equal premises. Nodes with equal numbers get equal
  // verdicts and equal raw scores in a cycle. A node's numbers change only with its object and its
  // own pods. Required for plugins that depend on kOnDomainPods.
  virtual void AppendTraits(const CycleContext&, const PluginState*, NodeIndex,
                            std::vector<int64_t>* /*out*/) const {}
  // PreScore and Normalize, where `feasible` represents all feasible nodes. `scores` are parallel
  // to `feasible`.
  virtual Status PreScoreAlike(const CycleContext&, PluginState*,
                               std::span<const AlikeNodes> /*feasible*/) const {
    return {};
  }
  virtual void NormalizeAlike(const CycleContext&, const PluginState*,
                              std::span<const AlikeNodes> /*feasible*/,
                              std::span<int64_t> /*scores*/) const {}
};

class ReservePlugin : public virtual Plugin {
 public:
  // Called when `node` was chosen and the pod assumed there. On failure Unreserve runs for all
  // plugins, in reverse order. Unreserve may run long after the cycle: then the state is null, and
  // the plugin finds its reservation by the pod's uid.
  virtual Status Reserve(const CycleContext&, PluginState*, NodeIndex node) = 0;
  virtual void Unreserve(const CycleContext&, PluginState*, NodeIndex node) = 0;
};

// May the pod be bound now? The last point of the scheduling cycle.
class PermitPlugin : public virtual Plugin {
 public:
  // Success, a rejection, or Wait: the pod stays assumed for at most `timeout_ns`, until every
  // plugin that returned Wait has allowed it or one has rejected it.
  virtual Status Permit(const CycleContext&, PluginState*, NodeIndex node, int64_t* timeout_ns) = 0;
};

// Notified when a pod was bound.
class PostBindPlugin : public virtual Plugin {
 public:
  virtual void PostBind(const cluster::Cluster&, const cluster::Pod&, NodeIndex node) = 0;
};

class BindPlugin : public virtual Plugin {
 public:
  // Success: the engine binds the pod to `node`. Skip leaves it to the next Bind plugin.
  virtual Status Bind(const CycleContext&, NodeIndex node) const = 0;
};

}  // namespace berth::framework
