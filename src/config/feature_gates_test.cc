// Feature gates: defaults, what can be set, and what berth makes of it.
#include "config/feature_gates.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::config {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FeatureTableTest, IsSortedAndGrows) {
  const auto features = KnownFeatures();
  EXPECT_GT(features.size(), 200u);
  EXPECT_TRUE(std::is_sorted(features.begin(), features.end(),
                             [](const Feature& a, const Feature& b) { return a.name < b.name; }));
  for (const Feature& feature : features) {
    EXPECT_EQ(FindFeature(feature.name), &feature);
    EXPECT_NE(feature.specs[0].stage, FeatureStage::kNone) << feature.name;
    for (size_t i = 1; i < feature.specs.size(); ++i) {
      if (feature.specs[i].stage == FeatureStage::kNone) continue;
      EXPECT_GT(feature.specs[i].minor, feature.specs[i - 1].minor) << feature.name;
    }
  }
  EXPECT_EQ(FindFeature("Nope"), nullptr);
}

TEST(FeatureTableTest, ChangesWithVersions) {
  struct Row {
    const char* name;
    int minor;
    FeatureStage stage;
    bool enabled;
    bool locked;
  };
  const Row rows[] = {
      {"SchedulerQueueingHints", 34, FeatureStage::kGA, true, true},
      {"SchedulerQueueingHints", 33, FeatureStage::kBeta, true, false},
      {"SchedulerQueueingHints", 31, FeatureStage::kBeta, false, false},
      {"DynamicResourceAllocation", 34, FeatureStage::kGA, true, false},
      {"DynamicResourceAllocation", 33, FeatureStage::kBeta, false, false},
      {"DRAExtendedResource", 33, FeatureStage::kNone, false, false},
      {"SchedulerAsyncAPICalls", 34, FeatureStage::kBeta, false, false},
      {"AllowServiceLBStatusOnNonLB", 34, FeatureStage::kDeprecated, false, true},
  };
  for (const Row& row : rows) {
    const FeatureSpec spec = FindFeature(row.name)->At(row.minor);
    EXPECT_EQ(spec.stage, row.stage) << row.name << " in 1." << row.minor;
    EXPECT_EQ(spec.enabled, row.enabled) << row.name << " in 1." << row.minor;
    EXPECT_EQ(spec.locked, row.locked) << row.name << " in 1." << row.minor;
  }
}

TEST(FeatureGatesTest, Defaults) {
  const FeatureGates gates;
  EXPECT_TRUE(gates.Enabled("SchedulerPopFromBackoffQ"));
  EXPECT_FALSE(gates.Enabled("NominatedNodeNameForExpectation"));
  EXPECT_FALSE(gates.Enabled("AllAlpha"));
  EXPECT_FALSE(gates.Enabled("Nope"));
  EXPECT_THAT(gates.NotHonoured(), IsEmpty());
  const FeatureGates older(31);
  EXPECT_FALSE(older.Enabled("SchedulerPopFromBackoffQ"));
  EXPECT_FALSE(older.Enabled("DynamicResourceAllocation"));
}

TEST(FeatureGatesTest, Refusals) {
  struct Row {
    const char* what;
    const char* text;
    int minor;
    const char* error;  // empty: fine
  };
  const Row rows[] = {
      {"nothing", "", 34, ""},
      {"empty parts", ",,AllAlpha=true,", 34, ""},
      {"blanks", " AllAlpha = true ", 34, ""},
      {"all spellings of truth", "AllAlpha=T,AllBeta=0", 34, ""},
      {"an unknown gate", "Nope=true", 34, "unrecognized feature gate: Nope"},
      {"a gate without a name", "=true", 34, "unrecognized feature gate: "},
      {"no value", "AllAlpha", 34, "missing bool value for AllAlpha"},
      {"no truth", "AllAlpha=perhaps", 34,
       "invalid value of AllAlpha=perhaps, err: strconv.ParseBool: parsing \"perhaps\": invalid "
       "syntax"},
      {"syntax before names", "Nope=true,X", 34, "missing bool value for X"},
      {"a locked gate", "SidecarContainers=false", 34,
       "cannot set feature gate SidecarContainers to false, feature is locked to true"},
      {"a locked gate as it is", "SidecarContainers=true", 34, ""},
      {"several", "SidecarContainers=false,ComponentSLIs=false", 34,
       "[cannot set feature gate ComponentSLIs to false, feature is locked to true, cannot set "
       "feature gate SidecarContainers to false, feature is locked to true]"},
      {"not locked yet", "SidecarContainers=false", 32, ""},
      {"not there yet", "DRAExtendedResource=true", 33,
       "cannot set feature gate DRAExtendedResource to true, feature is PreAlpha at emulated "
       "version 1.33"},
  };
  for (const Row& row : rows) {
    FeatureGates gates(row.minor);
    const auto set = gates.Set(row.text);
    EXPECT_EQ(set ? "" : set.error().Message(), row.error) << row.what;
    EXPECT_TRUE(set || gates.Asked().empty()) << row.what;
  }
}

TEST(FeatureGatesTest, SettledGatesAreWarnedAbout) {
  FeatureGates gates;
  std::vector<std::string> warnings;
  ASSERT_TRUE(gates.Set(
      "DynamicResourceAllocation=false,AllowDNSOnlyNodeCSR=true,DRADeviceTaints=true", &warnings));
  EXPECT_THAT(warnings,
              ElementsAre("Setting deprecated feature gate AllowDNSOnlyNodeCSR=true. It will be "
                          "removed in a future release.",
                          "Setting GA feature gate DynamicResourceAllocation=false. It will be "
                          "removed in a future release."));
  EXPECT_FALSE(gates.Enabled("DynamicResourceAllocation"));
}

TEST(FeatureGatesTest, GroupsGiveWayToNames) {
  FeatureGates gates;
  ASSERT_TRUE(gates.Set("DRADeviceTaints=false,AllAlpha=true,AllBeta=false"));
  EXPECT_FALSE(gates.Enabled("DRADeviceTaints"));
  EXPECT_TRUE(gates.Enabled("DRAExtendedResource"));
  EXPECT_TRUE(gates.Enabled("AllAlpha"));
  EXPECT_FALSE(gates.Enabled("AllBeta"));
  EXPECT_FALSE(gates.Enabled("SchedulerPopFromBackoffQ"));
  EXPECT_TRUE(gates.Enabled("DynamicResourceAllocation")) << "neither alpha nor beta";
  ASSERT_TRUE(gates.Set("AllAlpha=false,SchedulerPopFromBackoffQ=true")) << "on top of the first";
  EXPECT_FALSE(gates.Enabled("DRAExtendedResource"));
  EXPECT_TRUE(gates.Enabled("SchedulerPopFromBackoffQ"));
}

TEST(FeatureGatesTest, GroupsDoNotReachWhatIsNotThereYet) {
  FeatureGates gates(33);
  ASSERT_TRUE(gates.Set("AllAlpha=true"));
  EXPECT_TRUE(gates.Enabled("DRADeviceTaints"));
  EXPECT_FALSE(gates.Enabled("DRAExtendedResource"));
}

TEST(FeatureGatesTest, WhatBerthCannotDoIsNamed) {
  FeatureGates gates;
  ASSERT_TRUE(
      gates.Set("WatchListClient=true,DRAAdminAccess=false,SchedulerAsyncPreemption=false,"
                "DRADeviceTaints=true,CoordinatedLeaderElection=true,KubeletPSI=false"));
  EXPECT_THAT(gates.NotHonoured(), ElementsAre("CoordinatedLeaderElection=true"));
}

TEST(FeatureGatesTest, AnEmulatedVersionAsksToo) {
  EXPECT_THAT(FeatureGates(33).NotHonoured(), Contains("VolumeAttributesClass=false"));
}

TEST(FeatureGatesTest, AllAreListedForMetrics) {
  const std::vector<FeatureGates::Value> all = FeatureGates().All();
  EXPECT_EQ(all.size(), KnownFeatures().size());
  EXPECT_LT(FeatureGates(31).All().size(), all.size()) << "newer gates are not there";
  EXPECT_EQ(StageName(FindFeature("AllBeta")->At(34).stage), "BETA");
  EXPECT_EQ(StageName(FeatureStage::kGA), "");
}

TEST(GatesOfBerthTest, AreSortedAndExist) {
  const auto gates = GatesOfBerth();
  EXPECT_TRUE(
      std::is_sorted(gates.begin(), gates.end(),
                     [](const GateOfBerth& a, const GateOfBerth& b) { return a.name < b.name; }));
  for (const GateOfBerth& gate : gates) EXPECT_NE(FindFeature(gate.name), nullptr) << gate.name;
}

}  // namespace
}  // namespace berth::config
