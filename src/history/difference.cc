#include "history/difference.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/time.h"

namespace berth::history {
namespace {

constexpr size_t kMaxMoved = 1000;

std::vector<Figure> FiguresOf(const sim::ScenarioReport& a, const sim::ScenarioReport& b) {
  std::vector<Figure> figures;
  const auto add = [&](std::string what, std::string unit, auto get) {
    figures.push_back({std::move(what), std::move(unit), static_cast<double>(get(a)),
                       static_cast<double>(get(b))});
  };
  using Report = sim::ScenarioReport;
  add("pods scheduled", "pods", [](const Report& r) { return r.pods.scheduled; });
  add("pending at the end", "pods", [](const Report& r) { return r.pods.pending; });
  add("unschedulable at the end", "pods", [](const Report& r) { return r.pods.unschedulable; });
  add("pods preempted", "pods", [](const Report& r) { return r.pods.preempted; });
  add("scheduling attempts", "attempts", [](const Report& r) { return r.scheduler.attempts; });
  add("failed attempts", "attempts", [](const Report& r) { return r.scheduler.failed_attempts; });
  add("latency, median", "seconds", [](const Report& r) { return r.latency.front().p50; });
  add("latency, 99th percentile", "seconds", [](const Report& r) { return r.latency.front().p99; });
  add("latency, highest", "seconds", [](const Report& r) { return r.latency.front().max; });
  for (size_t i = 0; i < a.utilization.size() && i < b.utilization.size(); ++i) {
    const std::string& what = a.utilization[i].what;
    add(what + " requested, mean", "percent",
        [i](const Report& r) { return r.utilization[i].mean; });
    add(what + " requested, peak", "percent",
        [i](const Report& r) { return r.utilization[i].peak; });
  }
  add("free cpu stranded, mean", "percent",
      [](const Report& r) { return r.fragmentation.cpu.mean; });
  add("free memory stranded, mean", "percent",
      [](const Report& r) { return r.fragmentation.memory.mean; });
  add("headroom at the end", "reference pods",
      [](const Report& r) { return r.fragmentation.headroom; });
  return figures;
}

std::vector<PoolDifference> PoolsOf(const RerunResult& a, const RerunResult& b) {
  std::map<std::string, PoolDifference> pools;
  for (const PoolCost& pool : a.pools) pools[pool.pool].recorded = pool;
  for (const PoolCost& pool : b.pools) pools[pool.pool].other = pool;
  std::vector<PoolDifference> list;
  for (auto& [name, pool] : pools) {
    pool.pool = pool.recorded.pool = pool.other.pool = name;
    list.push_back(std::move(pool));
  }
  return list;
}

void AddCosts(Difference& difference) {
  Figure cost{"cost of all nodes", "money"};
  Figure idle{"cost of nodes not in use", "money"};
  for (const PoolDifference& pool : difference.pools) {
    cost.recorded += pool.recorded.cost;
    cost.other += pool.other.cost;
    idle.recorded += pool.recorded.idle_cost;
    idle.other += pool.other.idle_cost;
  }
  difference.figures.push_back(std::move(cost));
  difference.figures.push_back(std::move(idle));
}

int64_t Changed(const MovedWorkload& line) { return line.elsewhere + line.lost + line.gained; }

}  // namespace

Difference Compare(const RerunResult& recorded, const RerunResult& other, std::string rules,
                   bool priced) {
  Difference difference;
  difference.from = api::Time::FromUnixNano(recorded.from_ns).FormatNano();
  difference.to = api::Time::FromUnixNano(recorded.to_ns).FormatNano();
  difference.rules = std::move(rules);
  difference.damage = recorded.damage;
  std::map<std::string, MovedWorkload> workloads;
  for (const auto& [key, pod] : recorded.pods) {
    if (!pod.given && !pod.recorded_node.empty()) {
      ++difference.recorded_bound;
      difference.repeated += pod.recorded_node == pod.node ? 1 : 0;
    }
    const auto twin = other.pods.find(key);
    if (twin == other.pods.end()) continue;
    const std::string& then = twin->second.node;
    if (pod.given && pod.node == then) continue;  // nobody decided
    MovedWorkload& workload = workloads[pod.workload];
    ++difference.pods;
    ++workload.pods;
    if (pod.node == then) {
      ++difference.same;
      continue;
    }
    if (then.empty()) {
      ++difference.lost;
      ++workload.lost;
    } else if (pod.node.empty()) {
      ++difference.gained;
      ++workload.gained;
    } else {
      ++difference.elsewhere;
      ++workload.elsewhere;
    }
    if (difference.moved.size() < kMaxMoved) {
      difference.moved.push_back({key, pod.workload, pod.node, then});
    }
  }
  for (auto& [name, workload] : workloads) {
    workload.workload = name;
    if (Changed(workload) > 0) difference.workloads.push_back(std::move(workload));
  }
  std::stable_sort(difference.workloads.begin(), difference.workloads.end(),
                   [](const auto& a, const auto& b) { return Changed(a) > Changed(b); });
  difference.figures = FiguresOf(recorded.report, other.report);
  difference.priced = priced;
  difference.pools = PoolsOf(recorded, other);
  if (priced) AddCosts(difference);
  difference.recorded = recorded.report;
  difference.other = other.report;
  return difference;
}

const api::TypeInfo& Figure::Type() {
  static const api::TypeInfo type = api::Describe<Figure>("Figure")
                                        .Always(0, "what", &Figure::what)
                                        .Always(0, "unit", &Figure::unit)
                                        .Always(0, "recorded", &Figure::recorded)
                                        .Always(0, "other", &Figure::other)
                                        .Build();
  return type;
}

const api::TypeInfo& PoolDifference::Type() {
  static const api::TypeInfo type = api::Describe<PoolDifference>("PoolDifference")
                                        .Always(0, "pool", &PoolDifference::pool)
                                        .Always(0, "recorded", &PoolDifference::recorded)
                                        .Always(0, "other", &PoolDifference::other)
                                        .Build();
  return type;
}

const api::TypeInfo& MovedPod::Type() {
  static const api::TypeInfo type = api::Describe<MovedPod>("MovedPod")
                                        .Always(0, "pod", &MovedPod::pod)
                                        .Always(0, "workload", &MovedPod::workload)
                                        .Always(0, "recorded", &MovedPod::recorded)
                                        .Always(0, "other", &MovedPod::other)
                                        .Build();
  return type;
}

const api::TypeInfo& MovedWorkload::Type() {
  static const api::TypeInfo type = api::Describe<MovedWorkload>("MovedWorkload")
                                        .Always(0, "workload", &MovedWorkload::workload)
                                        .Always(0, "pods", &MovedWorkload::pods)
                                        .Always(0, "elsewhere", &MovedWorkload::elsewhere)
                                        .Always(0, "lost", &MovedWorkload::lost)
                                        .Always(0, "gained", &MovedWorkload::gained)
                                        .Build();
  return type;
}

const api::TypeInfo& Difference::Type() {
  static const api::TypeInfo type = api::Describe<Difference>("Difference")
                                        .Always(0, "from", &Difference::from)
                                        .Always(0, "to", &Difference::to)
                                        .Always(0, "rules", &Difference::rules)
                                        .Always(0, "pods", &Difference::pods)
                                        .Always(0, "same", &Difference::same)
                                        .Always(0, "elsewhere", &Difference::elsewhere)
                                        .Always(0, "lost", &Difference::lost)
                                        .Always(0, "gained", &Difference::gained)
                                        .Always(0, "recordedBound", &Difference::recorded_bound)
                                        .Always(0, "repeated", &Difference::repeated)
                                        .Field(0, "figures", &Difference::figures)
                                        .Always(0, "priced", &Difference::priced)
                                        .Field(0, "pools", &Difference::pools)
                                        .Field(0, "workloads", &Difference::workloads)
                                        .Field(0, "moved", &Difference::moved)
                                        .Field(0, "damage", &Difference::damage)
                                        .Always(0, "recordedRules", &Difference::recorded)
                                        .Always(0, "otherRules", &Difference::other)
                                        .Build();
  return type;
}

}  // namespace berth::history
