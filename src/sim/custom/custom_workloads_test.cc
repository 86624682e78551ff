#include "sim/custom/custom_workloads.h"

#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/pods/group_members.h"
#include "sim/testing/world.h"

namespace berth::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr const char* kTemplate = R"({
  metadata: {labels: {app: w}},
  spec: {containers: [{name: c, resources: {requests: {cpu: 1}}}]}})";

config::Behaviour WithGroups() {
  config::FeatureGates gates(37);
  EXPECT_TRUE(gates.Set("GenericWorkload=true").has_value());
  return config::Behaviour(gates);
}

std::string JobSet(const std::string& spec) {
  return "---\napiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\nmetadata: {name: train, "
         "namespace: ml}\nspec: " +
         spec + "\n";
}
std::string Replicated(const std::string& name, const std::string& more) {
  return "{name: " + name +
         ", template: {spec: {parallelism: 2, completions: 2, template: " + kTemplate + "}}" +
         more + "}";
}
std::string Lws(const std::string& spec, const std::string& annotations = "{}") {
  return "---\napiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nmetadata: {name: "
         "llm, namespace: ml, annotations: " +
         annotations + "}\nspec: " + spec + "\n";
}

// The pods of a world, by name.
std::map<std::string, const cluster::Pod*> PodsOf(const World& world) {
  std::map<std::string, const cluster::Pod*> pods;
  const cluster::Cluster& cluster = world.GetCluster();
  for (cluster::PodId id = 0; id < cluster.PodIdLimit(); ++id) {
    if (cluster.PodExists(id)) pods[cluster.GetPod(id).name] = &cluster.GetPod(id);
  }
  return pods;
}
std::string Label(const cluster::Pod& pod, std::string_view key) {
  const auto& labels = pod.shape->source.metadata.labels;
  const auto it = labels.find(key);
  return it == labels.end() ? "" : it->second;
}

TEST(JobSetPods, NamesAndLabelsAreTheControllers) {
  World world;
  ASSERT_TRUE(Read(world, JobSet("{replicatedJobs: [" + Replicated("driver", "") + "," +
                                 Replicated("workers", ", replicas: 2") + "]}")));
  EXPECT_EQ(PendingNames(world),
            "train-driver-0-0 train-driver-0-1 train-workers-0-0 train-workers-0-1 "
            "train-workers-1-0 train-workers-1-1");
  const cluster::Pod& pod = *PodsOf(world).at("train-workers-1-0");
  EXPECT_EQ(pod.namespace_(), "ml");
  const std::string prefix = "jobset.sigs.k8s.io/";
  EXPECT_EQ(Label(pod, prefix + "jobset-name"), "train");
  EXPECT_EQ(Label(pod, prefix + "replicatedjob-name"), "workers");
  EXPECT_EQ(Label(pod, prefix + "replicatedjob-replicas"), "2");
  EXPECT_EQ(Label(pod, prefix + "job-index"), "1");
  EXPECT_EQ(Label(pod, prefix + "job-global-index"), "2");
  EXPECT_EQ(Label(pod, prefix + "group-name"), "default");
  EXPECT_EQ(Label(pod, prefix + "group-replicas"), "3");
  // printf ml/train-workers-1 | sha1sum
  EXPECT_EQ(Label(pod, prefix + "job-key"), "9758140d1b2c3c8dbaebb0783352de84ca2874b5");
  EXPECT_EQ(Label(pod, "batch.kubernetes.io/job-completion-index"), "0");
  EXPECT_EQ(Label(pod, "app"), "w");
}

TEST(JobSetPods, NoneOfWhatIsSuspendedOrWaitsForAnEnd) {
  World suspended;
  ASSERT_TRUE(
      Read(suspended, JobSet("{suspend: true, replicatedJobs: [" + Replicated("a", "") + "]}")));
  EXPECT_EQ(PendingNames(suspended), "");
  World waits;
  ASSERT_TRUE(
      Read(waits, JobSet("{replicatedJobs: [" + Replicated("a", "") + "," +
                         Replicated("b", ", dependsOn: [{name: a, status: Complete}]") + "," +
                         Replicated("c", ", dependsOn: [{name: a, status: Ready}]") + "]}")));
  EXPECT_EQ(PendingNames(waits), "train-a-0-0 train-a-0-1 train-c-0-0 train-c-0-1");
}

TEST(JobSetPods, JobsThatAreInTheInputStandForThemselves) {
  World world;
  const std::string job =
      "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: train-a-0, namespace: ml, uid: j, "
      "ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: train, uid: s, "
      "controller: true}]}\nspec: {parallelism: 1, template: " +
      std::string(kTemplate) + "}\n";
  ASSERT_TRUE(Read(world, JobSet("{replicatedJobs: [" + Replicated("a", "") + "]}") + job));
  EXPECT_EQ(PendingNames(world), "train-a-0-1");
}

TEST(JobSetPods, GroupsOfTheTemplatesAreKept) {
  World world(WithGroups());
  std::string job = Replicated("workers", "");
  const std::string from = "spec: {containers";
  job.replace(job.rfind(from), from.size(),
              "spec: {schedulingGroup: {podGroupName: train}, containers");
  ASSERT_TRUE(Read(world, JobSet("{replicatedJobs: [" + job + "]}")));
  for (const auto& [name, pod] : PodsOf(world)) {
    ASSERT_NE(cluster::GroupNameOf(*pod), nullptr) << name;
    EXPECT_EQ(*cluster::GroupNameOf(*pod), "train");
  }
}

TEST(JobSetPods, ErrorsNameTheField) {
  World negative;
  const auto bad =
      Read(negative, JobSet("{replicatedJobs: [" + Replicated("a", ", replicas: -1") + "]}"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().Message(),
            "JobSet ml/train: spec.replicatedJobs: a: replicas: -1 is negative");
  World many;
  const auto too_many =
      Read(many, JobSet("{replicatedJobs: [" + Replicated("a", ", replicas: 2000000") + "]}"));
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().Message(), HasSubstr("asks for 2000000 Jobs"));
}

TEST(LeaderWorkerPods, LeadersFirstThenWorkersByGroup) {
  World world;
  ASSERT_TRUE(Read(world, Lws("{replicas: 2, leaderWorkerTemplate: {size: 3, workerTemplate: " +
                              std::string(kTemplate) + "}}")));
  EXPECT_EQ(PendingNames(world), "llm-0 llm-1 llm-0-1 llm-0-2 llm-1-1 llm-1-2");
  const auto pods = PodsOf(world);
  const std::string prefix = "leaderworkerset.sigs.k8s.io/";
  const cluster::Pod& leader = *pods.at("llm-1");
  const cluster::Pod& worker = *pods.at("llm-1-2");
  EXPECT_EQ(Label(leader, prefix + "name"), "llm");
  EXPECT_EQ(Label(leader, prefix + "group-index"), "1");
  EXPECT_EQ(Label(leader, prefix + "worker-index"), "0");
  EXPECT_EQ(Label(worker, prefix + "group-index"), "1");
  EXPECT_EQ(Label(worker, prefix + "worker-index"), "2");
  // printf ml/llm-1 | sha1sum
  EXPECT_EQ(Label(leader, prefix + "group-key"), "ce55ac63db57ae01162e970916a36101a450938a");
  EXPECT_EQ(Label(worker, prefix + "group-key"), "ce55ac63db57ae01162e970916a36101a450938a");
}

TEST(LeaderWorkerPods, ExclusiveTopologyIsAnAffinityOfLeaders) {
  World world;
  ASSERT_TRUE(Read(world, Lws("{leaderWorkerTemplate: {size: 2, workerTemplate: " +
                                  std::string(kTemplate) + "}}",
                              "{leaderworkerset.sigs.k8s.io/exclusive-topology: rack}")));
  const auto pods = PodsOf(world);
  const auto& affinity = pods.at("llm-0")->shape->source.spec.affinity;
  ASSERT_TRUE(affinity);
  const auto& together =
      affinity->pod_affinity->required_during_scheduling_ignored_during_execution;
  ASSERT_THAT(together, SizeIs(1));
  EXPECT_EQ(together[0].topology_key, "rack");
  EXPECT_THAT(affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution,
              SizeIs(1));
  EXPECT_FALSE(pods.at("llm-0-1")->shape->source.spec.affinity);
}

TEST(LeaderWorkerPods, Subgroups) {
  struct Case {
    const char* what;
    int size;
    const char* policy;
    std::vector<std::string> subgroups;  // of leader and workers
  };
  const Case cases[] = {
      {"the leader is one of them", 4, "{subGroupSize: 2}", {"0", "0", "1", "1"}},
      {"the leader is an extra pod", 5, "{subGroupSize: 2}", {"0", "0", "0", "1", "1"}},
      {"the leader is in none",
       5,
       "{subGroupSize: 2, subGroupPolicyType: LeaderExcluded}",
       {"", "0", "0", "1", "1"}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    World world;
    ASSERT_TRUE(Read(
        world, Lws("{leaderWorkerTemplate: {size: " + std::to_string(c.size) +
                   ", subGroupPolicy: " + c.policy + ", workerTemplate: " + kTemplate + "}}")));
    const auto pods = PodsOf(world);
    std::vector<std::string> found;
    for (int i = 0; i < c.size; ++i) {
      const std::string name = i == 0 ? "llm-0" : "llm-0-" + std::to_string(i);
      found.push_back(Label(*pods.at(name), "leaderworkerset.sigs.k8s.io/subgroup-index"));
    }
    EXPECT_EQ(found, c.subgroups);
  }
}

TEST(LeaderWorkerPods, ErrorsNameTheField) {
  World world;
  const auto bad = Read(
      world,
      Lws("{leaderWorkerTemplate: {size: 0, workerTemplate: " + std::string(kTemplate) + "}}"));
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().Message(),
            "LeaderWorkerSet ml/llm: spec.leaderWorkerTemplate.size: 0 is not positive");
}

TEST(SchedulingWorkload, TemplatesBecomeGroupsThatPodsCanName) {
  const std::string yaml = R"(---
apiVersion: scheduling.k8s.io/v1beta1
kind: Workload
metadata: {name: train, namespace: ml}
spec:
  podGroupTemplates:
  - name: workers
    priority: 5
    schedulingPolicy: {gang: {minCount: 4}}
)";
  World world(WithGroups());
  ASSERT_TRUE(Read(world, yaml));
  const api::PodGroup* group = world.GetCluster().Objects().pod_groups.Find("ml", "train-workers");
  ASSERT_NE(group, nullptr);
  EXPECT_EQ(group->spec.scheduling_policy.gang->min_count, 4);
  EXPECT_EQ(group->spec.priority, 5);
  World without;
  ASSERT_TRUE(Read(without, yaml));
  EXPECT_THAT(without.Ignored(), ElementsAre(std::pair(std::string("Workload"), size_t{1})));
}

TEST(SchedulingWorkload, ThePriorityOfAGroupComesFromItsClass) {
  World world(WithGroups());
  ASSERT_TRUE(Read(world, R"(---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 1000
---
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g}
spec: {priorityClassName: gold, schedulingPolicy: {basic: {}}}
)"));
  EXPECT_EQ(world.GetCluster().Objects().pod_groups.Find("default", "g")->spec.priority, 1000);
}

}  // namespace
}  // namespace berth::sim
