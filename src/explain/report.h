// What the explain API answers, as values: docs/explain.md and its schema say the same in JSON.
//
// Described like API objects (api/codec/schema.h), so that one table serves JSON, YAML and reading
// both.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/container/flat_map.hpp>

#include "api/codec/json.h"
#include "api/codec/schema.h"
#include "api/string_map.h"
#include "api/time.h"
#include "scheduler/decisions/queue_rates.h"

namespace berth::explain {

template <class T>
using ByName = boost::container::flat_map<std::string, T, std::less<>>;

// Why nodes were refused, and how many.
struct Rejection {
  std::string plugin;  // empty when no plugin can be named
  std::string reason;
  std::string code;
  int64_t nodes = 0;
  std::vector<std::string> examples;  // up to five; not in summaries

  static const api::TypeInfo& Type();
};

// One decision, as it was recorded.
struct DecisionSummary {
  int64_t id = 0;  // grows from decision to decision
  api::MicroTime time;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string profile;
  int64_t attempt = 0;  // the first is 1
  std::string outcome;  // Scheduled, Unschedulable, Error
  std::string node;
  int64_t score = 0;  // the total of the chosen node
  int64_t nodes = 0;  // in the cluster
  int64_t evaluated = 0;
  int64_t feasible = 0;
  int64_t equal = 0;                  // nodes that shared the highest total
  std::vector<Rejection> rejections;  // most nodes first
  std::string message;
  std::string nominated_node;
  std::vector<std::string> victims;  // "namespace/name"

  static const api::TypeInfo& Type();
};

struct DecisionList {
  std::vector<DecisionSummary> items;  // newest first
  std::string continue_;
  int64_t total = 0;  // decisions kept that match

  static const api::TypeInfo& Type();
};

// One plugin's part in narrowing the nodes down.
struct FunnelStep {
  std::string plugin;
  std::string point;  // PreFilter, Filter
  int64_t before = 0;
  int64_t after = 0;
  bool skipped = false;  // had nothing to check for this pod
  std::vector<Rejection> reasons;

  static const api::TypeInfo& Type();
};

struct Funnel {
  int64_t nodes = 0;
  int64_t feasible = 0;
  std::vector<FunnelStep> steps;  // in the profile's order

  static const api::TypeInfo& Type();
};

struct PluginScore {
  std::string plugin;
  int64_t raw = 0;
  int64_t normalized = 0;  // 0 to 100
  int64_t weight = 0;
  int64_t weighted = 0;  // its part of the total

  static const api::TypeInfo& Type();
};

struct NodeScore {
  std::string node;
  int64_t rank = 0;  // 1 is best; equal totals share a rank
  int64_t total = 0;
  bool chosen = false;
  std::vector<PluginScore> scores;

  static const api::TypeInfo& Type();
};

// What was found about one node.
struct NodeVerdict {
  std::string node;
  bool fits = false;
  std::string plugin;  // that refused it
  std::string code;
  std::vector<std::string> reasons;
  std::optional<NodeScore> score;  // when it fits

  static const api::TypeInfo& Type();
};

struct ScoreDifference {
  std::string plugin;
  int64_t chosen = 0;
  int64_t runner_up = 0;
  int64_t difference = 0;

  static const api::TypeInfo& Type();
};

// The best node that was not chosen.
struct RunnerUp {
  std::string node;
  int64_t total = 0;
  int64_t behind = 0;                        // points; 0: a tie, decided by lot
  std::vector<ScoreDifference> differences;  // largest first
  std::string text;                          // one sentence

  static const api::TypeInfo& Type();
};

// Nodes that share the highest total.
struct Tie {
  int64_t total = 0;
  int64_t count = 0;
  std::vector<std::string> nodes;  // up to 20

  static const api::TypeInfo& Type();
};

struct Victim {
  std::string namespace_;
  std::string name;
  int64_t priority = 0;
  bool violates_pdb = false;      // its eviction would break a budget
  std::vector<std::string> pdbs;  // names of the budgets that cover it

  static const api::TypeInfo& Type();
};

struct PreemptionCandidate {
  std::string node;
  std::vector<Victim> victims;
  int64_t pdb_violations = 0;
  int64_t highest_victim_priority = 0;
  int64_t sum_of_priorities = 0;
  bool chosen = false;
  std::string lost;  // why another was preferred

  static const api::TypeInfo& Type();
};

struct PreemptionView {
  std::string message;
  std::string nominated_node;
  std::vector<PreemptionCandidate> candidates;  // the best first, up to 20
  int64_t candidate_count = 0;
  std::vector<Rejection> hopeless;  // nodes on which no eviction helps

  static const api::TypeInfo& Type();
};

struct Hint {
  std::string plugin;
  std::string says;  // Queue, Skip

  static const api::TypeInfo& Type();
};

struct QueueMove {
  api::MicroTime time;
  std::string from;
  std::string to;
  std::string event;
  std::vector<Hint> hints;

  static const api::TypeInfo& Type();
};

// Where the pod is, and how it came there.
struct QueuePlace {
  std::string where;
  int64_t attempts = 0;
  std::optional<api::MicroTime> queued_at;
  std::optional<api::MicroTime> first_attempt;
  std::optional<api::MicroTime> backoff_until;
  std::vector<std::string> waits_for;  // plugins whose events can move it
  std::string gated_by;
  std::vector<QueueMove> history;  // newest first

  static const api::TypeInfo& Type();
};

struct PresentOutcome {
  std::string outcome;
  std::string node;
  std::string message;

  static const api::TypeInfo& Type();
};

// Everything about the last decision on a pod.
struct DecisionView {
  std::optional<DecisionSummary> record;  // absent: none was recorded
  bool recomputed = false;                // the cluster has changed since the record
  std::optional<PresentOutcome> present;  // what would be decided now, when it differs
  std::string pod_node;                   // where the pod is
  Funnel funnel;
  std::vector<NodeScore> top_nodes;  // best first
  std::optional<RunnerUp> runner_up;
  std::optional<Tie> tie;
  std::optional<NodeVerdict> node;  // the one asked for
  std::optional<PreemptionView> preemption;
  QueuePlace queue;
  ByName<double> durations_ms;  // of the recorded decision by extension point, where timed

  static const api::TypeInfo& Type();
};

struct AddNodes {
  std::string like;  // a node's name; empty: the largest
  int64_t count = 0;

  static const api::TypeInfo& Type();
};

struct WhatIfRequest {
  std::string manifests;
  std::vector<std::string> cordon;
  std::vector<std::string> uncordon;
  std::vector<std::string> remove_nodes;
  std::vector<AddNodes> add_nodes;
  ByName<int64_t> weights;                 // by Score plugin; 0 switches it off
  std::optional<bool> reschedule_pending;  // absent: true
  std::string profile;                     // whose weights are changed; empty: all

  static const api::TypeInfo& Type();
};

// A change with which the pod and all pending replicas of its workload would fit: tried before it
// is shown.
struct Suggestion {
  std::string kind;
  std::string text;                      // one sentence
  int64_t nodes = 0;                     // on which the pod then fits
  std::vector<std::string> examples;     // up to five
  ByName<std::string> change;            // for programs
  std::string patch;                     // commands to paste, or the YAML to merge into a manifest
  std::optional<WhatIfRequest> what_if;  // that shows it; absent: none does, or it is too large

  static const api::TypeInfo& Type();
};

// What keeps the pod from every node. Facts that hold whatever else is changed come first.
struct Cause {
  std::string kind;    // LargerThanAnyNode, NoSuchLabel, MissingClaim, UntoleratedTaint, ...
  std::string text;    // one sentence
  std::string remedy;  // a command to paste; empty: none is known, or a suggestion says it

  static const api::TypeInfo& Type();
};

struct SuggestionList {
  std::string namespace_;
  std::string name;
  int64_t feasible_now = 0;
  std::string workload;           // "Deployment/web": what its suggestions change; or empty
  int64_t pending = 0;            // pods of the workload that were judged together
  std::string message;            // why it does not fit
  std::vector<Cause> causes;      // root causes, if there are any
  std::vector<Suggestion> items;  // most nodes first
  int64_t tried = 0;              // changes that were tried

  static const api::TypeInfo& Type();
};

struct PendingPod {
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string where;
  int64_t attempts = 0;
  int64_t priority = 0;
  std::string profile;
  std::string workload;  // "Deployment/web"; empty: it has no controller
  std::optional<api::MicroTime> created_at;
  std::optional<api::MicroTime> queued_at;
  std::optional<api::MicroTime> backoff_until;
  std::string message;
  std::vector<Rejection> rejections;
  std::string nominated_node;

  static const api::TypeInfo& Type();
};

struct PendingGroup {
  std::string plugin;
  std::string reason;
  int64_t pods = 0;
  int64_t nodes = 0;
  std::vector<std::string> examples;

  static const api::TypeInfo& Type();
};

struct PendingList {
  int64_t total = 0;
  std::vector<PendingPod> items;     // oldest first
  std::vector<PendingGroup> groups;  // most pods first

  static const api::TypeInfo& Type();
};

// All nodes; every column has one entry per node, in the same order.
struct NodeTable {
  int64_t count = 0;
  std::vector<std::string> zones;
  std::vector<std::string> resources;
  std::vector<std::string> name;
  std::vector<int64_t> zone;         // index into zones
  std::vector<int64_t> schedulable;  // 0: cordoned
  std::vector<int64_t> tainted;      // taints that keep pods away
  std::vector<int64_t> ready;        // 0: tainted as not ready or unreachable
  std::vector<std::string> pools;    // "": none
  std::vector<int64_t> pool;         // index into pools
  std::vector<std::string> taints;   // of each kind of node, joined; without Kubernetes' own
  std::vector<int64_t> taint;        // index into taints
  ByName<std::vector<int64_t>> allocatable;
  ByName<std::vector<int64_t>> requested;

  static const api::TypeInfo& Type();
};

struct Amount {
  std::string resource;
  int64_t allocatable = 0;
  int64_t requested = 0;
  int64_t free = 0;

  static const api::TypeInfo& Type();
};

struct PodOnNode {
  std::string namespace_;
  std::string name;
  int64_t priority = 0;
  int64_t cpu = 0;
  int64_t memory = 0;
  ByName<int64_t> extended;
  bool terminating = false;
  bool assumed = false;

  static const api::TypeInfo& Type();
};

struct NodeDetail {
  std::string name;
  std::string zone;
  bool schedulable = false;
  api::StringMap labels;
  std::vector<std::string> taints;  // key=value:effect
  std::vector<Amount> amounts;
  std::vector<PodOnNode> pods;         // largest priority first
  std::vector<std::string> nominated;  // pods that wait for room here

  static const api::TypeInfo& Type();
};

struct QueueCounts {
  int64_t active = 0;
  int64_t backoff = 0;
  int64_t unschedulable = 0;
  int64_t gated = 0;
  int64_t in_flight = 0;
  int64_t waiting = 0;
  int64_t binding = 0;

  static const api::TypeInfo& Type();
};

struct QueueState {
  api::MicroTime time;
  QueueCounts counts;
  scheduler::QueueTotals totals;
  scheduler::QueueRates last60s;
  int64_t nodes = 0;
  int64_t pods = 0;

  static const api::TypeInfo& Type();
};

struct PluginRef {
  std::string name;
  int64_t weight = 0;  // Score only

  static const api::TypeInfo& Type();
};

struct PluginSet {
  std::string point;
  std::vector<PluginRef> plugins;

  static const api::TypeInfo& Type();
};

struct ProfileView {
  std::string scheduler_name;
  int64_t percentage_of_nodes_to_score = 0;
  std::vector<PluginSet> points;

  static const api::TypeInfo& Type();
};

struct ConfigView {
  std::vector<ProfileView> profiles;

  static const api::TypeInfo& Type();
};

struct Index {
  std::string version;
  std::vector<std::string> paths;
  std::vector<std::string> profiles;
  int64_t decisions_kept = 0;

  static const api::TypeInfo& Type();
};

struct WhatIfPlacement {
  std::string namespace_;
  std::string name;
  std::string outcome;
  std::string node;
  std::string before;  // the node it is on in the cluster
  std::string message;
  int64_t score = 0;
  int64_t feasible = 0;
  int64_t equal = 0;
  std::vector<std::string> victims;
  std::vector<PluginScore> scores;  // of its node
  std::string source;               // manifest, pending, removedNode

  static const api::TypeInfo& Type();
};

struct WhatIfUse {
  std::string resource;
  int64_t allocatable_before = 0;
  int64_t requested_before = 0;
  int64_t allocatable_after = 0;
  int64_t requested_after = 0;

  static const api::TypeInfo& Type();
};

struct WhatIfSummary {
  int64_t nodes = 0;
  int64_t pods = 0;     // with a node
  int64_t pending = 0;  // without one

  static const api::TypeInfo& Type();
};

struct WhatIfResult {
  std::vector<WhatIfPlacement> placements;
  int64_t placed = 0;
  int64_t unschedulable = 0;
  int64_t gated = 0;
  int64_t preempted = 0;
  int64_t errors = 0;
  WhatIfSummary before;
  WhatIfSummary after;
  std::vector<WhatIfUse> use;      // summed over all nodes
  std::vector<std::string> notes;  // what in the input was left out, and why
  double took_ms = 0;

  static const api::TypeInfo& Type();
};

// As JSON. Required lists without entries are [] (api::ToJson says null, as Go does).
std::string WithEmptyLists(std::string json);
template <class T>
std::string ToText(const T& value) {
  return WithEmptyLists(api::ToJson(value));
}

}  // namespace berth::explain
