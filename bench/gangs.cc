#include "bench/gangs.h"

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/workloads.h"
#include "cluster/cluster.h"
#include "cluster/objects/object_store.h"
#include "cluster/transaction.h"
#include "scheduler/attempt.h"
#include "scheduler/groups/group_algorithm.h"
#include "scheduler/groups/validation.h"
#include "scheduler/profile_set.h"
#include "term/flags.h"
#include "term/terminal.h"

namespace berth::bench {
namespace {

using cluster::PodId;

// CPU time of this thread, so that other work on the machine does not count.
double CpuMillis() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

constexpr std::string_view kRack = "example.com/rack";
constexpr std::string_view kGroup = "gang";

// One row of the table.
struct Case {
  size_t size = 0;
  bool mixed = false;    // pods of four kinds, one after the other
  size_t domains = 0;    // 0: no topology constraint
  bool refused = false;  // one pod more than there is capacity for
};

struct Figures {
  std::string result;
  double p50_ms = 0;
  double p99_ms = 0;
  size_t feasible = 0;  // domains
};

// 10 to 40 millicores: a node of 4 cores takes 110 of the smallest, by its limit of pods, and 100
// of the largest.
api::Quantity Cpu(size_t milli) { return *api::Quantity::Parse(fmt::format("{}m", milli)); }

api::Pod MakeMember(size_t i, const Case& c) {
  api::Pod pod = MakePod(i, Workloads().front());
  pod.metadata.name = fmt::format("member-{:06}", i);
  pod.metadata.uid = pod.metadata.name;
  auto& resources = pod.spec.containers.front().resources;
  resources.requests["cpu"] = Cpu(c.mixed ? 10 * (1 + i % 4) : 10);
  resources.requests["memory"] = *api::Quantity::Parse("100Mi");
  resources.limits = resources.requests;
  pod.spec.scheduling_group.emplace().pod_group_name = kGroup;
  return pod;
}

class Gang final : private scheduler::MemberDecider {
 public:
  static Result<std::unique_ptr<Gang>> Make(const Case& c, const GangOptions& o) {
    std::unique_ptr<Gang> gang(new Gang(o));
    gang->Fill(c, o.nodes);
    auto profiles = scheduler::ProfileSet::Make(config::Default(gang->behaviour_), gang->behaviour_,
                                                gang->cluster_);
    if (!profiles) return Fail(profiles.error());
    gang->profiles_ = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
    return gang;
  }

  Figures Measure(size_t repeats) {
    Figures figures;
    std::vector<double> millis;
    Cycle(&figures);  // not measured: classes are built
    for (size_t i = 0; i < repeats; ++i) millis.push_back(Cycle(&figures));
    std::ranges::sort(millis);
    figures.p50_ms = millis[millis.size() / 2];
    figures.p99_ms = millis[millis.size() * 99 / 100];
    return figures;
  }

 private:
  explicit Gang(const GangOptions& o) : behaviour_(o.gates), algorithm_(o.algorithm) {}

  // Racks of neighbours, one pod on every fifth node.
  void Fill(const Case& c, size_t nodes) {
    api::Namespace ns;
    ns.metadata.name = "sched-1";
    cluster_.MutableObjects().namespaces.Set(std::move(ns));
    const size_t racks = std::max<size_t>(1, std::min(c.domains, nodes));
    for (size_t i = 0; i < nodes; ++i) {
      api::Node node = MakeNode(i);
      node.metadata.labels[std::string(kRack)] = fmt::format("rack-{:05}", i * racks / nodes);
      cluster_.SetNode(std::move(node));
    }
    const Workload& basic = Workloads().front();
    for (size_t i = 0; i < nodes; i += 5) {
      cluster_.Place(cluster_.AddPod(MakePod(i, basic)), static_cast<cluster::NodeIndex>(i), true);
    }
    group_.metadata.namespace_ = "sched-1";
    group_.metadata.name = group_.metadata.uid = kGroup;
    group_.spec.scheduling_policy.gang.emplace().min_count = static_cast<int32_t>(c.size);
    if (c.domains > 0) {
      auto& constraints = group_.spec.scheduling_constraints.emplace();
      constraints.topology.emplace_back().key = kRack;
    }
    cluster_.MutableObjects().pod_groups.Set(group_);
    // A pod that fits nowhere comes last.
    for (size_t i = 0; i < c.size; ++i) {
      api::Pod pod = MakeMember(i, c);
      if (c.refused && i + 1 == c.size) {
        auto& resources = pod.spec.containers.front().resources;
        resources.requests["cpu"] = resources.limits["cpu"] = Cpu(8000);
      }
      members_.push_back(cluster_.AddPod(pod));
    }
  }

  cluster::NodeIndex Decide(scheduler::Attempt& attempt,
                            const framework::NodeSet* within) override {
    attempt.Decide(algorithm_, /*score_always=*/false, within);
    return attempt.decision().node;
  }

  bool RepeatsItself() const override {
    return algorithm_.RepeatsItself(*profiles_->Profiles().front());
  }

  // From the popped group to assumed pods, or to the messages for pods and group. Milliseconds;
  // everything is taken back afterwards.
  double Cycle(Figures* figures) {
    framework::Cycle& cycle = *profiles_->CycleFor(config::kDefaultSchedulerName);
    cluster::Transaction all(cluster_);
    const framework::PodGroupInfo info{group_, members_};
    const double start = CpuMillis();
    std::string why =
        scheduler::WhyInvalid(cluster_, info, behaviour_, [](const std::string&) { return true; });
    scheduler::GroupAlgorithm algorithm(cycle, cluster_, *this);
    const scheduler::GroupResult result = algorithm.Run(info);
    size_t letters = why.size();
    for (const scheduler::MemberResult& member : result.members) {
      const scheduler::MemberOutcome outcome = scheduler::OutcomeOf(result, member);
      if (outcome.status.Ok()) {
        Commit(cycle, member);
      } else {
        letters += outcome.status.Message().size();
      }
    }
    letters += scheduler::ConditionOf(result).message.size();
    const double took = CpuMillis() - start;
    figures->result = result.status.Ok() ? "placed" : letters > 0 ? "refused" : "nothing said";
    if (!result.placements.empty()) figures->feasible = result.placements.front().feasible;
    return took;
  }

  // As the engine does.
  void Commit(framework::Cycle& cycle, const scheduler::MemberResult& member) {
    attempt_.Begin(cycle, cluster_, member.pod);
    cycle.Begin(cluster_, cluster_.GetPod(member.pod));
    if (cycle.RunPreFilter().Ok()) cycle.FilterOne(member.node);
    attempt_.Decided();
    if (!attempt_.Reserve(member.node).Ok()) attempt_.Rollback();
  }

  config::Behaviour behaviour_;
  cluster::Cluster cluster_;
  api::PodGroup group_;
  std::vector<PodId> members_;
  std::unique_ptr<scheduler::ProfileSet> profiles_;
  scheduler::Algorithm algorithm_;
  scheduler::Attempt attempt_;
};

std::vector<Case> Cases(const GangOptions& o) {
  std::vector<Case> cases;
  for (const size_t size : {size_t{8}, size_t{100}, size_t{1000}}) {
    if (o.size != 0 && o.size != size) continue;
    for (const bool mixed : {false, true}) {
      for (const size_t domains :
           {size_t{0}, size_t{1}, size_t{10}, size_t{100}, size_t{500}, size_t{2000}}) {
        if (o.domains != SIZE_MAX && o.domains != domains) continue;
        cases.push_back({size, mixed, domains, /*refused=*/false});
        if (domains == 0) cases.push_back({size, mixed, domains, /*refused=*/true});
      }
    }
  }
  return cases;
}

std::string Json(const Case& c, const Figures& f, const GangOptions& o) {
  return fmt::format(
      "{{\"nodes\":{},\"pods\":{},\"kinds\":{},\"domains\":{},\"feasible_domains\":{},"
      "\"result\":\"{}\",\"p50_ms\":{:.3f},\"p99_ms\":{:.3f}}}",
      o.nodes, c.size, c.mixed ? 4 : 1, c.domains, f.feasible, f.result, f.p50_ms, f.p99_ms);
}

}  // namespace

int RunGangs(const GangOptions& options) {
  GangOptions o = options;
  const auto set = o.gates.Set("GenericWorkload=true,TopologyAwareWorkloadScheduling=true");
  if (!set) {
    fmt::print(stderr, "berth-bench: --gangs: {}\n", set.error().Message());
    return 1;
  }
  if (!config::Behaviour(o.gates).pod_groups) {
    fmt::print(stderr, "berth-bench: --gangs needs --kubernetes-version 1.37\n");
    return 1;
  }
  term::Table table(
      {"PODS", "KINDS", "DOMAINS", "FEASIBLE", "RESULT", "P50 ms", "P99 ms", "P50 µs/POD"});
  for (const size_t column : {0, 1, 2, 3, 5, 6, 7}) table.Right(column);
  for (const Case& c : Cases(o)) {
    auto gang = Gang::Make(c, o);
    if (!gang) {
      fmt::print(stderr, "berth-bench: {}\n", gang.error().Message());
      return 1;
    }
    const Figures f = (*gang)->Measure(o.repeats);
    if (o.json) {
      fmt::print("{}\n", Json(c, f, o));
      std::fflush(stdout);
      continue;
    }
    table.Row({std::to_string(c.size), c.mixed ? "4" : "1",
               c.domains == 0 ? "-" : std::to_string(c.domains),
               c.domains == 0 ? "-" : std::to_string(f.feasible), f.result,
               fmt::format("{:.3f}", f.p50_ms), fmt::format("{:.3f}", f.p99_ms),
               fmt::format("{:.2f}", f.p50_ms * 1000 / static_cast<double>(c.size))});
  }
  if (!o.json) std::fputs(table.Text(term::UsesColour(stdout)).c_str(), stdout);
  return 0;
}

}  // namespace berth::bench
