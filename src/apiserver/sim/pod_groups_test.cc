#include "apiserver/sim/pod_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/testing/world_fixture.h"

namespace berth::apiserver {
namespace {

using testing::HasSubstr;

config::FeatureGates Gates(const std::string& gates) {
  config::FeatureGates made(37);
  EXPECT_TRUE(made.Set(gates).has_value());
  return made;
}

class PodGroupsTest : public WorldTest {
 protected:
  explicit PodGroupsTest(const std::string& gates = "GenericWorkload=true,WorkloadWithJob=true")
      : WorldTest(Gates(gates)) {}

  std::vector<ObjectPtr> All(std::string_view plural) {
    std::vector<ObjectPtr> objects;
    const Resource& resource = catalog_.Named("scheduling.k8s.io", plural);
    for (const auto& [key, object] : store_.All(resource.storage_id)) objects.push_back(object);
    return objects;
  }
  Json TheGroup() {
    const auto groups = All("podgroups");
    EXPECT_EQ(groups.size(), 1u);
    return groups.empty() ? Json() : groups.front()->Value();
  }
  std::string Job(const std::string& scheduling, const std::string& in_template = "") {
    return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: train}\nspec:\n  parallelism: 3\n"
           "  completions: 3\n" +
           scheduling + "  template:\n    spec:\n      restartPolicy: Never\n" + in_template +
           "      containers: [{name: c, image: i}]\n";
  }
};

TEST_F(PodGroupsTest, AJobGetsAWorkloadAndAGroupThatItsPodsName) {
  Create(Job("  scheduling: {schedulingPolicy: {gang: {}}}\n"));
  Pass(std::chrono::seconds(1));
  const auto workloads = All("workloads");
  ASSERT_EQ(workloads.size(), 1u);
  const Json workload = workloads.front()->Value();
  EXPECT_THAT(std::string(workload["metadata"]["name"].Str()), testing::StartsWith("train-"));
  EXPECT_EQ(workload["spec"]["controllerRef"]["name"].Str(), "train");
  const Json group = TheGroup();
  EXPECT_EQ(group["spec"]["schedulingPolicy"]["gang"]["minCount"].Int(), 3) << "the parallelism";
  EXPECT_EQ(group["spec"]["workloadRef"]["templateName"].Str(), "train-pgt-0");
  EXPECT_EQ(group["metadata"]["ownerReferences"].Items().size(), 2u);
  ASSERT_EQ(Pods().size(), 3u);
  for (const ObjectPtr& pod : Pods()) {
    EXPECT_EQ(pod->Value()["spec"]["schedulingGroup"]["podGroupName"], group["metadata"]["name"]);
  }
}

TEST_F(PodGroupsTest, WithoutAPolicyThereIsNoMinimum) {
  Create(Job(""));
  Pass(std::chrono::seconds(1));
  EXPECT_TRUE(TheGroup()["spec"]["schedulingPolicy"].Has("basic"));
}

TEST_F(PodGroupsTest, TheMinimumFollowsTheParallelism) {
  hold_ = true;
  Create(Job("  scheduling: {schedulingPolicy: {gang: {}}}\n"));
  Pass(std::chrono::seconds(1));
  const Resource& jobs = catalog_.Named("batch", "jobs");
  ASSERT_TRUE(registry_.Modify(jobs, "default", "train", [](Json& job) -> Answer<void> {
    job.At("spec").Set("parallelism", 2);
    return {};
  }));
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(TheGroup()["spec"]["schedulingPolicy"]["gang"]["minCount"].Int(), 2);
  const Json workload = All("workloads").front()->Value();
  EXPECT_EQ(workload["spec"]["podGroupTemplates"]
                .Items()[0]["schedulingPolicy"]["gang"]["minCount"]
                .Int(),
            2);
}

TEST_F(PodGroupsTest, AGroupInTheTemplateIsTheUsers) {
  Create(Job("", "      schedulingGroup: {podGroupName: mine}\n"));
  Pass(std::chrono::seconds(1));
  EXPECT_TRUE(All("podgroups").empty());
  EXPECT_TRUE(All("workloads").empty());
  EXPECT_EQ(Pods().size(), 3u);
}

TEST_F(PodGroupsTest, AGroupStaysAsLongAsPodsUseIt) {
  hold_ = true;
  Create(
      "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\n"
      "spec: {schedulingPolicy: {gang: {minCount: 1}}}\n");
  Create(
      "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n"
      "  schedulingGroup: {podGroupName: g}\n  containers: [{name: c, image: i}]\n");
  const Resource& groups = catalog_.Named("scheduling.k8s.io", "podgroups");
  EXPECT_EQ(Get(groups, "default", "g")["metadata"]["finalizers"].Items()[0].Str(),
            kPodGroupProtection);
  ASSERT_TRUE(registry_.Delete(groups, "default", "g"));
  Pass(std::chrono::seconds(1));
  EXPECT_FALSE(Get(groups, "default", "g")["metadata"]["deletionTimestamp"].IsNull());
  ASSERT_TRUE(registry_.Delete(pods_, "default", "p"));
  Pass(std::chrono::seconds(5));
  EXPECT_TRUE(Get(groups, "default", "g").IsNull());
}

class PodGroupsWithoutJobsTest : public PodGroupsTest {
 protected:
  PodGroupsWithoutJobsTest() : PodGroupsTest("GenericWorkload=true") {}
};

TEST_F(PodGroupsWithoutJobsTest, WithoutTheGateJobsHaveNoGroups) {
  Create(Job("  scheduling: {schedulingPolicy: {gang: {}}}\n"));
  Pass(std::chrono::seconds(1));
  EXPECT_TRUE(All("podgroups").empty());
  EXPECT_EQ(Pods().size(), 3u);
}

}  // namespace
}  // namespace berth::apiserver
