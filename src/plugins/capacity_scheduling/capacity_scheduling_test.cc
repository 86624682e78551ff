#include "plugins/capacity_scheduling/capacity_scheduling.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/inputs.h"
#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"
#include "plugins/capacity_scheduling/elastic_quota.h"
#include "plugins/default_preemption/testing/post_filter_run.h"

namespace berth::plugins::capacity_scheduling {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using cluster::PodId;
using default_preemption::PostFilterRun;

class CapacitySchedulingTest : public testing::Test {
 protected:
  void SetUp() override {
    cluster_.Track(Inputs({}));
    cluster_.SetNode(MakeNode("n").Pods("4"));
  }
  // `spec` is JSON with ' for ".
  void Quota(const std::string& ns, std::string spec, const std::string& name = "quota") {
    std::replace(spec.begin(), spec.end(), '\'', '"');
    api::UnknownObject object{ElasticQuotaKind().ApiVersion(), "ElasticQuota", {}, ""};
    object.metadata.name = name;
    object.metadata.namespace_ = ns;
    object.json = R"({"metadata":{"name":")" + name + R"(","namespace":")" + ns + R"("},"spec":{)" +
                  spec + "}}";
    cluster_.MutableObjects().custom.Find(object.api_version, object.kind)->Set(object);
  }
  // A pod of `ns` that asks for `cpu`.
  static MakePod Pod(const std::string& name, const std::string& ns, const std::string& cpu) {
    return MakePod(name).Namespace(ns).Requests("cpu", cpu);
  }
  PodId Running(const std::string& name, const std::string& ns, const std::string& cpu,
                int32_t priority = 0) {
    api::Pod pod = Pod(name, ns, cpu).Priority(priority).On("n");
    pod.status.start_time = *api::Time::Parse("2025-01-01T00:00:00Z");
    return cluster_.AddPod(pod);
  }
  std::string PreFilter(const api::Pod& pod) {
    const PodId id = cluster_.AddPod(pod);
    std::string text = run_.PreFilter(id);
    cluster_.RemovePod(id);
    return text;
  }
  std::string Preempt(const api::Pod& pod) {
    const PodId id = cluster_.AddPod(pod);
    std::string text = run_.Run(id);
    cluster_.RemovePod(id);
    return text;
  }

  cluster::Cluster cluster_;
  PostFilterRun run_{cluster_, kName, &Make};
};

constexpr const char* kOverMax =
    "Unschedulable: Pod a/p is rejected in PreFilter because ElasticQuota a is more than Max";
constexpr const char* kOverMin =
    "Unschedulable: Pod a/p is rejected in PreFilter because total ElasticQuota used is more than "
    "min";

TEST_F(CapacitySchedulingTest, NamespacesWithoutAQuotaAreFree) {
  Quota("b", "'min':{'cpu':'0'},'max':{'cpu':'0'}");
  EXPECT_EQ(PreFilter(Pod("p", "a", "100")), "Success");
}

TEST_F(CapacitySchedulingTest, PodsUpToTheMaximumIfTheOthersLeaveEnough) {
  Quota("a", "'min':{'cpu':'2'},'max':{'cpu':'4'}");
  Quota("b", "'min':{'cpu':'3'},'max':{'cpu':'5'}");
  EXPECT_EQ(PreFilter(Pod("p", "a", "4")), "Success") << "two of them borrowed";
  EXPECT_EQ(PreFilter(Pod("p", "a", "4001m")), kOverMax);
  Running("b1", "b", "2");
  EXPECT_EQ(PreFilter(Pod("p", "a", "3")), "Success");
  EXPECT_EQ(PreFilter(Pod("p", "a", "3001m")), kOverMin);
  const PodId more = Running("a1", "a", "1");
  EXPECT_EQ(PreFilter(Pod("p", "a", "2")), "Success");
  EXPECT_EQ(PreFilter(Pod("p", "a", "2500m")), kOverMin);
  cluster_.RemovePod(more);
  EXPECT_EQ(PreFilter(Pod("p", "a", "3")), "Success") << "it has left";
  Running("free", "c", "100");
  EXPECT_EQ(PreFilter(Pod("p", "a", "3")), "Success") << "no quota, no count";
}

TEST_F(CapacitySchedulingTest, ResourcesThatAQuotaDoesNotMention) {
  const auto gpu = [](const char* amount) {
    return MakePod("p").Namespace("a").Requests("example.com/gpu", amount);
  };
  const auto memory = MakePod("p").Namespace("a").Requests("memory", "1");
  Quota("a", "'min':{'cpu':'2'},'max':{'cpu':'4'}");
  EXPECT_EQ(PreFilter(gpu("1")), kOverMin) << "min is 0, max unlimited";
  EXPECT_EQ(PreFilter(memory), kOverMax) << "max is 0";
  Quota("a", "'min':{'example.com/gpu':'2'}");
  EXPECT_EQ(PreFilter(gpu("2")), "Success") << "without max nothing is limited";
  EXPECT_EQ(PreFilter(gpu("3")), kOverMin);
  EXPECT_EQ(PreFilter(memory), kOverMin);
  Quota("a", "'max':{}");
  EXPECT_EQ(PreFilter(Pod("p", "a", "1")), kOverMax) << "an empty max allows nothing";
}

TEST_F(CapacitySchedulingTest, OfSeveralQuotasOfANamespaceTheFirstCounts) {
  Quota("a", "'min':{'cpu':'1'}", "first");
  Quota("a", "'min':{'cpu':'9'}", "second");
  EXPECT_EQ(PreFilter(Pod("p", "a", "2")), kOverMin);
}

TEST_F(CapacitySchedulingTest, ARequestIsTheContainersOrTheLargestInitContainer) {
  api::Pod pod = Pod("p", "a", "1").Container("second").Requests("cpu", "1");
  pod.spec.init_containers.resize(2);
  pod.spec.init_containers[0].resources.requests["cpu"] = cluster::Amount("3");
  pod.spec.init_containers[1].resources.requests["cpu"] = cluster::Amount("1");
  pod.spec.init_containers[1].restart_policy = "Always";
  pod.spec.overhead["cpu"] = cluster::Amount("500m");
  EXPECT_EQ(RequestOf(pod, cluster_.Resources()).cpu, 3500);
  pod.spec.init_containers.erase(pod.spec.init_containers.begin());
  EXPECT_EQ(RequestOf(pod, cluster_.Resources()).cpu, 2500) << "a sidecar is not added";
}

TEST_F(CapacitySchedulingTest, NominatedPodsCount) {
  Quota("a", "'min':{'cpu':'4'},'max':{'cpu':'4'}");
  Quota("b", "'min':{'cpu':'4'}");
  const auto nominate = [&](const api::Pod& pod) {
    const PodId id = cluster_.AddPod(pod);
    cluster_.MutableNominations().Set(id, cluster_.Strings().Intern("n"));
    return id;
  };
  const PodId less = nominate(Pod("less", "a", "2").Priority(0));
  EXPECT_EQ(PreFilter(Pod("p", "a", "4").Priority(1)), "Success");
  const PodId more = nominate(Pod("more", "a", "2").Priority(1));
  EXPECT_EQ(PreFilter(Pod("p", "a", "2").Priority(1)), "Success");
  EXPECT_EQ(PreFilter(Pod("p", "a", "3").Priority(1)), kOverMax);
  cluster_.RemovePod(less);
  cluster_.RemovePod(more);
  nominate(Pod("other", "b", "6"));
  EXPECT_EQ(PreFilter(Pod("p", "a", "3")), kOverMin);
  Running("b1", "b", "5");
  EXPECT_EQ(PreFilter(Pod("p", "a", "3")), "Success")
      << "b is over its guarantee: what it is promised does not count";
}

TEST_F(CapacitySchedulingTest, PodsWithinTheGuaranteePreemptThoseThatBorrow) {
  Quota("a", "'min':{'cpu':'2'},'max':{'cpu':'4'}");
  Quota("b", "'min':{'cpu':'2'},'max':{'cpu':'4'}");
  Running("b1", "b", "2", 5);
  Running("b2", "b", "2", 9);
  Running("free", "c", "1", 0);
  EXPECT_EQ(PreFilter(Pod("p", "a", "2")), kOverMin);
  EXPECT_EQ(Preempt(Pod("p", "a", "2")), "n: b1") << "whatever its priority";
  EXPECT_EQ(Preempt(Pod("p", "a", "2").Priority(20)), "n: b1");
}

TEST_F(CapacitySchedulingTest, PodsBeyondTheGuaranteePreemptTheirOwn) {
  Quota("a", "'min':{'cpu':'2'},'max':{'cpu':'3'}");
  Quota("b", "'min':{'cpu':'2'},'max':{'cpu':'4'}");
  Running("a1", "a", "3", 5);
  Running("b1", "b", "1", 0);
  EXPECT_EQ(Preempt(Pod("p", "a", "1").Priority(9)), "n: a1");
  EXPECT_EQ(Preempt(Pod("p", "a", "1").Priority(5)),
            "Unschedulable: 0/1 nodes are available: 1 No victims found on node n for preemptor "
            "pod p.");
  EXPECT_EQ(Preempt(Pod("p", "a", "4").Priority(9)),
            "Unschedulable: 0/1 nodes are available: 1 global quota max exceeded.");
}

TEST_F(CapacitySchedulingTest, PodsWithoutAQuotaPreemptOneAnother) {
  Quota("a", "'min':{'cpu':'2'}");
  for (const char* name : {"a1", "a2", "a3"}) Running(name, "a", "0", 0);
  Running("free", "c", "1", 1);
  EXPECT_EQ(Preempt(Pod("p", "d", "1").Priority(9)), "n: free");
  EXPECT_EQ(Preempt(Pod("p", "d", "1").Priority(1)),
            "Unschedulable: 0/1 nodes are available: 1 No victims found on node n for preemptor "
            "pod p.");
}

TEST_F(CapacitySchedulingTest, APodWaitsForWhatItHasPreempted) {
  Quota("a", "'min':{'cpu':'2'}");
  Quota("b", "'min':{'cpu':'0'}");
  for (const char* name : {"a1", "a2", "a3"}) Running(name, "a", "0", 9);
  api::Pod leaving = Pod("b1", "b", "2").On("n");
  leaving.metadata.deletion_timestamp.emplace();
  cluster_.AddPod(leaving);
  EXPECT_EQ(Preempt(Pod("p", "a", "1").Nominated("n")),
            "Unschedulable: not eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(Preempt(Pod("p", "a", "1")), "n: b1") << "it is nominated nowhere";
}

}  // namespace
}  // namespace berth::plugins::capacity_scheduling
