// Pods with very many terms, constraints or resources take ways of their own through the plugins.
// They must decide as the usual ones: a list is compared with the same list repeated, which means
// the same.
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"
#include "plugins/common/testing/one_plugin.h"
#include "plugins/inter_pod_affinity/inter_pod_affinity.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_resources/fit.h"
#include "plugins/pod_topology_spread/pod_topology_spread.h"

namespace berth::plugins {
namespace {

using cluster::Cluster;

const std::vector<std::string> kKeys = {"zone", "rack", "host", "nowhere-1", "nowhere-2"};
const std::vector<std::string> kValues = {"a", "b", "c", "1", "2"};

class HeavyPods : public testing::Test {
 protected:
  size_t Below(size_t n) { return random_.Below(n); }
  const std::string& One(const std::vector<std::string>& of) { return of[Below(of.size())]; }

  api::LabelSelector Selector() {
    api::LabelSelector selector;
    if (Below(2) == 0) selector.match_labels["app"] = One(kValues);
    if (Below(2) == 0) {
      selector.match_expressions.push_back(
          {"tier", Below(2) == 0 ? "In" : "NotIn", {One(kValues), One(kValues)}});
    }
    return selector;
  }

  api::PodAffinityTerm Term() {
    api::PodAffinityTerm term;
    term.label_selector = Selector();
    term.topology_key = One(kKeys);
    if (Below(3) == 0) term.namespaces = {"ns", "other"};
    if (Below(4) == 0) term.namespace_selector.emplace().match_labels["team"] = One(kValues);
    return term;
  }

  void SetNode(size_t i) {
    MakeNode node("n" + std::to_string(i));
    if (Below(4) != 0) node.Label("zone", One(kValues));
    if (Below(3) != 0) node.Label("rack", One(kValues));
    node.Label("host", "n" + std::to_string(i));
    cluster_.SetNode(node);
  }

  // Nodes and placed pods, and now and then a change of either.
  void Populate() {
    for (const char* name : {"ns", "other", "third"}) {
      api::Namespace object;
      object.metadata.name = name;
      object.metadata.labels["team"] = One(kValues);
      cluster_.MutableObjects().namespaces.Set(std::move(object));
    }
    for (size_t i = 0; i < 70; ++i) SetNode(i);
    for (size_t i = 0; i < 40; ++i) Place();
  }
  void Place() {
    api::Pod pod = MakePod("placed-" + std::to_string(pods_++)).On("n" + std::to_string(Below(72)));
    pod.metadata.namespace_ = Below(3) == 0 ? "other" : "ns";
    pod.metadata.labels["app"] = One(kValues);
    if (Below(2) == 0) pod.metadata.labels["tier"] = One(kValues);
    if (Below(3) == 0) {
      pod.spec.affinity.emplace()
          .pod_anti_affinity.emplace()
          .required_during_scheduling_ignored_during_execution = {Term()};
    }
    cluster_.AddPod(pod);
  }
  void Change() {
    SetNode(Below(75));
    Place();
    if (Below(4) == 0) cluster_.RemoveNode("n" + std::to_string(Below(70)));
  }

  cluster::PodId Add(const api::PodSpec& spec, const std::string& kind) {
    api::Pod pod = MakePod(kind + std::to_string(pods_++));
    pod.metadata.labels["app"] = "a";
    pod.spec.affinity = spec.affinity;
    pod.spec.topology_spread_constraints = spec.topology_spread_constraints;
    return cluster_.AddPod(pod);
  }

  // Verdicts, reasons and normalised scores of both are equal.
  void ExpectAlike(OnePlugin& plugin, const api::PodSpec& few, const api::PodSpec& many) {
    static const std::regex kRaw(" -?[0-9]+>");
    const cluster::PodId a = Add(few, "few-");
    const cluster::PodId b = Add(many, "many-");
    for (int round = 0; round < 3; ++round) {
      ASSERT_EQ(plugin.Filter(a), plugin.Filter(b));
      ASSERT_EQ(std::regex_replace(plugin.Score(a), kRaw, " "),
                std::regex_replace(plugin.Score(b), kRaw, " "));
      Change();
    }
    cluster_.RemovePod(a);
    cluster_.RemovePod(b);
  }

  template <class List>
  static List Repeated(const List& list, size_t at_least) {
    List out = list;
    while (out.size() < at_least) out.insert(out.end(), list.begin(), list.end());
    return out;
  }

  Random random_{7};
  Cluster cluster_;
  size_t pods_ = 0;
};

TEST_F(HeavyPods, ManyRequiredTermsMeanWhatFewMean) {
  Populate();
  OnePlugin plugin(cluster_, inter_pod_affinity::Make);
  for (int i = 0; i < 60; ++i) {
    api::PodSpec few;
    auto& affinity = few.affinity.emplace();
    auto& apart =
        affinity.pod_anti_affinity.emplace().required_during_scheduling_ignored_during_execution;
    auto& near =
        affinity.pod_affinity.emplace().required_during_scheduling_ignored_during_execution;
    for (size_t k = Below(4); k > 0; --k) apart.push_back(Term());
    for (size_t k = apart.empty() ? 1 : Below(2); k > 0; --k) near.push_back(Term());
    api::PodSpec many = few;
    auto& long_apart =
        many.affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution;
    auto& long_near =
        many.affinity->pod_affinity->required_during_scheduling_ignored_during_execution;
    if (!apart.empty()) long_apart = Repeated(apart, 100);
    if (!near.empty()) long_near = Repeated(near, 100);
    ExpectAlike(plugin, few, many);
    if (HasFatalFailure()) return;
  }
}

TEST_F(HeavyPods, ManyPreferredTermsMeanWhatFewMean) {
  Populate();
  OnePlugin plugin(cluster_, inter_pod_affinity::Make);
  for (int i = 0; i < 60; ++i) {
    api::PodSpec few;
    std::vector<api::WeightedPodAffinityTerm> terms(1 + Below(4));
    for (auto& term : terms) {
      term.weight = static_cast<int32_t>(1 + Below(100));
      term.pod_affinity_term = Term();
    }
    // All are repeated equally often, so that the scores only grow by a factor.
    few.affinity.emplace()
        .pod_affinity.emplace()
        .preferred_during_scheduling_ignored_during_execution = terms;
    api::PodSpec many = few;
    many.affinity->pod_affinity->preferred_during_scheduling_ignored_during_execution =
        Repeated(terms, 100);
    // Placed pods with required affinity would add an amount that does not grow.
    ExpectAlike(plugin, few, many);
    if (HasFatalFailure()) return;
  }
}

TEST_F(HeavyPods, ManyNodeTermsMeanWhatFewMean) {
  Populate();
  OnePlugin plugin(cluster_, node_affinity::Make);
  const std::vector<std::string> operators = {"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"};
  for (int i = 0; i < 60; ++i) {
    const auto term = [&] {
      api::NodeSelectorTerm made;
      for (size_t k = 1 + Below(3); k > 0; --k) {
        api::NodeSelectorRequirement requirement;
        requirement.key = One(kKeys);
        requirement.operator_ = One(operators);
        if (requirement.operator_ == "Gt" || requirement.operator_ == "Lt") {
          requirement.values = {std::to_string(Below(3))};
        } else if (requirement.operator_.ends_with("In")) {
          requirement.values = {One(kValues), "n" + std::to_string(Below(70))};
        }
        made.match_expressions.push_back(std::move(requirement));
      }
      return made;
    };
    api::PodSpec few;
    auto& node = few.affinity.emplace().node_affinity.emplace();
    auto& required =
        node.required_during_scheduling_ignored_during_execution.emplace().node_selector_terms;
    for (size_t k = 1 + Below(3); k > 0; --k) required.push_back(term());
    auto& preferred = node.preferred_during_scheduling_ignored_during_execution;
    for (size_t k = 1 + Below(3); k > 0; --k)
      preferred.push_back({static_cast<int32_t>(1 + Below(9)), term()});
    api::PodSpec many = few;
    auto& long_node = *many.affinity->node_affinity;
    long_node.required_during_scheduling_ignored_during_execution->node_selector_terms =
        Repeated(required, 300);
    long_node.preferred_during_scheduling_ignored_during_execution = Repeated(preferred, 300);
    ExpectAlike(plugin, few, many);
    if (HasFatalFailure()) return;
  }
}

TEST_F(HeavyPods, ManyKeysThatNoNodeHasMeanWhatOneMeans) {
  Populate();
  OnePlugin plugin(cluster_, pod_topology_spread::Make);
  for (int i = 0; i < 40; ++i) {
    const auto constraint = [&](const std::string& key, const char* action) {
      api::TopologySpreadConstraint made;
      made.max_skew = static_cast<int32_t>(1 + Below(2));
      made.topology_key = key;
      made.when_unsatisfiable = action;
      made.label_selector = Selector();
      return made;
    };
    api::PodSpec few;
    auto& list = few.topology_spread_constraints;
    const char* action = Below(2) == 0 ? "DoNotSchedule" : "ScheduleAnyway";
    for (const char* key : {"zone", "rack"}) {
      if (Below(2) == 0) list.push_back(constraint(key, action));
    }
    list.push_back(constraint("missing-0", action));
    if (Below(2) == 0) list.push_back(constraint("host", action));
    api::PodSpec many = few;
    for (int k = 1; k < 70; ++k) {
      many.topology_spread_constraints.push_back(
          constraint("missing-" + std::to_string(k), action));
    }
    ExpectAlike(plugin, few, many);
    if (HasFatalFailure()) return;
  }
  // The keys appear, on one node.
  api::PodSpec many;
  MakeNode node("all");
  node.Label("zone", "a");
  for (int k = 0; k < 70; ++k) {
    api::TopologySpreadConstraint made;
    made.max_skew = 1;
    made.topology_key = "missing-" + std::to_string(k);
    made.when_unsatisfiable = "DoNotSchedule";
    made.label_selector = Selector();
    many.topology_spread_constraints.push_back(made);
    node.Label(made.topology_key, "x");
  }
  const cluster::PodId pod = Add(many, "many-");
  EXPECT_EQ(plugin.Filter(pod).find(" ok"), std::string::npos);
  cluster_.SetNode(node);
  EXPECT_NE(plugin.Filter(pod).find("all ok"), std::string::npos);
}

TEST_F(HeavyPods, ResourcesThatNoNodeOffersHaveNoColumns) {
  cluster_.SetNode(MakeNode("a").Cpu("1"));
  cluster_.SetNode(MakeNode("b").Cpu("8"));
  MakePod asks("asks");
  asks.Requests("cpu", "4");
  std::string expected;
  for (int i = 100; i < 200; ++i) {
    const std::string name = "example.com/r" + std::to_string(i);
    asks.Requests(name, "1");
    expected += (i > 100 ? ", " : "") + ("Insufficient " + name);
  }
  OnePlugin plugin(cluster_, node_resources::MakeFit);
  const cluster::PodId pod = cluster_.AddPod(asks);
  const std::string no = "UnschedulableAndUnresolvable: ";
  EXPECT_EQ(plugin.Filter(pod),
            "a " + no + "Insufficient cpu, " + expected + " | b " + no + expected);
  EXPECT_EQ(cluster_.Resource(cluster_.Resources().Find("example.com/r199")), nullptr);

  // A pod that is placed counts from before its resource is offered.
  cluster_.AddPod(MakePod("placed").Requests("example.com/r198", "2").On("b"));
  cluster_.SetNode(
      MakeNode("b").Cpu("8").Has("example.com/r198", "2").Has("example.com/r199", "1"));
  const auto without = [&](const std::string& name) {
    std::string text = expected;
    const std::string gone = ", Insufficient example.com/" + name;
    text.erase(text.find(gone), gone.size());
    return text;
  };
  EXPECT_EQ(plugin.Filter(pod),
            "a " + no + "Insufficient cpu, " + expected + " | b " + no + without("r199"));
}

}  // namespace
}  // namespace berth::plugins
