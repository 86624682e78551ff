// For tests that live the same history several ways: a way to decide with a cluster of its own, and
// what histories have in common.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/cluster.h"
#include "config/config.h"
#include "framework/classes/class_cache.h"
#include "framework/runtime/post_filter.h"
#include "plugins/default_preemption/default_preemption.h"
#include "scheduler/algorithm.h"
#include "scheduler/profile_set.h"

namespace berth::scheduler {

struct Lab {
  Lab(uint64_t seed, bool classes, bool eager, const config::DraFeatures& features = {})
      : algorithm({.seed = seed, .classes = classes}) {
    config::Behaviour behaviour;
    behaviour.dra = features;
    behaviour.tie_break_by_heap = seed % 2 == 1;
    auto made = ProfileSet::Make(config::Default(behaviour), behaviour, cluster, nullptr, seed);
    EXPECT_TRUE(made.has_value());
    profiles = std::make_unique<ProfileSet>(std::move(*made));
    cycle = profiles->CycleFor("default-scheduler");
    cycle->classes().set_eager(eager);
    cycle->set_ask_all(!classes);
    for (const auto& served : cycle->profile().post_filter) {
      auto* found = dynamic_cast<plugins::default_preemption::DefaultPreemption*>(served.plugin);
      if (found != nullptr) preemption = found;
    }
    preemption->set_reuse(classes);
  }

  // Everything a caller can see of a decision, as one line.
  std::string Decide(cluster::PodId id, const cluster::NodeSet* within = nullptr) {
    algorithm.Schedule(*cycle, cluster, cluster.GetPod(id), &decision, /*score_always=*/false,
                       within);
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

  void Place(cluster::PodId id) { cluster.Assume(id, decision.node); }

  cluster::Cluster cluster;
  std::unique_ptr<ProfileSet> profiles;
  framework::Cycle* cycle = nullptr;
  plugins::default_preemption::DefaultPreemption* preemption = nullptr;
  Algorithm algorithm;
  Decision decision;
};

// Lived without classes, with a class for every pod, and with classes where they pay. Without,
// every plugin is asked about every pod, too.
class LabHistory {
 protected:
  explicit LabHistory(uint64_t seed, const config::DraFeatures& features = {}) : random_(seed) {
    const auto add = [&](bool classes, bool eager) {
      labs_.push_back(std::make_unique<Lab>(seed, classes, eager, features));
    };
    add(/*classes=*/false, /*eager=*/false);
    add(/*classes=*/true, /*eager=*/true);
    add(/*classes=*/true, /*eager=*/false);
  }

  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  std::string Of(std::string_view prefix, uint64_t n) {
    return fmt::format("{}{}", prefix, random_.Below(n));
  }
  cluster::Cluster& First() { return labs_[0]->cluster; }
  template <class F>
  void Everywhere(F&& change) {
    for (auto& lab : labs_) change(*lab);
  }

  // Decides about a new pod every way. True: all chose the same node, and it may go there. Room is
  // made for one in `preempts` that fit nowhere.
  bool Fits(cluster::PodId id, uint64_t preempts) {
    if (!Compare(id)) return false;
    if (labs_[0]->decision.outcome == Outcome::kUnschedulable && OneIn(preempts)) {
      const std::string expected = labs_[0]->Preempt(id);
      for (size_t i = 1; i < labs_.size(); ++i) EXPECT_EQ(labs_[i]->Preempt(id), expected);
      if (!Compare(id)) return false;
    }
    if (labs_[0]->decision.outcome == Outcome::kScheduled && !OneIn(10)) return true;
    Everywhere([&](Lab& lab) { lab.cluster.RemovePod(id); });
    return false;
  }

  bool Compare(cluster::PodId id) {
    if (OneIn(3)) {
      const cluster::NodeSet some = SomeNodes();
      if (!CompareWithin(id, &some)) return false;
      ++narrowed_;
    }
    return CompareWithin(id, nullptr);
  }

  // A random subset of the nodes, sometimes of few and never of none.
  cluster::NodeSet SomeNodes() {
    cluster::NodeSet some(First().Rows());
    const uint64_t one_in = random_.Below(2) == 0 ? 2 : 8;
    First().Nodes().ForEach([&](cluster::NodeIndex n) {
      if (OneIn(one_in)) some.Insert(n);
    });
    if (some.Count() == 0 && First().NodeCount() > 0) some.Insert(First().Nodes().Nth(0));
    return some;
  }

  // `within`: the candidates; null: all nodes.
  bool CompareWithin(cluster::PodId id, const cluster::NodeSet* within) {
    const std::string expected = labs_[0]->Decide(id, within);
    for (size_t i = 1; i < labs_.size(); ++i) {
      const std::string actual = labs_[i]->Decide(id, within);
      EXPECT_EQ(actual, expected) << "way " << i << ", pod " << First().GetPod(id).name;
      if (actual != expected) return false;
      if (labs_[i]->decision.only_node) {
        ++alone_;
        cluster::NodeSet only(First().Rows());
        only.Insert(labs_[i]->decision.node);
        EXPECT_TRUE(only == labs_[0]->decision.feasible);
        EXPECT_TRUE(only == labs_[0]->decision.best);
      }
      if (!labs_[i]->decision.from_class) continue;
      if (labs_[i]->decision.outcome == Outcome::kUnschedulable) ++nowhere_;
      cluster::NodeSet feasible;
      cluster::NodeSet best;
      labs_[i]->cycle->class_answer().List(&feasible, &best);
      EXPECT_TRUE(feasible == labs_[0]->decision.feasible);
      EXPECT_TRUE(best == labs_[0]->decision.best);
    }
    return !::testing::Test::HasFailure();
  }

  Random random_;
  std::vector<std::unique_ptr<Lab>> labs_;
  uint64_t nowhere_ = 0;   // answers of classes that a pod fits nowhere
  uint64_t alone_ = 0;     // decisions about the only node left
  uint64_t narrowed_ = 0;  // decisions among some of the nodes
};

}  // namespace berth::scheduler
