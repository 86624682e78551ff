#include "explain/explainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "explain/suggestions.h"
#include "explain/views.h"
#include "scheduler/engine.h"

namespace berth::explain {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr int64_t kSecond = 1'000'000'000;

scheduler::EngineOptions Seeded() {
  scheduler::EngineOptions options;
  options.algorithm.seed = 7;
  return options;
}

class ExplainerTest : public testing::Test {
 protected:
  ExplainerTest() {
    engine_ = std::move(*scheduler::Engine::Make(config::Default(), Seeded(), Now()));
  }
  api::Time Now() const { return api::Time::FromUnixNano(now_); }
  void Put(api::Object object) {
    std::visit(
        [&](auto& value) {
          if constexpr (requires { value.metadata.resource_version; }) {
            value.metadata.resource_version = std::to_string(++version_);
          }
        },
        object);
    engine_->Upsert(std::move(object));
  }
  void PutNode(const api::Node& node) { Put(node); }
  void PutPod(const api::Pod& pod) { Put(pod); }
  void Run() {
    while (engine_->Step()) {
    }
    for (scheduler::Effect& effect : engine_->TakeEffects()) {
      engine_->Complete(
          {.id = effect.id, .code = scheduler::EffectResult::Code::kOk, .message = ""});
    }
  }
  DecisionView View(const std::string& name, const std::string& node = "") {
    const scheduler::Source source = engine_->Explaining();
    auto view = Explain(source, FindPod(source, "ns", name), {.top = 2, .node = node});
    EXPECT_TRUE(view) << (view ? "" : view.error().Message());
    return view ? *view : DecisionView();
  }
  std::vector<std::string> Suggested(const std::string& name) {
    const scheduler::Source source = engine_->Explaining();
    auto list = Suggest(source, FindPod(source, "ns", name));
    std::vector<std::string> texts;
    for (const Suggestion& suggestion : list->items) texts.push_back(suggestion.text);
    return texts;
  }

  int64_t now_ = 1'700'000'000 * kSecond;
  int64_t version_ = 0;
  std::unique_ptr<scheduler::Engine> engine_;
};

// Times points by a clock that goes on by a millisecond whenever it is looked at.
class Timer final : public scheduler::EngineObserver {
 public:
  scheduler::CycleInterest CycleBegan(const cluster::Pod&, std::string_view, uint8_t) override {
    cycle_.Clear();
    return {.points = timing};
  }
  void PointEnded(framework::Point point, framework::Code) override {
    cycle_.Add(point, 1'000'000);
  }
  void BindingPointEnded(const scheduler::PodRef&, framework::Point point,
                         framework::Code) override {
    binding_.Add(point, 2'000'000);
  }
  const scheduler::PointTimes* CycleTimes() override { return &cycle_; }
  const scheduler::PointTimes* BindingTimes(const scheduler::PodRef&) override {
    return timing ? &binding_ : nullptr;
  }

  bool timing = true;

 private:
  scheduler::PointTimes cycle_;
  scheduler::PointTimes binding_;
};

TEST_F(ExplainerTest, WhatWasTimedIsInTheRecordAndNothingElse) {
  Timer timer;
  engine_ =
      std::move(*scheduler::Engine::Make(config::Default(), Seeded(), Now(), nullptr, &timer));
  PutNode(MakeNode("a").Cpu("4"));
  PutNode(MakeNode("b").Cpu("4"));
  PutPod(MakePod("timed").Requests("cpu", "1"));
  PutPod(MakePod("huge").Requests("cpu", "8"));
  Run();
  timer.timing = false;
  PutPod(MakePod("untimed").Requests("cpu", "1"));
  Run();

  const ByName<double> placed = View("timed").durations_ms;
  for (const char* point : {"PreFilter", "PreScore", "Score", "Reserve", "Permit"}) {
    ASSERT_TRUE(placed.contains(point)) << point;
    EXPECT_EQ(placed.at(point), 1) << point;
  }
  EXPECT_EQ(placed.at("Bind"), 2) << "known only after the binding";
  EXPECT_EQ(placed.at("PostBind"), 2);
  EXPECT_FALSE(placed.contains("PostFilter"));

  const ByName<double> refused = View("huge").durations_ms;
  EXPECT_EQ(refused.at("PostFilter"), 1);
  EXPECT_FALSE(refused.contains("Score"));
  EXPECT_FALSE(refused.contains("Bind"));

  EXPECT_THAT(View("untimed").durations_ms, IsEmpty());
}

TEST_F(ExplainerTest, ThePlacedPodIsExplainedAsIfItWereNotThere) {
  PutNode(MakeNode("a").Cpu("4").Memory("8Gi"));
  PutNode(MakeNode("b").Cpu("2").Memory("4Gi"));
  PutNode(MakeNode("c").Cpu("1").Cordoned());
  PutPod(MakePod("p").Requests("cpu", "2").Requests("memory", "1Gi"));
  Run();
  const DecisionView view = View("p");
  ASSERT_TRUE(view.record);
  EXPECT_EQ(view.record->outcome, "Scheduled");
  EXPECT_EQ(view.record->node, view.pod_node);
  EXPECT_EQ(view.record->feasible, 2);
  EXPECT_EQ(view.funnel.nodes, 3);
  EXPECT_EQ(view.funnel.feasible, 2) << "it fits on b, where only its own request fills the node";
  ASSERT_THAT(view.top_nodes, SizeIs(2));
  EXPECT_EQ(view.top_nodes[0].node, "a");
  EXPECT_TRUE(view.top_nodes[0].chosen);
  EXPECT_EQ(view.top_nodes[0].total, view.record->score);
  ASSERT_TRUE(view.runner_up);
  EXPECT_EQ(view.runner_up->node, "b");
  EXPECT_THAT(view.runner_up->text, HasSubstr("points behind"));
  EXPECT_THAT(engine_->Invariants(), IsEmpty());
}

TEST_F(ExplainerTest, ThePendingPodHasAFunnelAndAQueue) {
  PutNode(MakeNode("a").Cpu("1"));
  PutNode(MakeNode("b").Cpu("1").Taint("gpu", "NoSchedule"));
  PutPod(MakePod("p").Requests("cpu", "2"));
  Run();
  DecisionView view = View("p", "b");
  EXPECT_EQ(view.record->outcome, "Unschedulable");
  EXPECT_FALSE(view.recomputed) << "nothing has happened since";
  EXPECT_FALSE(view.present);
  std::vector<std::string> steps;
  for (const FunnelStep& step : view.funnel.steps) {
    if (step.before != step.after) steps.push_back(step.plugin);
  }
  EXPECT_THAT(steps, ElementsAre("TaintToleration", "NodeResourcesFit"));
  EXPECT_FALSE(view.node->fits);
  EXPECT_EQ(view.node->plugin, "TaintToleration");
  EXPECT_EQ(view.queue.where, "unschedulable");
  EXPECT_THAT(view.queue.waits_for, Contains("NodeResourcesFit"));
  ASSERT_THAT(view.queue.history, SizeIs(2));
  EXPECT_EQ(view.queue.history[0].event, "ScheduleAttemptFailure");

  now_ += 20 * kSecond;
  engine_->AdvanceTo(Now());
  PutNode(MakeNode("c").Cpu("4"));
  view = View("p");
  EXPECT_TRUE(view.recomputed);
  ASSERT_TRUE(view.present);
  EXPECT_EQ(view.present->node, "c");
  EXPECT_EQ(view.queue.where, "active");
  EXPECT_THAT(view.queue.history[0].hints, Contains(Field(&Hint::plugin, "NodeResourcesFit")));
}

TEST_F(ExplainerTest, OnlyChangesThatMatterMakeADecisionOld) {
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod pod = MakePod("p").Requests("cpu", "2");
  PutPod(pod);
  Run();
  EXPECT_FALSE(View("p").recomputed);
  pod.status.conditions.emplace_back().type = "PodScheduled";
  PutPod(pod);
  EXPECT_FALSE(View("p").recomputed) << "a status follows from decisions";
  pod.metadata.labels["app"] = "web";
  PutPod(pod);
  EXPECT_TRUE(View("p").recomputed) << "others may look at its labels, and so may it";
}

TEST_F(ExplainerTest, PreemptionNamesVictimsAndWhyOthersLost) {
  for (const char* node : {"a", "b"}) PutNode(MakeNode(node).Cpu("1"));
  PutPod(MakePod("low-a").Requests("cpu", "1").Priority(1).On("a"));
  PutPod(MakePod("low-b").Requests("cpu", "1").Priority(5).On("b"));
  PutPod(MakePod("p").Requests("cpu", "1").Priority(10));
  while (engine_->Step()) {
  }
  const DecisionView view = View("p");
  EXPECT_THAT(view.record->victims, ElementsAre("ns/low-a"));
  ASSERT_TRUE(view.preemption);
  ASSERT_THAT(view.preemption->candidates, SizeIs(2));
  EXPECT_EQ(view.preemption->candidates[0].node, "a");
  EXPECT_TRUE(view.preemption->candidates[0].chosen);
  EXPECT_EQ(view.preemption->candidates[1].lost, "its highest victim has priority 5, not 1");
}

TEST_F(ExplainerTest, ReadingChangesNoLaterDecision) {
  const auto decide = [&](bool read) {
    engine_ = std::move(*scheduler::Engine::Make(config::Default(), Seeded(), Now()));
    for (int i = 0; i < 20; ++i) PutNode(MakeNode("n" + std::to_string(i)).Cpu("4"));
    std::vector<std::string> nodes;
    for (int i = 0; i < 40; ++i) {
      PutPod(MakePod("p" + std::to_string(i)).Requests("cpu", i % 3 == 0 ? "2" : "1"));
      Run();
      if (read) {
        (void)View("p" + std::to_string(i / 2));
        (void)View("p" + std::to_string(i));
      }
      nodes.push_back(View("p" + std::to_string(i)).record->node);
    }
    return nodes;
  };
  EXPECT_EQ(decide(false), decide(true));
}

TEST_F(ExplainerTest, SuggestsWhatWouldHelp) {
  PutNode(MakeNode("a").Cpu("2").Memory("4Gi"));
  PutNode(MakeNode("b").Cpu("1500m").Memory("8Gi"));
  PutNode(MakeNode("c").Cpu("8").Memory("16Gi").Taint("gpu", "NoSchedule", "yes"));
  PutNode(MakeNode("d").Cpu("8").Memory("16Gi").Cordoned());
  PutPod(MakePod("p").Requests("cpu", "4").Requests("memory", "1Gi"));
  Run();
  const std::vector<std::string> texts = Suggested("p");
  EXPECT_THAT(texts, Contains("fits on 1 node if cpu request ≤ 2"));
  EXPECT_THAT(texts, Contains("fits on 1 node if it tolerated taint gpu=yes:NoSchedule"));
  EXPECT_THAT(texts, Contains("fits on d if it were uncordoned"));
  EXPECT_THAT(texts, Contains(HasSubstr("fits on a new node like d")));
}

TEST_F(ExplainerTest, NamesRootCauses) {
  PutNode(MakeNode("a").Cpu("16").Label("disk", "hdd"));
  api::Pod pod = MakePod("p").Requests("cpu", "40").Requests("example.com/gpu", "1");
  pod.spec.node_selector["disk"] = "ssd";
  pod.spec.node_selector["x;y"] = "z";
  api::Volume& volume = pod.spec.volumes.emplace_back();
  volume.name = "v";
  volume.persistent_volume_claim.emplace();
  volume.persistent_volume_claim->claim_name = "missing";
  PutPod(pod);
  Run();
  const scheduler::Source source = engine_->Explaining();
  const auto list = Suggest(source, FindPod(source, "ns", "p"));
  ASSERT_TRUE(list);
  std::vector<std::string> texts;
  for (const Cause& cause : list->causes) texts.push_back(cause.text);
  EXPECT_THAT(texts,
              ElementsAre("PersistentVolumeClaim ns/missing of its volume v does not exist",
                          "no node has the label disk=ssd of its nodeSelector (nodes have hdd)",
                          "no node has the label x;y=z of its nodeSelector",
                          "it requests 40 cpu, more than any node has: the largest has 16",
                          "no node has example.com/gpu"));
  EXPECT_THAT(list->causes[0].remedy, HasSubstr(R"("name": "missing"}, "spec")"));
  EXPECT_EQ(list->causes[1].remedy, "kubectl label node NODE disk=ssd");
  EXPECT_EQ(list->causes[2].remedy, "") << "nothing that a shell would obey is offered";
}

TEST_F(ExplainerTest, NoSuggestionMovesTheProblemToOthers) {
  const auto replica = [](const std::string& name, const std::string& owner) {
    api::Pod pod = MakePod(name).Requests("cpu", "1");
    api::OwnerReference& reference = pod.metadata.owner_references.emplace_back();
    reference.api_version = "apps/v1";
    reference.kind = "ReplicaSet";
    reference.name = owner;
    reference.controller = true;
    if (owner == "web") pod.spec.tolerations.push_back({"spot", "Exists", "", "", std::nullopt});
    return pod;
  };
  PutNode(MakeNode("a").Cpu("1"));
  api::Pod placed = replica("web-1", "web");
  placed.spec.node_name = "a";
  PutPod(placed);
  PutPod(replica("web-2", "web"));
  PutPod(replica("other-1", "other"));
  Run();
  EXPECT_THAT(Suggested("web-2"), testing::Not(Contains(HasSubstr("evicts"))));
  EXPECT_THAT(Suggested("other-1"), testing::Not(Contains(HasSubstr("evicts"))))
      << "web-1 would fit nowhere else";
  PutNode(MakeNode("b").Cpu("1").Taint("spot", "NoSchedule"));
  EXPECT_THAT(Suggested("other-1"),
              Contains("gets room on 1 node if its priority were above 0: evicts 1 pod from a, "
                       "which fits elsewhere"));
}

TEST_F(ExplainerTest, NodesAreGroupedByPoolTaintAndReadiness) {
  PutNode(MakeNode("a").Cpu("3").Label("pool", "gpu").Taint("gpu", "NoSchedule", "yes"));
  PutNode(MakeNode("b").Cpu("3").Taint("node.kubernetes.io/not-ready", "NoExecute"));
  PutNode(MakeNode("c").Cpu("3").Label("eks.amazonaws.com/nodegroup", "spot"));
  const NodeTable nodes = ViewNodes(engine_->Explaining());
  EXPECT_THAT(nodes.pools, ElementsAre("", "gpu", "spot"));
  EXPECT_THAT(nodes.pool, ElementsAre(1, 0, 2));
  EXPECT_THAT(nodes.taints, ElementsAre("", "gpu=yes:NoSchedule"));
  EXPECT_THAT(nodes.taint, ElementsAre(1, 0, 0));
  EXPECT_THAT(nodes.ready, ElementsAre(1, 0, 1));
}

TEST_F(ExplainerTest, ListsArePagedAndFiltered) {
  PutNode(MakeNode("a").Cpu("3"));
  for (int i = 0; i < 5; ++i) PutPod(MakePod("p" + std::to_string(i)).Requests("cpu", "1"));
  Run();
  const scheduler::Source source = engine_->Explaining();
  EXPECT_EQ(ListDecisions(source, {}).total, 5);
  EXPECT_EQ(ListDecisions(source, {.outcome = "Unschedulable"}).total, 2);
  EXPECT_EQ(ListDecisions(source, {.plugin = "NodeResourcesFit"}).total, 2);
  EXPECT_EQ(ListDecisions(source, {.node = "a"}).total, 3);
  EXPECT_EQ(ListDecisions(source, {.namespace_ = "other"}).total, 0);
  EXPECT_EQ(ListDecisions(source, {.search = "s/p4"}).total, 1);
  EXPECT_EQ(ListDecisions(source, {.search = "a"}).total, 3) << "the node";
  EXPECT_EQ(ListDecisions(source, {.workload = "p4"}).total, 1);
  EXPECT_EQ(ListDecisions(source, {.workload = "p"}).total, 0) << "no part of a word";
  const DecisionList first = ListDecisions(source, {.limit = 3});
  ASSERT_THAT(first.items, SizeIs(3));
  const DecisionList rest =
      ListDecisions(source, {.limit = 3, .before = std::stoull(first.continue_)});
  EXPECT_THAT(rest.items, SizeIs(2));
  EXPECT_EQ(rest.continue_, "");
  const PendingList pending = ListPending(source, "");
  EXPECT_EQ(pending.total, 2);
  ASSERT_THAT(pending.groups, SizeIs(1));
  EXPECT_EQ(pending.groups[0].reason, "Insufficient cpu");
  EXPECT_EQ(pending.groups[0].pods, 2);
  const NodeTable nodes = ViewNodes(source);
  EXPECT_THAT(nodes.requested.find("cpu")->second, ElementsAre(3000));
  EXPECT_THAT(nodes.pools, ElementsAre(""));
  EXPECT_THAT(ViewNode(source, "a")->pods, SizeIs(3));
  EXPECT_FALSE(ViewNode(source, "nowhere"));
}

}  // namespace
}  // namespace berth::explain
