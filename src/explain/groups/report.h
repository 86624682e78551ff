// What the explain API answers about pod groups, as values. The schema has the same in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "api/time.h"
#include "explain/report.h"

namespace berth::explain {

// Pods of a group that could not be placed, by the reason.
struct GroupBlocker {
  std::string pod;  // the first of them
  int64_t pods = 0;
  std::string message;

  static const api::TypeInfo& Type();
};

struct NodePods {
  std::string node;
  int64_t pods = 0;

  static const api::TypeInfo& Type();
};

// What would become of a pod group.
struct WhatIfGroup {
  std::string namespace_;
  std::string name;
  std::string outcome;  // Placed, Unschedulable, Gated, Preempted, Error
  bool fits = false;    // as many pods as the minimum says get nodes
  int64_t min_count = 0;
  int64_t pods = 0;  // that wait
  int64_t running = 0;
  int64_t placed = 0;
  int64_t best = 0;         // of a group that does not fit: the most pods that get nodes at once
  std::string best_domain;  // and where
  std::string domain;       // the topology domain that was chosen
  int64_t domains = 0;
  std::vector<NodePods> nodes;  // of the pods that get one, most pods first, up to 100
  std::vector<GroupBlocker> blockers;
  std::vector<std::string> victims;
  std::string message;
  std::string source;  // manifest, pending: of its first pod

  static const api::TypeInfo& Type();
};

// What would become of the pod groups of a what-if.
struct WhatIfGroups {
  bool fits = false;  // all groups of the manifests do, and there is one
  std::vector<WhatIfGroup> groups;
  std::vector<std::string> notes;  // what in the input was left out, and why
  double took_ms = 0;

  static const api::TypeInfo& Type();
};

// A pod group in a list.
struct GroupSummary {
  std::string namespace_;
  std::string name;
  std::string uid;
  // Incomplete: fewer pods than the minimum exist. Waiting: fewer have a node. Scheduled: as many
  // as the minimum says. Running: all. Finished: it was scheduled, and no pod is left.
  std::string state;
  int64_t min_count = 0;  // 0: the group is no gang
  int64_t pods = 0;       // that exist and have not finished
  int64_t placed = 0;     // that have a node
  int64_t priority = 0;
  std::string profile;   // spec.schedulerName of its pods
  std::string workload;  // "Job/train" of the first pod
  std::string topology;  // the label whose values are the domains
  std::optional<api::MicroTime> created_at;
  // Of the condition PodGroupInitiallyScheduled.
  std::string reason;
  std::string message;

  static const api::TypeInfo& Type();
};

struct GroupList {
  bool followed = false;  // whether the scheduler schedules pod groups as groups
  int64_t total = 0;
  std::vector<GroupSummary> items;  // those that wait first, then by namespace and name

  static const api::TypeInfo& Type();
};

// A pod of the group.
struct GroupMember {
  std::string name;
  std::string node;      // where it is
  std::string outcome;   // Placed: it is on a node. Of a pod that waits: Fits, Unschedulable,
                         // NotTried, Gated, Error
  std::string would_go;  // the node it would get if as many pods as possible were placed now
  std::string message;   // why it does not fit

  static const api::TypeInfo& Type();
};

// How many of the pods that wait fit into one topology domain, the domain by itself.
struct GroupDomain {
  std::string name;
  int64_t nodes = 0;
  int64_t fits = 0;
  bool enough = false;
  std::string message;  // of the first pod that does not fit

  static const api::TypeInfo& Type();
};

// Everything about a pod group as the cluster is now.
struct GroupView {
  GroupSummary group;
  // What a group cycle decides now: Placed, Unschedulable, Gated, Error; nothing waits: empty.
  std::string outcome;
  std::string message;
  int64_t needed = 0;  // pods that must get a node for the group to be scheduled
  int64_t best = 0;    // the most that get one at once, whatever the minimum
  std::string best_domain;
  std::vector<NodePods> best_nodes;  // most pods first, up to 20
  std::vector<GroupBlocker> blockers;
  std::vector<GroupMember> members;  // in the order in which they are tried, then those with a node
  std::string domain_key;            // the label of `domains`: the constraint's, or the zone
  std::vector<GroupDomain> domains;  // most pods first, up to 50
  int64_t domain_count = 0;
  int64_t domains_tried = 0;
  std::string preemption;            // what preemption for the group says
  std::vector<std::string> victims;  // "namespace/name"
  std::vector<Suggestion> help;      // changes with which the group is scheduled, each tried
  int64_t tried = 0;

  static const api::TypeInfo& Type();
};

}  // namespace berth::explain
