#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "apiserver/testing/world_fixture.h"

namespace berth::apiserver {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

class NodeLifecycleTest : public WorldTest {
 protected:
  void SetNode(std::string_view name, const Registry::Change& change, std::string_view sub = "") {
    ASSERT_TRUE(registry_.Modify(catalog_.Core("nodes"), "", name, change, sub));
    Pass(milliseconds(10));
  }
  void Taint(std::string_view name, Json taints) {
    SetNode(name, [&](Json& node) -> Answer<void> {
      node.At("spec").Set("taints", taints);
      return {};
    });
  }
  void Fail(std::string_view name, std::string_view value) {
    SetNode(name, [&](Json& node) -> Answer<void> {
      node.At("metadata").At("annotations").Set(kFailAnnotation, value);
      return {};
    });
  }
  // "KEY:EFFECT KEY:EFFECT"
  std::string Taints(std::string_view name) {
    std::string out;
    const Json node = Get(catalog_.Core("nodes"), "", name);
    for (const Json& taint : node["spec"]["taints"].Items()) {
      if (!out.empty()) out += " ";
      out += std::string(taint["key"].Str()) + ":" + std::string(taint["effect"].Str());
    }
    return out;
  }
  void AddPod(std::string_view name, std::string_view tolerations) {
    Create("apiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(name) +
           "}\nspec:\n  nodeName: node-0001\n  tolerations: " + std::string(tolerations) +
           "\n  containers: [{name: c, image: i}]\n");
  }
  bool Exists(std::string_view name) { return !Get(pods_, "default", name).IsNull(); }
};

TEST_F(NodeLifecycleTest, TaintsFollowConditions) {
  struct Row {
    const char* what;
    const char* type;
    const char* status;
    const char* taints;
  };
  const Row rows[] = {
      {"not ready", "Ready", "False",
       "node.kubernetes.io/not-ready:NoSchedule node.kubernetes.io/not-ready:NoExecute"},
      {"unreachable", "Ready", "Unknown",
       "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute"},
      {"ready again", "Ready", "True", ""},
      {"short of memory", "MemoryPressure", "True",
       "node.kubernetes.io/memory-pressure:NoSchedule"},
      {"no longer", "MemoryPressure", "False", ""},
  };
  for (const Row& row : rows) {
    SetNode(
        "node-0001",
        [&](Json& node) -> Answer<void> {
          Json conditions = Json::MakeArray();
          conditions.Append(Json::MakeObject({{"type", row.type}, {"status", row.status}}));
          node.At("status").Set("conditions", std::move(conditions));
          return {};
        },
        "status");
    EXPECT_EQ(Taints("node-0001"), row.taints) << row.what;
  }
  SetNode("node-0002", [](Json& node) -> Answer<void> {
    node.At("spec").Set("unschedulable", true);
    return {};
  });
  EXPECT_EQ(Taints("node-0002"), "node.kubernetes.io/unschedulable:NoSchedule");
}

TEST_F(NodeLifecycleTest, NoExecuteTaintsEvict) {
  hold_ = true;
  AddPod("bare", "[]");
  AddPod("patient", "[{key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]");
  AddPod("immune", "[{key: x, operator: Exists}]");
  Pass(seconds(5));
  Taint("node-0001", Json::MakeArray({Json::MakeObject({{"key", "x"}, {"effect", "NoExecute"}})}));
  const Json bare = Get(pods_, "default", "bare");
  EXPECT_FALSE(bare["metadata"]["deletionTimestamp"].IsNull());
  bool target = false;
  for (const Json& condition : bare["status"]["conditions"].Items()) {
    target |= condition["type"].Str() == "DisruptionTarget" &&
              condition["reason"].Str() == "DeletionByTaintManager";
  }
  EXPECT_TRUE(target);
  Pass(seconds(50));
  EXPECT_FALSE(Exists("bare"));
  EXPECT_TRUE(Exists("patient"));
  Pass(seconds(20));
  EXPECT_FALSE(Exists("patient"));
  EXPECT_TRUE(Exists("immune"));
}

TEST_F(NodeLifecycleTest, TaintsThatGoInTimeSpareThePod) {
  hold_ = true;
  AddPod("patient", "[{key: x, operator: Exists, effect: NoExecute, tolerationSeconds: 60}]");
  Pass(seconds(5));
  Taint("node-0001", Json::MakeArray({Json::MakeObject({{"key", "x"}, {"effect", "NoExecute"}})}));
  Pass(seconds(30));
  Taint("node-0001", Json::MakeArray());
  Pass(minutes(5));
  EXPECT_TRUE(Exists("patient"));
}

TEST_F(NodeLifecycleTest, AFailedNodeLosesItsPodsAfterTheUsualTime) {
  hold_ = true;
  AddPod("web", "[]");
  Pass(seconds(5));
  Fail("node-0001", "true");
  Pass(seconds(40));
  EXPECT_EQ(Taints("node-0001"), "") << "the grace period is not over";
  Pass(seconds(20));
  EXPECT_EQ(Taints("node-0001"),
            "node.kubernetes.io/unreachable:NoSchedule node.kubernetes.io/unreachable:NoExecute");
  Json pod = Get(pods_, "default", "web");
  for (const Json& condition : pod["status"]["conditions"].Items()) {
    if (condition["type"].Str() == "Ready") {
      EXPECT_EQ(condition["status"].Str(), "False");
    }
  }
  Pass(minutes(4));
  EXPECT_TRUE(Get(pods_, "default", "web")["metadata"]["deletionTimestamp"].IsNull());
  Pass(minutes(2));
  EXPECT_FALSE(Get(pods_, "default", "web")["metadata"]["deletionTimestamp"].IsNull())
      << "the default toleration is of 300 seconds";
  EXPECT_TRUE(Exists("web")) << "nobody stops its containers";
  Fail("node-0001", "false");
  Pass(seconds(10));
  EXPECT_EQ(Taints("node-0001"), "");
  EXPECT_FALSE(Exists("web"));
}

TEST_F(NodeLifecycleTest, PodsThatAreNotRestartedEnd) {
  hold_ = true;
  Create(R"(
apiVersion: v1
kind: Pod
metadata: {name: once}
spec:
  nodeName: node-0001
  restartPolicy: Never
  containers: [{name: c, image: i}]
---
apiVersion: v1
kind: Pod
metadata: {name: long, annotations: {berth.dev/run-for: 1h}}
spec:
  nodeName: node-0001
  restartPolicy: Never
  containers: [{name: c, image: i}]
)");
  Pass(seconds(20));
  EXPECT_EQ(Get(pods_, "default", "once")["status"]["phase"].Str(), "Succeeded");
  EXPECT_EQ(Get(pods_, "default", "long")["status"]["phase"].Str(), "Running");
}

}  // namespace
}  // namespace berth::apiserver
