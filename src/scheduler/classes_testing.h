// One way to decide, with a cluster of its own: for tests that live the same history several ways.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "cluster/cluster.h"
#include "config/config.h"
#include "framework/class_cache.h"
#include "framework/post_filter.h"
#include "plugins/default_preemption/default_preemption.h"
#include "scheduler/algorithm.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

struct Lab {
  Lab(uint64_t seed, bool classes, bool eager) : algorithm({.seed = seed, .classes = classes}) {
    auto made = ProfileSet::Make(config::Default(), cluster, nullptr, seed);
    EXPECT_TRUE(made.has_value());
    profiles = std::make_unique<ProfileSet>(std::move(*made));
    cycle = profiles->CycleFor("default-scheduler");
    cycle->classes().set_eager(eager);
    for (const auto& served : cycle->profile().post_filter) {
      auto* found = dynamic_cast<plugins::default_preemption::DefaultPreemption*>(served.plugin);
      if (found != nullptr) preemption = found;
    }
    preemption->set_reuse(classes);
  }

  // Everything a caller can see of a decision, in words.
  std::string Decide(cluster::PodId id) {
    algorithm.Schedule(*cycle, cluster, cluster.GetPod(id), &decision);
    std::string line =
        fmt::format("{} node={} feasible={} evaluated={} scored={} best={} total={} next={} {}",
                    static_cast<int>(decision.outcome), decision.node, decision.feasible_count,
                    decision.evaluated_nodes, decision.scored, decision.best_count, decision.total,
                    algorithm.NextStart(), decision.error);
    if (decision.outcome == Outcome::kUnschedulable) {
      line += framework::FitErrorMessage(*cycle, decision.diagnosis);
      for (const std::string& plugin : decision.diagnosis.unschedulable_plugins)
        line += " " + plugin;
      decision.diagnosis.rejected.ForEach([&](cluster::NodeIndex n) {
        line += fmt::format(" {}:{:x}", n, cycle->verdicts()[n].Packed());
      });
    }
    return line;
  }

  // Room for a pod that fits nowhere; the victims are gone at once.
  std::string Preempt(cluster::PodId id) {
    framework::PostFilterResult proposal;
    const auto status = framework::RunPostFilter(*cycle, cluster, decision.diagnosis, &proposal);
    std::string line = proposal.nominated_node;
    for (const cluster::PodId victim : proposal.victims) {
      line += " -" + cluster.GetPod(victim).name;
      cluster.RemovePod(victim);
    }
    if (proposal.nomination == framework::PostFilterResult::Nomination::kSet) {
      cluster.MutablePod(id).nominated_node_name = proposal.nominated_node;
      cluster.MutableNominations().Set(id, cluster.Strings().Intern(proposal.nominated_node));
    }
    return line + " " + status.Message();
  }

  void Place(cluster::PodId id) {
    cluster.MutableNominations().Clear(id);
    cluster.MutablePod(id).node_name = cluster.NodeName(decision.node);
    cluster.Place(id, decision.node, /*assumed=*/true);
  }

  cluster::Cluster cluster;
  std::unique_ptr<ProfileSet> profiles;
  framework::Cycle* cycle = nullptr;
  plugins::default_preemption::DefaultPreemption* preemption = nullptr;
  Algorithm algorithm;
  Decision decision;
};

}  // namespace berth::scheduler
