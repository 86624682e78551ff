#include "cluster/table/node_tree.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

using Ids = std::vector<uint32_t>;

TEST(ZoneKey, JoinsRegionAndZone) {
  constexpr const char* kZone = "topology.kubernetes.io/zone";
  constexpr const char* kRegion = "topology.kubernetes.io/region";
  constexpr const char* kBetaZone = "failure-domain.beta.kubernetes.io/zone";
  EXPECT_EQ(ZoneKey({}), "");
  EXPECT_EQ(ZoneKey({{kZone, "z"}}), std::string(":\0:z", 4));
  EXPECT_EQ(ZoneKey({{kZone, "z"}, {kRegion, "r"}}), std::string("r:\0:z", 5));
  EXPECT_EQ(ZoneKey({{kZone, "z"}, {kBetaZone, "b"}}), std::string(":\0:b", 4));
  EXPECT_EQ(ZoneKey({{kZone, "z"}, {kBetaZone, ""}}), "") << "an empty beta label hides the other";
}

TEST(NodeTree, TakesZonesInTurn) {
  NodeTree tree;
  EXPECT_EQ(tree.List(), Ids());
  for (const uint32_t id : {0, 1, 2}) tree.Add(id, "a");
  tree.Add(3, "b");
  for (const uint32_t id : {4, 5}) tree.Add(id, "");
  EXPECT_EQ(tree.List(), (Ids{0, 3, 4, 1, 5, 2}));
  EXPECT_EQ(tree.Size(), 6u);
}

TEST(NodeTree, UpdateMovesToTheEndOfAnotherZone) {
  NodeTree tree;
  tree.Add(0, "a");
  tree.Add(1, "a");
  tree.Add(2, "b");
  tree.Update(0, "a");
  EXPECT_EQ(tree.List(), (Ids{0, 2, 1}));
  tree.Update(0, "b");
  EXPECT_EQ(tree.List(), (Ids{1, 2, 0}));
  tree.Update(7, "a");
  EXPECT_EQ(tree.List(), (Ids{1, 2, 7, 0}));
}

TEST(NodeTree, AnEmptiedZoneReturnsAtTheEnd) {
  NodeTree tree;
  tree.Add(0, "a");
  tree.Add(1, "b");
  EXPECT_TRUE(tree.Remove(0));
  EXPECT_FALSE(tree.Remove(0));
  EXPECT_FALSE(tree.Remove(99));
  tree.Add(0, "a");
  EXPECT_EQ(tree.List(), (Ids{1, 0}));
  tree.Add(0, "b");
  EXPECT_EQ(tree.List(), (Ids{1, 0})) << "added once only";
}

// The plain rules, spelled out.
struct PlainTree {
  std::vector<std::string> zones;
  std::map<std::string, Ids> nodes;

  void Add(uint32_t id, const std::string& zone) {
    if (nodes[zone].empty()) zones.push_back(zone);
    nodes[zone].push_back(id);
  }
  void Remove(uint32_t id, const std::string& zone) {
    std::erase(nodes[zone], id);
    if (nodes[zone].empty()) std::erase(zones, zone);
  }
  Ids List() const {
    Ids out;
    for (size_t i = 0, before = 1; before != out.size() || i == 0; ++i) {
      before = out.size();
      for (const std::string& zone : zones) {
        if (i < nodes.at(zone).size()) out.push_back(nodes.at(zone)[i]);
      }
    }
    return out;
  }
};

TEST(NodeTree, AgreesWithThePlainRules) {
  std::mt19937 random(7);
  NodeTree tree;
  PlainTree plain;
  std::map<uint32_t, std::string> zone_of;
  for (int step = 0; step < 3000; ++step) {
    const uint32_t id = random() % 60;
    const std::string zone(1, static_cast<char>('a' + random() % 5));
    const auto it = zone_of.find(id);
    if (it == zone_of.end()) {
      tree.Add(id, zone);
      plain.Add(id, zone);
      zone_of[id] = zone;
    } else if (random() % 3 == 0) {
      tree.Update(id, zone);
      if (it->second != zone) {
        plain.Remove(id, it->second);
        plain.Add(id, zone);
        it->second = zone;
      }
    } else {
      EXPECT_TRUE(tree.Remove(id));
      plain.Remove(id, it->second);
      zone_of.erase(it);
    }
    ASSERT_EQ(tree.List(), plain.List()) << "step " << step;
    ASSERT_EQ(tree.Size(), zone_of.size());
  }
}

}  // namespace
}  // namespace berth::cluster
