#include "cluster/cluster.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "cluster/testing/builders.h"

namespace berth::cluster {
namespace {

TEST(Cluster, ANodeFillsItsRow) {
  Cluster cluster;
  const NodeIndex n = cluster.SetNode(MakeNode("a")
                                          .Cpu("1500m")
                                          .Memory("1Gi")
                                          .Has("ephemeral-storage", "10")
                                          .Has("example.com/gpu", "4")
                                          .Has("storage", "7")
                                          .Pods("30")
                                          .Label("zone", "x")
                                          .Taint("t", "NoSchedule")
                                          .Image({"nginx:1"}, 5)
                                          .Cordoned());
  EXPECT_EQ(cluster.FindNode("a"), n);
  EXPECT_EQ(cluster.NodeName(n), "a");
  EXPECT_EQ(cluster.Resource(kCpu)->allocatable[n], 1500);
  EXPECT_EQ(cluster.Resource(kMemory)->allocatable[n], 1 << 30);
  EXPECT_EQ(cluster.Resource(kEphemeralStorage)->allocatable[n], 10);
  EXPECT_EQ(cluster.AllowedPods()[n], 30);
  EXPECT_TRUE(cluster.Unschedulable().Contains(n));
  EXPECT_TRUE(cluster.Tainted().Contains(n));
  EXPECT_EQ(cluster.Taints().Get(cluster.TaintSetOf()[n])[0].key, "t");
  EXPECT_EQ(cluster.Images().Find(cluster.Strings().Find("nginx:1"))->nodes,
            std::vector<NodeIndex>{n});

  const ResourceId gpu = cluster.Resources().Find("example.com/gpu");
  ASSERT_NE(gpu, kNoResource);
  EXPECT_EQ(cluster.Resource(gpu), nullptr) << "no column before a pod mentions the resource";
  cluster.TrackResource(gpu);
  EXPECT_EQ(cluster.Resource(gpu)->allocatable[n], 4);
  EXPECT_EQ(cluster.Resources().Find("storage"), kNoResource)
      << "a name that is no scalar resource";
}

TEST(Cluster, SetNodeAgainReplacesEverything) {
  Cluster cluster;
  const StringId zone = cluster.Strings().Intern("zone");
  const NodeIndex n = cluster.SetNode(MakeNode("a")
                                          .Cpu("4")
                                          .Label("zone", "x")
                                          .Taint("t", "NoSchedule")
                                          .Image({"nginx:1"}, 5)
                                          .Cordoned());
  const LabelColumn& column = cluster.Labels(zone);
  EXPECT_EQ(column.values[column.codes[n]], cluster.Strings().Find("x"));
  const uint64_t generation = cluster.NodeGeneration();
  EXPECT_EQ(cluster.SetNode(MakeNode("a").Memory("1")), n);
  EXPECT_GT(cluster.NodeGeneration(), generation);
  EXPECT_EQ(cluster.NodeCount(), 1u);
  EXPECT_EQ(cluster.Resource(kCpu)->allocatable[n], 0);
  EXPECT_EQ(cluster.Resource(kMemory)->allocatable[n], 1);
  EXPECT_EQ(column.codes[n], LabelColumn::kAbsent);
  EXPECT_FALSE(cluster.Unschedulable().Contains(n));
  EXPECT_FALSE(cluster.Tainted().Contains(n));
  EXPECT_EQ(cluster.Images().Find(cluster.Strings().Find("nginx:1")), nullptr);
}

TEST(Cluster, PodsOnANodeThatIsNotThereWaitForItOnAGhostRow) {
  Cluster cluster;
  const PodId pod = cluster.AddPod(MakePod("p").Requests("cpu", "2").On("late"));
  EXPECT_EQ(cluster.FindNode("late"), kNoNode);
  EXPECT_EQ(cluster.NodeCount(), 0u);
  EXPECT_TRUE(cluster.Nodes().Empty());
  EXPECT_TRUE(cluster.NodeOrder().empty());
  const NodeIndex ghost = cluster.GetPod(pod).node;
  const NodeIndex n = cluster.SetNode(MakeNode("late").Cpu("4"));
  EXPECT_EQ(n, ghost) << "the node takes the row its pods are on";
  EXPECT_EQ(cluster.Resource(kCpu)->requested[n], 2000);
  EXPECT_EQ(cluster.PodCount()[n], 1);
}

TEST(Cluster, ANodeThatGoesLeavesItsPodsAndGivesTheRowBackWithTheLast) {
  Cluster cluster;
  const NodeIndex n = cluster.SetNode(MakeNode("a").Cpu("4"));
  const PodId pod = cluster.AddPod(MakePod("p").Requests("cpu", "1").On("a"));
  EXPECT_TRUE(cluster.RemoveNode("a"));
  EXPECT_FALSE(cluster.RemoveNode("a"));
  EXPECT_EQ(cluster.FindNode("a"), kNoNode);
  EXPECT_EQ(cluster.GetPod(pod).node, n);
  EXPECT_EQ(cluster.Resource(kCpu)->allocatable[n], 0);
  EXPECT_NE(cluster.SetNode(MakeNode("b")), n) << "the ghost row is still in use";
  cluster.RemovePod(pod);
  EXPECT_EQ(cluster.SetNode(MakeNode("c")), n) << "now it is not";
  EXPECT_EQ(cluster.Resource(kCpu)->requested[n], 0);
  EXPECT_EQ(cluster.PodCount()[n], 0);
}

TEST(Cluster, PlaceAndUnplace) {
  Cluster cluster;
  const NodeIndex n = cluster.SetNode(MakeNode("a"));
  const PodId p = cluster.AddPod(MakePod("p").Requests("cpu", "1"));
  const PodId q = cluster.AddPod(MakePod("q").Requests("cpu", "2").Requests("x.com/gpu", "3"));
  EXPECT_EQ(cluster.GetPod(p).node, kNoNode);
  cluster.Place(p, n, /*assumed=*/true);
  cluster.Place(q, n, /*assumed=*/false);
  EXPECT_TRUE(cluster.GetPod(p).assumed);
  EXPECT_FALSE(cluster.GetPod(q).assumed);
  EXPECT_EQ(cluster.Resource(kCpu)->requested[n], 3000);
  EXPECT_EQ(cluster.Resource(cluster.Resources().Find("x.com/gpu"))->requested[n], 3);
  EXPECT_EQ(cluster.NonzeroMemory()[n], 2 * (200 << 20)) << "200 MiB for who asks for none";
  cluster.Unplace(p);
  EXPECT_FALSE(cluster.GetPod(p).assumed);
  EXPECT_EQ(cluster.GetPod(p).node, kNoNode);
  EXPECT_EQ(cluster.Record(n).pods, std::vector<PodId>{q});
  EXPECT_EQ(cluster.GetPod(q).position, 0u) << "the last one moved into the gap";
  EXPECT_EQ(cluster.Resource(kCpu)->requested[n], 2000);
}

TEST(Cluster, UpdatePodFollowsSpecNodeNameAndElseStays) {
  Cluster cluster;
  const NodeIndex a = cluster.SetNode(MakeNode("a"));
  const NodeIndex b = cluster.SetNode(MakeNode("b"));
  const PodId p = cluster.AddPod(MakePod("p").Requests("cpu", "1"));
  cluster.Place(p, a, /*assumed=*/true);
  cluster.UpdatePod(p, MakePod("p").Requests("cpu", "3").Label("k", "v"));
  EXPECT_EQ(cluster.GetPod(p).node, a) << "still assumed";
  EXPECT_TRUE(cluster.GetPod(p).assumed);
  EXPECT_EQ(cluster.Resource(kCpu)->requested[a], 3000);
  cluster.UpdatePod(p, MakePod("p").Requests("cpu", "3").On("b"));
  EXPECT_EQ(cluster.GetPod(p).node, b) << "the API server says where it is";
  EXPECT_FALSE(cluster.GetPod(p).assumed);
  EXPECT_EQ(cluster.Resource(kCpu)->requested[a], 0);
  EXPECT_EQ(cluster.Resource(kCpu)->requested[b], 3000);
}

TEST(Cluster, ThatAnAssumedPodIsBoundChangesNothingOnItsNode) {
  Cluster cluster;
  const NodeIndex a = cluster.SetNode(MakeNode("a"));
  const PodId p = cluster.AddPod(MakePod("p").Requests("cpu", "1"));
  cluster.Place(p, a, /*assumed=*/true);
  const uint64_t position = cluster.Changes().Read();
  const uint64_t serial = cluster.GetPod(p).shape->serial;
  cluster.UpdatePod(p, MakePod("p").Requests("cpu", "1").On("a"));
  EXPECT_FALSE(cluster.GetPod(p).assumed);
  EXPECT_EQ(cluster.GetPod(p).node_name, "a");
  EXPECT_EQ(cluster.Resource(kCpu)->requested[a], 1000);
  EXPECT_EQ(cluster.Record(a).pods, std::vector<PodId>{p});
  EXPECT_EQ(cluster.Changes().Missed(position), 0u);

  api::Pod started = MakePod("p").Requests("cpu", "1").On("a");
  started.status.start_time = api::Time::FromUnixNano(1'000'000'000);
  cluster.UpdatePod(p, started);
  EXPECT_NE(cluster.Changes().Missed(position), 0u) << "what preemption makes of it has changed";
  EXPECT_EQ(cluster.GetPod(p).start_time, *started.status.start_time);
  cluster.RemovePod(p);
  const PodId q = cluster.AddPod(MakePod("q").Requests("cpu", "1"));
  EXPECT_NE(cluster.GetPod(q).shape->serial, serial) << "nobody holds on to the shape";
}

// What a kubelet may say of a pod, at random.
api::PodStatus RandomStatus(Random& random) {
  api::PodStatus status;
  status.phase = random.Below(2) == 0 ? "Pending" : "Running";
  if (random.Below(2) == 0) status.start_time = api::Time::FromUnixNano(1'000'000'000);
  if (random.Below(3) == 0) status.nominated_node_name = "b";
  if (random.Below(2) == 0) {
    api::ContainerStatus& container = status.container_statuses.emplace_back();
    container.name = "c";
    const std::string cpu = std::to_string(1 + random.Below(3));
    if (random.Below(2) == 0) container.allocated_resources["cpu"] = *api::Quantity::Parse(cpu);
    if (random.Below(2) == 0) {
      container.resources.emplace().requests["cpu"] = *api::Quantity::Parse(cpu);
    }
  }
  if (random.Below(3) == 0) {
    api::PodCondition& condition = status.conditions.emplace_back();
    condition.type = random.Below(2) == 0 ? "PodResizePending" : "Ready";
    condition.status = "True";
    condition.reason = random.Below(2) == 0 ? "Infeasible" : "Deferred";
  }
  return status;
}

TEST(Cluster, AStatusAloneSaysWhatTheWholePodSays) {
  Random random(3);
  Cluster whole;
  Cluster parts;
  for (Cluster* cluster : {&whole, &parts}) {
    cluster->SetNode(MakeNode("a"));
    for (const char* name : {"p", "q", "r"}) {
      cluster->Place(cluster->AddPod(MakePod(name).Requests("cpu", "2").Label("app", name)),
                     cluster->FindNode("a"), /*assumed=*/true);
    }
  }
  for (int round = 0; round < 500; ++round) {
    const PodId id = static_cast<PodId>(random.Below(3));
    const std::string name = parts.GetPod(id).name;
    api::Pod pod = MakePod(name).Requests("cpu", "2").Label("app", name).On("a");
    pod.status = RandomStatus(random);
    if (random.Below(10) == 0) pod.metadata.deletion_timestamp = api::Time::FromUnixNano(1);
    whole.UpdatePod(id, pod);
    pod.spec = {};
    pod.spec.node_name = "a";
    parts.UpdateStatus(id, pod);
    const Pod& want = whole.GetPod(id);
    const Pod& got = parts.GetPod(id);
    ASSERT_EQ(got.shape->source, want.shape->source) << round;
    ASSERT_EQ(got.shape->on_node.cpu, want.shape->on_node.cpu) << round;
    ASSERT_EQ(got.start_time, want.start_time);
    ASSERT_EQ(got.terminating, want.terminating);
    ASSERT_EQ(got.nominated_node_name, want.nominated_node_name);
    ASSERT_EQ(got.assumed, want.assumed);
    ASSERT_EQ(parts.Record(got.node).pods, whole.Record(want.node).pods) << round;
    ASSERT_EQ(parts.Resource(kCpu)->requested, whole.Resource(kCpu)->requested) << round;
  }
}

TEST(Cluster, AnUpdatedPodBecomesTheLastOfItsNode) {
  Cluster cluster;
  const NodeIndex a = cluster.SetNode(MakeNode("a"));
  const PodId p = cluster.AddPod(MakePod("p"));
  const PodId q = cluster.AddPod(MakePod("q"));
  cluster.Place(p, a, /*assumed=*/true);
  cluster.Place(q, a, /*assumed=*/true);
  const uint64_t position = cluster.Changes().Read();
  cluster.UpdatePod(p, MakePod("p").On("a"));
  EXPECT_EQ(cluster.Record(a).pods, (std::vector<PodId>{q, p}));
  EXPECT_NE(cluster.Changes().Missed(position), 0u);
}

TEST(Cluster, AnAssumedPodKeepsItsGhostRowThroughAnUpdate) {
  Cluster cluster;
  const NodeIndex a = cluster.SetNode(MakeNode("a"));
  const PodId p = cluster.AddPod(MakePod("p").Requests("cpu", "1"));
  cluster.Place(p, a, /*assumed=*/true);
  cluster.RemoveNode("a");
  cluster.UpdatePod(p, MakePod("p").Requests("cpu", "2"));
  EXPECT_EQ(cluster.NodeName(cluster.GetPod(p).node), "a");
  const NodeIndex other = cluster.SetNode(MakeNode("other"));
  EXPECT_NE(other, cluster.GetPod(p).node) << "nobody else gets the row";
  EXPECT_EQ(cluster.SetNode(MakeNode("a")), cluster.GetPod(p).node);
}

TEST(Cluster, PodsAreFoundByUidAlsoWhenItChanges) {
  Cluster cluster;
  const PodId p = cluster.AddPod(MakePod("p"));
  api::Pod reborn = MakePod("p");
  reborn.metadata.uid = "p2";
  cluster.UpdatePod(p, reborn);
  EXPECT_EQ(cluster.FindPod("p"), kNoPod);
  EXPECT_EQ(cluster.FindPod("p2"), p);
  cluster.RemovePod(p);
  EXPECT_EQ(cluster.FindPod("p2"), kNoPod);
  EXPECT_EQ(cluster.AddPod(MakePod("q")), p) << "ids are reused";
}

TEST(Cluster, WhatAPodCarriesBesidesItsShape) {
  Cluster cluster;
  api::Pod from = MakePod("p").Nominated("n");
  from.metadata.deletion_timestamp.emplace();
  auto& condition = from.status.conditions.emplace_back();
  condition.type = "DisruptionTarget";
  condition.status = "True";
  condition.reason = "PreemptionByScheduler";
  const Pod& pod = cluster.GetPod(cluster.AddPod(from));
  EXPECT_TRUE(pod.terminating);
  EXPECT_TRUE(pod.preempted);
  EXPECT_EQ(pod.nominated_node_name, "n");
  EXPECT_EQ(pod.Key(), "ns/p");
  from.status.conditions[0].reason = "EvictionByEvictionAPI";
  cluster.UpdatePod(pod.id, from);
  EXPECT_FALSE(pod.preempted) << "somebody else evicts it";
}

TEST(Cluster, RemovedPodsAreNominatedNowhere) {
  Cluster cluster;
  const PodId p = cluster.AddPod(MakePod("p"));
  cluster.MutableNominations().Set(p, cluster.Strings().Intern("n"));
  cluster.RemovePod(p);
  EXPECT_TRUE(cluster.Nominated().Empty());
}

TEST(Cluster, NodeOrderTakesZonesInTurn) {
  Cluster cluster;
  for (const char* name : {"a1", "a2", "a3", "b1", "b2"}) {
    cluster.SetNode(MakeNode(name).Zone(std::string(1, name[0])));
  }
  const auto names = [&] {
    std::string all;
    for (const NodeIndex n : cluster.NodeOrder()) all += cluster.NodeName(n) + " ";
    return all;
  };
  EXPECT_EQ(names(), "a1 b1 a2 b2 a3 ");
  cluster.SetNode(MakeNode("a1").Zone("b"));
  EXPECT_EQ(names(), "a1 b1 a2 b2 a3 ") << "a node that changes zone stays where it is at first";
  cluster.RemoveNode("a2");
  EXPECT_EQ(names(), "a3 b1 b2 a1 ") << "and moves when the next node comes or goes";
}

TEST(Cluster, ColumnsEndAtAWholeWord) {
  Cluster cluster;
  for (int i = 0; i < 65; ++i) cluster.SetNode(MakeNode("n" + std::to_string(i)).Cpu("1"));
  EXPECT_EQ(cluster.Rows(), 65u);
  EXPECT_EQ(cluster.PodCount().size(), 128u);
  EXPECT_EQ(cluster.Resource(kCpu)->allocatable.size(), 128u);
  EXPECT_EQ(cluster.TaintSetOf().size(), 128u);
  EXPECT_EQ(cluster.Labels(cluster.Strings().Intern("k")).codes.size(), 128u);
}

TEST(Cluster, AKeyOutlivesItsPodAndNamesNoOther) {
  Cluster cluster;
  const PodId id = cluster.AddPod(MakePod("p"));
  const PodKey key = cluster.GetPod(id).key();
  EXPECT_EQ(cluster.FindPod(key), id);
  EXPECT_EQ(cluster.FindPod(PodKey{}), kNoPod);
  cluster.RemovePod(id);
  EXPECT_EQ(cluster.FindPod(key), kNoPod);
  EXPECT_EQ(cluster.AddPod(MakePod("q")), id) << "the id is used again";
  EXPECT_EQ(cluster.FindPod(key), kNoPod);
}

}  // namespace
}  // namespace berth::cluster
