// The plugin under the feature gates about devices.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "framework/runtime/cycle.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

class FeaturesTest : public testing::Test {
 protected:
  FeaturesTest() {
    cluster.Class("gpu", "device.driver == 'gpu'");
    cluster.Node("a", R"("zone": "z1")");
    cluster.Node("b", R"("zone": "z2")");
  }

  void Use(const config::DraFeatures& features) {
    config::ResolvedProfile resolved;
    using config::ExtensionPoint;
    for (const ExtensionPoint point :
         {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kReserve}) {
      resolved.points[config::Index(point)].push_back({std::string(kName), 0});
    }
    resolved.plugin_config.push_back({std::string(kName), {}, config::DynamicResourcesArgs()});
    config::Behaviour behaviour;
    behaviour.dra = features;
    static constexpr framework::RegistryRow kRow{kName, &Make};
    profile = framework::Profile::Make(resolved, {&kRow, 1}, {*cluster, 0, behaviour}).value();
    cycle = std::make_unique<framework::Cycle>(*profile);
  }

  // The nodes on which the claim can be allocated, or why not.
  std::string Nodes(const std::string& claim) {
    cycle->Begin(*cluster, cluster.Pod("pod-" + std::to_string(++pods), {claim}));
    const framework::Status status = cycle->RunPreFilter();
    if (!status.Ok()) return status.Message();
    cluster::NodeSet nodes = (*cluster).Nodes();
    cycle->RunFilter(nodes);
    std::string out;
    (*cluster).Nodes().ForEach([&](cluster::NodeIndex n) {
      if (nodes.Contains(n)) {
        out += (*cluster).NodeName(n);
      } else if (cycle->verdicts()[n].code == framework::Code::kError) {
        out = cycle->Reasons(cycle->verdicts()[n])[0];
      }
    });
    return out;
  }
  // The allocation on that node; null when there is none. It is in flight from then on.
  const api::AllocationResult* Reserve(const std::string& claim, const std::string& node) {
    if (Nodes(claim).find(node) == std::string::npos) return nullptr;
    const auto status = profile->reserve[0].plugin->Reserve(cycle->context(), cycle->state(0),
                                                            (*cluster).FindNode(node));
    if (!status.Ok()) return nullptr;
    return &*cluster.Objects().in_flight_claims.Find("default", claim)->status.allocation;
  }
  std::vector<int64_t> Class(const std::string& claim) {
    Nodes(claim);
    std::vector<int64_t> numbers;
    const auto* plugin = dynamic_cast<const DynamicResources*>(profile->Plugins()[0].get());
    EXPECT_TRUE(plugin->AppendClaims(cycle->context(), cycle->state(0), &numbers));
    return numbers;
  }

  TestCluster cluster;
  std::unique_ptr<framework::Profile> profile;
  std::unique_ptr<framework::Cycle> cycle;
  int pods = 0;
};

constexpr const char* kParts = R"("nodeName": "a", "sharedCounters":
  [{"name": "card", "counters": {"memory": {"value": "40Gi"}}}])";
constexpr const char* kPartDevices = R"([
  {"name": "whole", "consumesCounters":
    [{"counterSet": "card", "counters": {"memory": {"value": "40Gi"}}}]},
  {"name": "half", "consumesCounters":
    [{"counterSet": "card", "counters": {"memory": {"value": "20Gi"}}}]},
  {"name": "other-half", "consumesCounters":
    [{"counterSet": "card", "counters": {"memory": {"value": "20Gi"}}}]}])";

TEST_F(FeaturesTest, PartsOfADeviceDrawFromItsCounters) {
  cluster.Slice("s", "gpu", "p", kParts, kPartDevices);
  const std::string half = R"(, "selectors": [{"cel": {"expression": "device.driver == 'gpu'"}}])";
  cluster.Claim("one", Request("gpu", 1));
  cluster.Claim("two", Request("gpu", 2, half));
  cluster.Claim("three", Request("gpu", 3));
  Use({});
  EXPECT_EQ(Nodes("one"), "") << "parts are left alone while the gate is off";
  Use({.partitionable = true});
  EXPECT_EQ(Nodes("one"), "a");
  EXPECT_EQ(Nodes("two"), "a");
  EXPECT_EQ(Nodes("three"), "");
  const api::AllocationResult* allocation = Reserve("one", "a");
  ASSERT_NE(allocation, nullptr);
  EXPECT_EQ(allocation->devices.results[0].device, "whole");
  EXPECT_EQ(Nodes("two"), "") << "the whole card is gone";
}

TEST_F(FeaturesTest, DevicesOfASliceMayBeInDifferentPlaces) {
  cluster.Slice("s", "gpu", "p", R"("perDeviceNodeSelection": true)",
                R"([{"name": "on-b", "nodeName": "b"},
                    {"name": "in-z1", "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions":
                      [{"key": "zone", "operator": "In", "values": ["z1"]}]}]}},
                    {"name": "in-z1-too", "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions":
                      [{"key": "zone", "operator": "In", "values": ["z1"]}]}]}},
                    {"name": "all", "allNodes": true}])");
  cluster.Claim("one", Request("gpu", 1));
  cluster.Claim("next", Request("gpu", 1));
  cluster.Claim("three", Request("gpu", 3));
  Use({});
  EXPECT_EQ(Nodes("one"), "");
  Use({.partitionable = true});
  EXPECT_EQ(Nodes("one"), "ab");
  EXPECT_EQ(Nodes("three"), "a");
  const api::AllocationResult* allocation = Reserve("one", "b");
  ASSERT_NE(allocation, nullptr);
  EXPECT_EQ(allocation->devices.results[0].device, "on-b");
  EXPECT_EQ(allocation->node_selector->node_selector_terms[0].match_fields[0].values[0], "b");
  allocation = Reserve("next", "a");
  ASSERT_NE(allocation, nullptr);
  EXPECT_EQ(allocation->devices.results[0].device, "in-z1");
  EXPECT_EQ(allocation->node_selector->node_selector_terms[0].match_expressions[0].key, "zone");
}

TEST_F(FeaturesTest, TaintsMustBeTolerated) {
  cluster.Slice(
      "s", "gpu", "p", R"("nodeName": "a")",
      R"([{"name": "x", "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}])");
  const auto tolerating = [](const std::string& toleration) {
    return Request("gpu", 1, R"(, "tolerations": [)" + toleration + "]");
  };
  const struct {
    const char* what;
    const char* toleration;
    const char* nodes;
  } rows[] = {
      {"none", "", ""},
      {"the key, whatever its value", R"({"key": "k", "operator": "Exists"})", "a"},
      {"the value", R"({"key": "k", "operator": "Equal", "value": "v"})", "a"},
      {"equality is what is meant without a word", R"({"key": "k", "value": "v"})", "a"},
      {"another value", R"({"key": "k", "operator": "Equal", "value": "w"})", ""},
      {"another key", R"({"key": "l", "operator": "Exists"})", ""},
      {"another effect", R"({"operator": "Exists", "effect": "NoExecute"})", ""},
      {"everything", R"({"operator": "Exists"})", "a"},
      {"an unknown operator", R"({"key": "k", "operator": "Near", "value": "v"})", ""},
  };
  Use({.taints = true});
  std::vector<int64_t> first;
  for (const auto& row : rows) {
    cluster.Claim("c", tolerating(row.toleration));
    EXPECT_EQ(Nodes("c"), row.nodes) << row.what;
    const std::vector<int64_t> numbers = Class("c");
    if (first.empty()) {
      first = numbers;
    } else {
      EXPECT_NE(numbers, first) << row.what;
    }
  }
  Use({});
  cluster.Claim("c", tolerating(""));
  EXPECT_EQ(Nodes("c"), "a") << "nobody looks at taints while the gate is off";
}

TEST_F(FeaturesTest, ClaimsShareTheCapacityOfADevice) {
  cluster.Slice("s", "gpu", "p", R"("nodeName": "a")",
                R"([{"name": "x", "allowMultipleAllocations": true, "capacity": {"memory":
                     {"value": "10Gi", "requestPolicy": {"default": "1Gi",
                      "validRange": {"min": "1Gi", "max": "8Gi", "step": "2Gi"}}}}}])");
  const auto asking = [](const std::string& amount) {
    return Request("gpu", 1, R"(, "capacity": {"requests": {"memory": ")" + amount + R"("}})");
  };
  for (const char* name : {"one", "two", "three"}) cluster.Claim(name, asking("4Gi"));
  cluster.Claim("small", Request("gpu", 1));
  cluster.Claim("large", asking("9Gi"));
  cluster.Claim("strange", Request("gpu", 1, R"(, "capacity": {"requests": {"speed": "1"}})"));
  Use({.consumable_capacity = true});
  EXPECT_EQ(Nodes("large"), "") << "more than the policy allows";
  EXPECT_EQ(Nodes("strange"), "") << "no such capacity";
  EXPECT_EQ(Class("one"), Class("two"));
  EXPECT_NE(Class("one"), Class("small"));
  EXPECT_NE(Class("one"), Class("large"));
  const api::AllocationResult* allocation = Reserve("one", "a");
  ASSERT_NE(allocation, nullptr);
  const auto& result = allocation->devices.results[0];
  EXPECT_EQ(result.consumed_capacity.at("memory").String(), "5Gi") << "rounded up from the minimum";
  ASSERT_TRUE(result.share_id);
  EXPECT_EQ(result.share_id->size(), 36u);
  const std::string first_share = *result.share_id;
  allocation = Reserve("two", "a");
  ASSERT_NE(allocation, nullptr);
  EXPECT_NE(*allocation->devices.results[0].share_id, first_share);
  EXPECT_EQ(Nodes("three"), "") << "nothing is left";
  EXPECT_EQ(Nodes("small"), "");
  cluster.Objects().in_flight_claims.Remove("default", "two");
  EXPECT_EQ(Nodes("three"), "a") << "given back";
}

TEST_F(FeaturesTest, RequestsThatNeedAGateThatIsOffAreRefused) {
  cluster.Slice("s", "gpu", "p", R"("nodeName": "a")", TestCluster::Plain(1));
  cluster.Claim("admin", Request("gpu", 1, R"(, "adminAccess": true)"));
  cluster.Claim("no-admin", Request("gpu", 1, R"(, "adminAccess": false)"));
  cluster.Claim("first", R"("requests": [{"name": "r", "firstAvailable":
    [{"name": "s", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}]}])");
  Use({});
  EXPECT_EQ(Nodes("admin"), "a");
  EXPECT_EQ(Nodes("first"), "a");
  Use({.admin_access = false, .prioritized_list = false});
  for (const std::string name : {"admin", "no-admin"}) {
    EXPECT_EQ(Nodes(name),
              "running \"DynamicResources\" filter plugin: claim default/" + name +
                  ", request r: admin access is requested, but the feature is disabled");
  }
  EXPECT_EQ(Nodes("first"),
            "resource claim default/first, request r: has subrequests, but the DRAPrioritizedList "
            "feature is disabled");
}

TEST_F(FeaturesTest, Since136TheCapacityOfTheDeviceItselfCounts) {
  cluster.Slice("s", "gpu", "p", R"("nodeName": "a")",
                R"([{"name": "small", "allowMultipleAllocations": true,
                     "capacity": {"memory": {"value": "4Gi"}}},
                    {"name": "large", "allowMultipleAllocations": true,
                     "capacity": {"memory": {"value": "16Gi"}}}])");
  const std::string eight = R"(, "capacity": {"requests": {"memory": "8Gi"}})";
  cluster.Claim("one", Request("gpu", 1, eight));
  cluster.Claim("two", Request("gpu", 2, eight));
  Use({.consumable_capacity = true});
  EXPECT_EQ(Nodes("one"), "") << "before, the first device of the slice is looked at";
  Use({.consumable_capacity = true, .sorted_pools = true});
  EXPECT_EQ(Nodes("one"), "a");
  EXPECT_EQ(Nodes("two"), "") << "a request does not get a device twice";
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
