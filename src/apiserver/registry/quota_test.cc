#include "apiserver/registry/quota.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "apiserver/testing/world_fixture.h"

namespace berth::apiserver {
namespace {

using std::chrono::seconds;

class QuotaTest : public WorldTest {
 protected:
  QuotaTest() { hold_ = true; }

  // Empty: it was created; else why not.
  std::string TryPod(std::string_view name, std::string_view resources,
                     std::string_view more = "") {
    const auto made =
        CreateAll(registry_, "apiVersion: v1\nkind: Pod\nmetadata: {name: " + std::string(name) +
                                 "}\nspec:\n  containers:\n  - {name: c, image: i, resources: {" +
                                 std::string(resources) + "}}\n" + std::string(more));
    return made ? "" : made.error().Message();
  }
  Json Status(std::string_view quota) {
    Pass(seconds(1));
    return Get(catalog_.Core("resourcequotas"), "default", quota)["status"];
  }
};

TEST_F(QuotaTest, CountsPods) {
  Create("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"2\"}}");
  EXPECT_EQ(TryPod("a", ""), "");
  EXPECT_EQ(TryPod("b", ""), "");
  EXPECT_EQ(TryPod("c", ""),
            "pods \"c\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: "
            "pods=2");
  EXPECT_EQ(Status("q").Dump(), R"({"hard":{"pods":"2"},"used":{"pods":"2"}})");
  ASSERT_TRUE(registry_.Delete(pods_, "default", "a"));
  EXPECT_EQ(TryPod("c", ""), "");
}

TEST_F(QuotaTest, SumsResources) {
  Create(R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {requests.cpu: "1", limits.memory: 1Gi}}
)");
  EXPECT_EQ(TryPod("none", ""),
            "pods \"none\" is forbidden: failed quota: q: must specify requests.cpu for: c; "
            "limits.memory for: c");
  EXPECT_EQ(TryPod("a", "requests: {cpu: 600m}, limits: {memory: 512Mi}"), "");
  EXPECT_EQ(TryPod("b", "requests: {cpu: 600m}, limits: {memory: 256Mi}"),
            "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: "
            "requests.cpu=600m, limited: requests.cpu=1");
  EXPECT_EQ(Status("q")["used"].Dump(), R"({"limits.memory":"512Mi","requests.cpu":"600m"})");
}

TEST_F(QuotaTest, ScopesChoosePods) {
  Create(R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {pods: "0"}, scopes: [BestEffort]}
)");
  EXPECT_EQ(TryPod("burstable", "requests: {cpu: 1m}"), "");
  EXPECT_NE(TryPod("best-effort", ""), "");
}

TEST_F(QuotaTest, CountsOtherObjects) {
  Create(R"(
apiVersion: v1
kind: ResourceQuota
metadata: {name: q}
spec: {hard: {configmaps: "1", count/deployments.apps: "0", requests.storage: 1Gi}}
)");
  EXPECT_TRUE(CreateAll(registry_, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}"));
  const auto second = CreateAll(registry_, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().Message(),
            "configmaps \"b\" is forbidden: exceeded quota: q, requested: configmaps=1, used: "
            "configmaps=1, limited: configmaps=1");
  EXPECT_FALSE(CreateAll(registry_, R"(
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: big}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 2Gi}}}
)"));
}

TEST_F(QuotaTest, ReplicaSetsStopAtTheQuota) {
  Create("apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: q}\nspec: {hard: {pods: \"3\"}}");
  Create(R"(
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: i}]
)");
  Pass(seconds(5));
  EXPECT_EQ(Pods().size(), 3u);
  bool told = false;
  for (const auto& [key, event] : store_.All(catalog_.Core("events").storage_id)) {
    told |= event->text.find("\"FailedCreate\"") != std::string::npos &&
            event->text.find("exceeded quota: q") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace berth::apiserver
