#include "plugins/dynamic_resources/search.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

// What the allocator says about node "n": "r=d0 r=d1", "impossible", "out of steps" or "error: …".
std::string Allocate(TestCluster& cluster, const std::vector<std::string>& claims,
                     int64_t max_steps = 0) {
  Inventory inventory;
  NodePools node_pools;
  SelectorTable selectors;
  inventory.Sync(cluster.Objects());
  node_pools.Sync(*cluster, inventory);
  std::vector<const api::ResourceClaim*> objects;
  for (const std::string& name : claims) {
    objects.push_back(cluster.Objects().resource_claims.Find("default", name));
  }
  const Plan plan = MakePlan(objects, cluster.Objects(), selectors);
  for (const ClaimPlan& claim : plan.claims) {
    for (const PlannedRequest& request : claim.requests) {
      if (request.chain) request.chain->Sync(inventory);
    }
  }
  PoolList pools;
  node_pools.Append((*cluster).FindNode("n"), &pools);
  if (!node_pools.Error().empty()) return "error: " + node_pools.Error();
  Search search(inventory, plan, max_steps);
  const Search::Outcome outcome = search.Run(pools);
  Search::Outcome counted{};
  if (search.Count(pools, &counted)) {
    EXPECT_EQ(counted, outcome);
  }
  if (outcome == Search::Outcome::kError) return "error: " + search.error();
  if (outcome == Search::Outcome::kImpossible) return "impossible";
  if (outcome == Search::Outcome::kOutOfSteps) return "out of steps";
  std::string found;
  for (size_t i = 0; i < plan.claims.size(); ++i) {
    for (const Search::Found& f : search.Devices(i)) {
      if (!found.empty()) found += ' ';
      found +=
          plan.claims[i].requests[f.request].FullName() + "=" + inventory.DeviceAt(f.slot).name;
    }
  }
  return found;
}

constexpr const char* kTyped = R"([
  {"name": "a0", "attributes": {"kind": {"string": "a"}, "numa": {"int": 0}}},
  {"name": "b0", "attributes": {"kind": {"string": "b"}, "numa": {"int": 0}}},
  {"name": "a1", "attributes": {"kind": {"string": "a"}, "numa": {"int": 1}}},
  {"name": "b1", "attributes": {"kind": {"string": "b"}, "numa": {"int": 1}}},
  {"name": "c1", "attributes": {"kind": {"string": "c"}, "numa": {"int": 1}}}])";

class SearchTest : public testing::Test {
 protected:
  SearchTest() {
    cluster.Node("n", R"("zone": "z1")");
    cluster.Node("other", R"("zone": "z2")");
    cluster.Class("gpu", "device.driver == 'gpu'");
    cluster.Class("any", "true");
  }
  void Local(const std::string& devices) {
    cluster.Slice("s", "gpu", "p", R"("nodeName": "n")", devices);
  }
  std::string Kind(const std::string& name, const std::string& kind, int count = 1) {
    return R"({"name": ")" + name +
           R"(", "exactly": {"deviceClassName": "gpu", "selectors": [)"
           R"({"cel": {"expression": "device.attributes['gpu'].kind == ')" +
           kind + R"('"}}], "allocationMode": "ExactCount", "count": )" + std::to_string(count) +
           "}}";
  }

  TestCluster cluster;
};

TEST_F(SearchTest, TakesTheFirstFreeDevicesInSliceOrder) {
  Local(TestCluster::Plain(4));
  cluster.Claim("used", Request("gpu", 1), Allocated("gpu", "p", "d1"));
  cluster.Claim("two", Request("gpu", 2));
  cluster.Claim("four", Request("gpu", 4));
  EXPECT_EQ(Allocate(cluster, {"two"}), "r=d0 r=d2");
  EXPECT_EQ(Allocate(cluster, {"four"}), "impossible");
  EXPECT_EQ(Allocate(cluster, {"two", "two"}), "impossible");
}

TEST_F(SearchTest, SeesWhatIsInFlight) {
  Local(TestCluster::Plain(2));
  cluster.Objects().in_flight_claims.Set(
      cluster.Claim("flying", Request("gpu", 1), Allocated("gpu", "p", "d0")));
  cluster.Objects().resource_claims.Remove("default", "flying");
  cluster.Claim("one", Request("gpu", 1));
  EXPECT_EQ(Allocate(cluster, {"one"}), "r=d1");
}

TEST_F(SearchTest, GoesBackWhenAConstraintCannotBeMet) {
  Local(kTyped);
  const std::string constraint = R"(], "constraints": [{"matchAttribute": "gpu/numa"}])";
  cluster.Claim("pair", R"("requests": [)" + Kind("x", "a") + "," + Kind("y", "c") + constraint);
  // a0 fits x alone, but c exists only on the other side.
  EXPECT_EQ(Allocate(cluster, {"pair"}), "x=a1 y=c1");
  cluster.Claim("three",
                R"("requests": [)" + Kind("x", "c", 1) + "," + Kind("y", "a", 2) + constraint);
  EXPECT_EQ(Allocate(cluster, {"three"}), "impossible");
}

TEST_F(SearchTest, ConstraintsMayNameRequests) {
  Local(kTyped);
  cluster.Claim(
      "c", R"("requests": [)" + Kind("x", "a") + "," + Kind("y", "b") + "," + Kind("z", "c") +
               R"(], "constraints": [{"requests": ["y", "z"], "matchAttribute": "gpu/numa"}])");
  EXPECT_EQ(Allocate(cluster, {"c"}), "x=a0 y=b1 z=c1");
}

TEST_F(SearchTest, DevicesWithoutTheAttributeDoNotMatch) {
  Local(TestCluster::Plain(2));
  cluster.Claim("c", Request("gpu", 1) + R"(, "constraints": [{"matchAttribute": "gpu/numa"}])");
  EXPECT_EQ(Allocate(cluster, {"c"}), "impossible");
}

TEST_F(SearchTest, DistinctAttributesOnlyHaveToBeThere) {
  Local(R"([{"name": "x", "attributes": {"numa": {"int": 0}}},
            {"name": "y", "attributes": {"numa": {"int": 0}}}, {"name": "z"}])");
  cluster.Claim("two",
                Request("gpu", 2) + R"(, "constraints": [{"distinctAttribute": "gpu/numa"}])");
  cluster.Claim("three",
                Request("gpu", 3) + R"(, "constraints": [{"distinctAttribute": "gpu/numa"}])");
  EXPECT_EQ(Allocate(cluster, {"two"}), "r=x r=y");
  EXPECT_EQ(Allocate(cluster, {"three"}), "impossible");
}

TEST_F(SearchTest, AdminAccessSharesDevicesButNotWithinAClaim) {
  Local(TestCluster::Plain(1));
  cluster.Claim("used", Request("gpu", 1), Allocated("gpu", "p", "d0"));
  cluster.Claim("admin", Request("gpu", 1, R"(, "adminAccess": true)"));
  cluster.Claim("admin2", Request("gpu", 2, R"(, "adminAccess": true)"));
  EXPECT_EQ(Allocate(cluster, {"admin", "admin"}), "r=d0 r=d0");
  EXPECT_EQ(Allocate(cluster, {"admin2"}), "impossible");
}

std::string AllOf(const std::string& name, const std::string& selector) {
  return R"({"name": ")" + name +
         R"(", "deviceClassName": "gpu", "allocationMode": "All",)"
         R"( "selectors": [{"cel": {"expression": ")" +
         selector + R"("}}]})";
}

TEST_F(SearchTest, AllMeansAllAndAtLeastOne) {
  Local(kTyped);
  const std::string all =
      R"("requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}])";
  cluster.Claim("all", all);
  EXPECT_EQ(Allocate(cluster, {"all"}), "r=a0 r=b0 r=a1 r=b1 r=c1");
  cluster.Claim("held", all + R"(, "constraints": [{"matchAttribute": "gpu/numa"}])");
  EXPECT_EQ(Allocate(cluster, {"held"}),
            "error: claim default/held, request r: cannot add device gpu/p/a1 because a claim "
            "constraint would not be satisfied");
  cluster.Claim("used", Request("gpu", 1), Allocated("gpu", "p", "b1"));
  EXPECT_EQ(Allocate(cluster, {"all"}), "impossible");
  Local("[]");
  EXPECT_EQ(Allocate(cluster, {"all"}), "impossible");
}

TEST_F(SearchTest, AllNeedsCompletePools) {
  cluster.Claim(
      "all",
      R"("requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}])");
  cluster.Claim("one", Request("gpu", 1));
  cluster.Slice("s", "gpu", "p", R"("nodeName": "n")", TestCluster::Plain(1),
                R"("generation": 1, "resourceSliceCount": 2)");
  EXPECT_EQ(Allocate(cluster, {"all"}),
            "error: claim default/all, request r: asks for all devices, but resource pool gpu/p is "
            "currently being updated");
  EXPECT_EQ(Allocate(cluster, {"one"}), "r=d0");
}

TEST_F(SearchTest, TakesTheFirstAlternativeThatWorks) {
  Local(kTyped);
  const auto alternatives = [](const std::string& list) {
    return R"("requests": [{"name": "r", "firstAvailable": [)" + list + "]}]";
  };
  const std::string nine =
      R"({"name": "nine", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 9})";
  const std::string two =
      R"({"name": "two", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2})";
  cluster.Claim("c", alternatives(nine + "," + two));
  EXPECT_EQ(Allocate(cluster, {"c"}), "r/two=a0 r/two=b0");
  cluster.Claim("none", alternatives(nine));
  EXPECT_EQ(Allocate(cluster, {"none"}), "impossible");
  // If both alternatives ask for all devices, the second looks for those of the first.
  cluster.Claim("all", alternatives(AllOf("x", "device.attributes['gpu'].kind == 'zzz'") + "," +
                                    AllOf("y", "device.attributes['gpu'].kind == 'c'")));
  EXPECT_EQ(Allocate(cluster, {"all"}), "impossible");
}

TEST_F(SearchTest, ErrorsOfSelectorsCountWhenTheDeviceIsReached) {
  Local(R"([{"name": "x", "attributes": {"m": {"int": 1}}}, {"name": "y"}])");
  const std::string selector =
      R"(, "selectors": [{"cel": {"expression": "device.attributes['gpu'].m == 1"}}])";
  cluster.Claim("one", Request("gpu", 1, selector));
  cluster.Claim("two", Request("gpu", 2, selector));
  EXPECT_EQ(Allocate(cluster, {"one"}), "r=x");
  EXPECT_EQ(Allocate(cluster, {"two"}),
            "error: claim default/two: selector #0: CEL runtime error: no such key: m");
  cluster.Class("broken", "device.nope");
  cluster.Claim("c", Request("broken", 1));
  EXPECT_EQ(Allocate(cluster, {"c"}),
            "error: class broken: selector #0: CEL compile error: compilation failed: ERROR: "
            "<input>:1:7: undefined field 'nope'\n | device.nope\n | ......^");
  // Devices of another driver never get as far as the request's selectors.
  cluster.Slice("s", "nic", "p", R"("nodeName": "n")", TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"one"}), "impossible");
}

TEST_F(SearchTest, PoolsAreMadeOfTheNewestGeneration) {
  cluster.Claim("c", Request("gpu", 1));
  cluster.Claim("two", Request("gpu", 2));
  cluster.Slice("s1", "gpu", "p", R"("nodeName": "n")", R"([{"name": "old"}])");
  cluster.Slice("s2", "gpu", "p", R"("nodeName": "n")", R"([{"name": "new"}])",
                R"("generation": 2, "resourceSliceCount": 1)");
  EXPECT_EQ(Allocate(cluster, {"c"}), "r=new");
  EXPECT_EQ(Allocate(cluster, {"two"}), "impossible");
}

TEST_F(SearchTest, SharedSlicesReachTheNodesTheySelect) {
  cluster.Claim("c", Request("any", 1));
  const auto in_zone = [](const std::string& zone) {
    return R"("nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone",)"
           R"( "operator": "In", "values": [")" +
           zone + R"("]}]}]})";
  };
  cluster.Slice("s", "fabric", "p", in_zone("z2"), TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "impossible");
  cluster.Slice("s", "fabric", "p", in_zone("z1"), TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "r=d0");
  cluster.Slice("s", "fabric", "p", R"("allNodes": true)", TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "r=d0");
  cluster.Slice("s", "fabric", "p", R"("perDeviceNodeSelection": true)", TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "impossible");
  cluster.Slice("s", "fabric", "p", R"("nodeName": "other")", TestCluster::Plain(1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "impossible");
}

TEST_F(SearchTest, APoolMayHaveLocalAndSharedSlices) {
  cluster.Slice("s1", "gpu", "p", R"("allNodes": true)", R"([{"name": "shared"}])",
                R"("generation": 1, "resourceSliceCount": 2)");
  cluster.Slice("s2", "gpu", "p", R"("nodeName": "n")", R"([{"name": "local"}])",
                R"("generation": 1, "resourceSliceCount": 2)");
  cluster.Claim(
      "all",
      R"("requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "All"}}])");
  EXPECT_EQ(Allocate(cluster, {"all"}), "r=local r=shared");
}

TEST_F(SearchTest, DuplicateNamesMakeAPoolInvalid) {
  Local(R"([{"name": "x"}, {"name": "x"}])");
  cluster.Claim("c", Request("gpu", 1));
  EXPECT_EQ(Allocate(cluster, {"c"}), "error: pool p is invalid: duplicate device name x");
}

TEST_F(SearchTest, DevicesThatNeedFeaturesThatAreOffAreLeftAlone) {
  Local(R"([{"name": "x", "bindingConditions": ["ready"]},
            {"name": "y", "consumesCounters": [{"counterSet": "s"}]}, {"name": "z"}])");
  cluster.Claim("c", Request("gpu", 1));
  cluster.Claim("two", Request("gpu", 2));
  EXPECT_EQ(Allocate(cluster, {"c"}), "r=z");
  EXPECT_EQ(Allocate(cluster, {"two"}), "impossible");
  cluster.Claim("capacity", Request("gpu", 1, R"(, "capacity": {"requests": {"m": "1"}})"));
  EXPECT_EQ(Allocate(cluster, {"capacity"}),
            "error: claim default/capacity, request r: has capacity requests, but the "
            "DRAConsumableCapacity feature is disabled");
}

TEST_F(SearchTest, AClaimHoldsAtMost32Devices) {
  Local(TestCluster::Plain(40));
  cluster.Claim("c", Request("gpu", 33));
  EXPECT_EQ(Allocate(cluster, {"c"}),
            "error: claim default/c: number of requested devices 33 exceeds the claim limit of 32");
  cluster.Claim("max", Request("gpu", 32));
  EXPECT_NE(Allocate(cluster, {"max"}), "impossible");
}

TEST_F(SearchTest, CountingRunsOutOfStepsWhereTheSearchWould) {
  Local(R"([{"name": "d0"}, {"name": "d1"}, {"name": "d2"}])");
  cluster.Claim("c", Request("gpu", 4));
  // After nothing, 3 single devices, 6 pairs and 6 triples all 3 are tried.
  for (const int64_t steps : {1, 2, 3, 12, 47}) {
    EXPECT_EQ(Allocate(cluster, {"c"}, steps), "out of steps") << steps;
  }
  for (const int64_t steps : {48, 1000, 0}) {
    EXPECT_EQ(Allocate(cluster, {"c"}, steps), "impossible") << steps;
  }
}

TEST_F(SearchTest, HopelessSearchesEnd) {
  // 30 devices in pairs of constraints that cannot be met: far too many ways to try.
  std::string devices;
  for (int i = 0; i < 30; ++i) {
    devices += (i > 0 ? "," : "") + std::string(R"({"name": "d)") + std::to_string(i) +
               R"(", "attributes": {"n": {"int": )" + std::to_string(i / 15) + "}}}";
  }
  Local("[" + devices + "]");
  cluster.Claim("c", Request("gpu", 16) + R"(, "constraints": [{"matchAttribute": "gpu/n"}])");
  EXPECT_EQ(Allocate(cluster, {"c"}, 100000), "out of steps");
}

TEST_F(SearchTest, UnusualClaimsGetClearErrors) {
  Local(TestCluster::Plain(1));
  cluster.Claim(
      "mode",
      R"("requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "Some"}}])");
  EXPECT_EQ(Allocate(cluster, {"mode"}),
            "error: claim default/mode, request r: unsupported count mode Some");
  cluster.Claim("empty", Request("gpu", 1) + R"(, "constraints": [{}])");
  EXPECT_EQ(
      Allocate(cluster, {"empty"}),
      "error: claim default/empty, constraint #0: empty constraint (unsupported constraint type?)");
  cluster.Claim("selector", Request("gpu", 1, R"(, "selectors": [{}])"));
  EXPECT_EQ(Allocate(cluster, {"selector"}),
            "error: claim default/selector, request r, selector #0: CEL expression empty "
            "(unsupported selector type?)");
  std::string many;
  for (int i = 0; i < 5000; ++i) {
    many +=
        (i > 0 ? "," : "") +
        std::string(
            R"({"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount"}})");
  }
  cluster.Claim("many", R"("requests": [)" + many + "]");
  EXPECT_EQ(Allocate(cluster, {"many"}),
            "error: the claims need more devices than can be searched for");
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
