#include "api/rules/pod_requests.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::api {
namespace {

Pod P(std::string_view json) {
  Result<Pod> pod = FromJson<Pod>(json);
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().Message());
  return pod.value_or(Pod());
}

std::string Text(const ResourceList& list) {
  std::string out;
  for (const auto& [name, amount] : list)
    out += (out.empty() ? "" : " ") + name + "=" + amount.String();
  return out;
}

TEST(PodRequests, AddUp) {
  struct Case {
    const char* name;
    const char* spec;
    const char* requests;
  };
  const std::vector<Case> cases = {
      {"no containers", "{}", ""},
      {"containers are added",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},{"resources":{"requests":{"cpu":"500m"}}}]})",
       "cpu=1500m memory=1Gi"},
      {"an init container counts if it needs more",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
           "initContainers":[{"resources":{"requests":{"cpu":"2","memory":"1Mi"}}}]})",
       "cpu=2 memory=1Gi"},
      {"sidecars run beside containers and later init containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],
           "initContainers":[{"resources":{"requests":{"cpu":"4"}}},
                             {"restartPolicy":"Always","resources":{"requests":{"cpu":"3"}}},
                             {"resources":{"requests":{"cpu":"2"}}}]})",
       "cpu=5"},
      {"overhead comes on top",
       R"({"containers":[{"resources":{"requests":{"cpu":"1"}}}],"overhead":{"cpu":"100m","memory":"1Mi"}})",
       "cpu=1100m memory=1Mi"},
      {"pod-level requests replace those of containers",
       R"({"containers":[{"resources":{"requests":{"cpu":"1","memory":"1Gi"}}}],
           "resources":{"requests":{"cpu":"3","example.com/gpu":"1"}}})",
       "cpu=3 memory=1Gi"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Text(PodRequests(P(std::string(R"({"spec":)") + c.spec + "}"))), c.requests);
  }
}

constexpr char kResized[] = R"({"spec":{"containers":[
      {"name":"a","resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
      {"name":"b","resources":{"requests":{"cpu":"1"}}}]},
    "status":{"containerStatuses":[
      {"name":"a","allocatedResources":{"cpu":"2"},"resources":{"requests":{"cpu":"1","memory":"2Gi"}}},
      {"name":"b","allocatedResources":{"cpu":"7"}}]CONDITIONS}})";

Pod Resized(const std::string& conditions) {
  std::string json = kResized;
  json.replace(json.find("CONDITIONS"), 10, conditions);
  return P(json);
}

TEST(PodRequests, ResizeCountsTheLargest) {
  EXPECT_EQ(Text(PodRequests(Resized(""))), "cpu=2 memory=1Gi");
  EXPECT_EQ(Text(PodRequests(Resized(""), {.use_status = true})), "cpu=3 memory=2Gi");
  const PodResources resources = PodResources::Of(Resized(""));
  EXPECT_EQ(resources.filter.milli_cpu, 2000);
  EXPECT_EQ(resources.node.milli_cpu, 3000);
  EXPECT_EQ(resources.nonzero_memory, (int64_t{2} << 30) + kDefaultMemory);
  EXPECT_EQ(resources.fit_score.memory, (int64_t{1} << 30) + kDefaultMemory);
}

TEST(PodRequests, InfeasibleResizeDoesNotCountTheSpec) {
  const Pod pod = Resized(
      R"(,"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}])");
  Pod larger = pod;
  larger.spec.containers[0].resources.requests["cpu"] = Quantity::FromInt(9);
  EXPECT_EQ(Text(PodRequests(larger, {.use_status = true})), "cpu=3 memory=2Gi");
}

TEST(PodRequests, Limits) {
  EXPECT_EQ(
      Text(PodLimits(P(R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1","memory":"0"}}}],
        "resources":{"limits":{"hugepages-2Mi":"4Mi"}},
        "overhead":{"cpu":"100m","memory":"1Mi","ephemeral-storage":"1"}}})"))),
      "cpu=1100m hugepages-2Mi=4Mi memory=0");
}

TEST(PodResources, RoundsUpAndNamesScalars) {
  const PodResources r = PodResources::Of(P(R"({"spec":{"containers":[{"resources":{"requests":
      {"cpu":"1100u","memory":"0.5","ephemeral-storage":"1k","example.com/gpu":"2","hugepages-2Mi":"4Mi",
       "pods":"3","unknown":"1","requests.example.com/x":"1"}}}]}})"));
  EXPECT_EQ(r.filter.milli_cpu, 2);
  EXPECT_EQ(r.filter.memory, 1);
  EXPECT_EQ(r.filter.ephemeral_storage, 1000);
  const std::vector<std::pair<std::string, int64_t>> scalars = {{"example.com/gpu", 2},
                                                                {"hugepages-2Mi", 4 << 20}};
  EXPECT_EQ(r.filter.scalars, scalars);
  EXPECT_EQ(r.node, r.filter);
  EXPECT_EQ(r.fit_score, r.filter);
}

TEST(PodResources, NegativeAmountsDoNotMakeRoom) {
  const PodResources r =
      PodResources::Of(P(R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"-1"}}}]}})"));
  EXPECT_EQ(r.filter.milli_cpu, 0);
  EXPECT_EQ(r.node.milli_cpu, -1000);
}

TEST(PodResources, DefaultsPerContainer) {
  const PodResources r = PodResources::Of(P(
      R"({"spec":{"containers":[{"resources":{"requests":{"cpu":"0","memory":"1Gi"}}},{"name":"b"}]}})"));
  EXPECT_EQ(r.node.milli_cpu, 0);
  EXPECT_EQ(r.nonzero_milli_cpu, 100);
  EXPECT_EQ(r.nonzero_memory, (int64_t{1} << 30) + kDefaultMemory);
  EXPECT_EQ(r.fit_score.milli_cpu, 100);
}

TEST(PodResources, PodLevelRequestsNeedNoDefaultsExceptInTheFitScore) {
  const PodResources r = PodResources::Of(P(
      R"({"spec":{"containers":[{"name":"a"},{"name":"b"}],"resources":{"requests":{"cpu":"1"}}}})"));
  EXPECT_EQ(r.filter.milli_cpu, 1000);
  EXPECT_EQ(r.nonzero_milli_cpu, 1000);
  EXPECT_EQ(r.nonzero_memory, 2 * kDefaultMemory);
  EXPECT_EQ(r.fit_score.milli_cpu, 200);
}

}  // namespace
}  // namespace berth::api
