// The extension points of pod groups: pods that are placed together, in one transaction.
//
//   GeneratePlacements ─▶ for each placement: PlacementFeasible, a cycle per pod ─▶ ScorePlacement
//                                                                 └─▶ PodGroupPostFilter
//
// The runtime is scheduler/groups. All points are called from the thread that runs the cycle.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/scheduling/pod_group.h"
#include "framework/points/plugin.h"

namespace berth::framework {

// A group and those of its pods that are to be placed, in the order in which they are tried.
struct PodGroupInfo {
  const api::PodGroup& group;
  std::span<const cluster::PodId> unscheduled;
};

// How far the search in one placement has come.
struct PlacementProgress {
  int64_t scheduled = 0;  // pods of the group that have a node
  int64_t remaining = 0;  // pods that were not tried yet
};

class PlacementFeasiblePlugin : public virtual Plugin {
 public:
  // Success: enough pods have nodes. Wait: enough may get one. Unschedulable: they cannot.
  virtual Status PlacementFeasible(const PodGroupInfo&, const PlacementProgress&) const = 0;
};

// Nodes that a group may be confined to.
struct Placement {
  std::string name;
  NodeSet nodes;
};

class PlacementGeneratePlugin : public virtual Plugin {
 public:
  // The parts of `parent` to try, each with at least one node, in order of name.
  virtual Status GeneratePlacements(const cluster::Cluster&, const PodGroupInfo&,
                                    const Placement& parent, std::vector<Placement>* out) const = 0;
};

// A node for a pod, not yet assumed.
struct ProposedAssignment {
  cluster::PodId pod = cluster::kNoPod;
  cluster::NodeIndex node = cluster::kNoNode;
};

class PlacementScorePlugin : public virtual Plugin {
 public:
  // How much the placement is wanted if the pods go where `assignments` says. Nothing is assumed.
  virtual Status ScorePlacement(const cluster::Cluster&, const PodGroupInfo&, const Placement&,
                                std::span<const ProposedAssignment> assignments,
                                int64_t* score) const = 0;
  // Maps the scores of all placements to 0..kMaxNodeScore.
  virtual bool HasNormalizePlacement() const { return false; }
  virtual Status NormalizePlacement(std::span<int64_t> /*scores*/) const { return {}; }
};

// A pod of a trial: where it would go, and what the plugins derived about it before that.
struct TrialAssignment {
  ProposedAssignment proposed;
  CycleState state;
};

// Places the group as a whole and takes everything back.
class PodGroupTrial {
 public:
  virtual ~PodGroupTrial() = default;
  // Success: `assignments` has the pods that got a node, in the order in which they were tried.
  virtual Status Run(std::vector<TrialAssignment>* assignments) = 0;
};

// What a PodGroupPostFilter plugin proposes.
struct PodGroupPostFilterResult {
  // status.nominatedNodeName of the pods; empty: it is cleared. Pods that are absent keep theirs.
  std::vector<std::pair<cluster::PodId, std::string>> nominations;
  std::vector<cluster::PodId> victims;  // pods to delete, most important first
  int64_t pdb_violations = 0;
  int64_t group_disruptions = 0;  // victims that are groups or pods of groups
};

// Called when the group could not be placed.
class PodGroupPostFilterPlugin : public virtual Plugin {
 public:
  // Success: the group will fit once `result` has been carried out. Unschedulable: the next plugin
  // is called. The cluster may be changed while the plugin runs, in a transaction.
  virtual Status PodGroupPostFilter(Cycle& cycle, cluster::Cluster& cluster, const PodGroupInfo&,
                                    PodGroupTrial& trial, PodGroupPostFilterResult* result) = 0;
};

}  // namespace berth::framework
