#include "sim/world.h"

#include <string>

#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "sim/testing/world.h"

namespace berth::sim {
namespace {

constexpr const char* kDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: nginx}]}
)";

TEST(World, WhatAPersonWroteGetsWhatTheServerWouldAdd) {
  World world;
  ASSERT_TRUE(Read(world, R"(
apiVersion: v1
kind: Pod
metadata: {name: by-hand}
spec:
  priorityClassName: gold
  containers: [{name: c, image: nginx, resources: {limits: {cpu: 1}}}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: gold}
value: 7
---
apiVersion: v1
kind: Node
metadata: {name: a}
status: {capacity: {cpu: 2}}
)")
                  .has_value());
  const auto& cluster = world.GetCluster();
  ASSERT_EQ(PendingNames(world), "by-hand");
  const cluster::Pod& pod = cluster.GetPod(world.Pending()[0]);
  EXPECT_EQ(pod.namespace_(), "default");
  EXPECT_EQ(pod.shape->priority, 7) << "although its class comes later";
  EXPECT_EQ(pod.shape->fit.cpu, 1000) << "the request follows the limit";
  EXPECT_EQ(pod.shape->source.spec.scheduler_name, "default-scheduler");
  EXPECT_FALSE(pod.uid.empty());
  EXPECT_EQ(cluster.Resource(cluster::kCpu)->allocatable[cluster.FindNode("a")], 2000)
      << "allocatable follows capacity";
  EXPECT_TRUE(world.Ignored().empty()) << "the class was used";
}

TEST(World, WhatTheServerHasSeenIsLeftAlone) {
  World world;
  ASSERT_TRUE(Read(world, R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ns, uid: u1}
spec:
  schedulerName: mine
  containers: [{name: c, resources: {limits: {cpu: 1}}}]
---
apiVersion: v1
kind: Pod
metadata: {name: bound, namespace: ns, uid: u2}
spec: {nodeName: a, containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: leaving, namespace: ns, uid: u3, deletionTimestamp: "2025-01-01T00:00:00Z"}
spec: {containers: []}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: ns, uid: u4}
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: promised, namespace: ns, uid: u5}
status: {nominatedNodeName: a}
)")
                  .has_value());
  const auto& cluster = world.GetCluster();
  EXPECT_EQ(PendingNames(world), "p promised") << "not the one on a node, nor the one that leaves";
  EXPECT_EQ(cluster.PodCountTotal(), 4u) << "the one that is done is not there at all";
  const cluster::Pod& pod = cluster.GetPod(cluster.FindPod("u1"));
  EXPECT_EQ(pod.shape->fit.cpu, 0) << "no defaults are applied";
  EXPECT_EQ(pod.shape->source.spec.scheduler_name, "mine");
  EXPECT_EQ(cluster.Nominated().NodeOf(cluster.FindPod("u5")), cluster.Strings().Find("a"));
}

TEST(World, AnAbsurdNumberOfReplicasIsRefused) {
  World world;
  std::string yaml = kDeployment;
  yaml.replace(yaml.find("replicas: 2"), 11, "replicas: 2000000000");
  const auto read = Read(world, yaml);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().Message(),
            "Deployment default/web: asks for 2000000000 pods; more than 1000000 per workload are "
            "not simulated");
}

TEST(World, TheQueueGoesByPriorityThenAgeThenAppearance) {
  World world;
  std::string yaml;
  const auto pod = [&](const char* name, int priority, const char* created) {
    yaml += std::string("---\napiVersion: v1\nkind: Pod\nmetadata: {name: ") + name +
            ", uid: " + name +
            (*created ? std::string(", creationTimestamp: \"") + created + "\"" : "") +
            "}\nspec: {priority: " + std::to_string(priority) + "}\n";
  };
  pod("new-2", 0, "");
  pod("young", 0, "2025-01-02T00:00:00Z");
  pod("old", 0, "2025-01-01T00:00:00Z");
  pod("urgent", 10, "");
  pod("low", -1, "2020-01-01T00:00:00Z");
  pod("new-1", 0, "");
  ASSERT_TRUE(Read(world, yaml).has_value());
  EXPECT_EQ(PendingNames(world), "urgent old young new-2 new-1 low");
}

TEST(World, WorkloadsBecomePods) {
  World world;
  ASSERT_TRUE(Read(world, kDeployment).has_value());
  EXPECT_EQ(world.Pending().size(), 2u);
  EXPECT_EQ(world.GetCluster().Objects().replica_sets.Size(), 1u)
      << "so that default spreading finds it";
  const cluster::Pod& pod = world.GetCluster().GetPod(world.Pending()[0]);
  EXPECT_EQ(pod.namespace_(), "default");
  EXPECT_EQ(pod.shape->source.metadata.owner_references.at(0).kind, "ReplicaSet");
}

TEST(World, WorkloadsThatHaveTheirPodsGetOnlyWhatIsMissing) {
  const auto set = [](int replicas) {
    return "apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web, namespace: ns, uid: "
           "rs}\nspec: {replicas: " +
           std::to_string(replicas) + ", template: {spec: {containers: []}}}\n---\n" +
           "apiVersion: v1\nkind: Pod\nmetadata: {name: web-x, namespace: ns, uid: p, "
           "ownerReferences: [{kind: ReplicaSet, name: web, uid: rs, controller: true}]}\n" +
           "spec: {nodeName: a}\n";
  };
  struct Case {
    const char* what;
    int replicas;
    size_t pending;
  };
  const Case cases[] = {
      {"two are missing", 3, 2},
      {"none is missing", 1, 0},
      {"it is being scaled down", 0, 0},
      {"an absurd number", INT32_MIN, 0},
  };
  for (const Case& c : cases) {
    World world;
    ASSERT_TRUE(Read(world, set(c.replicas)).has_value()) << c.what;
    EXPECT_EQ(world.Pending().size(), c.pending) << c.what;
  }
}

TEST(World, AJobThatIsOverIsNotRunAgain) {
  struct Case {
    const char* what;
    const char* status;
    size_t pending;
  };
  const Case cases[] = {
      {"complete",
       "startTime: 2026-01-01T00:00:00Z, completionTime: 2026-01-01T00:01:00Z, succeeded: 3", 0},
      {"failed for good", "startTime: 2026-01-01T00:00:00Z, failed: 7", 0},
      {"its pods are not in the input", "startTime: 2026-01-01T00:00:00Z, active: 3", 3},
      {"not begun", "", 3},
  };
  for (const Case& c : cases) {
    World world;
    const std::string text =
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: w, namespace: ns, uid: w}\n"
        "spec: {parallelism: 3, template: {spec: {containers: []}}}\nstatus: {" +
        std::string(c.status) + "}\n";
    ASSERT_TRUE(Read(world, text).has_value()) << c.what;
    EXPECT_EQ(world.Pending().size(), c.pending) << c.what;
  }
}

TEST(World, ADeploymentWhosePodsAreThereNeedsNoReplicaSet) {
  const auto pending = [](const std::string& replica_set) {
    World world;
    const auto read =
        Read(world,
             "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: ns, uid: d}\n"
             "spec: {replicas: 2, template: {spec: {containers: []}}}\n---\n"
             "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns, uid: p, "
             "ownerReferences: [{kind: ReplicaSet, name: " +
                 replica_set + ", uid: rs, controller: true}]}\nspec: {nodeName: a}\n");
    EXPECT_TRUE(read.has_value());
    return world.Pending().size();
  };
  EXPECT_EQ(pending("web-7d4f"), 0u);
  EXPECT_EQ(pending("web-api-7d4f"), 2u) << "of Deployment web-api";
  EXPECT_EQ(pending("web"), 2u);
}

TEST(World, ADeploymentWhoseReplicaSetIsThereIsNotExpandedTwice) {
  World world;
  ASSERT_TRUE(
      Read(world, std::string(kDeployment) +
                      "---\napiVersion: apps/v1\nkind: ReplicaSet\n"
                      "metadata: {name: web-1, namespace: default, uid: rs, "
                      "ownerReferences: [{kind: Deployment, name: web, controller: true}]}\n"
                      "spec: {replicas: 3, template: {spec: {containers: []}}}\n")
          .has_value());
  // A Deployment without a namespace is in "default" only once it is admitted.
  EXPECT_EQ(world.Pending().size(), 3u);
}

TEST(World, StatefulSetsKeepClaimsThatExist) {
  World world;
  ASSERT_TRUE(Read(world, R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ns}
spec:
  replicas: 2
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: fast}}]
  template: {spec: {containers: [{name: c}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data-db-0, namespace: ns, uid: u}
spec: {volumeName: pv-7}
)")
                  .has_value());
  const auto& claims = world.GetCluster().Objects().persistent_volume_claims;
  EXPECT_EQ(claims.Size(), 2u);
  EXPECT_EQ(claims.Find("ns", "data-db-0")->spec.volume_name, "pv-7");
  ASSERT_NE(claims.Find("ns", "data-db-1"), nullptr);
  EXPECT_EQ(PendingNames(world), "db-0 db-1");
}

TEST(World, ErrorsNameTheObject) {
  World world;
  const auto read = Read(world,
                         "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\n"
                         "spec: {priorityClassName: gold}\n");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().Message(), "Pod ns/p: no PriorityClass with name gold was found");
}

TEST(World, CountsWhatItDoesNotUse) {
  World world;
  const auto object = [](const char* kind, const char* name) {
    return std::string("---\napiVersion: v1\nkind: ") + kind + "\nmetadata: {name: " + name + "}\n";
  };
  ASSERT_TRUE(Read(world, object("ConfigMap", "a") + object("ConfigMap", "b") +
                              object("Secret", "c") + object("Node", "a"))
                  .has_value());
  const std::vector<std::pair<std::string, size_t>> want{{"ConfigMap", 2}, {"Secret", 1}};
  EXPECT_EQ(world.Ignored(), want);
  EXPECT_EQ(world.GetCluster().NodeCount(), 1u);
}

TEST(World, FindsWorkloadsByNameAndSaysWhyNot) {
  World world;
  const auto workload = [](const char* kind, const char* version, const char* ns,
                           const char* name) {
    return std::string("---\napiVersion: ") + version + "\nkind: " + kind +
           "\nmetadata: {name: " + name + ", namespace: " + ns +
           "}\nspec: {template: {spec: {}}}\n";
  };
  ASSERT_TRUE(Read(world, workload("Deployment", "apps/v1", "one", "web") +
                              workload("StatefulSet", "apps/v1", "one", "db") +
                              workload("Job", "batch/v1", "two", "db") +
                              workload("StatefulSet", "apps/v1", "two", "cache"))
                  .has_value());
  struct Case {
    const char* name;
    const char* why;  // "" when it is found
  };
  const Case cases[] = {
      {"web", ""},
      {"one/web", ""},
      {"deployment/web", ""},
      {"Deployment/web", ""},
      {"one/deployment/web", ""},
      {"deployment/one/web", ""},
      {"job/db", ""},
      {"one/db", ""},
      {"two/web", "no workload called two/web in the input"},
      {"job/web", "no workload called job/web in the input"},
      {"nothing", "no workload called nothing in the input"},
      {"", "no workload called  in the input"},
      {"db", "more than one workload is called db: say KIND/db or NAMESPACE/db"},
  };
  for (const Case& c : cases) {
    std::string why;
    const api::Object* found = world.FindWorkload(c.name, &why);
    EXPECT_EQ(found != nullptr, std::string(c.why).empty()) << c.name;
    EXPECT_EQ(why, c.why);
  }
}

}  // namespace
}  // namespace berth::sim
