// The allocation that Reserve makes, by Kubernetes minor: what it lists beside the devices.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "framework/runtime/cycle.h"
#include "plugins/dynamic_resources/dynamic_resources.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

using testing::ElementsAre;

class AllocationTest : public testing::Test {
 protected:
  AllocationTest() {
    cluster_.Node("a");
    cluster_.Class("gpu", "device.driver == 'gpu'");
    cluster_.Class("nic", "device.driver == 'nic'");
    cluster_.Slice("s", "gpu", "p", R"("nodeName": "a")", TestCluster::Plain(3));
    cluster_.Slice("t", "nic", "q", R"("nodeName": "a")", TestCluster::Plain(2));
  }

  std::unique_ptr<framework::Profile> ProfileOf(int minor) {
    config::ResolvedProfile resolved;
    using config::ExtensionPoint;
    for (const ExtensionPoint point :
         {ExtensionPoint::kPreFilter, ExtensionPoint::kFilter, ExtensionPoint::kReserve}) {
      resolved.points[config::Index(point)].push_back({std::string(kName), 0});
    }
    resolved.plugin_config.push_back({std::string(kName), {}, config::DynamicResourcesArgs()});
    const config::Behaviour behaviour{config::FeatureGates(minor)};
    static constexpr framework::RegistryRow kRow{kName, &Make};
    return framework::Profile::Make(resolved, {&kRow, 1}, {*cluster_, 0, behaviour}).value();
  }

  // Is there a node for a claim with these devices?
  bool Fits(int minor, const std::string& devices) {
    const auto profile = ProfileOf(minor);
    framework::Cycle cycle(*profile);
    const std::string name = "c" + std::to_string(++claims_);
    cluster_.Claim(name, devices);
    cycle.Begin(*cluster_, cluster_.Pod("pod-" + name, {name}));
    EXPECT_TRUE(cycle.RunPreFilter().Ok());
    cluster::NodeSet nodes = (*cluster_).Nodes();
    cycle.RunFilter(nodes);
    return !nodes.Empty();
  }

  // Of a claim with these devices, by the kube-scheduler of the minor.
  api::AllocationResult Allocate(int minor, const std::string& devices) {
    const auto profile = ProfileOf(minor);
    framework::Cycle cycle(*profile);
    const std::string name = "c" + std::to_string(++claims_);
    cluster_.Claim(name, devices);
    cycle.Begin(*cluster_, cluster_.Pod("pod-" + name, {name}));
    EXPECT_TRUE(cycle.RunPreFilter().Ok());
    cluster::NodeSet nodes = (*cluster_).Nodes();
    cycle.RunFilter(nodes);
    auto& reserve = *profile->reserve[0].plugin;
    const auto status = reserve.Reserve(cycle.context(), cycle.state(0), (*cluster_).FindNode("a"));
    EXPECT_TRUE(status.Ok()) << status.Message();
    const auto* in_flight = cluster_.Objects().in_flight_claims.Find("default", name);
    if (in_flight == nullptr || !in_flight->status.allocation) {
      ADD_FAILURE() << "nothing was allocated";
      return {};
    }
    api::AllocationResult allocation = *in_flight->status.allocation;
    reserve.Unreserve(cycle.context(), cycle.state(0), (*cluster_).FindNode("a"));
    return allocation;
  }

  // "FromClaim PARAMETERS: REQUESTS", per entry.
  std::vector<std::string> ConfigOf(int minor, const std::string& devices) {
    std::vector<std::string> entries;
    for (const auto& entry : Allocate(minor, devices).devices.config) {
      entries.push_back(fmt::format("{} {}: {}", entry.source, api::ToJson(*entry.opaque),
                                    fmt::join(entry.requests, " ")));
    }
    return entries;
  }

  TestCluster cluster_;
  int claims_ = 0;
};

std::string Config(const std::string& name, const std::string& requests) {
  return R"({"requests": [)" + requests + R"(], "opaque": {"driver": ")" + name +
         R"(", "parameters": {}}})";
}
// As ConfigOf writes it.
std::string Entry(const std::string& source, const std::string& name, const std::string& requests,
                  const std::string& parameters = "{}") {
  return source + R"( {"driver":")" + name + R"(","parameters":)" + parameters + "}: " + requests;
}

constexpr const char* kTwoRequests = R"("requests": [
    {"name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount",
                              "count": 1}},
    {"name": "n", "firstAvailable": [
      {"name": "many", "deviceClassName": "nic", "allocationMode": "ExactCount", "count": 9},
      {"name": "one", "deviceClassName": "nic", "allocationMode": "ExactCount", "count": 1}]}])";

TEST_F(AllocationTest, ConfigurationOfAClaimIsListedOncePerRequestUntil136) {
  const std::string devices = std::string(kTwoRequests) + R"(, "config": [)" + Config("all", "") +
                              ", " + Config("both", R"("r", "n")") + ", " +
                              Config("one", R"("n/one")") + ", " + Config("many", R"("n/many")") +
                              "]";
  const std::string gpu = Entry("FromClass", "d", "r", R"({"of":"gpu"})");
  const std::string nic = Entry("FromClass", "d", "n/one", R"({"of":"nic"})");
  for (const int minor : {34, 35, 36}) {
    EXPECT_THAT(
        ConfigOf(minor, devices),
        ElementsAre(gpu, nic, Entry("FromClaim", "all", ""), Entry("FromClaim", "both", "r n"),
                    Entry("FromClaim", "both", "r n"), Entry("FromClaim", "one", "n/one")))
        << minor;
  }
  EXPECT_THAT(ConfigOf(37, devices),
              ElementsAre(gpu, nic, Entry("FromClaim", "all", ""), Entry("FromClaim", "both", ""),
                          Entry("FromClaim", "one", "n/one")))
      << "an entry for all requests names none";
}

TEST_F(AllocationTest, From137OnConfigurationForEveryRequestNamesNone) {
  const std::string one = Request("gpu", 1) + R"(, "config": [)" + Config("c", R"("r")") + "]";
  EXPECT_THAT(ConfigOf(36, one), ElementsAre(Entry("FromClass", "d", "r", R"({"of":"gpu"})"),
                                             Entry("FromClaim", "c", "r")));
  EXPECT_THAT(ConfigOf(37, one), ElementsAre(Entry("FromClass", "d", "", R"({"of":"gpu"})"),
                                             Entry("FromClaim", "c", "")));
}

// The first alternative finds no device, and until 1.35 the second one looks for the same.
TEST_F(AllocationTest, From136OnEveryAlternativeThatWantsAllDevicesHasItsOwn) {
  cluster_.Class("fabric", "device.driver == 'fabric'");
  const std::string devices = R"("requests": [{"name": "n", "firstAvailable": [
      {"name": "none", "deviceClassName": "fabric", "allocationMode": "All"},
      {"name": "nics", "deviceClassName": "nic", "allocationMode": "All"}]}])";
  for (const int minor : {34, 35}) EXPECT_FALSE(Fits(minor, devices)) << minor;
  for (const int minor : {36, 37}) {
    ASSERT_TRUE(Fits(minor, devices)) << minor;
    const auto results = Allocate(minor, devices).devices.results;
    ASSERT_EQ(results.size(), 2u) << minor;
    EXPECT_EQ(results[0].request, "n/nics");
    EXPECT_EQ(results[0].driver, "nic");
  }
}

TEST_F(AllocationTest, DevicesListTheTolerationsOfTheirRequestFrom135On) {
  const std::string tolerating =
      Request("gpu", 1, R"(, "tolerations": [{"key": "k", "operator": "Exists"}])");
  EXPECT_TRUE(Allocate(34, tolerating).devices.results[0].tolerations.empty());
  for (const int minor : {35, 36, 37}) {
    const auto results = Allocate(minor, tolerating).devices.results;
    ASSERT_EQ(results[0].tolerations.size(), 1u) << minor;
    EXPECT_EQ(results[0].tolerations[0].key, "k");
  }
  const auto alternative = Allocate(37, R"("requests": [{"name": "n", "firstAvailable": [
      {"name": "many", "deviceClassName": "nic", "allocationMode": "ExactCount", "count": 9},
      {"name": "one", "deviceClassName": "nic", "allocationMode": "ExactCount", "count": 1,
       "tolerations": [{"key": "of-one", "operator": "Exists"}]}]}])");
  ASSERT_EQ(alternative.devices.results[0].tolerations.size(), 1u);
  EXPECT_EQ(alternative.devices.results[0].tolerations[0].key, "of-one");
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
