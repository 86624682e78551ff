#include "sim/workloads.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"

namespace berth::sim {
namespace {

using cluster::MakeNode;

api::Object Decode(std::string json) {
  std::replace(json.begin(), json.end(), '\'', '"');
  auto object = api::DecodeObject(json);
  EXPECT_TRUE(object.has_value()) << json << (object ? "" : object.error().Message());
  return object ? std::move(*object) : api::Object();
}

constexpr const char* kTemplate =
    "'template':{'metadata':{'labels':{'app':'web'},'annotations':{'note':'x'}},"
    "'spec':{'containers':[{'name':'c','image':'nginx'}]}}";

api::Object Workload(const std::string& version, const std::string& kind, const std::string& spec) {
  return Decode("{'apiVersion':'" + version + "','kind':'" + kind +
                "','metadata':{'name':'w','namespace':'ns'},'spec':{" + spec + "}}");
}

std::string Names(const Expansion& expansion) {
  std::string names;
  for (const api::Pod& pod : expansion.pods) names += pod.metadata.name + " ";
  return names;
}

TEST(Expand, EveryKindMakesItsPods) {
  struct Case {
    const char* what;
    const char* version;
    const char* kind;
    std::string spec;
    std::string names;
    std::string owner;
  };
  const std::string t = kTemplate;
  const Case cases[] = {
      {"replica set", "apps/v1", "ReplicaSet", "'replicas':2," + t, "w-1 w-2 ", "ReplicaSet"},
      {"one replica unless told", "apps/v1", "ReplicaSet", t, "w-1 ", "ReplicaSet"},
      {"none", "apps/v1", "ReplicaSet", "'replicas':0," + t, "", ""},
      {"less than none", "apps/v1", "ReplicaSet", "'replicas':-3," + t, "", ""},
      {"replication controller", "v1", "ReplicationController", "'replicas':2," + t, "w-1 w-2 ",
       "ReplicationController"},
      {"stateful set", "apps/v1", "StatefulSet", "'replicas':2," + t, "w-0 w-1 ", "StatefulSet"},
      {"ordinals that start elsewhere", "apps/v1", "StatefulSet",
       "'replicas':2,'ordinals':{'start':5}," + t, "w-5 w-6 ", "StatefulSet"},
      {"the last ordinal there is", "apps/v1", "StatefulSet",
       "'replicas':2,'ordinals':{'start':2147483647}," + t, "w-2147483647 w-2147483648 ",
       "StatefulSet"},
      {"job", "batch/v1", "Job", "'parallelism':3," + t, "w-1 w-2 w-3 ", "Job"},
      {"a job starts no more than it needs", "batch/v1", "Job",
       "'parallelism':3,'completions':2," + t, "w-1 w-2 ", "Job"},
      {"a suspended job", "batch/v1", "Job", "'suspend':true," + t, "", ""},
      {"cron job", "batch/v1", "CronJob", "'jobTemplate':{'spec':{'parallelism':2," + t + "}}",
       "w-1 w-2 ", "Job"},
      {"a suspended cron job", "batch/v1", "CronJob",
       "'suspend':true,'jobTemplate':{'spec':{" + t + "}}", "", ""},
      {"a kind that makes no pods", "v1", "Service", "", "", ""},
  };
  for (const Case& c : cases) {
    const Expansion expansion = Expand(Workload(c.version, c.kind, c.spec), {});
    EXPECT_EQ(Names(expansion), c.names) << c.what;
    for (const api::Pod& pod : expansion.pods) {
      EXPECT_EQ(pod.metadata.namespace_, "ns") << c.what;
      EXPECT_EQ(pod.metadata.labels.at("app"), "web") << c.what;
      EXPECT_EQ(pod.metadata.annotations.at("note"), "x") << c.what;
      EXPECT_EQ(pod.spec.containers.at(0).image, "nginx") << c.what;
      ASSERT_EQ(pod.metadata.owner_references.size(), 1u) << c.what;
      EXPECT_EQ(pod.metadata.owner_references[0].kind, c.owner) << c.what;
      EXPECT_TRUE(pod.metadata.owner_references[0].controller.value_or(false)) << c.what;
    }
  }
}

TEST(Expand, ReplicasMayBeGiven) {
  const std::string t = kTemplate;
  EXPECT_EQ(Names(Expand(Workload("apps/v1", "ReplicaSet", "'replicas':5," + t), {}, 1)), "w-1 ");
  EXPECT_EQ(Names(Expand(Workload("batch/v1", "Job", t), {}, 2)), "w-1 w-2 ");
}

TEST(Expand, ADeploymentHasAReplicaSet) {
  const std::string spec =
      std::string("'replicas':2,'selector':{'matchLabels':{'app':'web'}},") + kTemplate;
  const Expansion expansion = Expand(Workload("apps/v1", "Deployment", spec), {});
  ASSERT_TRUE(expansion.replica_set.has_value());
  const api::ReplicaSet& set = *expansion.replica_set;
  ASSERT_EQ(expansion.pods.size(), 2u);
  const std::string hash = expansion.pods[0].metadata.labels.at("pod-template-hash");
  EXPECT_FALSE(hash.empty());
  EXPECT_EQ(set.metadata.name, "w-" + hash);
  EXPECT_EQ(set.metadata.namespace_, "ns");
  EXPECT_EQ(set.spec.selector->match_labels.at("pod-template-hash"), hash);
  EXPECT_EQ(set.spec.selector->match_labels.at("app"), "web");
  EXPECT_EQ(expansion.pods[1].metadata.owner_references[0].name, set.metadata.name);
  EXPECT_EQ(expansion.pods[1].metadata.name, set.metadata.name + "-2");
  const Expansion again = Expand(Workload("apps/v1", "Deployment", spec), {});
  EXPECT_EQ(again.pods[0].metadata.labels.at("pod-template-hash"), hash) << "the same every time";
}

TEST(Expand, AStatefulSetHasClaimsOfItsOwn) {
  const Expansion expansion =
      Expand(Workload("apps/v1", "StatefulSet",
                      "'replicas':2,'volumeClaimTemplates':[{'metadata':{'name':'data'},"
                      "'spec':{'storageClassName':'fast'}}],"
                      "'template':{'metadata':{},'spec':{'containers':[{'name':'c'}],'volumes':["
                      "{'name':'data','emptyDir':{}},{'name':'other','emptyDir':{}}]}}"),
             {});
  ASSERT_EQ(expansion.claims.size(), 2u);
  EXPECT_EQ(expansion.claims[1].metadata.name, "data-w-1");
  EXPECT_EQ(expansion.claims[1].metadata.namespace_, "ns");
  EXPECT_EQ(expansion.claims[1].spec.storage_class_name.value_or(""), "fast");
  const api::Pod& pod = expansion.pods.at(1);
  EXPECT_EQ(pod.metadata.labels.at("statefulset.kubernetes.io/pod-name"), "w-1");
  EXPECT_EQ(pod.metadata.labels.at("apps.kubernetes.io/pod-index"), "1");
  ASSERT_EQ(pod.spec.volumes.size(), 2u) << "the claim replaces the volume of its name";
  EXPECT_EQ(pod.spec.volumes[0].name, "other");
  EXPECT_EQ(pod.spec.volumes[1].persistent_volume_claim->claim_name, "data-w-1");
}

TEST(Expand, ADaemonSetHasAPodForEveryNodeItRunsOn) {
  const std::vector<api::Node> nodes{
      MakeNode("plain"),
      MakeNode("labelled").Label("disk", "ssd"),
      MakeNode("tainted").Taint("k", "NoSchedule"),
      MakeNode("not-ready").Taint("node.kubernetes.io/not-ready", "NoExecute"),
      MakeNode("cordoned").Taint("node.kubernetes.io/unschedulable", "NoSchedule"),
      MakeNode("no-network").Taint("node.kubernetes.io/network-unavailable", "NoSchedule")};
  struct Case {
    const char* what;
    std::string spec;
    std::set<std::string> nodes;
  };
  const Case cases[] = {
      {"taints of trouble are tolerated, others are not",
       "",
       {"plain", "labelled", "not-ready", "cordoned"}},
      {"a node selector", "'nodeSelector':{'disk':'ssd'}", {"labelled"}},
      {"a toleration of its own",
       "'tolerations':[{'key':'k','operator':'Exists'}]",
       {"plain", "labelled", "tainted", "not-ready", "cordoned"}},
      {"on the host's network the node's own is not needed",
       "'hostNetwork':true",
       {"plain", "labelled", "not-ready", "cordoned", "no-network"}},
      {"affinity",
       "'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{"
       "'nodeSelectorTerms':[{'matchExpressions':[{'key':'disk','operator':'Exists'}]}]}}}",
       {"labelled"}},
  };
  for (const Case& c : cases) {
    const Expansion expansion =
        Expand(Workload("apps/v1", "DaemonSet", "'template':{'spec':{" + c.spec + "}}"), nodes);
    std::set<std::string> pinned;
    for (const api::Pod& pod : expansion.pods) {
      const auto& required =
          *pod.spec.affinity->node_affinity->required_during_scheduling_ignored_during_execution;
      ASSERT_EQ(required.node_selector_terms.size(), 1u);
      const auto& fields = required.node_selector_terms[0].match_fields;
      ASSERT_EQ(fields.size(), 1u);
      EXPECT_EQ(fields[0].key, "metadata.name");
      pinned.insert(fields[0].values.at(0));
    }
    EXPECT_EQ(pinned, c.nodes) << c.what;
    EXPECT_EQ(expansion.pods.size(), c.nodes.size()) << c.what;
  }
}

TEST(IsWorkload, KindsThatMakePods) {
  for (const char* kind : {"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"}) {
    EXPECT_TRUE(IsWorkload(Workload("apps/v1", kind, ""))) << kind;
  }
  for (const char* kind : {"Job", "CronJob"}) {
    EXPECT_TRUE(IsWorkload(Workload("batch/v1", kind, ""))) << kind;
  }
  EXPECT_TRUE(IsWorkload(Workload("v1", "ReplicationController", "")));
  EXPECT_FALSE(IsWorkload(Workload("v1", "Pod", "")));
  EXPECT_FALSE(IsWorkload(Workload("v1", "ConfigMap", "")));
}

}  // namespace
}  // namespace berth::sim
