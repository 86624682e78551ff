#include "plugins/dynamic_resources/dynamic_resources.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/runtime/cycle.h"
#include "framework/runtime/diagnosis.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

using framework::Code;
using framework::Status;
using testing::ElementsAre;

// A cycle of a profile with this plugin alone.
class PluginTest : public testing::Test {
 protected:
  PluginTest() {
    cluster.Class("gpu", "device.driver == 'gpu'");
    config::ResolvedProfile resolved;
    using config::ExtensionPoint;
    for (const ExtensionPoint point :
         {ExtensionPoint::kPreEnqueue, ExtensionPoint::kPreFilter, ExtensionPoint::kFilter,
          ExtensionPoint::kPostFilter, ExtensionPoint::kReserve}) {
      resolved.points[config::Index(point)].push_back({std::string(kName), 0});
    }
    static constexpr framework::RegistryRow kRow{kName, &Make};
    profile = framework::Profile::Make(resolved, {&kRow, 1}, {*cluster}).value();
    cycle = std::make_unique<framework::Cycle>(*profile);
  }

  Status PreEnqueue(const cluster::Pod& pod) {
    return profile->pre_enqueue[0].plugin->PreEnqueue(*cluster, pod);
  }

  // "a: possible, b: cannot allocate all claims", by row; or why PreFilter refused.
  std::string Filter(const cluster::Pod& pod) {
    cycle->Begin(*cluster, pod);
    const Status status = cycle->RunPreFilter();
    if (!status.Ok()) return std::string(CodeName(status.code())) + ": " + status.Message();
    if (cycle->FilterSkipped(0)) return "skip";
    cluster::NodeSet nodes = (*cluster).Nodes();
    cycle->RunFilter(nodes);
    std::string out;
    (*cluster).Nodes().ForEach([&](cluster::NodeIndex n) {
      if (!out.empty()) out += ", ";
      out += (*cluster).NodeName(n) + ": ";
      if (nodes.Contains(n)) {
        out += "possible";
        return;
      }
      for (const std::string& reason : cycle->Reasons(cycle->verdicts()[n])) out += reason;
    });
    return out;
  }

  Status PostFilter() {
    proposal = {};
    return profile->post_filter[0].plugin->PostFilter(*cycle, *cluster, diagnosis, &proposal);
  }
  Status Reserve(const std::string& node) {
    return profile->reserve[0].plugin->Reserve(cycle->context(), cycle->state(0),
                                               (*cluster).FindNode(node));
  }
  void Unreserve(const std::string& node) {
    profile->reserve[0].plugin->Unreserve(cycle->context(), cycle->state(0),
                                          (*cluster).FindNode(node));
  }
  std::vector<std::string> Reserved() { return DynamicResources::ReservedDevices(cycle->state(0)); }

  TestCluster cluster;
  std::unique_ptr<framework::Profile> profile;
  std::unique_ptr<framework::Cycle> cycle;
  framework::Diagnosis diagnosis;
  framework::PostFilterResult proposal;
};

TEST_F(PluginTest, PodsWaitForTheirClaims) {
  EXPECT_TRUE(PreEnqueue(cluster.Pod("none", {})).Ok());
  EXPECT_EQ(PreEnqueue(cluster.Pod("p", {"missing"})).Message(),
            "could not find ResourceClaim \"default/missing\"");
  const std::string from_template = R"({"name": "c", "resourceClaimTemplateName": "t"})";
  EXPECT_EQ(PreEnqueue(cluster.AddPod("early", from_template, "")).Message(),
            "pod \"default/early\": ResourceClaim not created yet");
  EXPECT_TRUE(PreEnqueue(cluster.AddPod("left-out", from_template, R"({"name": "c"})")).Ok());
  EXPECT_EQ(PreEnqueue(cluster.AddPod("odd", R"({"name": "c"})", "")).Message(),
            "pod \"default/odd\", spec.resourceClaim \"c\": none of the supported fields are set");

  const std::string made = R"({"name": "c", "resourceClaimName": "made"})";
  cluster.Claim(
      "made", Request("gpu", 1), "",
      R"(, "ownerReferences": [{"name": "owner", "uid": "uid-owner", "controller": true}])");
  EXPECT_TRUE(PreEnqueue(cluster.AddPod("owner", from_template, made)).Ok());
  const Status status = PreEnqueue(cluster.AddPod("thief", from_template, made));
  EXPECT_EQ(status.code(), Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(status.Message(),
            "ResourceClaim default/made was not created for pod default/thief (pod is not owner)");

  cluster.Claim("dying", Request("gpu", 1), "", R"(, "deletionTimestamp": "2024-01-01T00:00:00Z")");
  EXPECT_EQ(PreEnqueue(cluster.Pod("late", {"dying"})).Message(),
            "resourceclaim \"dying\" is being deleted");
}

TEST_F(PluginTest, PreFilterLooksAtClaimsAndClasses) {
  cluster.Node("a");
  EXPECT_EQ(Filter(cluster.Pod("none", {})), "skip");
  EXPECT_EQ(PostFilter().Message(), "no new claims to deallocate");
  cluster.Claim("c", Request("nope", 1));
  EXPECT_EQ(Filter(cluster.Pod("p", {"c"})),
            "UnschedulableAndUnresolvable: request r: device class nope does not exist");
  EXPECT_EQ(PostFilter().Message(), "no new claims to deallocate");
  cluster.Claim("c", R"("requests": [{"name": "r"}])");
  EXPECT_EQ(
      Filter(cluster.Pod("q", {"c"})),
      "UnschedulableAndUnresolvable: resource claim default/c, request r: unknown request type");
  cluster.Claim(
      "c",
      R"("requests": [{"name": "r", "firstAvailable": [{"name": "s", "deviceClassName": "x"}]}])");
  EXPECT_EQ(Filter(cluster.Pod("s", {"c"})),
            "UnschedulableAndUnresolvable: request r/s: device class x does not exist");
  cluster.Claim("c", R"("requests": [{"name": "r", "exactly": {}}])");
  EXPECT_EQ(
      Filter(cluster.Pod("t", {"c"})),
      "Error: running PreFilter plugin \"DynamicResources\": request r: unsupported request type");
}

TEST_F(PluginTest, AllocatesOnEveryNodeAndReservesOnOne) {
  cluster.Node("a");
  cluster.Node("b");
  cluster.Node("c");
  cluster.Slice("sa", "gpu", "a", R"("nodeName": "a")", TestCluster::Plain(2));
  cluster.Slice("sb", "gpu", "b", R"("nodeName": "b")", TestCluster::Plain(1));
  cluster.Claim("c1", Request("gpu", 1));
  cluster.Claim("c2", Request("gpu", 1));
  cluster.Claim("c3", Request("gpu", 1));
  EXPECT_EQ(Filter(cluster.Pod("p1", {"c1"})),
            "a: possible, b: possible, c: cannot allocate all claims");
  ASSERT_TRUE(Reserve("b").Ok());
  EXPECT_THAT(Reserved(), ElementsAre("gpu/b/d0"));

  // The next pod of the same kind finds b taken, and another pod of the same claim must wait.
  EXPECT_EQ(Filter(cluster.Pod("p2", {"c2"})),
            "a: possible, b: cannot allocate all claims, c: cannot allocate all claims");
  EXPECT_EQ(Filter(cluster.Pod("p1b", {"c1"})),
            "UnschedulableAndUnresolvable: resource claim default/c1 is in the process of being "
            "allocated");

  // Two claims of one pod get two devices.
  EXPECT_EQ(Filter(cluster.Pod("p3", {"c2", "c3"})),
            "a: possible, b: cannot allocate all claims, c: cannot allocate all claims");
  ASSERT_TRUE(Reserve("a").Ok());
  EXPECT_THAT(Reserved(), ElementsAre("gpu/a/d0", "gpu/a/d1"));
  Unreserve("a");
  EXPECT_THAT(Reserved(), ElementsAre());
  EXPECT_EQ(Filter(cluster.Pod("p4", {"c2", "c3"})),
            "a: possible, b: cannot allocate all claims, c: cannot allocate all claims");
}

TEST_F(PluginTest, AllocatedClaimsBindToTheirNodesAndMayBeFreed) {
  cluster.Node("a", R"("zone": "z")");
  cluster.Node("b");
  cluster.Claim("there", Request("gpu", 1), Allocated("gpu", "p", "d0", OnNode("a")));
  EXPECT_EQ(Filter(cluster.Pod("p", {"there"})),
            "a: possible, b: resourceclaim not available on the node");
  EXPECT_EQ(PostFilter().Message(), "deallocation of ResourceClaim completed");
  ASSERT_NE(proposal.deallocated_claim, nullptr);
  EXPECT_EQ(proposal.deallocated_claim->metadata.name, "there");
  EXPECT_FALSE(proposal.deletes_claim);
  EXPECT_EQ(proposal.deallocated_claim->status, api::ResourceClaimStatus{});

  cluster.Claim("shared", Request("gpu", 1),
                Allocated("gpu", "p", "d0", OnNode("gone"),
                          R"(, "reservedFor": [{"resource": "pods", "name": "x", "uid": "x"}])"));
  EXPECT_EQ(
      Filter(cluster.Pod("q", {"shared"})),
      "a: resourceclaim not available on the node, b: resourceclaim not available on the node");
  EXPECT_EQ(PostFilter().Message(), "still not schedulable");
  EXPECT_EQ(proposal.deallocated_claim, nullptr);

  cluster.Claim("zoned", Request("gpu", 1),
                Allocated("gpu", "p", "d0",
                          R"(, "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [)"
                          R"({"key": "zone", "operator": "Exists"}]}]})"));
  EXPECT_EQ(Filter(cluster.Pod("r", {"zoned"})),
            "a: possible, b: resourceclaim not available on the node");
}

TEST_F(PluginTest, PostFilterWithoutPreFilterMissesItsState) {
  cycle->Begin(*cluster, cluster.Pod("p", {}));
  const Status status = PostFilter();
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.Message(), "not found");
}

TEST_F(PluginTest, ErrorsBelongToTheirNode) {
  cluster.Node("a");
  cluster.Node("b");
  cluster.Slice("sa", "gpu", "a", R"("nodeName": "a")", TestCluster::Plain(1));
  cluster.Slice("sb", "gpu", "b", R"("nodeName": "b")",
                R"([{"name": "d", "attributes": {"m": {"int": 1}}}])");
  cluster.Claim(
      "c",
      Request("gpu", 1,
              R"(, "selectors": [{"cel": {"expression": "device.attributes['gpu'].m == 1"}}])"));
  const std::string want =
      "a: running \"DynamicResources\" filter plugin: claim default/c: selector #0: CEL runtime "
      "error: no such key: m, b: possible";
  EXPECT_EQ(Filter(cluster.Pod("p", {"c"})), want);
  EXPECT_EQ(cycle->verdicts()[0].code, Code::kError);
  EXPECT_EQ(Filter(cluster.Pod("q", {"c"})), want) << "errors are found anew for every pod";
}

// Whatever happens to devices, claims and nodes, the answers that are kept equal those of a plugin
// that has just started.
TEST_F(PluginTest, KeptAnswersEqualFreshOnes) {
  uint64_t seed = 42;
  const auto random = [&](uint64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
  };
  const auto name = [](const char* prefix, uint64_t i) { return prefix + std::to_string(i); };
  for (uint64_t i = 0; i < 6; ++i)
    cluster.Node(name("n", i), R"("zone": ")" + name("z", i % 2) + R"(")");
  cluster.Claim("want1", Request("gpu", 1));
  cluster.Claim("want2", Request("gpu", 2) + R"(, "constraints": [{"matchAttribute": "gpu/k"}])");
  const auto slice = [&](uint64_t i) {
    std::string devices;
    for (uint64_t d = 0; d < 1 + random(4); ++d) {
      devices += (devices.empty() ? "" : ", ") + (R"({"name": ")" + name("d", d)) +
                 R"(", "attributes": {"k": {"int": )" + std::to_string(random(2)) + "}}}";
    }
    const std::string where =
        i == 6
            ? R"("nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["z0"]}]}]})"
            : R"("nodeName": ")" + name("n", i) + R"(")";
    cluster.Slice(name("s", i), "gpu", name("p", i), where, "[" + devices + "]");
  };
  for (int step = 0; step < 400; ++step) {
    switch (random(6)) {
      case 0:
        slice(random(7));
        break;
      case 1:
        cluster.Objects().resource_slices.Remove("", name("s", random(7)));
        break;
      case 2:
      case 3:
        cluster.Claim(name("u", random(8)), Request("gpu", 1),
                      Allocated("gpu", name("p", random(7)), name("d", random(4))));
        break;
      case 4:
        cluster.Objects().resource_claims.Remove("default", name("u", random(8)));
        break;
      default:
        cluster.Node(name("n", random(6)), R"("zone": ")" + name("z", random(2)) + R"(")");
        break;
    }
    for (const char* claim : {"want1", "want2"}) {
      const cluster::Pod& pod = cluster.Pod("p" + std::to_string(step) + claim, {claim});
      const std::string kept = Filter(pod);
      const auto running = std::move(cycle);
      auto running_profile = std::move(profile);
      config::ResolvedProfile resolved;
      for (const auto point :
           {config::ExtensionPoint::kPreFilter, config::ExtensionPoint::kFilter}) {
        resolved.points[config::Index(point)].push_back({std::string(kName), 0});
      }
      static constexpr framework::RegistryRow kRow{kName, &Make};
      profile = framework::Profile::Make(resolved, {&kRow, 1}, {*cluster}).value();
      cycle = std::make_unique<framework::Cycle>(*profile);
      EXPECT_EQ(kept, Filter(pod)) << "step " << step;
      cycle = nullptr;
      profile = std::move(running_profile);
      cycle = std::make_unique<framework::Cycle>(*profile);
    }
  }
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
