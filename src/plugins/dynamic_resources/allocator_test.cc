// Random devices and claims under the feature gates, and what kube-scheduler's allocator made of
// them: testdata/allocations.jsonl, one case a line, or the file BERTH_ALLOCATIONS names.
//
// kube-scheduler looks at pools in random order; a case has an outcome for each order that
// mattered.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/json.h"
#include "plugins/dynamic_resources/allocation.h"
#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

struct Outcome {
  std::string error;
  std::vector<api::AllocationResult> results;

  bool operator==(const Outcome&) const = default;
  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Outcome>("Outcome")
                                          .Field(1, "error", &Outcome::error)
                                          .Field(2, "results", &Outcome::results)
                                          .Build();
    return type;
  }
};

struct Case {
  std::vector<std::string> features;
  api::Node node;
  std::vector<api::ResourceSlice> slices;
  std::vector<api::DeviceClass> classes;
  std::vector<api::ResourceClaim> held;
  std::vector<api::ResourceClaim> claims;
  std::vector<Outcome> outcomes;

  bool Has(const std::string& feature) const {
    return std::find(features.begin(), features.end(), feature) != features.end();
  }
  static const api::TypeInfo& Type() {
    static const api::TypeInfo type = api::Describe<Case>("Case")
                                          .Field(1, "features", &Case::features)
                                          .Field(2, "node", &Case::node)
                                          .Field(3, "slices", &Case::slices)
                                          .Field(4, "classes", &Case::classes)
                                          .Field(5, "held", &Case::held)
                                          .Field(6, "claims", &Case::claims)
                                          .Field(7, "outcomes", &Case::outcomes)
                                          .Build();
    return type;
  }
};

config::DraFeatures FeaturesOf(const Case& c) {
  config::DraFeatures features;
  features.admin_access = c.Has("DRAAdminAccess");
  features.prioritized_list = c.Has("DRAPrioritizedList");
  features.partitionable = c.Has("DRAPartitionableDevices");
  features.taints = c.Has("DRADeviceTaints");
  features.consumable_capacity = c.Has("DRAConsumableCapacity");
  return features;
}

Outcome Decide(const Case& c) {
  cluster::Cluster cluster;
  const cluster::NodeIndex node = cluster.SetNode(c.node);
  cluster::ObjectStore& objects = cluster.MutableObjects();
  for (const auto& slice : c.slices) objects.resource_slices.Set(slice);
  for (const auto& device_class : c.classes) objects.device_classes.Set(device_class);
  for (const auto& claim : c.held) objects.resource_claims.Set(claim);

  const config::DraFeatures features = FeaturesOf(c);
  Inventory inventory(features);
  NodePools node_pools(features);
  SelectorTable selectors;
  inventory.Sync(objects);
  node_pools.Sync(cluster, inventory);
  std::vector<const api::ResourceClaim*> claims;
  for (const auto& claim : c.claims) claims.push_back(&claim);
  const Plan plan = MakePlan(claims, objects, selectors, features);
  for (const ClaimPlan& claim : plan.claims) {
    for (const PlannedRequest& request : claim.requests) {
      if (request.chain) request.chain->Sync(inventory);
    }
  }
  PoolList pools;
  node_pools.Append(node, &pools);
  Search search(inventory, plan, 0);
  const Search::Outcome outcome = search.Run(pools);
  // A second run must not remember the first, and counting must agree.
  EXPECT_EQ(search.Run(pools), outcome);
  Search::Outcome counted{};
  if (search.Count(pools, &counted)) {
    EXPECT_EQ(counted, outcome);
  }

  Outcome result;
  if (outcome == Search::Outcome::kError) result.error = search.error();
  if (outcome != Search::Outcome::kAllocated) return result;
  for (size_t i = 0; i < plan.claims.size(); ++i) {
    auto allocation = MakeAllocation(inventory, plan, search, i, c.node.metadata.name);
    if (!allocation) return {allocation.error().Message(), {}};
    for (auto& device : allocation->devices.results) {
      if (device.share_id) device.share_id = "share";
    }
    result.results.push_back(std::move(*allocation));
  }
  return result;
}

std::string CorpusPath() {
  if (const char* path = std::getenv("BERTH_ALLOCATIONS")) return path;
  const char* source = std::getenv("BERTH_SOURCE_DIR");
  return std::string(source != nullptr ? source : ".") +
         "/src/plugins/dynamic_resources/testdata/allocations.jsonl";
}

std::vector<std::string> ReadLines(const std::string& path) {
  std::vector<std::string> lines(1);
  std::FILE* in = std::fopen(path.c_str(), "rb");
  if (in == nullptr) return {};
  for (int c = 0; (c = std::fgetc(in)) != EOF;) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += static_cast<char>(c);
    }
  }
  std::fclose(in);
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

TEST(Allocator, DecidesAsRecorded) {
  const std::vector<std::string> lines = ReadLines(CorpusPath());
  ASSERT_FALSE(lines.empty()) << CorpusPath();
  size_t wrong = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const Result<Case> c = api::FromJson<Case>(lines[i]);
    ASSERT_TRUE(c) << "line " << i + 1 << ": " << c.error().Message();
    const Outcome decided = Decide(*c);
    if (std::find(c->outcomes.begin(), c->outcomes.end(), decided) != c->outcomes.end()) continue;
    if (++wrong > 5) continue;
    ADD_FAILURE() << "line " << i + 1 << ": " << api::ToJson(decided) << "\ninstead of "
                  << api::ToJson(c->outcomes.empty() ? Outcome{} : c->outcomes[0]);
  }
  EXPECT_EQ(wrong, 0u) << "of " << lines.size();
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
