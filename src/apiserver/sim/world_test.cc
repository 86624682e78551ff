#include "apiserver/sim/world.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/testing/world_fixture.h"

namespace berth::apiserver {
namespace {

constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 4
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: c, image: "nginx:1"}]
)";

TEST_F(WorldTest, ADeploymentRunsAndRolls) {
  Create(kDeployment);
  Pass(std::chrono::seconds(5));
  const Resource& deployments = catalog_.Named("apps", "deployments");
  EXPECT_EQ(Pods("Running").size(), 4u);
  Json web = Get(deployments, "default", "web");
  EXPECT_EQ(web["status"]["readyReplicas"].Int(), 4);
  EXPECT_EQ(web["status"]["observedGeneration"].Int(), web["metadata"]["generation"].Int());

  ASSERT_TRUE(registry_.Modify(deployments, "default", "web", [](Json& value) -> Answer<void> {
    value.At("spec")
        .At("template")
        .At("spec")
        .At("containers")
        .MutableItems()[0]
        .Set("image", "nginx:2");
    return {};
  }));
  Pass(std::chrono::seconds(60));
  const auto pods = Pods();
  EXPECT_EQ(pods.size(), 4u);
  for (const ObjectPtr& pod : pods) {
    EXPECT_EQ(pod->Value()["spec"]["containers"].Items()[0]["image"].Str(), "nginx:2");
  }
  web = Get(deployments, "default", "web");
  EXPECT_EQ(web["status"]["updatedReplicas"].Int(), 4);
  EXPECT_EQ(web["metadata"]["annotations"]["deployment.kubernetes.io/revision"].Str(), "2");

  ASSERT_TRUE(registry_.Delete(deployments, "default", "web"));
  Pass(std::chrono::seconds(60));
  EXPECT_TRUE(Pods().empty());
  EXPECT_TRUE(store_.All(catalog_.Named("apps", "replicasets").storage_id).empty());
}

// Most versions of a pod follow from another one by a few edits of its text.
TEST_F(WorldTest, WhatIsKeptOfAnObjectIsWhatItsTextSays) {
  Create(kDeployment);
  for (const int milliseconds : {0, 1, 25, 100, 5000}) {
    Pass(std::chrono::milliseconds(milliseconds));
    for (uint32_t id = 0; id < catalog_.Size(); ++id) {
      for (const auto& [key, object] : store_.All(id)) {
        const Json value = object->Value();
        const ObjectPtr anew = MakeStoredObject(catalog_.At(id), value, object->version);
        EXPECT_EQ(object->text, anew->text) << key;
        EXPECT_EQ(ObjectKey(anew->namespace_, anew->name), key);
        EXPECT_EQ(value["metadata"]["resourceVersion"].Str(), std::to_string(object->version));
        EXPECT_EQ(object->uid, anew->uid) << key;
        EXPECT_EQ(object->labels, anew->labels) << key;
        EXPECT_EQ(object->fields, anew->fields) << key;
        EXPECT_EQ(object->owners, anew->owners) << key;
        EXPECT_EQ(object->controller, anew->controller) << key;
        EXPECT_EQ(object->ready, anew->ready) << key;
        EXPECT_EQ(object->deleting, anew->deleting) << key;
      }
    }
  }
  EXPECT_EQ(Pods("Running").size(), 4u);
}

TEST_F(WorldTest, CopiesDifferInTheirNamesAlone) {
  hold_ = true;
  Create(kDeployment);
  Pass(std::chrono::seconds(1));
  std::vector<std::string> names;
  std::vector<std::string> uids;
  std::vector<std::string> rest;
  for (const ObjectPtr& pod : Pods()) {
    names.push_back(pod->name);
    uids.push_back(pod->uid);
    Json value = pod->Value();
    for (const char* field : {"name", "uid", "resourceVersion"}) {
      EXPECT_TRUE(value.At("metadata").Erase(field));
    }
    rest.push_back(value.Dump());
  }
  ASSERT_EQ(rest.size(), 4u);
  for (const std::string& one : rest) EXPECT_EQ(one, rest[0]);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_NE(names[i], names[i - 1]);
    EXPECT_NE(uids[i], uids[i - 1]);
    EXPECT_EQ(names[i].substr(0, names[i].size() - 5), names[0].substr(0, names[0].size() - 5));
  }
}

TEST_F(WorldTest, AStatefulSetComesUpInOrderWithItsClaims) {
  Create(R"(
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: berth.dev/simulated
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  serviceName: db
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: c, image: "db:1"}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      storageClassName: fast
      resources: {requests: {storage: 1Gi}}
)");
  Pass(std::chrono::milliseconds(500));
  EXPECT_EQ(Pods().size(), 1u) << "the second waits for the first";
  Pass(std::chrono::seconds(10));
  ASSERT_EQ(Pods("Running").size(), 2u);
  EXPECT_EQ(Pods()[1]->name, "db-1");
  const Json claim = Get(catalog_.Core("persistentvolumeclaims"), "default", "data-db-1");
  EXPECT_EQ(claim["status"]["phase"].Str(), "Bound");
  EXPECT_FALSE(claim["spec"]["volumeName"].Empty());
}

TEST_F(WorldTest, AJobEnds) {
  Create(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: sum}
spec:
  completions: 3
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: "sum:1"}]
)");
  Pass(std::chrono::seconds(2));
  EXPECT_EQ(Pods("Running").size(), 2u);
  Pass(std::chrono::seconds(30));
  const Json job = Get(catalog_.Named("batch", "jobs"), "default", "sum");
  EXPECT_EQ(job["status"]["succeeded"].Int(), 3);
  EXPECT_EQ(job["status"]["conditions"].Items()[1]["type"].Str(), "Complete");
  EXPECT_EQ(Pods("Succeeded").size(), 3u);
}

TEST_F(WorldTest, ACronJobStartsJobsAndKeepsTheLast) {
  Create(R"(
apiVersion: batch/v1
kind: CronJob
metadata: {name: tick}
spec:
  schedule: "*/1 * * * *"
  successfulJobsHistoryLimit: 2
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: "tick:1"}]
)");
  const Resource& jobs = catalog_.Named("batch", "jobs");
  for (int i = 0; i < 61 && store_.All(jobs.storage_id).empty(); ++i) Pass(std::chrono::seconds(1));
  ASSERT_EQ(store_.All(jobs.storage_id).size(), 1u) << "within a minute";
  const Json running = Get(catalog_.Named("batch", "cronjobs"), "default", "tick");
  EXPECT_EQ(running["status"]["active"].Items().size(), 1u);
  Pass(std::chrono::seconds(300));
  const Json after = Get(catalog_.Named("batch", "cronjobs"), "default", "tick");
  EXPECT_LE(store_.All(jobs.storage_id).size(), 3u) << "two that ended and one that may run";
  EXPECT_FALSE(after["status"]["lastSuccessfulTime"].Empty());
  ASSERT_TRUE(registry_.Delete(catalog_.Named("batch", "cronjobs"), "default", "tick",
                               {.propagation_policy = "Background"}));
  Pass(std::chrono::seconds(5));
  EXPECT_TRUE(store_.All(jobs.storage_id).empty()) << "they go with their owner";
}

TEST_F(WorldTest, ACronJobKeepsTheTimeOfItsZone) {
  Create(R"(
apiVersion: batch/v1
kind: CronJob
metadata: {name: morning}
spec:
  schedule: "0 9 * * *"
  timeZone: Asia/Tokyo
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: Never
          containers: [{name: c, image: "c:1"}]
)");
  Pass(std::chrono::hours(24));
  const Json after = Get(catalog_.Named("batch", "cronjobs"), "default", "morning");
  EXPECT_TRUE(after["status"]["lastScheduleTime"].Str().ends_with("T00:00:00Z"))
      << after["status"].Dump();
}

TEST_F(WorldTest, ClaimsAreMadeFromTemplatesAndGivenBack) {
  Create(R"(
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu}
spec:
  spec:
    devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: user}
spec:
  resourceClaims: [{name: mine, resourceClaimTemplateName: gpu}]
  containers: [{name: c, image: "c:1"}]
)");
  Pass(std::chrono::seconds(1));
  const Resource& claims = catalog_.Named("resource.k8s.io", "resourceclaims");
  ASSERT_EQ(store_.All(claims.storage_id).size(), 1u);
  const ObjectPtr claim = store_.All(claims.storage_id).begin()->second;
  EXPECT_TRUE(claim->name.starts_with("user-mine-")) << claim->name;
  const Json pod = Get(pods_, "default", "user");
  EXPECT_EQ(pod["status"]["resourceClaimStatuses"].Items()[0]["resourceClaimName"].Str(),
            claim->name);
  EXPECT_EQ(claim->Value()["spec"]["devices"]["requests"].Items()[0]["name"].Str(), "r");
  ASSERT_TRUE(registry_.Delete(pods_, "default", "user"));
  Pass(std::chrono::seconds(60));
  EXPECT_TRUE(store_.All(claims.storage_id).empty()) << "it goes with its pod";
}

TEST_F(WorldTest, ServicesKnowTheirPods) {
  Create(kDeployment);
  Create(R"(
apiVersion: v1
kind: Service
metadata: {name: web}
spec:
  selector: {app: web}
  ports: [{port: 80, targetPort: 8080}]
)");
  Pass(std::chrono::seconds(5));
  const Json endpoints = Get(catalog_.Core("endpoints"), "default", "web");
  ASSERT_EQ(endpoints["subsets"].Items().size(), 1u);
  EXPECT_EQ(endpoints["subsets"].Items()[0]["addresses"].Items().size(), 4u);
  EXPECT_EQ(endpoints["subsets"].Items()[0]["ports"].Items()[0]["port"].Int(), 8080);
  const Resource& slices = catalog_.Named("discovery.k8s.io", "endpointslices");
  EXPECT_EQ(Get(slices, "default", "web")["endpoints"].Items().size(), 4u);
  ASSERT_TRUE(registry_.Delete(catalog_.Core("services"), "default", "web"));
  Pass(std::chrono::seconds(1));
  EXPECT_TRUE(Get(slices, "default", "web").IsNull());
  EXPECT_TRUE(Get(catalog_.Core("endpoints"), "default", "web").IsNull());
}

TEST_F(WorldTest, ADaemonForEveryNode) {
  hold_ = true;
  Create(R"(
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      containers: [{name: c, image: "agent:1"}]
)");
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Pods().size(), 3u);
  ASSERT_TRUE(registry_.Create(catalog_.Core("nodes"), "", MakeNode(3, loop_.Now(), "v1")));
  Pass(std::chrono::seconds(1));
  EXPECT_EQ(Pods().size(), 4u);
}

TEST_F(WorldTest, ANamespaceGoesWithWhatIsInIt) {
  Create("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}");
  Create("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: team}");
  Pass(std::chrono::seconds(1));
  EXPECT_FALSE(Get(catalog_.Core("serviceaccounts"), "team", "default").IsNull());
  ASSERT_TRUE(registry_.Delete(catalog_.Core("namespaces"), "", "team"));
  Pass(std::chrono::seconds(3));
  EXPECT_TRUE(Get(catalog_.Core("namespaces"), "", "team").IsNull());
  EXPECT_TRUE(Get(catalog_.Core("configmaps"), "team", "c").IsNull());
}

TEST_F(WorldTest, NodesRenewLeasesAndTakeTheirPodsWithThem) {
  Create(kDeployment);
  Pass(std::chrono::seconds(15));
  const Json lease =
      Get(catalog_.Named("coordination.k8s.io", "leases"), "kube-node-lease", "node-0001");
  EXPECT_EQ(lease["spec"]["holderIdentity"].Str(), "node-0001");
  const auto before = world_.index().PodsOn("node-0001").size();
  EXPECT_GT(before, 0u);
  ASSERT_TRUE(registry_.Delete(catalog_.Core("nodes"), "", "node-0001"));
  Pass(std::chrono::seconds(1));
  for (const ObjectPtr& pod : Pods("Running")) {
    EXPECT_NE(world_.index().NodeOf(*pod), "node-0001");
  }
}

TEST_F(WorldTest, EvictionRespectsBudgets) {
  Create(kDeployment);
  Create(R"(
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web}
spec:
  minAvailable: 3
  selector: {matchLabels: {app: web}}
)");
  Pass(std::chrono::seconds(5));
  const auto pods = Pods("Running");
  ASSERT_EQ(pods.size(), 4u);
  EXPECT_TRUE(registry_.Evict("default", pods[0]->name, Json::MakeObject()));
  const auto refused = registry_.Evict("default", pods[1]->name, Json::MakeObject());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, 429);
  EXPECT_EQ(refused.error().message,
            "Cannot evict pod as it would violate the pod's disruption budget.");
}

}  // namespace
}  // namespace berth::apiserver
