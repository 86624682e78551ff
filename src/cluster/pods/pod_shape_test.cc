#include "cluster/pods/pod_shape.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/pods/shape_table.h"
#include "cluster/table/resources.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

// Both halves, and where the first one ends.
std::string KeyOf(const api::Pod& pod) {
  std::string kind;
  std::string own;
  AppendKindKey(pod, &kind);
  AppendOwnKey(pod, &own);
  return std::to_string(kind.size()) + " " + kind + own;
}

// A pod that has something of everything, so that every change below changes something.
api::Pod FullPod() {
  api::Pod pod = MakePod("web-1")
                     .Label("app", "web")
                     .Priority(5)
                     .Image("nginx:1")
                     .Requests("cpu", "100m")
                     .HostPort(80, "TCP", "10.0.0.1")
                     .NodeSelector("disk", "ssd")
                     .Gate("gate")
                     .Tolerates("key", "Equal", "value", "NoSchedule")
                     .Volume("{'name':'data','persistentVolumeClaim':{'claimName':'data'}}")
                     .NodeAffinity(
                         "{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,"
                         "'preference':{'matchExpressions':[{'key':'zone','operator':"
                         "'In','values':['a']}]}}]}");
  pod.spec.topology_spread_constraints.push_back(FromText<api::TopologySpreadConstraint>(
      "{'maxSkew':1,'topologyKey':'zone','whenUnsatisfiable':'DoNotSchedule'}"));
  pod.spec.resource_claims.push_back(
      FromText<api::PodResourceClaim>("{'name':'gpu','resourceClaimName':'gpu-1'}"));
  pod.metadata.owner_references.push_back(FromText<api::OwnerReference>(
      "{'apiVersion':'apps/v1','kind':'ReplicaSet','name':'web','uid':'u','controller':true}"));
  pod.spec.overhead["cpu"] = Amount("10m");
  return pod;
}

struct Change {
  const char* what;
  std::function<void(api::Pod&)> apply;
};

TEST(PodShape, WhatSchedulingReadsTellsShapesApart) {
  const Change changes[] = {
      {"namespace", [](api::Pod& p) { p.metadata.namespace_ = "other"; }},
      {"a label's value", [](api::Pod& p) { p.metadata.labels["app"] = "db"; }},
      {"one more label", [](api::Pod& p) { p.metadata.labels["tier"] = "1"; }},
      {"scheduler name", [](api::Pod& p) { p.spec.scheduler_name = "other"; }},
      {"priority", [](api::Pod& p) { p.spec.priority = 6; }},
      {"priority below zero", [](api::Pod& p) { p.spec.priority = -5; }},
      {"preemption policy", [](api::Pod& p) { p.spec.preemption_policy = std::string("Never"); }},
      {"image", [](api::Pod& p) { p.spec.containers[0].image = "nginx:2"; }},
      {"request",
       [](api::Pod& p) { p.spec.containers[0].resources.requests["cpu"] = Amount("101m"); }},
      {"another resource",
       [](api::Pod& p) { p.spec.containers[0].resources.requests["x.com/y"] = Amount("0"); }},
      {"limit", [](api::Pod& p) { p.spec.containers[0].resources.limits["cpu"] = Amount("1"); }},
      {"a seccomp profile on the node",
       [](api::Pod& p) {
         p.spec.security_context = FromText<api::PodSecurityContext>(
             "{'seccompProfile':{'type':'Localhost','localhostProfile':'a/b.json'}}");
       }},
      {"a seccomp profile of a container",
       [](api::Pod& p) {
         p.spec.containers[0].security_context = FromText<api::SecurityContext>(
             "{'seccompProfile':{'type':'Localhost','localhostProfile':'a/b.json'}}");
       }},
      {"host port", [](api::Pod& p) { p.spec.containers[0].ports[0].host_port = 81; }},
      {"port protocol", [](api::Pod& p) { p.spec.containers[0].ports[0].protocol = "UDP"; }},
      {"port address", [](api::Pod& p) { p.spec.containers[0].ports[0].host_ip = ""; }},
      {"one more container", [](api::Pod& p) { p.spec.containers.emplace_back(); }},
      {"the container becomes an init container",
       [](api::Pod& p) { std::swap(p.spec.containers, p.spec.init_containers); }},
      {"a sidecar instead of an init container",
       [](api::Pod& p) { p.spec.init_containers.emplace_back().restart_policy = "Always"; }},
      {"overhead", [](api::Pod& p) { p.spec.overhead["cpu"] = Amount("11m"); }},
      {"node selector", [](api::Pod& p) { p.spec.node_selector["disk"] = "hdd"; }},
      {"toleration key", [](api::Pod& p) { p.spec.tolerations[0].key = "k"; }},
      {"toleration operator", [](api::Pod& p) { p.spec.tolerations[0].operator_ = "Exists"; }},
      {"toleration value", [](api::Pod& p) { p.spec.tolerations[0].value = "v"; }},
      {"toleration effect", [](api::Pod& p) { p.spec.tolerations[0].effect = "NoExecute"; }},
      {"pod group", [](api::Pod& p) { p.spec.scheduling_group = api::PodSchedulingGroup{"gang"}; }},
      {"gate", [](api::Pod& p) { p.spec.scheduling_gates[0].name = "other"; }},
      {"no gate", [](api::Pod& p) { p.spec.scheduling_gates.clear(); }},
      {"affinity",
       [](api::Pod& p) {
         p.spec.affinity->node_affinity->preferred_during_scheduling_ignored_during_execution[0]
             .weight = 2;
       }},
      {"no affinity", [](api::Pod& p) { p.spec.affinity.reset(); }},
      {"spread constraint",
       [](api::Pod& p) { p.spec.topology_spread_constraints[0].max_skew = 2; }},
      {"resource claim",
       [](api::Pod& p) { p.spec.resource_claims[0].resource_claim_name = "gpu-2"; }},
      {"pod level resources",
       [](api::Pod& p) { p.spec.resources.emplace().requests["cpu"] = Amount("2"); }},
      {"claim of a volume",
       [](api::Pod& p) { p.spec.volumes[0].persistent_volume_claim->claim_name = "other"; }},
      {"controller", [](api::Pod& p) { p.metadata.owner_references[0].name = "other"; }},
      {"amounts the kubelet has allocated",
       [](api::Pod& p) {
         auto& status = p.status.container_statuses.emplace_back();
         status.name = "c";
         status.allocated_resources["cpu"] = Amount("1");
       }},
      {"a resize that is pending",
       [](api::Pod& p) { p.status.conditions.emplace_back().type = "PodResizePending"; }},
  };
  const std::string key = KeyOf(FullPod());
  for (const Change& change : changes) {
    api::Pod changed = FullPod();
    change.apply(changed);
    EXPECT_NE(KeyOf(changed), key) << change.what;
  }
}

// The key is written field by field: one that is added to the type belongs here and there.
TEST(PodShape, EveryFieldOfASpreadConstraintTellsShapesApart) {
  using Constraint = api::TopologySpreadConstraint;
  const std::vector<std::function<void(Constraint&)>> changes = {
      [](Constraint& c) { c.max_skew = 7; },
      [](Constraint& c) { c.topology_key = "other"; },
      [](Constraint& c) { c.when_unsatisfiable = "other"; },
      [](Constraint& c) { c.label_selector.emplace(); },
      [](Constraint& c) { c.min_domains = 0; },
      [](Constraint& c) { c.node_affinity_policy = ""; },
      [](Constraint& c) { c.node_taints_policy = ""; },
      [](Constraint& c) { c.match_label_keys = {"k"}; },
  };
  EXPECT_EQ(api::TypeOf<Constraint>().fields.size(), changes.size());
  const std::vector<std::function<void(api::LabelSelector&)>> selector_changes = {
      [](api::LabelSelector& s) { s.match_labels["k"] = "v"; },
      [](api::LabelSelector& s) { s.match_expressions.emplace_back(); },
      [](api::LabelSelector& s) { s.match_expressions.emplace_back().key = "k"; },
      [](api::LabelSelector& s) { s.match_expressions.emplace_back().operator_ = "In"; },
      [](api::LabelSelector& s) { s.match_expressions.emplace_back().values = {"v"}; },
  };
  std::set<std::string> keys;
  const auto add = [&](const std::function<void(Constraint&)>& change) {
    api::Pod pod;
    change(pod.spec.topology_spread_constraints.emplace_back());
    EXPECT_TRUE(keys.insert(KeyOf(pod)).second) << "change " << keys.size();
  };
  add([](Constraint&) {});
  for (const auto& change : changes) add(change);
  for (const auto& change : selector_changes) {
    add([&](Constraint& c) { change(c.label_selector.emplace()); });
  }
}

TEST(PodShape, WhatSchedulingDoesNotReadDoesNotTellShapesApart) {
  const Change changes[] = {
      {"name and uid",
       [](api::Pod& p) {
         p.metadata.name = "web-2";
         p.metadata.uid = "u2";
         p.metadata.generate_name = "web-";
       }},
      {"annotations", [](api::Pod& p) { p.metadata.annotations["a"] = "b"; }},
      {"the seccomp profile of the runtime",
       [](api::Pod& p) {
         p.spec.security_context =
             FromText<api::PodSecurityContext>("{'seccompProfile':{'type':'RuntimeDefault'}}");
         p.spec.containers[0].security_context =
             FromText<api::SecurityContext>("{'seccompProfile':{'type':'Unconfined'}}");
       }},
      {"where it runs", [](api::Pod& p) { p.spec.node_name = "n"; }},
      {"a nomination", [](api::Pod& p) { p.status.nominated_node_name = "n"; }},
      {"the token volume with its generated name",
       [](api::Pod& p) {
         p.spec.volumes.push_back(
             FromText<api::Volume>("{'name':'kube-api-access-x7k2p','projected':{}}"));
       }},
      {"a config map and a scratch volume",
       [](api::Pod& p) {
         p.spec.volumes.push_back(FromText<api::Volume>("{'name':'a','configMap':{'name':'c'}}"));
         p.spec.volumes.push_back(FromText<api::Volume>("{'name':'b','emptyDir':{}}"));
       }},
      {"a container port without a host port",
       [](api::Pod& p) { p.spec.containers[0].ports.emplace_back().container_port = 8080; }},
      {"phase and conditions",
       [](api::Pod& p) {
         p.status.phase = "Running";
         p.status.conditions.emplace_back().type = "Ready";
         p.status.container_statuses.emplace_back().name = "c";
       }},
      {"the uid of its controller",
       [](api::Pod& p) { p.metadata.owner_references[0].uid = "other"; }},
      {"an owner that is no controller",
       [](api::Pod& p) { p.metadata.owner_references.emplace_back().kind = "ReplicaSet"; }},
      {"deletion and times",
       [](api::Pod& p) {
         p.metadata.deletion_timestamp.emplace();
         p.status.start_time.emplace();
       }},
  };
  const std::string key = KeyOf(FullPod());
  for (const Change& change : changes) {
    api::Pod changed = FullPod();
    change.apply(changed);
    EXPECT_EQ(KeyOf(changed), key) << change.what;
  }
}

TEST(PodShape, ControllersThatSpreadingDoesNotLookUpDoNotCount) {
  api::Pod job = MakePod("p");
  const std::string key = KeyOf(job);
  job.metadata.owner_references.push_back(
      FromText<api::OwnerReference>("{'kind':'Job','name':'j','controller':true}"));
  EXPECT_EQ(KeyOf(job), key);
}

TEST(PodShape, PartsDoNotRunIntoEachOther) {
  api::Pod a = MakePod("p").Label("ab", "c");
  api::Pod b = MakePod("p").Label("a", "bc");
  EXPECT_NE(KeyOf(a), KeyOf(b));
  // One container status with amounts of its own, against two without.
  api::Pod c = MakePod("p");
  auto& first = c.status.container_statuses.emplace_back();
  first.name = "x";
  first.allocated_resources["cpu"] = Amount("1");
  first.resources.emplace();
  api::Pod d = MakePod("p");
  auto& second = d.status.container_statuses.emplace_back();
  second.name = "x";
  second.allocated_resources["cpu"] = Amount("1");
  auto& third = d.status.container_statuses.emplace_back();
  third.name = "";
  third.resources.emplace();
  EXPECT_NE(KeyOf(c), KeyOf(d));
  // A container called as a condition is, against the condition.
  api::Pod e = MakePod("p");
  auto& named = e.status.container_statuses.emplace_back();
  named.name = "PodResizePending";
  named.resources.emplace();
  api::Pod f = MakePod("p");
  f.status.conditions.emplace_back().type = "PodResizePending";
  EXPECT_NE(KeyOf(e), KeyOf(f));
}

TEST(KindKey, LeavesOutLabelsAndClaimsAndNothingElse) {
  const auto kind_of = [](const api::Pod& pod) {
    std::string key;
    AppendKindKey(pod, &key);
    return key;
  };
  const auto with = [](const std::string& own) {
    MakePod pod("p");
    pod.Label("pod-name", own);
    pod.Volume("{'name':'v','persistentVolumeClaim':{'claimName':'" + own + "'}}");
    pod.Get().spec.resource_claims.push_back(
        FromText<api::PodResourceClaim>("{'name':'c','resourceClaimName':'" + own + "'}"));
    return pod;
  };
  EXPECT_EQ(kind_of(with("a")), kind_of(with("b")));
  EXPECT_EQ(kind_of(with("a")), kind_of(MakePod("p")));
  EXPECT_NE(KeyOf(with("a")), KeyOf(with("b")));
  EXPECT_NE(kind_of(with("a")), kind_of(with("a").Requests("cpu", "1")));
  EXPECT_NE(kind_of(with("a")), kind_of(with("a").Namespace("other")));
  EXPECT_NE(kind_of(with("a")), kind_of(with("a").Tolerates("key")));
  api::Pod owned = with("a");
  owned.metadata.owner_references = FullPod().metadata.owner_references;
  EXPECT_NE(kind_of(with("a")), kind_of(owned));
}

TEST(PodShape, CompilesWhatPluginsRead) {
  Dictionary strings;
  ResourceNames resources;
  api::Pod pod = FullPod();
  pod.spec.preemption_policy = std::string("Never");
  api::Container& init = pod.spec.init_containers.emplace_back();
  init.image = "busybox";
  init.ports.emplace_back().host_port = 70;
  api::Container& sidecar = pod.spec.init_containers.emplace_back();
  sidecar.image = "proxy:2";
  sidecar.restart_policy = "Always";
  sidecar.ports.emplace_back().host_port = 71;
  pod.spec.containers[0].resources.requests["example.com/gpu"] = Amount("2");
  const PodShape shape = CompileShape(pod, {}, strings, resources);
  EXPECT_EQ(shape.namespace_, "ns");
  EXPECT_EQ(shape.priority, 5);
  EXPECT_TRUE(shape.never_preempts);
  EXPECT_EQ(shape.on_node.cpu, 110) << "request and overhead";
  EXPECT_EQ(shape.fit.Get(resources.Find("example.com/gpu")), 2);
  ASSERT_EQ(shape.host_ports.size(), 2u) << "of the sidecar and the container";
  EXPECT_EQ(shape.host_ports[0].port, 71);
  EXPECT_EQ(strings.Text(shape.host_ports[0].ip), "0.0.0.0");
  EXPECT_EQ(strings.Text(shape.host_ports[0].protocol), "TCP");
  EXPECT_EQ(strings.Text(shape.host_ports[1].ip), "10.0.0.1");
  ASSERT_EQ(shape.images.size(), 3u);
  EXPECT_EQ(strings.Text(shape.images[0]), "busybox:latest");
  EXPECT_EQ(strings.Text(shape.images[2]), "nginx:1");
  EXPECT_EQ(shape.scheduling_gates, std::vector<std::string>{"gate"});
  EXPECT_EQ(shape.volume_keys.size(), 1u);
  EXPECT_EQ(shape.source.metadata.name, "") << "the identity is not the shape's";
  EXPECT_EQ(shape.source.spec.tolerations.size(), 1u);
  EXPECT_EQ(KeyOf(shape.source), KeyOf(pod)) << "what is kept is enough to have the same shape";
}

TEST(ShapeTable, PodsOfOneTemplateShareAShapeUntilTheLastIsGone) {
  Dictionary strings;
  ResourceNames resources;
  ShapeTable table;
  const PodShape* a = table.Acquire(MakePod("a").Priority(1), {}, strings, resources);
  const PodShape* b = table.Acquire(MakePod("b").Priority(1), {}, strings, resources);
  const PodShape* c = table.Acquire(MakePod("c").Priority(2), {}, strings, resources);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_EQ(table.Size(), 2u);
  const uint32_t id = a->id;
  const uint64_t serial = a->serial;
  table.Release(a);
  EXPECT_EQ(table.Size(), 2u);
  table.Release(b);
  EXPECT_EQ(table.Size(), 1u);
  const PodShape* d = table.Acquire(MakePod("d").Priority(3), {}, strings, resources);
  EXPECT_EQ(d->id, id) << "ids are reused";
  EXPECT_NE(d->serial, serial) << "serials are not";
  EXPECT_EQ(d->priority, 3);
  EXPECT_EQ(c->priority, 2);
}

TEST(ShapeTable, PodsThatDifferInLabelsAndClaimsAloneAreOfOneKind) {
  Dictionary strings;
  ResourceNames resources;
  ShapeTable table;
  const auto acquire = [&](const MakePod& pod) {
    return table.Acquire(pod, {}, strings, resources);
  };
  const PodShape* a = acquire(MakePod("a").Label("index", "1"));
  const PodShape* b = acquire(MakePod("b").Label("index", "2"));
  const PodShape* claim =
      acquire(MakePod("c").Volume("{'name':'v','persistentVolumeClaim':{'claimName':'c'}}"));
  const PodShape* other = acquire(MakePod("d").Label("index", "1").Priority(2));
  EXPECT_NE(a, b);
  EXPECT_EQ(a->kind, b->kind);
  EXPECT_EQ(a->kind, claim->kind);
  EXPECT_NE(a->kind, other->kind);
  EXPECT_EQ(table.KindCount(), 2u);
  const uint64_t kind = a->kind;
  for (const PodShape* shape : {a, b, claim}) table.Release(shape);
  EXPECT_EQ(acquire(MakePod("e").Label("index", "3"))->kind, kind)
      << "a kind is still known when its last pod is gone";
  EXPECT_EQ(table.Size(), 2u);
}

TEST(ShapeTable, KindsThatNobodyIsOfAreForgottenSomeTime) {
  Dictionary strings;
  ResourceNames resources;
  ShapeTable table;
  const PodShape* kept = table.Acquire(MakePod("kept").Priority(-1), {}, strings, resources);
  for (int32_t i = 0; i < 10'000; ++i) {
    table.Release(table.Acquire(MakePod("p").Priority(i), {}, strings, resources));
  }
  EXPECT_LE(table.KindCount(), 4096u);
  EXPECT_EQ(table.Acquire(MakePod("twin").Priority(-1), {}, strings, resources), kept);
}

TEST(PodShape, SaysWhichPartsItHas) {
  Dictionary strings;
  ResourceNames resources;
  const auto parts = [&](const api::Pod& pod) {
    return CompileShape(pod, {}, strings, resources).parts;
  };
  EXPECT_EQ(parts(MakePod("p").Label("app", "web").Requests("cpu", "1")), 0u);
  EXPECT_EQ(parts(MakePod("p").HostPort(80)), kHasHostPorts);
  EXPECT_EQ(parts(MakePod("p").NodeSelector("disk", "ssd")), kHasNodeAffinity);
  EXPECT_EQ(parts(MakePod("p").NodeAffinity("{}")), kHasNodeAffinity);
  EXPECT_EQ(parts(MakePod("p").Volume("{'name':'v','emptyDir':{}}")), 0u) << "nobody reads it";
  EXPECT_EQ(parts(MakePod("p").Volume("{'name':'v','persistentVolumeClaim':{'claimName':'c'}}")),
            kHasVolumes);
  EXPECT_EQ(parts(FullPod()), kShapePartSets - 1);
}

TEST(PerShape, ValuesAreMadeOncePerShapeAndAgainForAReusedId) {
  PerShape<int> values;
  int made = 0;
  const auto make = [&](const PodShape&) { return ++made; };
  PodShape first;
  first.id = 3;
  first.serial = 10;
  EXPECT_EQ(values.Get(first, make), 1);
  EXPECT_EQ(values.Get(first, make), 1);
  PodShape second;
  second.id = 3;
  second.serial = 11;
  EXPECT_EQ(values.Get(second, make), 2);
}

}  // namespace
}  // namespace berth::cluster
