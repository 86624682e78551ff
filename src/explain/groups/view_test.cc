#include "explain/groups/view.h"

#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "cluster/testing/dump.h"
#include "config/config.h"
#include "scheduler/profile_set.h"

namespace berth::explain {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class GroupViewTest : public testing::Test {
 protected:
  explicit GroupViewTest(const std::string& gates = "GenericWorkload=true") {
    config::FeatureGates made(37);
    EXPECT_TRUE(made.Set(gates).has_value());
    const config::Behaviour behaviour(made);
    auto profiles = scheduler::ProfileSet::Make(config::Default(behaviour), behaviour, cluster_);
    EXPECT_TRUE(profiles.has_value());
    profiles_ = std::make_unique<scheduler::ProfileSet>(std::move(*profiles));
    source_.cluster = &cluster_;
    source_.nodes = &nodes_;
    for (const auto& profile : profiles_->Profiles()) source_.profiles.push_back(profile.get());
  }

  void AddNode(const std::string& name, const std::string& cpu, const std::string& rack = "r",
               bool cordoned = false) {
    api::Node node = MakeNode(name).Cpu(cpu).Memory("8Gi").Label("rack", rack);
    node.spec.unschedulable = cordoned;
    if (cordoned) {
      node.spec.taints.push_back({"node.kubernetes.io/unschedulable", "", "NoSchedule", {}});
    }
    nodes_[name] = std::make_shared<const api::Node>(node);
    cluster_.SetNode(node);
  }
  void AddGroup(const std::string& name, int32_t min_count, const std::string& topology = "") {
    api::PodGroup group;
    group.metadata.namespace_ = "ns";
    group.metadata.name = name;
    group.spec.scheduling_policy.gang.emplace().min_count = min_count;
    if (!topology.empty()) group.spec.scheduling_constraints.emplace().topology = {{topology}};
    cluster_.MutableObjects().pod_groups.Set(group);
  }
  void AddPods(const std::string& group, int count, const std::string& cpu,
               const std::string& node = "") {
    for (int i = 0; i < count; ++i) {
      api::Pod pod = MakePod(group + "-" + std::to_string(i)).Requests("cpu", cpu);
      pod.spec.scheduling_group.emplace().pod_group_name = group;
      pod.spec.node_name = node;
      cluster_.AddPod(pod);
    }
  }
  // What is on nodes and what waits; rows that nodes have left do not count.
  std::string Rows() {
    std::istringstream dump(cluster::Dump(cluster_));
    std::string rows;
    for (std::string line; std::getline(dump, line);) {
      if (line.find("exists=false") == std::string::npos) rows += line + "\n";
    }
    return rows;
  }
  GroupView View(const std::string& name) {
    const std::string before = Rows();
    auto view = ExplainGroup(source_, "ns", name);
    EXPECT_TRUE(view) << (view ? "" : view.error().Message());
    EXPECT_EQ(Rows(), before);
    return view ? *view : GroupView();
  }
  static std::vector<std::string> Texts(const GroupView& view) {
    std::vector<std::string> texts;
    for (const Suggestion& suggestion : view.help) texts.push_back(suggestion.text);
    return texts;
  }

  cluster::Cluster cluster_;
  scheduler::NodeObjects nodes_;
  std::unique_ptr<scheduler::ProfileSet> profiles_;
  scheduler::Source source_;
};

TEST_F(GroupViewTest, SaysWhoFitsWhoDoesNotAndWhatWouldHelp) {
  AddNode("a", "4");
  AddNode("b", "4");
  AddGroup("first", 6);
  AddPods("first", 3, "1", "a");
  AddGroup("second", 6);
  AddPods("second", 6, "1");
  const GroupView view = View("second");
  EXPECT_EQ(view.group.state, "Waiting");
  EXPECT_EQ(view.outcome, "Unschedulable");
  EXPECT_THAT(view.message, HasSubstr("minCount (6) cannot be satisfied: 5 scheduled"));
  EXPECT_EQ(view.needed, 6);
  EXPECT_EQ(view.best, 5);
  ASSERT_EQ(view.best_nodes.size(), 2u);
  EXPECT_EQ(view.best_nodes[0].node, "b");
  EXPECT_EQ(view.best_nodes[0].pods, 4);
  ASSERT_EQ(view.blockers.size(), 1u);
  EXPECT_EQ(view.blockers[0].pods, 1);
  EXPECT_EQ(view.blockers[0].message, "0/2 nodes are available: 2 Insufficient cpu.");
  ASSERT_EQ(view.members.size(), 6u);
  EXPECT_EQ(view.members[0].outcome, "Fits");
  EXPECT_EQ(view.members[5].outcome, "Unschedulable");
  EXPECT_THAT(Texts(view),
              ElementsAre("the group is scheduled when podgroup ns/first ends (3 pods)",
                          "the group is scheduled if minCount were 5",
                          "the group is scheduled if its pods had cpu request ≤ 744m",
                          "the group is scheduled with a new node like b",
                          HasSubstr("if its priority were above 0, preempting 2 pods")));
}

TEST_F(GroupViewTest, AGroupThatFitsNeedsNoHelp) {
  AddNode("a", "4");
  AddGroup("g", 2);
  AddPods("g", 2, "1");
  const GroupView view = View("g");
  EXPECT_EQ(view.outcome, "Placed");
  EXPECT_EQ(view.best, 2);
  EXPECT_THAT(view.help, IsEmpty());
}

TEST_F(GroupViewTest, AGroupThatRunsIsShownWithItsNodes) {
  AddNode("a", "4");
  AddGroup("g", 2);
  AddPods("g", 2, "1", "a");
  const GroupView view = View("g");
  EXPECT_EQ(view.group.state, "Running");
  EXPECT_EQ(view.outcome, "");
  ASSERT_EQ(view.members.size(), 2u);
  EXPECT_EQ(view.members[0].node, "a");
}

TEST_F(GroupViewTest, PodsThatAreMissing) {
  AddNode("a", "4");
  AddGroup("g", 3);
  AddPods("g", 2, "1");
  const GroupView view = View("g");
  EXPECT_EQ(view.group.state, "Incomplete");
  EXPECT_EQ(view.outcome, "Gated");
  EXPECT_EQ(view.message, "waiting for minCount pods from a gang to appear in scheduling queue");
  EXPECT_EQ(view.members[0].outcome, "Gated");
  EXPECT_THAT(view.help, IsEmpty()) << "no change makes the missing pod";
}

TEST_F(GroupViewTest, AGroupThatHasRunIsFinished) {
  AddGroup("g", 2);
  EXPECT_EQ(View("g").group.state, "Incomplete");
  api::PodGroup group = *cluster_.Objects().pod_groups.Find("ns", "g");
  api::Condition& condition = group.status.conditions.emplace_back();
  condition.type = "PodGroupInitiallyScheduled";
  condition.status = "True";
  cluster_.MutableObjects().pod_groups.Set(group);
  EXPECT_EQ(View("g").group.state, "Finished");
}

TEST_F(GroupViewTest, OfCordonedNodesTheFewestAreNamed) {
  AddNode("a", "2");
  AddNode("b", "1", "r", /*cordoned=*/true);
  AddNode("c", "2", "r", /*cordoned=*/true);
  AddGroup("g", 4);
  AddPods("g", 4, "1");
  const GroupView view = View("g");
  ASSERT_FALSE(view.help.empty());
  EXPECT_EQ(view.help[0].text, "the group is scheduled if c were uncordoned");
  EXPECT_EQ(view.help[0].patch, "kubectl uncordon 'c'");
  EXPECT_THAT(view.help[0].what_if->uncordon, ElementsAre("c"));
}

TEST_F(GroupViewTest, AnUnknownGroupIsAnError) {
  EXPECT_EQ(ExplainGroup(source_, "ns", "nobody").error().Message(), "no pod group ns/nobody");
}

TEST_F(GroupViewTest, TheListHasThoseThatWaitFirst) {
  AddNode("a", "4");
  AddGroup("runs", 1);
  AddPods("runs", 1, "1", "a");
  AddGroup("waits", 2);
  AddPods("waits", 2, "1");
  AddGroup("part", 1);
  AddPods("part", 1, "1", "a");
  const GroupList list = ListGroups(source_, "");
  EXPECT_TRUE(list.followed);
  ASSERT_EQ(list.items.size(), 3u);
  EXPECT_EQ(list.items[0].name, "waits");
  EXPECT_EQ(list.items[0].state, "Waiting");
  EXPECT_EQ(list.items[1].name, "part");
  EXPECT_EQ(list.items[2].state, "Running");
  EXPECT_EQ(ListGroups(source_, "elsewhere").total, 0);
}

class GroupTopologyViewTest : public GroupViewTest {
 protected:
  GroupTopologyViewTest()
      : GroupViewTest("GenericWorkload=true,TopologyAwareWorkloadScheduling=true") {}
};

TEST_F(GroupTopologyViewTest, EveryDomainHasItsOwnCount) {
  AddNode("a1", "1", "a");
  AddNode("b1", "2", "b");
  AddNode("b2", "1", "b");
  AddGroup("g", 4, "rack");
  AddPods("g", 4, "1");
  const GroupView view = View("g");
  EXPECT_EQ(view.domain_key, "rack");
  ASSERT_EQ(view.domains.size(), 2u);
  EXPECT_EQ(view.domains[0].name, "b");
  EXPECT_EQ(view.domains[0].fits, 3);
  EXPECT_FALSE(view.domains[0].enough);
  EXPECT_EQ(view.domains[1].fits, 1);
  EXPECT_EQ(view.best, 3);
  EXPECT_EQ(view.best_domain, "b");
  EXPECT_THAT(Texts(view),
              testing::Contains("the group is scheduled without its topology constraint on rack"));
}

class WithoutGroupsTest : public GroupViewTest {
 protected:
  WithoutGroupsTest() : GroupViewTest("GenericWorkload=false") {}
};

TEST_F(WithoutGroupsTest, NothingIsTriedWithoutTheGate) {
  AddNode("a", "1");
  AddGroup("g", 2);
  AddPods("g", 2, "1");
  const GroupView view = View("g");
  EXPECT_EQ(view.outcome, "");
  EXPECT_THAT(view.message, HasSubstr("the feature gate GenericWorkload is off"));
  EXPECT_EQ(view.members[0].outcome, "NotTried");
  EXPECT_FALSE(ListGroups(source_, "").followed);
}

}  // namespace
}  // namespace berth::explain
