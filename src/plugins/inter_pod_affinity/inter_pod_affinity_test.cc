#include "plugins/inter_pod_affinity/inter_pod_affinity.h"

#include <random>

#include <gtest/gtest.h>

#include "plugins/common/testing/topology.h"

namespace berth::plugins::inter_pod_affinity {
namespace {

const std::string kUu = "UnschedulableAndUnresolvable: ";
const std::string kU = "Unschedulable: ";
const std::string kNoAffinity = kUu + std::string(kAffinityReason);
const std::string kRepelled = kU + std::string(kAntiAffinityReason);
const std::string kRepels = kU + std::string(kExistingAntiAffinityReason);

// A term about pods with app=`app` in domains of `key`; `more` is further JSON of the term.
std::string Term(const std::string& key, const std::string& app, const std::string& more = "") {
  return "{'topologyKey':'" + key + "','labelSelector':{'matchLabels':{'app':'" + app + "'}}" +
         more + "}";
}
std::string Weighted(int weight, const std::string& term) {
  return "{'weight':" + std::to_string(weight) + ",'podAffinityTerm':" + term + "}";
}
std::string Affinity(const std::string& kind, const std::string& strength,
                     const std::string& terms) {
  return "'affinity':{'" + kind + "':{'" + strength + "DuringSchedulingIgnoredDuringExecution':[" +
         terms + "]}}";
}
std::string Near(const std::string& terms) { return Affinity("podAffinity", "required", terms); }
std::string Away(const std::string& terms) {
  return Affinity("podAntiAffinity", "required", terms);
}
std::string LikeNear(const std::string& terms) {
  return Affinity("podAffinity", "preferred", terms);
}
std::string LikeAway(const std::string& terms) {
  return Affinity("podAntiAffinity", "preferred", terms);
}

// Two zones: a and b in z1, c in z2; d has no zone.
struct World : TopologyWorld {
  World() {
    Node("a", "'zone':'z1','host':'a'");
    Node("b", "'zone':'z1','host':'b'");
    Node("c", "'zone':'z2','host':'c'");
    Node("d", "'host':'d'");
  }
};

struct Existing {
  std::string labels;
  std::string spec;
  std::string node;
  std::string ns = "ns";
};

TEST(InterPodAffinityFilter, Rules) {
  struct Row {
    const char* what;
    std::vector<Existing> pods;
    std::string labels;
    std::string spec;
    std::string expected;
  };
  const std::string app_x = "'app':'x'";
  const Row rows[] = {
      {"no terms anywhere", {{app_x, "", "a"}}, app_x, "", "skip"},
      {"affinity finds a pod in the zone",
       {{app_x, "", "a"}},
       "",
       Near(Term("zone", "x")),
       "a ok | b ok | c " + kNoAffinity + " | d " + kNoAffinity},
      {"affinity to nobody",
       {{app_x, "", "a"}},
       "",
       Near(Term("zone", "y")),
       "a " + kNoAffinity + " | b " + kNoAffinity + " | c " + kNoAffinity + " | d " + kNoAffinity},
      {"the first of its kind may go wherever the labels are",
       {},
       app_x,
       Near(Term("zone", "x")),
       "a ok | b ok | c ok | d " + kNoAffinity},
      {"not the first when another one is where the label is",
       {{app_x, "", "c"}},
       app_x,
       Near(Term("zone", "x")),
       "a " + kNoAffinity + " | b " + kNoAffinity + " | c ok | d " + kNoAffinity},
      {"still the first when the other one is on a node without the label",
       {{app_x, "", "d"}},
       app_x,
       Near(Term("zone", "x")),
       "a ok | b ok | c ok | d " + kNoAffinity},
      {"one pod must match all terms",
       {{app_x, "", "a"}, {"'app':'y'", "", "a"}},
       "",
       Near(Term("zone", "x") + "," + Term("host", "y")),
       "a " + kNoAffinity + " | b " + kNoAffinity + " | c " + kNoAffinity + " | d " + kNoAffinity},
      {"every term's domain must have the pod",
       {{app_x, "", "a"}},
       "",
       Near(Term("zone", "x") + "," + Term("host", "x")),
       "a ok | b " + kNoAffinity + " | c " + kNoAffinity + " | d " + kNoAffinity},
      {"anti-affinity empties the zone",
       {{app_x, "", "a"}},
       "",
       Away(Term("zone", "x")),
       "a " + kRepelled + " | b " + kRepelled + " | c ok | d ok"},
      {"any anti-affinity term is enough",
       {{app_x, "", "a"}, {"'app':'y'", "", "d"}},
       "",
       Away(Term("host", "x") + "," + Term("host", "y")),
       "a " + kRepelled + " | b ok | c ok | d " + kRepelled},
      {"anti-affinity of a placed pod",
       {{"", Away(Term("zone", "x")), "a"}},
       app_x,
       "",
       "a " + kRepels + " | b " + kRepels + " | c ok | d ok"},
      {"anti-affinity of a placed pod on a node without the label says nothing",
       {{"", Away(Term("zone", "x")), "d"}},
       app_x,
       "",
       "skip"},
      {"its own anti-affinity is named first",
       {{app_x, Away(Term("zone", "x")), "a"}},
       app_x,
       Away(Term("host", "x")),
       "a " + kRepelled + " | b " + kRepels + " | c ok | d ok"},
      {"pods of other namespaces do not count",
       {{app_x, "", "a", "other"}},
       "",
       Away(Term("zone", "x")),
       "a ok | b ok | c ok | d ok"},
      {"unless the term names them",
       {{app_x, "", "a", "other"}},
       "",
       Away(Term("zone", "x", ",'namespaces':['other']")),
       "a " + kRepelled + " | b " + kRepelled + " | c ok | d ok"},
      {"or selects them",
       {{app_x, "", "a", "other"}},
       "",
       Away(Term("zone", "x", ",'namespaceSelector':{'matchLabels':{'team':'blue'}}")),
       "a " + kRepelled + " | b " + kRepelled + " | c ok | d ok"},
      {"a selector that an unlabelled namespace satisfies selects all of them",
       {{app_x, "", "a", "other"}},
       "",
       Away(Term("zone", "x",
                 ",'namespaceSelector':{'matchExpressions':[{'key':'team','operator':'NotIn',"
                 "'values':['blue']}]}")),
       "a " + kRepelled + " | b " + kRepelled + " | c ok | d ok"},
      {"but a placed pod's selector looks at the labels",
       {{"",
         Away(Term("zone", "x",
                   ",'namespaceSelector':{'matchExpressions':[{'key':'team','operator':'NotIn',"
                   "'values':['red']}]}")),
         "a", "other"}},
       app_x,
       "",
       "skip"},
      {"and finds the namespace by them",
       {{"", Away(Term("zone", "x", ",'namespaceSelector':{'matchLabels':{'team':'red'}}")), "c",
         "other"}},
       app_x,
       "",
       "a ok | b ok | c " + kRepels + " | d ok"},
      {"a selector that does not parse",
       {},
       "",
       Away("{'topologyKey':'zone','labelSelector':{'matchLabels':{'app':'_'}}}"),
       kUu +
           "parsing pod: requiredAntiAffinityTerms: values[0][app]: Invalid value: \"_\": a valid "
           "label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
           "and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
           "'my_value',  or '12345', regex used for validation is "
           "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
  };
  for (const Row& row : rows) {
    World world;
    world.Namespace("ns", "'team':'red'");
    world.Namespace("other", "'team':'blue'");
    int next = 0;
    for (const Existing& e : row.pods) {
      world.Pod("e" + std::to_string(next++), e.labels, e.spec, e.node, e.ns);
    }
    InterPodAffinity plugin({});
    TopologyRun run(plugin, world.cluster, world.Pod("p", row.labels, row.spec));
    EXPECT_EQ(run.PreFilterAndFilter(), row.expected) << row.what;
  }
}

TEST(InterPodAffinityScore, Rules) {
  struct Row {
    const char* what;
    config::InterPodAffinityArgs args;
    std::vector<Existing> pods;
    std::string labels;
    std::string spec;
    std::string expected;
  };
  const std::string app_x = "'app':'x'";
  const Row rows[] = {
      {"nobody has a wish", {}, {{app_x, "", "a"}}, app_x, "", "skip"},
      {"a wish that finds nobody", {}, {}, "", LikeNear(Weighted(5, Term("zone", "x"))), "skip"},
      {"preferred affinity counts pods",
       {},
       {{app_x, "", "a"}, {app_x, "", "a"}, {app_x, "", "c"}},
       "",
       LikeNear(Weighted(5, Term("zone", "x"))),
       "a 10>100 | b 10>100 | c 5>50 | d 0>0"},
      {"preferred anti-affinity subtracts them",
       {},
       {{app_x, "", "a"}, {app_x, "", "a"}, {app_x, "", "c"}},
       "",
       LikeAway(Weighted(5, Term("zone", "x"))),
       "a -10>0 | b -10>0 | c -5>50 | d 0>100"},
      {"keys add up, and shares are cut off, not rounded",
       {},
       {{app_x, "", "a"}, {app_x, "", "c"}},
       "",
       LikeNear(Weighted(2, Term("zone", "x")) + "," + Weighted(1, Term("host", "x"))),
       "a 3>100 | b 2>66 | c 3>100 | d 0>0"},
      {"what placed pods wish",
       {},
       {{"", LikeNear(Weighted(4, Term("zone", "x"))), "a"},
        {"", LikeAway(Weighted(3, Term("host", "x"))), "c"}},
       app_x,
       "",
       "a 4>100 | b 4>100 | c -3>0 | d 0>42"},
      {"what placed pods require weighs hardPodAffinityWeight",
       {.hard_pod_affinity_weight = 7},
       {{"", Near(Term("zone", "x")), "a"}},
       app_x,
       "",
       "a 7>100 | b 7>100 | c 0>0 | d 0>0"},
      {"and nothing when that is 0",
       {.hard_pod_affinity_weight = 0},
       {{"", Near(Term("zone", "x")), "a"}},
       app_x,
       "",
       "skip"},
      {"wishes that cancel out are no reason to skip",
       {},
       {{app_x, "", "a"}, {"", LikeAway(Weighted(4, Term("zone", "x"))), "a"}},
       app_x,
       LikeNear(Weighted(4, Term("zone", "x"))),
       "a 0>0 | b 0>0 | c 0>0 | d 0>0"},
      {"placed pods' wishes are ignored when told so",
       {.ignore_preferred_terms_of_existing_pods = true},
       {{"", LikeNear(Weighted(4, Term("zone", "x"))), "a"}},
       app_x,
       "",
       "skip"},
      {"but not if the pod has wishes itself",
       {.ignore_preferred_terms_of_existing_pods = true},
       {{"", LikeNear(Weighted(4, Term("zone", "x"))), "a"}},
       app_x,
       LikeNear(Weighted(1, Term("zone", "y"))),
       "a 4>100 | b 4>100 | c 0>0 | d 0>0"},
  };
  for (const Row& row : rows) {
    World world;
    int next = 0;
    for (const Existing& e : row.pods) {
      world.Pod("e" + std::to_string(next++), e.labels, e.spec, e.node, e.ns);
    }
    InterPodAffinity plugin(row.args);
    TopologyRun run(plugin, world.cluster, world.Pod("p", row.labels, row.spec));
    EXPECT_EQ(run.Score(), row.expected) << row.what;
  }
}

TEST(InterPodAffinityFilter, NamespacesThatChangeAreSeenInTheNextCycle) {
  World world;
  world.Pod("e", "'app':'x'", "", "a", "other");
  InterPodAffinity plugin({});
  const auto pod = world.Pod(
      "p", "", Away(Term("zone", "x", ",'namespaceSelector':{'matchLabels':{'team':'blue'}}")));
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).PreFilterAndFilter(),
            "a ok | b ok | c ok | d ok");
  world.Namespace("other", "'team':'blue'");
  EXPECT_EQ(TopologyRun(plugin, world.cluster, pod).PreFilterAndFilter(),
            "a " + kRepelled + " | b " + kRepelled + " | c ok | d ok");
}

// Random pods on random nodes: one node's verdict is its bit in the set; a pod that comes or goes
// after PreFilter makes the same difference as one that did before; and what was changed back left
// nothing behind.
TEST(InterPodAffinityFilter, HypothesesAndSingleNodesAgreeWithTheWhole) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](size_t n) { return random() % n; };
    TopologyWorld world;
    for (int i = 0; i < 70; ++i) {
      std::string labels = "'host':'h" + std::to_string(i) + "'";
      if (pick(6) != 0) labels += ",'zone':'z" + std::to_string(pick(6)) + "'";
      world.Node("n" + std::to_string(i), labels);
    }
    const auto spec = [&]() -> std::string {
      const std::string term = Term(pick(2) == 0 ? "zone" : "host", pick(2) == 0 ? "x" : "y");
      return pick(3) == 0 ? "" : pick(2) == 0 ? Near(term) : Away(term);
    };
    const auto labels = [&] { return std::string("'app':'") + (pick(2) == 0 ? "x'" : "y'"); };
    std::vector<cluster::PodId> pods;
    for (int i = 0; i < 12; ++i) {
      pods.push_back(
          world.Pod("e" + std::to_string(i), labels(), spec(), "n" + std::to_string(pick(70))));
    }
    InterPodAffinity plugin({});
    const auto pod = world.Pod("p", labels(), Away(Term("host", "y")));
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
    for (int i = 0; i < 4; ++i) {
      places.push_back(world.cluster.GetPod(pods[static_cast<size_t>(i)]).node);
      world.cluster.Unplace(pods[static_cast<size_t>(i)]);
      run.RemovePod(pods[static_cast<size_t>(i)], places.back());
    }
    TopologyRun fresh(plugin, world.cluster, pod);
    ASSERT_TRUE(fresh.PreFilter().Ok());
    EXPECT_EQ(run.Filter(), fresh.Filter()) << seed;
    for (int i = 0; i < 4; ++i) {
      world.cluster.Place(pods[static_cast<size_t>(i)], places[static_cast<size_t>(i)], false);
      run.AddPod(pods[static_cast<size_t>(i)], places[static_cast<size_t>(i)]);
    }
    EXPECT_EQ(run.Filter(), before) << seed;
  }
}

}  // namespace
}  // namespace berth::plugins::inter_pod_affinity
