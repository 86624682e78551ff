#include "framework/runtime/hint_map.h"

#include <gtest/gtest.h>

#include "cluster/testing/builders.h"
#include "framework/testing/plugins.h"

namespace berth::framework {
namespace {

using queue::ClusterEvent;
using queue::EventResource;

constexpr ClusterEvent kNodeAdd{EventResource::kNode, queue::kAdd};
constexpr ClusterEvent kNodeTaint{EventResource::kNode, queue::kUpdateNodeTaint};
constexpr ClusterEvent kPodDelete{EventResource::kAssignedPod, queue::kDelete};

// Registers what the test says.
class Listener final : public FilterPlugin, public EnqueueExtensions {
 public:
  Listener(std::string_view name, std::vector<RegisteredEvent> events)
      : name_(name), events_(std::move(events)) {}
  std::string_view Name() const override { return name_; }
  void Filter(const CycleContext&, const PluginState*, FilterBatch&) const override {}
  std::vector<RegisteredEvent> EventsToRegister(const config::Behaviour&) const override {
    return events_;
  }

 private:
  std::string_view name_;
  std::vector<RegisteredEvent> events_;
};

HintFunction Always(Result<Hint> hint) {
  return [hint](const cluster::Cluster&, const cluster::Pod&, const queue::Event&) { return hint; };
}

Result<std::unique_ptr<Plugin>> MakeNodes(const config::PluginArgs&, const PluginHandle&) {
  return std::make_unique<Listener>(
      "Nodes", std::vector<RegisteredEvent>{{kNodeAdd, "skip", Always(Hint::kSkip)}});
}

Result<std::unique_ptr<Plugin>> MakeTaints(const config::PluginArgs&, const PluginHandle&) {
  return std::make_unique<Listener>(
      "Taints", std::vector<RegisteredEvent>{
                    {{EventResource::kNode, queue::kAdd | queue::kUpdateNodeTaint},
                     "fail",
                     Always(Fail("no"))},
                    {{EventResource::kPod, queue::kDelete}, "skip", Always(Hint::kSkip)},
                    {{EventResource::kPod, queue::kAll}, "queue", Always(Hint::kQueue)}});
}

// Says nothing about events.
class Silent final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "Silent"; }
  void Filter(const CycleContext&, const PluginState*, FilterBatch&) const override {}
};

Result<std::unique_ptr<Plugin>> MakeSilent(const config::PluginArgs&, const PluginHandle&) {
  return std::make_unique<Silent>();
}

class HintMapTest : public ::testing::Test {
 protected:
  HintMapTest() {
    config::ResolvedProfile resolved;
    std::vector<RegistryRow> registry{
        {"Nodes", MakeNodes}, {"Taints", MakeTaints}, {"Silent", MakeSilent}};
    for (const RegistryRow& row : registry) {
      resolved.points[config::Index(config::ExtensionPoint::kFilter)].push_back(
          {std::string(row.name), 0});
    }
    profile_ = std::move(*Profile::Make(resolved, registry, {cluster_}));
  }
  HintMap Make(bool with_extenders) { return std::move(*HintMap::Make(*profile_, with_extenders)); }
  // "queue", "skip" or the error.
  std::string Ask(const HintMap& map, uint8_t plugin, const ClusterEvent& what) {
    const auto hint = map.Ask(plugin, cluster_, *pod_, {what, {}, {}});
    return !hint ? hint.error().Message() : *hint == Hint::kQueue ? "queue" : "skip";
  }

  cluster::Cluster cluster_;
  queue::PodSnapshot pod_ = cluster_.Snapshot(cluster::MakePod("p"));
  std::unique_ptr<Profile> profile_;
};

constexpr uint8_t kNodes = 0, kTaints = 1, kSilent = 2, kExtender = 3;

TEST_F(HintMapTest, PluginsHearWhatTheyRegisteredFor) {
  const HintMap map = Make(false);
  EXPECT_EQ(map.PluginsFor(kNodeAdd), 0b111u);
  EXPECT_EQ(map.PluginsFor(kPodDelete), 0b110u) << "Nodes did not register for pods";
  EXPECT_EQ(Ask(map, kNodes, kNodeAdd), "skip");
  EXPECT_EQ(Ask(map, kTaints, kNodeAdd), "no");
  EXPECT_EQ(Ask(map, kTaints, kPodDelete), "queue") << "one of its hints says so";
  EXPECT_EQ(Ask(map, kNodes, kPodDelete), "skip") << "it did not register";
}

TEST_F(HintMapTest, WhoWaitsForNodesHearsOfTaints) {
  const HintMap map = Make(false);
  EXPECT_EQ(map.PluginsFor(kNodeTaint), 0b111u);
  EXPECT_EQ(Ask(map, kNodes, kNodeTaint), "queue") << "without asking its hint";
  EXPECT_EQ(Ask(map, kTaints, kNodeTaint), "no") << "it registered for taints itself";
}

TEST_F(HintMapTest, SilentPluginsHearEverythingButTwoResources) {
  const HintMap map = Make(false);
  for (const ClusterEvent& event : IncomingEvents(profile_->GetBehaviour())) {
    const bool unheard = event.resource == EventResource::kResourceSlice ||
                         event.resource == EventResource::kVolumeAttachment ||
                         event.resource == EventResource::kWildCard;
    EXPECT_EQ(map.PluginsFor(event) >> kSilent & 1, unheard ? 0u : 1u) << event.Label();
  }
}

TEST_F(HintMapTest, ExtendersComeAfterThePlugins) {
  const HintMap without = Make(false);
  const HintMap with = Make(true);
  EXPECT_EQ(with.ExtenderPosition(), kExtender);
  EXPECT_EQ(with.PluginsFor(kPodDelete), 0b1110u);
  EXPECT_EQ(Ask(with, kExtender, kPodDelete), "queue");
  EXPECT_EQ(without.PluginsFor(kPodDelete) >> kExtender, 0u);
}

TEST_F(HintMapTest, EventsThatDoNotHappenMatchNothing) {
  const HintMap map = Make(true);
  EXPECT_TRUE(map.For({EventResource::kNode, queue::kAdd | queue::kDelete}).empty());
  EXPECT_TRUE(map.For({EventResource::kNode, 0}).empty());
}

}  // namespace
}  // namespace berth::framework
