#include "plugins/coscheduling/coscheduling.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "plugins/coscheduling/resource_gap.h"
#include "plugins/default_preemption/testing/post_filter_run.h"

namespace berth::plugins::coscheduling {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Pods on nodes wait, in order of ids.
class FakePods final : public framework::PodControl {
 public:
  explicit FakePods(const cluster::Cluster& cluster) : cluster_(cluster) {}
  void ForEachWaiting(FunctionRef<void(const framework::WaitingPod&)> visit) const override {
    for (PodId id = 0; id < cluster_.PodIdLimit(); ++id) {
      if (!cluster_.PodExists(id) || cluster_.GetPod(id).node == cluster::kNoNode) continue;
      const framework::WaitingPod pod{cluster_.GetPod(id), cluster_.GetPod(id).node, {kName}};
      visit(pod);
    }
  }
  void Allow(std::string_view uid, std::string_view plugin) override {
    done.push_back("allow " + std::string(uid) + " " + std::string(plugin));
  }
  void Reject(std::string_view uid, std::string_view, std::string_view message) override {
    done.push_back("reject " + std::string(uid) + ": " + std::string(message));
  }
  void Activate(std::string_view ns, std::string_view name) override {
    done.push_back("activate " + std::string(ns) + "/" + std::string(name));
  }

  std::vector<std::string> done;

 private:
  const cluster::Cluster& cluster_;
};

class CoschedulingTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Track(Inputs({}));
    cluster_.SetNode(MakeNode("n").Cpu("4").Memory("8Gi"));
  }
  void Group(const std::string& name, const std::string& spec,
             const std::string& created = "2025-01-01T00:00:00Z") {
    api::UnknownObject object{PodGroupKind().ApiVersion(), "PodGroup", {}, ""};
    object.metadata.name = name;
    object.metadata.namespace_ = "ns";
    object.json = R"({"metadata":{"name":")" + name +
                  R"(","namespace":"ns","creationTimestamp":")" + created + R"("},"spec":{)" +
                  spec + "}}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  PodId Pod(const std::string& name, const std::string& group, const std::string& node = "") {
    return cluster_.AddPod(MakePod(name).Label(std::string(kGroupLabel), group).On(node));
  }
  Coscheduling& Plugin(const config::CoschedulingArgs& args = {}) {
    plugin_ = std::make_unique<Coscheduling>(args, cluster_, &pods_);
    At(0);
    return *plugin_;
  }
  void At(int64_t seconds) {
    plugin_->SetTime(api::Time::FromUnixNano((kNow + seconds) * 1'000'000'000));
  }
  static std::string Text(const framework::Status& status) {
    const std::string code(framework::CodeName(status.code()));
    return status.Message().empty() ? code : code + ": " + status.Message();
  }
  framework::CycleContext Context(PodId id) {
    return {cluster_, cluster_.GetPod(id), *cluster_.GetPod(id).shape};
  }
  std::string PreFilter(PodId id) {
    return Text(plugin_->PreFilter(Context(id), nullptr, nullptr));
  }
  // "Code timeout", the timeout in seconds.
  std::string Permit(PodId id) {
    int64_t timeout = 0;
    const std::string text = Text(plugin_->Permit(Context(id), nullptr, 0, &timeout));
    return text + " " + std::to_string(timeout / 1'000'000'000);
  }
  // PostFilter of a plugin of its own, for a pod that fits nowhere.
  std::string PostFilter(PodId id) {
    cluster::Cluster& cluster = cluster_;
    config::ResolvedProfile resolved;
    const framework::RegistryRow registry[] = {{"Pods", &default_preemption::PodsFilter::Make}};
    resolved.points[config::Index(config::ExtensionPoint::kFilter)] = {{"Pods", 0}};
    const auto profile = framework::Profile::Make(resolved, registry, {cluster});
    framework::Cycle cycle(**profile);
    cycle.Begin(cluster, cluster.GetPod(id));
    framework::PostFilterResult result;
    return Text(plugin_->PostFilter(cycle, cluster, {}, &result));
  }

  static constexpr int64_t kNow = 1'750'000'000;
  cluster::Cluster cluster_;
  FakePods pods_{cluster_};
  std::unique_ptr<Coscheduling> plugin_;
};

TEST_F(CoschedulingTest, LessGoesByPriorityThenTimeOfTheGroupThenName) {
  const Coscheduling& plugin = Plugin();
  Group("old", "\"minMember\":2", "2025-01-01T00:00:00Z");
  Group("new", "\"minMember\":2", "2025-02-01T00:00:00Z");
  const auto less = [&](PodId a, int64_t a_first, PodId b, int64_t b_first) {
    return plugin.Less(cluster_, cluster_.GetPod(a), a_first, cluster_.GetPod(b), b_first);
  };
  const PodId old1 = Pod("old1", "old");
  const PodId old2 = Pod("old2", "old");
  const PodId new1 = Pod("new1", "new");
  const PodId alone = cluster_.AddPod(MakePod("alone"));
  const PodId urgent = cluster_.AddPod(MakePod("urgent").Priority(1));
  const PodId lost = Pod("lost", "missing");
  EXPECT_TRUE(less(urgent, 9, old1, 0));
  EXPECT_FALSE(less(old1, 0, urgent, 9));
  EXPECT_TRUE(less(old1, 9, new1, 0)) << "the groups' creation";
  EXPECT_TRUE(less(old1, 9, old2, 0)) << "names";
  EXPECT_FALSE(less(old2, 0, old1, 9));
  EXPECT_TRUE(less(alone, 0, old1, 0)) << "first tried in 1970";
  EXPECT_TRUE(less(lost, 1, alone, 2)) << "a group that does not exist does not count";
  EXPECT_TRUE(less(alone, 1, lost, 2));
}

TEST_F(CoschedulingTest, AGroupThatFailsGoesToTheEnd) {
  Coscheduling& plugin = Plugin();
  Group("g", "\"minMember\":2");
  const PodId pod = Pod("p", "g");
  const PodId alone = cluster_.AddPod(MakePod("alone"));
  const int64_t later = (kNow - 1) * 1'000'000'000;
  EXPECT_TRUE(plugin.Less(cluster_, cluster_.GetPod(pod), 0, cluster_.GetPod(alone), later));
  PostFilter(pod);
  EXPECT_FALSE(plugin.Less(cluster_, cluster_.GetPod(pod), 0, cluster_.GetPod(alone), later));
}

TEST_F(CoschedulingTest, PreFilterCountsSiblings) {
  Plugin();
  Group("g", "\"minMember\":2");
  const PodId first = Pod("first", "g");
  EXPECT_EQ(PreFilter(first),
            "UnschedulableAndUnresolvable: pre-filter pod first cannot find enough sibling pods, "
            "current pods number: 1, minMember of group: 2");
  cluster_.AddPod(MakePod("second").Label(std::string(kGroupLabel), "g").Namespace("other"));
  EXPECT_THAT(PreFilter(first), testing::HasSubstr("current pods number: 1"));
  const PodId gated = cluster_.AddPod(
      MakePod("gated").Label(std::string(kGroupLabel), "g").Gate("example.com/wait"));
  EXPECT_EQ(PreFilter(first),
            "UnschedulableAndUnresolvable: pre-filter pod first cannot proceed due to gated pods "
            "in the same PodGroup");
  cluster_.RemovePod(gated);
  Pod("third", "g");
  EXPECT_EQ(PreFilter(first), "Success");
  EXPECT_EQ(PreFilter(Pod("lost", "missing")), "Success") << "Permit says that it is missing";
  EXPECT_EQ(PreFilter(cluster_.AddPod(MakePod("alone"))), "Success");
}

TEST_F(CoschedulingTest, MinimumResourcesAreCheckedOncePerPermitTime) {
  Plugin({.permit_waiting_time_seconds = 5});
  Group("g", R"("minMember":1,"minResources":{"cpu":"6","memory":"1Gi"})");
  const PodId pod = Pod("p", "g");
  EXPECT_EQ(PreFilter(pod),
            "UnschedulableAndUnresolvable: resource gap: map[cpu:{{2000 -3} {<nil>}  DecimalSI}]");
  cluster_.SetNode(MakeNode("m").Cpu("2").Memory("1Gi"));
  EXPECT_EQ(PreFilter(pod), "Success");
  cluster_.RemoveNode("m");
  At(5);
  EXPECT_EQ(PreFilter(pod), "Success") << "permitted already";
  At(6);
  EXPECT_THAT(PreFilter(pod), testing::HasSubstr("resource gap"));
}

TEST_F(CoschedulingTest, ResourceGapIgnoresTheGroupsOwnPods) {
  cluster_.AddPod(MakePod("own").Label(std::string(kGroupLabel), "g").Requests("cpu", "3").On("n"));
  const auto gap = [&](const char* group, const char* cpu) {
    return ResourceGap(cluster_, {{"cpu", *api::Quantity::Parse(cpu)}}, 2, "ns", group);
  };
  EXPECT_EQ(gap("g", "4"), "");
  EXPECT_EQ(gap("other", "4"), "resource gap: map[cpu:{{3000 -3} {<nil>}  DecimalSI}]");
  EXPECT_EQ(gap("g", "4500m"), "resource gap: map[cpu:{{500 -3} {<nil>}  DecimalSI}]");
}

// A recorded run: a pod that asks for a GPU was put on a node without any.
TEST_F(CoschedulingTest, ResourceGapLeavesOutWhatANodeDoesNotOffer) {
  cluster_.SetNode(MakeNode("m").Cpu("8").Has("example.com/gpu", "4"));
  cluster_.AddPod(MakePod("lost").Requests("example.com/gpu", "1").On("n"));
  EXPECT_EQ(ResourceGap(cluster_, {{"example.com/gpu", *api::Quantity::Parse("6")}}, 1, "ns", "g"),
            "resource gap: map[example.com/gpu:{{2 0} {<nil>}  DecimalSI}]");
  cluster_.AddPod(MakePod("there").Requests("example.com/gpu", "1").On("m"));
  EXPECT_EQ(ResourceGap(cluster_, {{"example.com/gpu", *api::Quantity::Parse("6")}}, 1, "ns", "g"),
            "resource gap: map[example.com/gpu:{{3 0} {<nil>}  DecimalSI}]");
}

TEST_F(CoschedulingTest, ResourceGapPrintsWhatIsMissingAsGoDoes) {
  const auto gap = [&](const char* name, const char* amount, int64_t pods = 1) {
    return ResourceGap(cluster_, {{name, *api::Quantity::Parse(amount)}}, pods, "ns", "g");
  };
  EXPECT_EQ(gap("memory", "9Gi"), "resource gap: map[memory:{{1073741824 0} {<nil>}  BinarySI}]");
  EXPECT_EQ(gap("memory", "10G"), "resource gap: map[memory:{{1410065408 0} {<nil>}  DecimalSI}]");
  EXPECT_EQ(gap("example.com/gpu", "3"),
            "resource gap: map[example.com/gpu:{{3 0} {<nil>}  DecimalSI}]");
  EXPECT_EQ(gap("cpu", "4.5"), "resource gap: map[cpu:{{500 -3} {<nil>}  DecimalSI}]");
  EXPECT_EQ(gap("cpu", "1", 112), "resource gap: map[pods:{{2 0} {<nil>}  DecimalSI}]");
}

TEST_F(CoschedulingTest, PermitWaitsForTheMinimum) {
  Plugin({.permit_waiting_time_seconds = 7});
  Group("g", "\"minMember\":2");
  const PodId first = Pod("first", "g", "n");
  Pod("second", "g");
  EXPECT_EQ(Permit(first), "Wait 7");
  EXPECT_THAT(pods_.done, ElementsAre("activate ns/second"));
  pods_.done.clear();
  EXPECT_EQ(Permit(Pod("third", "g", "n")), "Success 0");
  EXPECT_THAT(pods_.done,
              UnorderedElementsAre("allow first Coscheduling", "allow third Coscheduling"))
      << "the engine ignores those that do not wait";
}

TEST_F(CoschedulingTest, OnlyTheFirstMemberBringsItsSiblings) {
  Plugin();
  Group("g", "\"minMember\":3");
  Pod("first", "g", "n");
  EXPECT_EQ(Permit(Pod("second", "g", "n")), "Wait 60");
  EXPECT_THAT(pods_.done, IsEmpty());
}

TEST_F(CoschedulingTest, HowLongPermitWaits) {
  struct Case {
    int64_t by_args;
    const char* spec;
    const char* want;
  };
  const Case cases[] = {
      {60, "\"minMember\":2", "Wait 60"},
      {0, "\"minMember\":2", "Wait 60"},
      {60, "\"minMember\":2,\"scheduleTimeoutSeconds\":9", "Wait 9"},
      {30, "\"minMember\":2,\"scheduleTimeoutSeconds\":0", "Wait 30"},
      {0, "\"minMember\":2,\"scheduleTimeoutSeconds\":0", "Wait 0"},
  };
  const PodId pod = Pod("p", "g", "n");
  for (const Case& c : cases) {
    Plugin({.permit_waiting_time_seconds = c.by_args});
    Group("g", c.spec);
    EXPECT_EQ(Permit(pod), c.want) << c.by_args << " " << c.spec;
  }
}

TEST_F(CoschedulingTest, PermitOfPodsWithoutAGroup) {
  Plugin();
  EXPECT_EQ(Permit(cluster_.AddPod(MakePod("alone").On("n"))), "Success 0");
  EXPECT_EQ(Permit(Pod("lost", "missing", "n")), "Unschedulable: PodGroup not found 0");
}

TEST_F(CoschedulingTest, PostFilterRejectsTheGroup) {
  Plugin({.pod_group_backoff_seconds = 10});
  Group("g", "\"minMember\":3");
  Pod("waits", "g", "n");
  Pod("pending", "g");
  const PodId fails = Pod("fails", "g");
  EXPECT_EQ(PostFilter(fails),
            "Unschedulable: PodGroup ns/g gets rejected due to Pod fails is unschedulable even "
            "after PostFilter");
  EXPECT_THAT(pods_.done, ElementsAre("reject waits: optimistic rejection in PostFilter"));
  EXPECT_EQ(PreFilter(fails), "UnschedulableAndUnresolvable: podGroup ns/g failed recently");
  At(10);
  EXPECT_THAT(PreFilter(fails), testing::HasSubstr("failed recently"));
  At(11);
  EXPECT_EQ(PreFilter(fails), "Success");
}

TEST_F(CoschedulingTest, PostFilterSparesAGroupThatIsNearlyComplete) {
  Plugin({.pod_group_reject_percentage = 50});
  Group("g", "\"minMember\":2");
  Pod("waits", "g", "n");
  const PodId fails = Pod("fails", "g");
  EXPECT_EQ(PostFilter(fails), "Unschedulable") << "half of it is missing";
  Plugin({.pod_group_reject_percentage = 49});
  EXPECT_THAT(PostFilter(fails), testing::HasSubstr("gets rejected"));
  pods_.done.clear();
  Pod("more", "g", "n");
  EXPECT_EQ(PostFilter(fails), "Unschedulable") << "there are enough";
  EXPECT_EQ(PostFilter(cluster_.AddPod(MakePod("alone"))), "Unschedulable: can not find pod group");
  EXPECT_THAT(pods_.done, IsEmpty());
}

TEST_F(CoschedulingTest, UnreserveRejectsTheOthers) {
  Coscheduling& plugin = Plugin();
  Group("g", "\"minMember\":3");
  Pod("waits", "g", "n");
  Pod("stranger", "other", "n");
  plugin.Unreserve(Context(Pod("failed", "g")), nullptr, 0);
  EXPECT_THAT(pods_.done, ElementsAre("reject waits: rejection in Unreserve"));
}

}  // namespace
}  // namespace berth::plugins::coscheduling
