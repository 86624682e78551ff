#include "cluster/pods/host_ports.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

namespace berth::cluster {
namespace {

constexpr StringId kAny = 0;  // 0.0.0.0
constexpr StringId kIpA = 1;
constexpr StringId kIpB = 2;
constexpr StringId kTcp = 10;
constexpr StringId kUdp = 11;

std::set<NodeIndex> Conflicts(const HostPortTable& table, const HostPort& wanted,
                              NodeIndex first = 0, NodeIndex end = 1000) {
  std::set<NodeIndex> nodes;
  table.ForEachConflict(wanted, first, end, [&](NodeIndex n) { nodes.insert(n); });
  return nodes;
}

TEST(HostPortTable, ConflictsByAddressProtocolAndPort) {
  struct Case {
    const char* what;
    HostPort taken;
    HostPort wanted;
    bool conflict;
  };
  const Case cases[] = {
      {"the same on any address", {kAny, kTcp, 80}, {kAny, kTcp, 80}, true},
      {"another port", {kAny, kTcp, 80}, {kAny, kTcp, 81}, false},
      {"another protocol", {kAny, kTcp, 80}, {kAny, kUdp, 80}, false},
      {"the same address", {kIpA, kTcp, 80}, {kIpA, kTcp, 80}, true},
      {"different addresses", {kIpA, kTcp, 80}, {kIpB, kTcp, 80}, false},
      {"any address is wanted where one is taken", {kIpA, kTcp, 80}, {kAny, kTcp, 80}, true},
      {"one address is wanted where all are taken", {kAny, kTcp, 80}, {kIpB, kTcp, 80}, true},
  };
  for (const Case& c : cases) {
    HostPortTable table(kAny);
    table.Take(5, c.taken);
    EXPECT_EQ(Conflicts(table, c.wanted).count(5) == 1, c.conflict) << c.what;
    EXPECT_EQ(Conflicts(table, c.wanted, 6, 1000).size(), 0u) << c.what << ", behind the node";
    EXPECT_EQ(Conflicts(table, c.wanted, 0, 5).size(), 0u) << c.what << ", before the node";
    table.Release(5, c.taken);
    EXPECT_EQ(Conflicts(table, c.wanted).size(), 0u) << c.what << ", released";
  }
}

TEST(HostPortTable, SeveralNodesInAnyOrder) {
  HostPortTable table(kAny);
  for (const NodeIndex n : {7u, 3u, 9u, 3u}) table.Take(n, {kIpA, kTcp, 80});
  table.Take(9, {kIpB, kTcp, 80});
  EXPECT_EQ(Conflicts(table, {kIpA, kTcp, 80}), (std::set<NodeIndex>{3, 7, 9}));
  EXPECT_EQ(Conflicts(table, {kIpB, kTcp, 80}), (std::set<NodeIndex>{9}));
  EXPECT_EQ(Conflicts(table, {kAny, kTcp, 80}, 4, 9), (std::set<NodeIndex>{7}));
  table.Release(9, {kIpA, kTcp, 80});
  EXPECT_EQ(Conflicts(table, {kAny, kTcp, 80}), (std::set<NodeIndex>{3, 7, 9}));
}

TEST(HostPortTable, AsInKubeSchedulerThePortIsFreeWhenTheFirstOfTwoHoldersLeaves) {
  HostPortTable table(kAny);
  table.Take(1, {kAny, kTcp, 80});
  table.Take(1, {kAny, kTcp, 80});
  table.Release(1, {kAny, kTcp, 80});
  EXPECT_TRUE(Conflicts(table, {kAny, kTcp, 80}).empty());
  table.Release(1, {kAny, kTcp, 80});
  table.Release(2, {kAny, kTcp, 81});
  EXPECT_TRUE(Conflicts(table, {kAny, kTcp, 80}).empty()) << "releasing what is free does nothing";
}

}  // namespace
}  // namespace berth::cluster
