// A transaction that is rolled back leaves no trace in what classes of pods answer.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"
#include "cluster/transaction.h"
#include "scheduler/testing/classes.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::NodeIndex;
using cluster::PodId;

constexpr const char* kApart =
    "{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':"
    "{'matchLabels':{'app':'a'}},'topologyKey':'topology.kubernetes.io/zone'}]}}";

class RandomTrials {
 public:
  explicit RandomTrials(uint64_t seed) : random_(seed), lab_(seed, /*classes=*/true, true) {
    for (int i = 0; i < 12; ++i) {
      MakeNode node(fmt::format("n{}", i));
      lab_.cluster.SetNode(node.Cpu("4").Memory("8Gi").Zone(fmt::format("z{}", i % 4)));
    }
    for (int i = 0; i < 40; ++i) {
      MakePod pod(fmt::format("p{}", i));
      pod.Requests("cpu", fmt::format("{}00m", Below(15))).Label("app", OneIn(2) ? "a" : "b");
      if (OneIn(3)) pod.HostPort(static_cast<int32_t>(80 + Below(2)));
      if (OneIn(2)) pod.On(fmt::format("n{}", Below(12)));
      others_.push_back(lab_.cluster.AddPod(pod));
    }
    MakePod basic("basic");
    MakePod large("large");
    MakePod port("port");
    MakePod apart("apart");
    apart.Get().spec.affinity = cluster::FromText<api::Affinity>(kApart);
    MakePod nowhere("nowhere");
    for (const api::Pod& pod :
         {api::Pod(basic.Requests("cpu", "500m").Get()), api::Pod(large.Requests("cpu", "3").Get()),
          api::Pod(port.HostPort(80).Get()), api::Pod(apart.Label("app", "a").Get()),
          api::Pod(nowhere.Requests("cpu", "40").Get())}) {
      probes_.push_back(lab_.cluster.AddPod(pod));
    }
  }

  void Round() {
    const std::string before = Dump();
    const std::string scanned = Answers(/*classes=*/false);
    ASSERT_EQ(Answers(/*classes=*/true), scanned);
    {
      const cluster::Transaction trial(lab_.cluster);
      Trial();
      {
        const cluster::Transaction inner(lab_.cluster);
        Trial();
      }
      Trial();
    }
    ASSERT_EQ(Dump(), before);
    ASSERT_EQ(Answers(/*classes=*/true), scanned);
    ASSERT_EQ(Answers(/*classes=*/false), scanned);
    Change();  // for good
  }

  uint64_t FromClasses() { return lab_.cycle->classes().statistics().answers; }

 private:
  uint64_t Below(uint64_t n) { return random_.Below(n); }
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  std::string Dump() { return cluster::Dump(lab_.cluster); }

  void Change() {
    cluster::Cluster& c = lab_.cluster;
    const PodId id = others_[Below(others_.size())];
    const auto node = static_cast<NodeIndex>(Below(12));
    if (OneIn(4)) {
      c.MutableNominations().Set(id, c.Record(node).name);
    } else if (c.GetPod(id).node != cluster::kNoNode) {
      c.GetPod(id).assumed ? c.Forget(id) : c.Unplace(id);
    } else if (c.GetPod(id).node_name.empty()) {
      c.Assume(id, node);
    } else {
      c.Place(id, node, false);
    }
  }

  // Classes are asked in between, and so know of what is taken back.
  void Trial() {
    for (uint64_t i = Below(6); i > 0; --i) {
      Change();
      if (OneIn(2)) Answer(probes_[Below(probes_.size())], true);
    }
  }

  std::string Answers(bool classes) {
    std::string text;
    for (const PodId probe : probes_) text += Answer(probe, classes) + "\n";
    return text;
  }

  // The nodes that suit the pod, the best of them, and verdicts on all if none does. Where the
  // class has no answer the nodes are looked at one by one.
  std::string Answer(PodId id, bool classes) {
    framework::Cycle& cycle = *lab_.cycle;
    const cluster::Pod& pod = lab_.cluster.GetPod(id);
    if (classes) {
      cycle.Begin(lab_.cluster, pod);
      if (!cycle.RunPreFilter().Ok()) return "rejected";
      const auto answer = cycle.classes().Find(cycle, lab_.cluster);
      if (answer) {
        framework::NodeSet feasible;
        framework::NodeSet best;
        cycle.class_answer().List(&feasible, &best);
        return Text(feasible, best, answer->scored ? answer->total : 0);
      }
    }
    lab_.algorithm.Schedule(cycle, lab_.cluster, pod, &lab_.decision, /*score_always=*/true);
    const bool scored = lab_.decision.scored && lab_.decision.feasible_count > 1;
    return Text(lab_.decision.feasible, lab_.decision.best, scored ? lab_.decision.total : 0);
  }

  std::string Text(const framework::NodeSet& feasible, const framework::NodeSet& best,
                   int64_t total) {
    std::string text = fmt::format("{}", total);
    feasible.ForEach(
        [&](NodeIndex n) { text += fmt::format(" {}{}", n, best.Contains(n) ? "*" : ""); });
    if (feasible.Count() > 0) return text;
    lab_.cluster.Nodes().ForEach([&](NodeIndex n) {
      text += fmt::format(" {}:{:x}", n, lab_.cycle->verdicts()[n].Packed());
    });
    return text;
  }

  Random random_;
  Lab lab_;
  std::vector<PodId> others_;
  std::vector<PodId> probes_;
};

TEST(TransactionClassesTest, AfterARollbackClassesAnswerAsBefore) {
  uint64_t from_classes = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomTrials trials(seed);
    for (int round = 0; round < 15; ++round) {
      trials.Round();
      if (::testing::Test::HasFatalFailure()) return;
    }
    from_classes += trials.FromClasses();
  }
  EXPECT_GT(from_classes, 1000U);
}

}  // namespace
}  // namespace berth::scheduler
