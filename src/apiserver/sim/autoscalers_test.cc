#include "apiserver/sim/autoscalers.h"

#include <string>

#include <gtest/gtest.h>

#include "apiserver/testing/world_fixture.h"

namespace berth::apiserver {
namespace {

using std::chrono::seconds;

TEST(Autoscalers, ReplicasForALoad) {
  EXPECT_EQ(ReplicasFor(2000, 250, 2, 2), 8);
  EXPECT_EQ(ReplicasFor(2000, 250, 8, 8), 8);
  EXPECT_EQ(ReplicasFor(2150, 250, 8, 8), 8) << "within a tenth";
  EXPECT_EQ(ReplicasFor(2300, 250, 8, 8), 10);
  EXPECT_EQ(ReplicasFor(500, 250, 8, 8), 2);
  EXPECT_EQ(ReplicasFor(2000, 250, 2, 8), 8) << "those that are starting will take their part";
  EXPECT_EQ(ReplicasFor(2000, 250, 0, 3), 3) << "nothing is measured yet";
}

class AutoscalersTest : public WorldTest {
 protected:
  void SetLoad(const std::string& load) {
    ASSERT_TRUE(registry_.Modify(deployments_, "default", "web", [&](Json& value) -> Answer<void> {
      value.At("metadata").At("annotations").Set("berth.dev/load-cpu", load);
      return {};
    }));
  }
  int64_t Replicas() { return Get(deployments_, "default", "web")["spec"]["replicas"].Int(); }
  Json Autoscaler() { return Get(autoscalers_, "default", "web"); }
  std::string Reason(std::string_view type) {
    const Json autoscaler = Autoscaler();
    for (const Json& condition : autoscaler["status"]["conditions"].Items()) {
      if (condition["type"].Str() == type) return std::string(condition["reason"].Str());
    }
    return "";
  }

  const Resource& deployments_ = catalog_.Named("apps", "deployments");
  const Resource& autoscalers_ = catalog_.Named("autoscaling", "horizontalpodautoscalers");
};

TEST_F(AutoscalersTest, AWorkloadGrowsWithItsLoadAndShrinksLater) {
  Create(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: "nginx:1", resources: {requests: {cpu: 500m}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}
)");
  Pass(seconds(20));
  EXPECT_EQ(Replicas(), 2);
  EXPECT_EQ(Reason("ScalingActive"), "FailedGetResourceMetric") << "no load is simulated";

  SetLoad("2");
  Pass(seconds(16));
  EXPECT_EQ(Replicas(), 6) << "four more at once at most";
  Pass(seconds(60));
  EXPECT_EQ(Replicas(), 8) << "250m of 500m each";
  EXPECT_EQ(Reason("ScalingActive"), "ValidMetricFound");
  const Json status = Autoscaler()["status"];
  EXPECT_EQ(status["desiredReplicas"].Int(), 8);
  const Json& current = status["currentMetrics"].Items()[0]["resource"]["current"];
  EXPECT_EQ(current["averageUtilization"].Int(), 50);
  EXPECT_EQ(current["averageValue"].Str(), "250m");

  SetLoad("20");
  Pass(seconds(60));
  EXPECT_EQ(Replicas(), 10);
  EXPECT_EQ(Reason("ScalingLimited"), "TooManyReplicas");

  SetLoad("500m");
  Pass(seconds(240));
  EXPECT_EQ(Replicas(), 10) << "it waits five minutes before it shrinks";
  Pass(seconds(120));
  EXPECT_EQ(Replicas(), 2);

  SetLoad("much");
  Pass(seconds(20));
  EXPECT_EQ(Reason("ScalingActive"), "FailedGetResourceMetric");
  EXPECT_EQ(Replicas(), 2);
}

}  // namespace
}  // namespace berth::apiserver
