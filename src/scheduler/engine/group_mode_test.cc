// Coscheduling in the mode Group: pod groups of other APIs, decided by the group cycle on every
// Kubernetes minor.
#include <algorithm>
#include <string>
#include <vector>

#include "scheduler/testing/engine.h"

namespace berth::scheduler {
namespace {

using cluster::MakeNode;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr const char* kConfig =
    "apiVersion: kubescheduler.config.k8s.io/v1\n"
    "kind: KubeSchedulerConfiguration\n"
    "profiles:\n"
    "- schedulerName: default-scheduler\n"
    "  plugins:\n"
    "    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: '*'}]}\n"
    "    multiPoint: {enabled: [{name: Coscheduling}]}\n"
    "  pluginConfig:\n"
    "  - {name: Coscheduling, args: {mode: Group}}\n";

std::string Json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return text;
}

class GroupModeTest : public EngineTest {
 protected:
  void SetUp() override { MakeAs(34); }
  void MakeAs(int minor, const std::string& gate_settings = "") {
    config::FeatureGates gates(minor);
    if (!gate_settings.empty()) {
      ASSERT_TRUE(gates.Set(gate_settings).has_value());
    }
    EngineOptions options;
    options.behaviour = config::Behaviour(gates);
    options.check_inputs = true;
    const auto config = config::Load(kConfig, options.behaviour);
    ASSERT_TRUE(config.has_value()) << config.error().Message();
    auto engine = Engine::Make(*config, options, Now());
    ASSERT_TRUE(engine.has_value()) << engine.error().Message();
    engine_ = std::move(*engine);
    sent_.clear();
  }
  api::Object Object(const std::string& api_version, const std::string& kind,
                     const std::string& name, const std::string& rest) {
    const std::string ns = kind == "PodGroup" ? "'namespace':'ns'," : "";
    return *api::DecodeObject(Json("{'apiVersion':'" + api_version + "','kind':'" + kind +
                                   "','metadata':{'name':'" + name + "'," + ns + "'uid':'" + name +
                                   "','resourceVersion':'" + std::to_string(++version_) + "'}," +
                                   rest + "}"));
  }
  api::Object Group(const std::string& name, int min_member) {
    return Object("scheduling.x-k8s.io/v1alpha1", "PodGroup", name,
                  "'spec':{'minMember':" + std::to_string(min_member) + "}");
  }
  api::Object Volcano(const std::string& name, int min_member, const std::string& more = "") {
    return Object("scheduling.volcano.sh/v1beta1", "PodGroup", name,
                  "'spec':{'minMember':" + std::to_string(min_member) + more + "}");
  }
  static api::Pod Member(const std::string& name, const std::string& group, int32_t priority = 0) {
    return Small(name).Label("scheduling.x-k8s.io/pod-group", group).Priority(priority);
  }
  static api::Pod VolcanoMember(const std::string& name, const std::string& group,
                                int32_t priority = 0) {
    api::Pod pod = Small(name).Priority(priority);
    pod.metadata.annotations["scheduling.k8s.io/group-name"] = group;
    return pod;
  }
  std::vector<std::string> Binds() {
    std::vector<std::string> words = Run();
    std::erase_if(words, [](const std::string& word) { return !word.starts_with("bind "); });
    return words;
  }
  std::vector<std::string> Places(const std::vector<std::string>& pods) const {
    std::vector<std::string> places;
    for (const std::string& pod : pods) places.emplace_back(engine_->WhereIs(pod));
    return places;
  }
};

TEST_F(GroupModeTest, AGangIsBoundAsAWholeOrNotAtAllOnEveryMinor) {
  for (const int minor : {34, 35, 36, 37}) {
    SCOPED_TRACE(minor);
    MakeAs(minor);
    PutNode(MakeNode("a").Cpu("2"));
    PutPod(Member("p", "g"));
    EXPECT_THAT(Binds(), IsEmpty());
    EXPECT_THAT(Places({"p"}), ElementsAre("incomplete")) << "the group is not known";
    engine_->Upsert(Group("g", 3));
    PutPod(Member("q", "g"));
    EXPECT_THAT(Binds(), IsEmpty());
    EXPECT_THAT(Places({"p", "q"}), ElementsAre("gated", "gated")) << "the third is missing";
    PutPod(Member("r", "g"));
    const auto words = Run();
    EXPECT_THAT(words,
                Contains("event p FailedScheduling: pod group is unschedulable, minCount (3) "
                         "cannot be satisfied: 2 scheduled, 0 remaining, pod group "
                         "preemption: No preemption victims found for incoming preemptor"))
        << "two of three fit";
    EXPECT_THAT(words, Not(Contains(HasSubstr("bind "))));
    EXPECT_THAT(words, Not(Contains(HasSubstr("patch group"))));
    PutPod(Small("other"));
    EXPECT_THAT(Binds(), ElementsAre("bind other to a")) << "the gang holds nothing";
    PutNode(MakeNode("b").Cpu("2"));
    Sleep(30);
    Run();
    EXPECT_THAT(Places({"p", "q", "r"}), Each(AnyOf("binding", "waiting")));
  }
}

TEST_F(GroupModeTest, TwoGangsThatFitOneAfterTheOtherBothFinish) {
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Group("g", 3));
  engine_->Upsert(Group("h", 3));
  // In the mode Permit each would hold two CPUs and wait for the other.
  for (const char* pod : {"1", "2", "3"}) {
    PutPod(Member(std::string("g") + pod, "g"));
    PutPod(Member(std::string("h") + pod, "h"));
  }
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind g1 to a", "bind g2 to a", "bind g3 to a"));
  for (const char* pod : {"g1", "g2", "g3"}) {
    Answer(std::string("bind ") + pod);
    api::Pod bound = Member(pod, "g");
    bound.spec.node_name = "a";
    PutPod(bound);
  }
  for (const char* pod : {"g1", "g2", "g3"}) {
    api::Pod done = Member(pod, "g");
    done.spec.node_name = "a";
    engine_->Delete(api::Object(done));
  }
  Sleep(30);
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind h1 to a", "bind h2 to a", "bind h3 to a"));
}

TEST_F(GroupModeTest, AGroupComesWhereItsMostImportantPodWould) {
  PutNode(MakeNode("a").Cpu("2"));
  engine_->Upsert(Group("g", 2));
  PutPod(Member("p", "g", 3));
  PutPod(Small("other").Priority(5));
  PutPod(Member("q", "g", 7));
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind p to a", "bind q to a"))
      << "priorities may differ within a group";
}

TEST_F(GroupModeTest, AGroupPreemptsAsAWholeOnEveryMinor) {
  for (const int minor : {34, 35, 36, 37}) {
    SCOPED_TRACE(minor);
    MakeAs(minor);
    PutNode(MakeNode("a").Cpu("1"));
    PutNode(MakeNode("b").Cpu("1"));
    PutPod(Small("low-a").On("a"));
    PutPod(Small("low-b").On("b"));
    engine_->Upsert(Group("g", 2));
    PutPod(Member("p", "g", 10));
    PutPod(Member("q", "g", 10));
    const auto words = Run();
    EXPECT_THAT(words, Contains(HasSubstr("patch p PodScheduled=False/Unschedulable nominated=")));
    EXPECT_THAT(words, Contains(HasSubstr("patch q PodScheduled=False/Unschedulable nominated=")));
  }
}

TEST_F(GroupModeTest, AGroupThatDoesNotFitEvenAfterPreemptionEvictsNobody) {
  PutNode(MakeNode("a").Cpu("2"));
  PutPod(Small("low").On("a"));
  engine_->Upsert(Group("g", 3));
  for (const char* pod : {"p", "q", "r"}) PutPod(Member(pod, "g", 10));
  const auto words = Run();
  EXPECT_THAT(words, Not(Contains(HasSubstr("low"))));
  EXPECT_THAT(words, Not(Contains(HasSubstr("nominated=a"))));
}

TEST_F(GroupModeTest, PodsOfVolcanoNameTheirGroupInAnAnnotation) {
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Volcano("g", 2));
  PutPod(VolcanoMember("p", "g"));
  EXPECT_THAT(Binds(), IsEmpty());
  api::Pod other_key = Small("q");
  other_key.metadata.annotations["scheduling.volcano.sh/group-name"] = "g";
  PutPod(other_key);
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind p to a", "bind q to a"));
}

TEST_F(GroupModeTest, ThePriorityOfAVolcanoGroupIsThatOfItsClass) {
  PutNode(MakeNode("a").Cpu("1"));
  PutPod(Small("low").On("a").Priority(5));
  engine_->Upsert(Volcano("g", 1, ",'priorityClassName':'high'"));
  PutPod(VolcanoMember("p", "g"));
  EXPECT_THAT(Run(), Not(Contains(HasSubstr("nominated=a")))) << "the class is not known";
  engine_->Upsert(Object("scheduling.k8s.io/v1", "PriorityClass", "high", "'value':100"));
  Sleep(30);
  EXPECT_THAT(Run(), Contains(HasSubstr("patch p PodScheduled=False/Unschedulable nominated=a")));
}

TEST_F(GroupModeTest, GroupsOfOneNameInTwoApisAreTwoGroups) {
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Volcano("g", 2));
  engine_->Upsert(Group("g", 1));
  PutPod(VolcanoMember("p", "g"));
  PutPod(Member("q", "g"));
  EXPECT_THAT(Binds(), ElementsAre("bind q to a"));
}

TEST_F(GroupModeTest, AListOfOneKindLeavesTheGroupsOfOthers) {
  MakeAs(37, "GenericWorkload=true");
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Group("g", 1));
  engine_->Upsert(Volcano("v", 1));
  engine_->Replace("PodGroup", {});
  engine_->Replace("PodGroup.scheduling.volcano.sh", {});
  PutPod(Member("p", "g"));
  PutPod(VolcanoMember("q", "v"));
  api::Pod native = Small("r");
  native.spec.scheduling_group.emplace().pod_group_name = "native";
  PutPod(native);
  EXPECT_THAT(Binds(), ElementsAre("bind p to a"));
  EXPECT_THAT(Places({"q", "r"}), ElementsAre("incomplete", "incomplete"));
  api::PodGroup group;
  group.metadata.namespace_ = "ns";
  group.metadata.name = group.metadata.uid = "native";
  group.spec.scheduling_policy.gang.emplace().min_count = 1;
  Put(group);
  EXPECT_THAT(Binds(), ElementsAre("bind r to a")) << "groups of Kubernetes are scheduled beside";
}

TEST_F(GroupModeTest, WithoutTheGateGroupsOfKubernetesDoNotCount) {
  MakeAs(37);
  PutNode(MakeNode("a").Cpu("4"));
  api::Pod native = Small("p");
  native.spec.scheduling_group.emplace().pod_group_name = "g";
  PutPod(native);
  EXPECT_THAT(Binds(), ElementsAre("bind p to a"));
}

TEST_F(GroupModeTest, APodKeepsItsGroup) {
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Group("g", 2));
  PutPod(Member("p", "g"));
  EXPECT_THAT(Binds(), IsEmpty());
  PutPod(Small("p").Label("tier", "a"));
  EXPECT_THAT(Binds(), IsEmpty()) << "the label is gone, the group is not";
  PutPod(Member("q", "g"));
  EXPECT_THAT(Binds(), UnorderedElementsAre("bind p to a", "bind q to a"));
}

TEST_F(GroupModeTest, ASmallerMinimumHelpsAndADeletedGroupStopsItsPods) {
  PutNode(MakeNode("a").Cpu("4"));
  engine_->Upsert(Group("g", 3));
  PutPod(Member("p", "g"));
  EXPECT_THAT(Binds(), IsEmpty());
  engine_->Upsert(Group("g", 1));
  EXPECT_THAT(Binds(), ElementsAre("bind p to a"));
  engine_->Delete(Group("g", 1));
  PutPod(Member("q", "g"));
  EXPECT_THAT(Binds(), IsEmpty());
  EXPECT_THAT(Places({"q"}), ElementsAre("incomplete"));
}

}  // namespace
}  // namespace berth::scheduler
