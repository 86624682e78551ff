#include "plugins/dynamic_resources/taint_rules.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

TaintRules::SlicePtr Slice(const std::string& name, const std::string& pool = "p") {
  return std::make_shared<const api::ResourceSlice>(
      Parse<api::ResourceSlice>(R"({"metadata": {"name": ")" + name +
                                R"("}, "spec": {"driver": "gpu", "pool": {"name": ")" + pool +
                                R"("}, "devices": [
    {"name": "x", "attributes": {"old": {"bool": true}}, "taints": [{"key": "own", "effect": "NoSchedule"}]},
    {"name": "y", "attributes": {"old": {"bool": false}}}, {"name": "z"}]}})"));
}

TaintRules::RulePtr Rule(const std::string& name, const std::string& selector) {
  return std::make_shared<const api::DeviceTaintRule>(Parse<api::DeviceTaintRule>(
      R"({"metadata": {"name": ")" + name + R"("}, "spec": {)" +
      (selector.empty() ? "" : R"("deviceSelector": {)" + selector + "}, ") +
      R"("taint": {"key": ")" + name + R"(", "effect": "NoExecute"}}})"));
}

TaintRules::ClassPtr Class(const std::string& json) {
  return std::make_shared<const api::DeviceClass>(Parse<api::DeviceClass>(json));
}

std::string Text(const api::ResourceSlice& slice) {
  std::string text;
  for (const api::Device& device : slice.spec.devices) {
    text += device.name;
    for (const api::DeviceTaint& taint : device.taints) text += "+" + taint.key;
    text += ' ';
  }
  return text;
}

TEST(TaintRules, PutTaintsOnTheDevicesTheySelect) {
  const struct {
    const char* what;
    const char* selector;
    const char* devices;
  } rows[] = {
      {"no selector is for all", "", "x+own+r y+r z+r "},
      {"the driver", R"("driver": "gpu")", "x+own+r y+r z+r "},
      {"another driver", R"("driver": "nic")", "x+own y z "},
      {"the pool", R"("pool": "p")", "x+own+r y+r z+r "},
      {"another pool", R"("pool": "q")", "x+own y z "},
      {"one device", R"("driver": "gpu", "device": "y")", "x+own y+r z "},
      {"a class", R"("deviceClassName": "any")", "x+own+r y+r z+r "},
      {"a class that does not exist", R"("deviceClassName": "nope")", "x+own y z "},
      {"an expression, which fails for devices without the attribute",
       R"("selectors": [{"cel": {"expression": "device.attributes['gpu'].old"}}])", "x+own+r y z "},
      {"no rule sees that a device is shared",
       R"("selectors": [{"cel": {"expression": "device.allowMultipleAllocations"}}])",
       "x+own y z "},
  };
  for (const auto& row : rows) {
    TaintRules rules{config::DraFeatures()};
    rules.SetClass("/any", Class(R"({"metadata": {"name": "any"}, "spec": {"selectors":
        [{"cel": {"expression": "true"}}]}})"));
    rules.SetRule("/r", Rule("r", row.selector));
    const auto slice = rules.SetSlice("/s", Slice("s"));
    ASSERT_TRUE(slice) << row.what;
    EXPECT_EQ(Text(*slice), row.devices) << row.what;
  }
}

TEST(TaintRules, WithoutASelectorNothingMatchesFrom1371On) {
  config::DraFeatures features;
  features.rule_without_selector_matches_none = true;
  TaintRules rules(features);
  rules.SetRule("/r", Rule("r", ""));
  EXPECT_EQ(Text(*rules.SetSlice("/s", Slice("s"))), "x+own y z ");
}

TEST(TaintRules, ASliceWithoutTaintsIsNotCopied) {
  TaintRules rules{config::DraFeatures()};
  rules.SetRule("/r", Rule("r", R"("pool": "other")"));
  const auto given = Slice("s");
  EXPECT_EQ(rules.SetSlice("/s", given), given);
}

TEST(TaintRules, SlicesFollowTheRules) {
  TaintRules rules{config::DraFeatures()};
  rules.SetSlice("/s", Slice("s"));
  rules.SetSlice("/t", Slice("t", "other"));
  auto changed = rules.SetRule("/r", Rule("r", R"("pool": "p")"));
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(Text(*changed[0].slice), "x+own+r y+r z+r ");
  EXPECT_TRUE(rules.SetRule("/r", Rule("r", R"("pool": "p")")).empty()) << "nothing new";
  changed = rules.SetRule("/r", Rule("r", R"("pool": "other")"));
  ASSERT_EQ(changed.size(), 2u) << "one loses the taint, one gets it";
  EXPECT_EQ(Text(*changed[0].slice), "x+own y z ");
  EXPECT_EQ(changed[1].key, "/t");
  changed = rules.SetRule("/r", nullptr);
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].key, "/t");
  EXPECT_TRUE(rules.SetRule("/r", nullptr).empty());
  rules.RemoveSlice("/t");
  EXPECT_EQ(rules.SetRule("/r", Rule("r", "")).size(), 1u);
}

TEST(TaintRules, AClassThatComesCountsAndOneThatGoesDoesNot) {
  TaintRules rules{config::DraFeatures()};
  rules.SetSlice("/s", Slice("s"));
  EXPECT_TRUE(rules.SetRule("/r", Rule("r", R"("deviceClassName": "late")")).empty());
  EXPECT_EQ(rules.SetClass("/late", Class(R"({"metadata": {"name": "late"}})")).size(), 1u);
  rules.SetClass("/late", nullptr);
  EXPECT_TRUE(rules.SetRule("/other", Rule("other", R"("driver": "nic")")).empty());
  EXPECT_EQ(Text(*rules.SetSlice("/s", Slice("s"))), "x+own y z ") << "when it is evaluated next";
}

TEST(TaintRules, ASliceThatCannotBeEvaluatedStaysAsItWas) {
  TaintRules rules{config::DraFeatures()};
  rules.SetSlice("/known", Slice("known"));
  const std::string broken = R"("selectors": [{"cel": {"expression": "device.nope"}}])";
  EXPECT_TRUE(rules.SetRule("/r", Rule("r", broken)).empty());
  EXPECT_EQ(Text(*rules.SetSlice("/known", Slice("known"))), "x+own y z ");
  EXPECT_FALSE(rules.SetSlice("/new", Slice("new")));
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
