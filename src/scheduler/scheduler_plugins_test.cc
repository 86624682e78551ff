// Plugins of scheduler-plugins inside the engine: what unit tests of a plugin alone cannot show.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

api::Object Parsed(std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  return *api::DecodeObject(json);
}

class SchedulerPluginsTest : public EngineTest {
 protected:
  void SetUp() override {}
  void Configure(const std::string& profile) {
    const auto config = config::Load(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- schedulerName: default-scheduler\n" +
        profile);
    ASSERT_TRUE(config.has_value()) << config.error().Message();
    EngineOptions options;
    options.check_inputs = true;
    auto engine = Engine::Make(*config, options, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
  }
  std::vector<std::string> Binds() {
    std::vector<std::string> binds;
    for (const std::string& effect : Run()) {
      if (effect.starts_with("bind")) binds.push_back(effect);
    }
    return binds;
  }
};

// Without a backoff of groups, members of one that does not fit are retried at once, again and
// again.
constexpr const char* kCoscheduling =
    "  plugins:\n"
    "    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n"
    "    multiPoint: {enabled: [{name: Coscheduling}]}\n"
    "  pluginConfig:\n"
    "  - {name: Coscheduling, args: {permitWaitingTimeSeconds: 30, podGroupBackoffSeconds: 20}}\n";

class CoschedulingEngineTest : public SchedulerPluginsTest {
 protected:
  void SetUp() override {
    Configure(kCoscheduling);
    PutNode(cluster::MakeNode("n").Cpu("4"));
  }
  static api::Object Group(int min_member) {
    return Parsed(
        "{'apiVersion':'scheduling.x-k8s.io/v1alpha1','kind':'PodGroup','metadata':"
        "{'name':'g','namespace':'ns','resourceVersion':'1','creationTimestamp':"
        "'2023-01-01T00:00:00Z'},'spec':{'minMember':" +
        std::to_string(min_member) + "}}");
  }
  static api::Pod Member(const std::string& name, const std::string& cpu = "1") {
    return cluster::MakePod(name).Label("scheduling.x-k8s.io/pod-group", "g").Requests("cpu", cpu);
  }
};

TEST_F(CoschedulingEngineTest, MembersAreBoundTogether) {
  engine_->Upsert(Group(3));
  PutPod(Member("a"));
  PutPod(Member("b"));
  EXPECT_THAT(Run(), Contains(HasSubstr("cannot find enough sibling pods, current pods number: ")));
  EXPECT_EQ(engine_->WhereIs("a"), "unschedulable");
  PutPod(Member("c"));
  Sleep(60);
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind a to n", "bind b to n", "bind c to n"));
}

TEST_F(CoschedulingEngineTest, OneThatDoesNotFitLetsTheOthersGo) {
  engine_->Upsert(Group(3));
  PutPod(Member("a", "2"));
  PutPod(Member("b", "2"));
  PutPod(Member("c", "2"));
  const auto effects = Run();
  EXPECT_THAT(effects, Not(Contains(HasSubstr("bind"))));
  EXPECT_THAT(effects, Contains(AllOf(HasSubstr("event c"), HasSubstr("Insufficient cpu"))));
  EXPECT_THAT(effects, Contains(HasSubstr("optimistic rejection in PostFilter")));
  for (const char* pod : {"a", "b", "c"}) EXPECT_NE(engine_->WhereIs(pod), "waiting") << pod;
  PutNode(cluster::MakeNode("m").Cpu("4"));
  Sleep(60);  // longer than the group's backoff
  EXPECT_THAT(Binds(), IsEmpty()) << "a new node is no event of the plugin";
  engine_->Upsert(Group(2));
  Sleep(60);
  EXPECT_EQ(Binds().size(), 3u);
}

TEST_F(CoschedulingEngineTest, WaitingEnds) {
  engine_->Upsert(Group(2));
  PutPod(Member("a"));
  PutPod(Member("b", "1"));
  // The second member is taken away while the first one waits.
  engine_->Upsert(Group(3));
  PutPod(Member("c", "1"));
  engine_->Step();
  EXPECT_EQ(engine_->WhereIs("a"), "waiting");
  Sleep(31);
  EXPECT_NE(engine_->WhereIs("a"), "waiting");
}

TEST_F(CoschedulingEngineTest, AGroupThatDoesNotExistIsAwaited) {
  PutPod(Member("a"));
  EXPECT_THAT(Run(), Contains(HasSubstr("PodGroup not found")));
  engine_->Upsert(Group(1));
  Sleep(60);
  EXPECT_THAT(Binds(), ElementsAre("bind a to n"));
}

TEST_F(CoschedulingEngineTest, ListsOfItsGroupsAreNotThoseOfKubernetes) {
  engine_->Replace("PodGroup.scheduling.x-k8s.io", {Group(1)});
  engine_->Replace("PodGroup", {});
  PutPod(Member("a"));
  EXPECT_THAT(Binds(), ElementsAre("bind a to n"));
  engine_->Replace("PodGroup.scheduling.x-k8s.io", {});
  PutPod(Member("b"));
  EXPECT_THAT(Run(), Contains(HasSubstr("PodGroup not found")));
}

class CapacityEngineTest : public SchedulerPluginsTest {
 protected:
  void SetUp() override {
    Configure(
        "  plugins:\n"
        "    multiPoint: {enabled: [{name: CapacityScheduling}],"
        " disabled: [{name: DefaultPreemption}]}\n");
    PutNode(cluster::MakeNode("n").Cpu("8"));
  }
  static api::Object Quota(const std::string& ns, const std::string& spec) {
    return Parsed(
        "{'apiVersion':'scheduling.x-k8s.io/v1alpha1','kind':'ElasticQuota','metadata':"
        "{'name':'q','namespace':'" +
        ns + "','resourceVersion':'1'},'spec':" + spec + "}");
  }
  static api::Pod Pod(const std::string& name, const std::string& ns, const std::string& cpu) {
    return cluster::MakePod(name).Namespace(ns).Requests("cpu", cpu);
  }
};

TEST_F(CapacityEngineTest, AssumedPodsCountAndLendersArePreemptedFor) {
  engine_->Upsert(Quota("a", "{'min':{'cpu':2},'max':{'cpu':4}}"));
  engine_->Upsert(Quota("b", "{'min':{'cpu':2},'max':{'cpu':4}}"));
  PutPod(Pod("b1", "b", "2"));
  PutPod(Pod("b2", "b", "2"));
  PutPod(Pod("b3", "b", "1"));
  const auto effects = Run();
  EXPECT_THAT(effects, Contains("bind b2 to n"));
  EXPECT_THAT(effects, Contains(HasSubstr("ElasticQuota b is more than Max")));
  PutPod(Pod("a1", "a", "2"));
  EXPECT_THAT(Run(), Contains("patch b1 DisruptionTarget=True/PreemptionByScheduler"));
}

TEST_F(CapacityEngineTest, AQuotaThatGrowsWakesPods) {
  engine_->Upsert(Quota("a", "{'min':{'cpu':1}}"));
  PutPod(Pod("a1", "a", "2"));
  EXPECT_THAT(Binds(), IsEmpty());
  engine_->Upsert(Quota("a", "{'min':{'cpu':2}}"));
  Sleep(60);
  EXPECT_THAT(Binds(), ElementsAre("bind a1 to n"));
}

TEST_F(SchedulerPluginsTest, PriorityClassesReachThePluginThatNamesThem) {
  Configure(
      "  plugins:\n"
      "    multiPoint: {enabled: [{name: PreemptionToleration}],"
      " disabled: [{name: DefaultPreemption}]}\n");
  PutNode(cluster::MakeNode("n").Cpu("1"));
  engine_->Upsert(Parsed(
      "{'apiVersion':'scheduling.k8s.io/v1','kind':'PriorityClass','metadata':{'name':'batch',"
      "'annotations':{'preemption-toleration.scheduling.x-k8s.io/minimum-preemptable-priority':"
      "'100','preemption-toleration.scheduling.x-k8s.io/toleration-seconds':'60'}},'value':1}"));
  api::Pod victim = cluster::MakePod("victim").Priority(1).Requests("cpu", "1").On("n");
  victim.spec.priority_class_name = "batch";
  api::PodCondition& condition = victim.status.conditions.emplace_back();
  condition.type = "PodScheduled";
  condition.status = "True";
  condition.last_transition_time = Now();
  PutPod(victim);
  PutPod(cluster::MakePod("p").Priority(99).Requests("cpu", "1"));
  EXPECT_THAT(Run(), Contains(HasSubstr("No victims found on node n for preemptor pod p")));
  Sleep(61);
  PutPod(cluster::MakePod("q").Priority(99).Requests("cpu", "1"));
  EXPECT_THAT(Run(), Contains("patch victim DisruptionTarget=True/PreemptionByScheduler"));
}

}  // namespace
}  // namespace berth::scheduler
