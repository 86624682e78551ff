// Report: the results of a placement, as data for JSON, YAML and table output.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/codec/schema.h"
#include "cluster/cluster.h"
#include "sim/placement.h"

namespace berth::sim {

struct ScoreReport {
  std::string plugin;
  int64_t raw = 0;
  int64_t normalized = 0;
  int64_t weighted = 0;

  static const api::TypeInfo& Type();
};

struct PodReport {
  std::string namespace_;
  std::string name;
  std::string group;    // its pod group, when it was scheduled with it
  std::string outcome;  // Placed, Unschedulable, Gated, Preempted, Error, Foreign
  std::string node;
  int64_t score = 0;
  int64_t feasible_nodes = 0;
  int64_t equal_nodes = 0;
  std::vector<ScoreReport> scores;
  std::vector<std::string> preempted;
  std::string message;

  static const api::TypeInfo& Type();
};

// Pods of a group that could not be placed, by the reason.
struct BlockerReport {
  int64_t pods = 0;
  std::string pod;  // the first of them
  std::string message;

  static const api::TypeInfo& Type();
};

// What became of a pod group.
struct GroupReport {
  std::string namespace_;
  std::string name;
  std::string outcome;  // Placed, Unschedulable, Gated, Preempted, Error
  int64_t min_count = 0;
  int64_t pods = 0;
  int64_t running = 0;
  int64_t placed = 0;
  int64_t best = 0;
  std::string best_placement;
  std::vector<BlockerReport> blockers;
  std::string placement;
  int64_t placements = 0;
  std::vector<std::string> preempted;
  std::string message;

  static const api::TypeInfo& Type();
};

struct ResourceUse {
  std::string resource;
  std::string allocatable;
  std::string before;
  std::string after;
  double before_percent = 0;
  double after_percent = 0;

  static const api::TypeInfo& Type();
};

struct FillReport {
  std::string workload;
  int64_t replicas = 0;    // that fit, beside everything else
  std::string stopped_by;  // the message of the first that did not
  int64_t nodes_used = 0;

  static const api::TypeInfo& Type();
};

struct Report {
  int64_t nodes = 0;
  int64_t placed = 0;
  int64_t unschedulable = 0;
  int64_t gated = 0;
  int64_t preempted = 0;  // placed, then preempted by a later pod
  int64_t errors = 0;
  int64_t foreign = 0;  // pods of schedulers the configuration has no profile for
  std::vector<PodReport> pods;
  std::vector<GroupReport> groups;
  std::vector<ResourceUse> utilization;
  std::optional<FillReport> fill;

  static const api::TypeInfo& Type();
};

// Sums over all nodes at one moment.
struct Usage {
  struct Line {
    std::string resource;
    int64_t allocatable = 0;
    int64_t requested = 0;
  };
  std::vector<Line> lines;  // cpu, memory, pods, then every scalar resource that some pod requests
};
Usage MeasureUsage(const cluster::Cluster& cluster);

Report MakeReport(const cluster::Cluster& cluster, const std::vector<PodOutcome>& outcomes,
                  const std::vector<GroupOutcome>& groups, const Usage& before, const Usage& after);

// Groups as data. A group of which a pod was preempted after the group had been placed is
// Preempted.
std::vector<GroupReport> ReportGroups(const std::vector<PodOutcome>& outcomes,
                                      const std::vector<GroupOutcome>& groups);

// One pod after the other until one does not fit. `limit` bounds the number. `progress` (may be
// empty) is called with the number placed.
Result<FillReport> Fill(World& world, Placement& placement, const std::string& workload,
                        int64_t limit, const std::function<void(size_t done)>& progress);

}  // namespace berth::sim
