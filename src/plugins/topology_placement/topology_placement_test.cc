#include "plugins/topology_placement/topology_placement.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cluster/objects/object_store.h"
#include "cluster/testing/builders.h"

namespace berth::plugins::topology_placement {
namespace {

using cluster::MakeNode;
using cluster::MakePod;
using ::testing::ElementsAre;

class TopologyPlacementTest : public ::testing::Test {
 protected:
  TopologyPlacementTest() {
    for (const auto& [node, rack] : {std::pair("a1", "a"), {"b1", "b"}, {"a2", "a"}}) {
      cluster_.SetNode(MakeNode(node).Label("rack", rack));
    }
    cluster_.SetNode(MakeNode("nowhere"));
    group_.metadata.namespace_ = "ns";
    group_.metadata.name = "g";
    group_.spec.scheduling_constraints.emplace().topology.push_back({"rack"});
    cluster_.MutableObjects().pod_groups.Set(group_);
  }

  void Place(const std::string& pod, const std::string& node) {
    api::Pod made = MakePod(pod).On(node);
    made.spec.scheduling_group.emplace().pod_group_name = "g";
    cluster_.AddPod(made);
  }
  // "name: nodes" per placement; or the message.
  std::vector<std::string> Generate() {
    std::vector<framework::Placement> placements;
    const auto status =
        plugin_.GeneratePlacements(cluster_, {group_, {}}, {"", cluster_.Nodes()}, &placements);
    if (!status.Ok()) return {status.Message()};
    std::vector<std::string> lines;
    for (const auto& placement : placements) {
      std::string line = placement.name + ":";
      placement.nodes.ForEach([&](cluster::NodeIndex n) { line += " " + cluster_.NodeName(n); });
      lines.push_back(line);
    }
    return lines;
  }

  cluster::Cluster cluster_;
  api::PodGroup group_;
  TopologyPlacement plugin_;
};

TEST_F(TopologyPlacementTest, OnePlacementPerDomain) {
  EXPECT_THAT(Generate(), ElementsAre("a: a1 a2", "b: b1"));
}

TEST_F(TopologyPlacementTest, WithoutConstraintAllNodesAreThePlacement) {
  group_.spec.scheduling_constraints.reset();
  EXPECT_THAT(Generate(), ElementsAre(": a1 b1 a2 nowhere"));
}

TEST_F(TopologyPlacementTest, PodsThatHaveANodeDecideTheDomain) {
  Place("p", "b1");
  EXPECT_THAT(Generate(), ElementsAre("b: b1"));
  Place("q", "a1");
  EXPECT_THAT(Generate(), ElementsAre("cannot determine domain for already scheduled pods: more "
                                      "than 1 domain found for pod group: b, a"));
}

TEST_F(TopologyPlacementTest, ANodeOutsideAllDomainsIsAnError) {
  Place("p", "nowhere");
  EXPECT_THAT(Generate(), ElementsAre("cannot determine domain for already scheduled pods: no "
                                      "topology domain found for pod ns/p"));
}

}  // namespace
}  // namespace berth::plugins::topology_placement
