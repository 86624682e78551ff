#include "sim/report.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/wrap.h"

namespace berth::sim {

using api::Describe;
using api::TypeInfo;

const TypeInfo& ScoreReport::Type() {
  static const TypeInfo type = Describe<ScoreReport>("Score")
                                   .Always(1, "plugin", &ScoreReport::plugin)
                                   .Always(2, "raw", &ScoreReport::raw)
                                   .Always(3, "normalized", &ScoreReport::normalized)
                                   .Always(4, "weighted", &ScoreReport::weighted)
                                   .Build();
  return type;
}

const TypeInfo& PodReport::Type() {
  static const TypeInfo type = Describe<PodReport>("Pod")
                                   .Always(1, "namespace", &PodReport::namespace_)
                                   .Always(2, "name", &PodReport::name)
                                   .Always(3, "outcome", &PodReport::outcome)
                                   .Field(11, "group", &PodReport::group)
                                   .Field(4, "node", &PodReport::node)
                                   .Field(5, "score", &PodReport::score)
                                   .Field(6, "feasibleNodes", &PodReport::feasible_nodes)
                                   .Field(7, "equalNodes", &PodReport::equal_nodes)
                                   .Field(8, "scores", &PodReport::scores)
                                   .Field(9, "preempted", &PodReport::preempted)
                                   .Field(10, "message", &PodReport::message)
                                   .Build();
  return type;
}

const TypeInfo& ResourceUse::Type() {
  static const TypeInfo type = Describe<ResourceUse>("ResourceUse")
                                   .Always(1, "resource", &ResourceUse::resource)
                                   .Always(2, "allocatable", &ResourceUse::allocatable)
                                   .Always(3, "before", &ResourceUse::before)
                                   .Always(4, "after", &ResourceUse::after)
                                   .Always(5, "beforePercent", &ResourceUse::before_percent)
                                   .Always(6, "afterPercent", &ResourceUse::after_percent)
                                   .Build();
  return type;
}

const TypeInfo& FillReport::Type() {
  static const TypeInfo type = Describe<FillReport>("Fill")
                                   .Always(1, "workload", &FillReport::workload)
                                   .Always(2, "replicas", &FillReport::replicas)
                                   .Always(3, "nodesUsed", &FillReport::nodes_used)
                                   .Field(4, "stoppedBy", &FillReport::stopped_by)
                                   .Build();
  return type;
}

const TypeInfo& Report::Type() {
  static const TypeInfo type = Describe<Report>("Report")
                                   .Always(1, "nodes", &Report::nodes)
                                   .Always(2, "placed", &Report::placed)
                                   .Always(3, "unschedulable", &Report::unschedulable)
                                   .Always(4, "gated", &Report::gated)
                                   .Always(5, "preempted", &Report::preempted)
                                   .Always(6, "errors", &Report::errors)
                                   .Field(7, "foreign", &Report::foreign)
                                   .Always(8, "pods", &Report::pods)
                                   .Field(11, "groups", &Report::groups)
                                   .Always(9, "utilization", &Report::utilization)
                                   .Field(10, "fill", &Report::fill)
                                   .Build();
  return type;
}

namespace {

std::string_view OutcomeName(PodOutcome::Kind kind) {
  switch (kind) {
    case PodOutcome::Kind::kPlaced:
      return "Placed";
    case PodOutcome::Kind::kUnschedulable:
      return "Unschedulable";
    case PodOutcome::Kind::kGated:
      return "Gated";
    case PodOutcome::Kind::kPreempted:
      return "Preempted";
    case PodOutcome::Kind::kError:
      return "Error";
    case PodOutcome::Kind::kForeign:
      return "Foreign";
  }
  return "";
}

void Count(PodOutcome::Kind kind, Report* report) {
  switch (kind) {
    case PodOutcome::Kind::kPlaced:
      ++report->placed;
      return;
    case PodOutcome::Kind::kUnschedulable:
      ++report->unschedulable;
      return;
    case PodOutcome::Kind::kGated:
      ++report->gated;
      return;
    case PodOutcome::Kind::kPreempted:
      ++report->preempted;
      return;
    case PodOutcome::Kind::kError:
      ++report->errors;
      return;
    case PodOutcome::Kind::kForeign:
      ++report->foreign;
      return;
  }
}

// Amounts as people write them: cores, binary multiples, plain numbers.
std::string AmountText(std::string_view resource, int64_t amount) {
  if (resource == "cpu") return fmt::format("{:.1f}", static_cast<double>(amount) / 1000);
  if (resource == "memory" || resource == "ephemeral-storage") {
    return fmt::format("{:.1f}Gi", static_cast<double>(amount) / (1024.0 * 1024 * 1024));
  }
  return std::to_string(amount);
}

double Percent(int64_t part, int64_t whole) {
  if (whole == 0) return 0;
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return std::round(percent * 10) / 10;
}

}  // namespace

Usage MeasureUsage(const cluster::Cluster& cluster) {
  Usage usage;
  const auto add = [&](const std::string& name, const int64_t* allocatable,
                       const int64_t* requested) {
    Usage::Line line{name, 0, 0};
    cluster.Nodes().ForEach([&](cluster::NodeIndex n) {
      line.allocatable = WrapAdd(line.allocatable, allocatable[n]);
      line.requested = WrapAdd(line.requested, requested[n]);
    });
    if (line.allocatable != 0 || line.requested != 0) usage.lines.push_back(std::move(line));
  };
  for (cluster::ResourceId id = 0; id < cluster.Resources().Size(); ++id) {
    const cluster::ResourceColumn* column = cluster.Resource(id);
    if (column == nullptr) continue;
    add(cluster.Resources().Name(id), column->allocatable.data(), column->requested.data());
    if (id == cluster::kEphemeralStorage) {
      add("pods", cluster.AllowedPods().data(), cluster.PodCount().data());
    }
  }
  return usage;
}

Report MakeReport(const cluster::Cluster& cluster, const std::vector<PodOutcome>& outcomes,
                  const std::vector<GroupOutcome>& groups, const Usage& before,
                  const Usage& after) {
  Report report;
  report.groups = ReportGroups(outcomes, groups);
  report.nodes = static_cast<int64_t>(cluster.NodeCount());
  report.pods.reserve(outcomes.size());
  for (const PodOutcome& outcome : outcomes) {
    Count(outcome.kind, &report);
    PodReport& line = report.pods.emplace_back();
    line.namespace_ = outcome.namespace_;
    line.name = outcome.name;
    line.group = outcome.group;
    line.outcome = OutcomeName(outcome.kind);
    if (outcome.node != cluster::kNoNode) line.node = cluster.NodeName(outcome.node);
    line.score = outcome.total;
    line.feasible_nodes = static_cast<int64_t>(outcome.feasible_nodes);
    line.equal_nodes = static_cast<int64_t>(outcome.equal_nodes);
    for (const PluginScore& s : outcome.scores) {
      line.scores.push_back({s.plugin, s.raw, s.normalized, s.weighted});
    }
    line.preempted = outcome.victims;
    line.message = outcome.message;
  }
  for (const Usage::Line& line : after.lines) {
    const auto earlier =
        std::find_if(before.lines.begin(), before.lines.end(),
                     [&](const Usage::Line& l) { return l.resource == line.resource; });
    const int64_t requested = earlier == before.lines.end() ? 0 : earlier->requested;
    report.utilization.push_back(
        {line.resource, AmountText(line.resource, line.allocatable),
         AmountText(line.resource, requested), AmountText(line.resource, line.requested),
         Percent(requested, line.allocatable), Percent(line.requested, line.allocatable)});
  }
  return report;
}

Result<FillReport> Fill(World& world, Placement& placement, const std::string& workload,
                        int64_t limit, const std::function<void(size_t)>& progress) {
  std::string why;
  const api::Object* object = world.FindWorkload(workload, &why);
  if (object == nullptr) return Fail(why);
  FillReport report;
  report.workload = workload;
  cluster::NodeSet used(world.GetCluster().Rows());
  while (report.replicas < limit) {
    const auto pod = world.AddPodOf(*object, fmt::format("fill-{}", report.replicas + 1));
    if (!pod) return Fail(pod.error());
    const PodOutcome outcome = placement.Schedule(*pod);
    if (outcome.kind != PodOutcome::Kind::kPlaced) {
      report.stopped_by = outcome.message;
      world.GetCluster().RemovePod(*pod);
      break;
    }
    used.Insert(outcome.node);
    ++report.replicas;
    if (progress) progress(static_cast<size_t>(report.replicas));
  }
  report.nodes_used = static_cast<int64_t>(used.Count());
  return report;
}

}  // namespace berth::sim
