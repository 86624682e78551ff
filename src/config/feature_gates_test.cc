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
      const bool of_newer_peers =
          feature.specs[i].min_compatibility > feature.specs[i - 1].min_compatibility;
      EXPECT_GE(feature.specs[i].minor, feature.specs[i - 1].minor + (of_newer_peers ? 0 : 1))
          << feature.name;
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
  EXPECT_TRUE(gates.Enabled(Gate::kSchedulerPopFromBackoffQ));
  EXPECT_FALSE(gates.Enabled(Gate::kNominatedNodeNameForExpectation));
  EXPECT_FALSE(gates.Enabled(Gate::kAllAlpha));
  EXPECT_THAT(gates.NotHonoured(), IsEmpty());
  const FeatureGates older(34, 31);
  EXPECT_FALSE(older.Enabled(Gate::kSchedulerPopFromBackoffQ));
  EXPECT_FALSE(older.Enabled(Gate::kDynamicResourceAllocation));
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
    FeatureGates gates(34, row.minor);
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
  EXPECT_FALSE(gates.Enabled(Gate::kDynamicResourceAllocation));
}

TEST(FeatureGatesTest, GroupsGiveWayToNames) {
  FeatureGates gates;
  ASSERT_TRUE(gates.Set("DRADeviceTaints=false,AllAlpha=true,AllBeta=false"));
  EXPECT_FALSE(gates.Enabled(Gate::kDRADeviceTaints));
  EXPECT_TRUE(gates.Enabled(Gate::kDRAExtendedResource));
  EXPECT_TRUE(gates.Enabled(Gate::kAllAlpha));
  EXPECT_FALSE(gates.Enabled(Gate::kAllBeta));
  EXPECT_FALSE(gates.Enabled(Gate::kSchedulerPopFromBackoffQ));
  EXPECT_TRUE(gates.Enabled(Gate::kDynamicResourceAllocation)) << "neither alpha nor beta";
  ASSERT_TRUE(gates.Set("AllAlpha=false,SchedulerPopFromBackoffQ=true")) << "on top of the first";
  EXPECT_FALSE(gates.Enabled(Gate::kDRAExtendedResource));
  EXPECT_TRUE(gates.Enabled(Gate::kSchedulerPopFromBackoffQ));
}

TEST(FeatureGatesTest, GroupsDoNotReachWhatIsNotThereYet) {
  FeatureGates gates(34, 33);
  ASSERT_TRUE(gates.Set("AllAlpha=true"));
  EXPECT_TRUE(gates.Enabled(Gate::kDRADeviceTaints));
  EXPECT_FALSE(gates.Enabled(Gate::kDRAExtendedResource));
}

TEST(FeatureGatesTest, WhatBerthCannotDoIsNamed) {
  FeatureGates gates;
  ASSERT_TRUE(
      gates.Set("WatchListClient=true,DRAAdminAccess=false,SchedulerAsyncPreemption=false,"
                "DRADeviceTaints=true,CoordinatedLeaderElection=true,KubeletPSI=false"));
  EXPECT_THAT(gates.NotHonoured(), ElementsAre("CoordinatedLeaderElection=true"));
}

TEST(FeatureGatesTest, AnEmulatedVersionAsksToo) {
  EXPECT_THAT(FeatureGates(34, 33).NotHonoured(), Contains("VolumeAttributesClass=false"));
}

TEST(FeatureGatesTest, AllAreListedForMetrics) {
  const std::vector<FeatureGates::Value> all = FeatureGates().All();
  EXPECT_EQ(all.size(), 208u);
  EXPECT_LT(FeatureGates(34, 31).All().size(), all.size()) << "newer gates are not there";
  EXPECT_EQ(StageName(FindFeature("AllBeta")->At(34).stage), "BETA");
  EXPECT_EQ(StageName(FeatureStage::kGA), "");
}

TEST(FeatureTable, IsSortedAndIdsAreItsPositions) {
  const auto all = KnownFeatures();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(),
                             [](const Feature& a, const Feature& b) { return a.name < b.name; }));
  for (const Feature& feature : all) {
    EXPECT_NE(feature.specs[0].stage, FeatureStage::kNone) << feature.name;
    EXPECT_LT(feature.since, feature.removed) << feature.name;
  }
  EXPECT_EQ(FeatureOf(Gate::kDRAAdminAccess).name, "DRAAdminAccess");
  EXPECT_EQ(FeatureOf(Gate::kWindowsHostNetwork).name, "WindowsHostNetwork");
}

TEST(FeatureTable, HasAColumnPerMinor) {
  const auto text = [](Gate gate, int minor) -> std::string {
    const Feature& feature = FeatureOf(gate);
    if (!feature.KnownIn(minor)) return "unknown";
    const FeatureSpec spec = feature.At(minor);
    return std::string(StageName(spec.stage)) + (spec.enabled ? " on" : " off") +
           (spec.locked ? " locked" : "");
  };
  const struct {
    Gate gate;
    const char* minors[4];  // 1.34 to 1.37
  } rows[] = {
      {Gate::kDRADeviceTaints, {"ALPHA off", "ALPHA off", "BETA on", " on"}},
      {Gate::kDRADeviceTaintRules, {"unknown", "ALPHA off", "BETA off", " on"}},
      {Gate::kGangScheduling, {"unknown", "ALPHA off", "ALPHA off", "unknown"}},
      {Gate::kNominatedNodeNameForExpectation, {"ALPHA off", "BETA on", "BETA on", "BETA on"}},
      {Gate::kSchedulerAsyncAPICalls, {"BETA off", "BETA off", "BETA off", "BETA off"}},
      {Gate::kSchedulerQueueingHints, {" on locked", " on locked", " on locked", "unknown"}},
      {Gate::kDRAExtendedResource, {"ALPHA off", "ALPHA off", "BETA on", " on locked"}},
      {Gate::kStorageCapacityScoring, {"ALPHA off", "ALPHA off", "ALPHA off", "BETA on"}},
      {Gate::kAllowServiceExternalIPs, {"unknown", "unknown", " on", " on"}},
  };
  for (const auto& row : rows) {
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(text(row.gate, 34 + i), row.minors[i])
          << FeatureOf(row.gate).name << " 1." << 34 + i;
    }
  }
}

TEST(FeatureTable, RemovedAndLaterGatesAreNotRecognized) {
  FeatureGates newest(37);
  EXPECT_EQ(newest.Set("SchedulerQueueingHints=true").error().Message(),
            "unrecognized feature gate: SchedulerQueueingHints");
  EXPECT_FALSE(newest.Enabled(Gate::kGangScheduling));
  FeatureGates oldest(34);
  EXPECT_EQ(oldest.Set("GenericWorkload=true").error().Message(),
            "unrecognized feature gate: GenericWorkload");
}

TEST(FeatureGatesTest, GatesNeedOthers) {
  struct Row {
    const char* what;
    int minor;
    const char* text;
    const char* error;  // empty: fine
  };
  const Row rows[] = {
      {"a gate without the one it needs", 36, "GangScheduling=true",
       "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"},
      {"with it", 36, "GangScheduling=true,GenericWorkload=true", ""},
      {"a default that loses what it needs", 36, "DRAResourceClaimDeviceStatus=false",
       "[DRADeviceBindingConditions is enabled, but depends on features that are disabled: "
       "[DRAResourceClaimDeviceStatus], DRAResourceClaimGranularStatusAuthorization is enabled, "
       "but depends on features that are disabled: [DRAResourceClaimDeviceStatus]]"},
      {"several for one", 37, "CompositePodGroup=true",
       "CompositePodGroup is enabled, but depends on features that are disabled: "
       "[GenericWorkload TopologyAwareWorkloadScheduling]"},
      {"other errors come first", 37, "CompositePodGroup=true,NodeDeclaredFeatures=false",
       "cannot set feature gate NodeDeclaredFeatures to false, feature is locked to true"},
      {"groups count", 35, "AllAlpha=true", ""},
      {"nothing is checked in 1.34", 34,
       "DRADeviceBindingConditions=true,DRAResourceClaimDeviceStatus=false", ""},
  };
  for (const Row& row : rows) {
    FeatureGates gates(row.minor);
    const auto set = gates.Set(row.text);
    EXPECT_EQ(set ? "" : set.error().Message(), row.error) << row.what;
    EXPECT_TRUE(set || gates.Asked().empty()) << row.what;
  }
}

TEST(FeatureGatesTest, OldPeersDecideAboutDefaults) {
  EXPECT_FALSE(FeatureGates(37).Enabled(Gate::kDRAFractionalCapacityRange)) << "1.36 beside it";
  EXPECT_TRUE(FeatureGates(37, 37, 37).Enabled(Gate::kDRAFractionalCapacityRange));
  EXPECT_EQ(FeatureGates(37, 34).MinCompatibility(), 34) << "none older can be emulated";
  EXPECT_EQ(FeatureGates(36).OldestEmulated(), 33);
  FeatureGates gates(36, 35);
  EXPECT_EQ(gates.Set("WorkloadWithJob=true").error().Message(),
            "cannot set feature gate WorkloadWithJob to true, feature is PreAlpha at emulated "
            "version 1.35, min compatibility version 1.34");
}

TEST(GatesOfBerthTest, AreSorted) {
  const auto gates = GatesOfBerth();
  EXPECT_TRUE(
      std::is_sorted(gates.begin(), gates.end(),
                     [](const GateOfBerth& a, const GateOfBerth& b) { return a.gate < b.gate; }));
}

}  // namespace
}  // namespace berth::config
