#include "plugins/pod_topology_spread/pod_topology_spread.h"

#include <bit>
#include <random>

#include <gtest/gtest.h>

#include "plugins/common/testing/topology.h"

namespace berth::plugins::pod_topology_spread {
namespace {

const std::string kTooMany = "Unschedulable: " + std::string(kSkewReason);
const std::string kNoLabel = "UnschedulableAndUnresolvable: " + std::string(kMissingLabelReason);
const std::string kAppX = "'app':'x'";

std::string Constraint(const std::string& key, int skew, const std::string& when,
                       const std::string& more = "") {
  return "{'topologyKey':'" + key + "','maxSkew':" + std::to_string(skew) +
         ",'whenUnsatisfiable':'" + when + "','labelSelector':{'matchLabels':{'app':'x'}}" + more +
         "}";
}
std::string Must(const std::string& key, int skew, const std::string& more = "") {
  return Constraint(key, skew, "DoNotSchedule", more);
}
std::string Should(const std::string& key, int skew, const std::string& more = "") {
  return Constraint(key, skew, "ScheduleAnyway", more);
}
std::string Spread(const std::string& constraints, const std::string& more = "") {
  return "'topologySpreadConstraints':[" + constraints + "]" + more;
}

config::PodTopologySpreadArgs System() {
  config::PodTopologySpreadArgs args;
  args.defaulting_type = "System";
  return args;
}

// Zones z1 (a, b), z2 (c), z3 (d, tainted); e has no zone.
struct World : TopologyWorld {
  World() {
    Node("a", "'zone':'z1','kubernetes.io/hostname':'a'");
    Node("b", "'zone':'z1','kubernetes.io/hostname':'b'");
    Node("c", "'zone':'z2','kubernetes.io/hostname':'c'");
    Node("d", "'zone':'z3','kubernetes.io/hostname':'d'",
         "'taints':[{'key':'k','effect':'NoSchedule'}]");
    Node("e", "'kubernetes.io/hostname':'e'");
  }
};

struct Existing {
  std::string labels;
  std::string node;
  std::string ns = "ns";
  bool terminating = false;
};

TEST(PodTopologySpreadFilter, Rules) {
  struct Row {
    const char* what;
    std::vector<Existing> pods;
    std::string labels;
    std::string spec;
    std::string expected;
  };
  const Existing on_a{kAppX, "a"}, on_c{kAppX, "c"}, on_d{kAppX, "d"};
  const Row rows[] = {
      {"no constraint", {on_a}, kAppX, "", "skip"},
      {"only a wish", {on_a}, kAppX, Spread(Should("zone", 1)), "skip"},
      {"one more than the emptiest zone is allowed",
       {on_a},
       kAppX,
       Spread(Must("zone", 1)),
       "a " + kTooMany + " | b " + kTooMany + " | c ok | d ok | e " + kNoLabel},
      {"a pod that does not count itself leaves room",
       {on_a},
       "",
       Spread(Must("zone", 1)),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"a larger skew",
       {on_a},
       kAppX,
       Spread(Must("zone", 2)),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"every zone has one",
       {on_a, on_c, on_d},
       kAppX,
       Spread(Must("zone", 1)),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"fewer zones than minDomains: as if one were empty",
       {on_a, on_c, on_d},
       kAppX,
       Spread(Must("zone", 1, ",'minDomains':4")),
       "a " + kTooMany + " | b " + kTooMany + " | c " + kTooMany + " | d " + kTooMany + " | e " +
           kNoLabel},
      {"pods that are being deleted, and of other namespaces, do not count",
       {{kAppX, "a", "ns", true}, {kAppX, "c", "other"}},
       kAppX,
       Spread(Must("zone", 1)),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"nodes the pod cannot go to are no domain",
       {on_a, on_c},
       kAppX,
       Spread(Must("zone", 1),
              ",'affinity':{'nodeAffinity':{"
              "'requiredDuringSchedulingIgnoredDuringExecution':{"
              "'nodeSelectorTerms':[{'matchExpressions':[{'key':'zone',"
              "'operator':'In','values':['z1','z2']}]}]}}}"),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"unless the policy ignores that",
       {on_a, on_c},
       kAppX,
       Spread(Must("zone", 1, ",'nodeAffinityPolicy':'Ignore'"), ",'nodeSelector':{'zone':'z1'}"),
       "a " + kTooMany + " | b " + kTooMany + " | c " + kTooMany + " | d ok | e " + kNoLabel},
      {"tainted nodes are no domain if the policy honours taints",
       {on_a, on_c},
       kAppX,
       Spread(Must("zone", 1, ",'nodeTaintsPolicy':'Honor'")),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"unless they are tolerated",
       {on_a, on_c},
       kAppX,
       Spread(Must("zone", 1, ",'nodeTaintsPolicy':'Honor'"),
              ",'tolerations':[{'operator':'Exists'}]"),
       "a " + kTooMany + " | b " + kTooMany + " | c " + kTooMany + " | d ok | e " + kNoLabel},
      {"two constraints, the first that fails is named",
       {on_a},
       kAppX,
       Spread(Must("kubernetes.io/hostname", 1) + "," + Must("zone", 1)),
       "a " + kTooMany + " | b " + kTooMany + " | c ok | d ok | e " + kNoLabel},
      {"a node that lacks one key does not count for the other either",
       {{kAppX, "e"}},
       kAppX,
       Spread(Must("kubernetes.io/hostname", 1) + "," + Must("zone", 1)),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"matchLabelKeys narrow the pods",
       {{"'app':'x','v':'1'", "a"}},
       "'app':'x','v':'2'",
       Spread(Must("zone", 1, ",'matchLabelKeys':['v','absent']")),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"a selector that restricts nothing counts no pods",
       {on_a, on_a, on_a},
       kAppX,
       Spread("{'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{}}"),
       "a ok | b ok | c ok | d ok | e " + kNoLabel},
      {"a selector that does not parse",
       {},
       "",
       Spread("{'topologyKey':'zone','maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',"
              "'labelSelector':{'matchExpressions':[{'key':'a','operator':'Is'}]}}"),
       "Error: get constraints from pod: obtaining pod's hard topology spread constraints: \"Is\" "
       "is not a valid label selector operator"},
  };
  for (const Row& row : rows) {
    World world;
    int next = 0;
    for (const Existing& e : row.pods) {
      world.Pod("e" + std::to_string(next++), e.labels, "", e.node, e.ns, e.terminating);
    }
    PodTopologySpread plugin(System());
    TopologyRun run(plugin, world.cluster, world.Pod("p", row.labels, row.spec));
    EXPECT_EQ(run.PreFilterAndFilter(), row.expected) << row.what;
  }
}

TEST(PodTopologySpreadScore, Rules) {
  struct Row {
    const char* what;
    std::vector<Existing> pods;
    std::string labels;
    std::string spec;
    std::string expected;
  };
  const Row rows[] = {
      {"no wish", {{kAppX, "a"}}, kAppX, Spread(Must("zone", 1)), "skip"},
      {"nodes without the key are ignored: raw 0, then 0",
       {{kAppX, "a"}, {kAppX, "a"}, {kAppX, "c"}},
       kAppX,
       Spread(Should("zone", 1)),
       // ln(3 + 2) per pod: 3.2, 1.6, 0.
       "a 3>0 | b 3>0 | c 2>33 | d 0>100 | e 0>0"},
      {"nobody there: all are equally good",
       {},
       kAppX,
       Spread(Should("zone", 1)),
       "a 0>100 | b 0>100 | c 0>100 | d 0>100 | e 0>0"},
      {"per host, and a skew that waters it down",
       {{kAppX, "a"}, {kAppX, "a"}},
       kAppX,
       Spread(Should("kubernetes.io/hostname", 3)),
       // ln(5 + 2) per pod plus 2.
       "a 6>33 | b 2>100 | c 2>100 | d 2>100 | e 2>100"},
  };
  for (const Row& row : rows) {
    World world;
    int next = 0;
    for (const Existing& e : row.pods) {
      world.Pod("e" + std::to_string(next++), e.labels, "", e.node, e.ns, e.terminating);
    }
    PodTopologySpread plugin(System());
    TopologyRun run(plugin, world.cluster, world.Pod("p", row.labels, row.spec));
    EXPECT_EQ(run.Score(), row.expected) << row.what;
  }
}

TEST(PodTopologySpreadScore, SystemDefaultsSpreadPodsOfAService) {
  TopologyWorld world;
  world.Node("a", "'topology.kubernetes.io/zone':'z1','kubernetes.io/hostname':'a'");
  world.Node("b", "'topology.kubernetes.io/zone':'','kubernetes.io/hostname':'b'");
  world.Node("c", "'kubernetes.io/hostname':'c'");
  world.Pod("e1", kAppX, "", "c");
  const auto pod = world.Pod("p", kAppX);
  PodTopologySpread plugin(System());
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).Score(), "skip");
  world.cluster.MutableObjects().services.Set(FromText<api::Service>(
      "{'metadata':{'name':'s','namespace':'ns'},'spec':{'selector':{'app':'x'}}}"));
  // c is scored by host alone: ln(5) + 2. Its pod counts in the zone of the empty name, where b is:
  // 2 + ln(4) + 4.
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).Score(), "a 6>71 | b 7>57 | c 4>100");
}

TEST(PodTopologySpread, DefaultSelectors) {
  struct Row {
    const char* what;
    std::string owner;
    std::string expected;
  };
  const Row rows[] = {
      {"services that match, of the same namespace", "", "app=x,tier=t"},
      {"a ReplicaSet adds its own", "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'rs'",
       "app=x,hash in (1,2),tier=t"},
      {"a StatefulSet too", "'apiVersion':'apps/v1','kind':'StatefulSet','name':'ss'",
       "app=x,set,tier=t"},
      {"a ReplicationController overrides",
       "'apiVersion':'v1','kind':'ReplicationController','name':'rc'", "app=y,tier=t"},
      {"an owner of another group does not count",
       "'apiVersion':'extensions/v1','kind':'ReplicaSet','name':'rs'", "app=x,tier=t"},
      {"an owner that is not there", "'apiVersion':'apps/v1','kind':'ReplicaSet','name':'none'",
       "app=x,tier=t"},
  };
  TopologyWorld world;
  auto& objects = world.cluster.MutableObjects();
  const auto service = [&](const std::string& name, const std::string& ns,
                           const std::string& selector) {
    objects.services.Set(FromText<api::Service>("{'metadata':{'name':'" + name + "','namespace':'" +
                                                ns + "'},'spec':{'selector':{" + selector + "}}}"));
  };
  service("one", "ns", "'app':'x'");
  service("two", "ns", "'tier':'t'");
  service("other", "ns", "'app':'y'");
  service("elsewhere", "other", "'tier':'t','more':'m'");
  service("none", "ns", "");
  objects.replica_sets.Set(FromText<api::ReplicaSet>(
      "{'metadata':{'name':'rs','namespace':'ns'},'spec':{'selector':{'matchExpressions':["
      "{'key':'hash','operator':'In','values':['1','2']}]}}}"));
  objects.stateful_sets.Set(FromText<api::StatefulSet>(
      "{'metadata':{'name':'ss','namespace':'ns'},'spec':{'selector':{'matchExpressions':["
      "{'key':'set','operator':'Exists'}]}}}"));
  objects.replication_controllers.Set(FromText<api::ReplicationController>(
      "{'metadata':{'name':'rc','namespace':'ns'},'spec':{'selector':{'app':'y'}}}"));
  ServiceIndex services;
  for (const Row& row : rows) {
    api::Pod pod = TopologyWorld::MakePod("p", "'app':'x','tier':'t','more':'m'", "");
    if (!row.owner.empty()) {
      pod.metadata.owner_references = {
          FromText<api::OwnerReference>("{" + row.owner + ",'controller':true}")};
    }
    const auto id = world.cluster.AddPod(pod);
    const cluster::PodShape& shape = *world.cluster.GetPod(id).shape;
    const api::StringMap labels = services.LabelsFor(shape, objects.services);
    EXPECT_EQ(DefaultSelector(labels, shape, objects).String(), row.expected) << row.what;
    world.cluster.RemovePod(id);
  }
}

// Bits recorded from Go on amd64; some differ from the C library's in the last place.
TEST(PodTopologySpread, LogarithmsAreGos) {
  const std::pair<int64_t, uint64_t> rows[] = {
      {2, 0x3fe62e42fefa39ef},       {3, 0x3ff193ea7aad030a},    {5, 0x3ff9c041f7ed8d33},
      {7, 0x3fff2272ae325a57},       {10, 0x40026bb1bbb55516},   {17, 0x4006aa6bc1fa7f7a},
      {100, 0x40126bb1bbb55516},     {102, 0x40127ff8df87c7bd},  {502, 0x4018dfd8b5b3e920},
      {1002, 0x401ba3965d405f5f},    {5002, 0x40210901f6dc84b9}, {50002, 0x4025a3bf38d989c9},
      {1000002, 0x402ba18adcabd9bd},
  };
  for (const auto& [n, bits] : rows) EXPECT_EQ(std::bit_cast<uint64_t>(GoLog(n)), bits) << n;
}

TEST(PodTopologySpreadFilter, PodsBeingDeletedAreNotCountedButSubtracted) {
  World world;
  const auto dying = world.Pod("e1", kAppX, "", "a", "ns", true);
  world.Pod("e2", kAppX, "", "c");
  world.Pod("e3", kAppX, "", "d");
  PodTopologySpread plugin(System());
  TopologyRun run(plugin, world.cluster, world.Pod("p", kAppX, Spread(Must("zone", 2))));
  const std::string free = "a ok | b ok | c ok | d ok | e " + kNoLabel;
  EXPECT_EQ(run.PreFilterAndFilter(), free);
  const auto node = world.cluster.GetPod(dying).node;
  world.cluster.Unplace(dying);
  run.RemovePod(dying, node);
  // z1 now has -1 pods, so z2 and z3 are two above it already.
  EXPECT_EQ(run.Filter(), "a ok | b ok | c " + kTooMany + " | d " + kTooMany + " | e " + kNoLabel);
  world.cluster.Place(dying, node, false);
  run.AddPod(dying, node);
  EXPECT_EQ(run.Filter(), free);
}

TEST(PodTopologySpreadFilter, NodesThatChangeAreSeenInTheNextCycle) {
  World world;
  world.Pod("e1", kAppX, "", "a");
  PodTopologySpread plugin(System());
  const auto pod = world.Pod("p", kAppX, Spread(Must("zone", 1)));
  const std::string crowded = "a " + kTooMany + " | b " + kTooMany + " | c ok | d ok | e ";
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).PreFilterAndFilter(), crowded + kNoLabel);
  world.Node("e", "'zone':'z1'");
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).PreFilterAndFilter(), crowded + kTooMany);
  world.cluster.RemoveNode("c");
  world.cluster.RemoveNode("d");
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).PreFilterAndFilter(), "a ok | b ok | e ok");
}

// Random pods on random nodes: one node's verdict is its bit in the set; a pod that comes or goes
// after PreFilter makes the same difference as one that did before; and what was changed back left
// nothing behind.
TEST(PodTopologySpreadFilter, HypothesesAndSingleNodesAgreeWithTheWhole) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](size_t n) { return random() % n; };
    TopologyWorld world;
    for (int i = 0; i < 70; ++i) {
      std::string labels = "'kubernetes.io/hostname':'h" + std::to_string(i) + "'";
      if (pick(6) != 0) labels += ",'zone':'z" + std::to_string(pick(4)) + "'";
      world.Node("n" + std::to_string(i), labels);
    }
    std::vector<cluster::PodId> pods;
    for (int i = 0; i < 40; ++i) {
      pods.push_back(world.Pod("e" + std::to_string(i), pick(2) == 0 ? kAppX : "'app':'y'", "",
                               "n" + std::to_string(pick(70))));
    }
    PodTopologySpread plugin(System());
    const auto pod = world.Pod("p", kAppX,
                               Spread(Must("zone", 1 + static_cast<int>(pick(2))) + "," +
                                      Must("kubernetes.io/hostname", 1)));
    TopologyRun run(plugin, world.cluster, pod);
    ASSERT_TRUE(run.PreFilter().Ok());
    const std::string before = run.Filter();
    std::string one_by_one;
    world.cluster.Nodes().ForEach([&](framework::NodeIndex n) {
      framework::NodeSet only(world.cluster.Rows());
      only.Insert(n);
      one_by_one += (one_by_one.empty() ? "" : " | ") + run.Filter(&only);
    });
    EXPECT_EQ(one_by_one, before);

    std::vector<framework::NodeIndex> places;
    for (size_t i = 0; i < 20; ++i) {
      places.push_back(world.cluster.GetPod(pods[i]).node);
      world.cluster.Unplace(pods[i]);
      run.RemovePod(pods[i], places.back());
    }
    TopologyRun fresh(plugin, world.cluster, pod);
    ASSERT_TRUE(fresh.PreFilter().Ok());
    EXPECT_EQ(run.Filter(), fresh.Filter()) << seed;
    for (size_t i = 0; i < 20; ++i) {
      world.cluster.Place(pods[i], places[i], false);
      run.AddPod(pods[i], places[i]);
    }
    EXPECT_EQ(run.Filter(), before) << seed;
  }
}

}  // namespace
}  // namespace berth::plugins::pod_topology_spread
