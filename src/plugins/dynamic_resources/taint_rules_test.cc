#include "plugins/dynamic_resources/taint_rules.h"

#include <string>

#include <gtest/gtest.h>

#include "plugins/dynamic_resources/testing/devices.h"

namespace berth::plugins::dynamic_resources {
namespace {

api::ResourceSlice Slice(const std::string& name, const std::string& pool = "p") {
  return Parse<api::ResourceSlice>(R"({"metadata": {"name": ")" + name +
                                   R"("}, "spec": {"driver": "gpu", "pool": {"name": ")" + pool +
                                   R"("}, "devices": [
    {"name": "x", "attributes": {"old": {"bool": true}}, "taints": [{"key": "own", "effect": "NoSchedule"}]},
    {"name": "y", "attributes": {"old": {"bool": false}}}, {"name": "z"}]}})");
}

api::DeviceTaintRule Rule(const std::string& name, const std::string& selector) {
  return Parse<api::DeviceTaintRule>(
      R"({"metadata": {"name": ")" + name + R"("}, "spec": {)" +
      (selector.empty() ? "" : R"("deviceSelector": {)" + selector + "}, ") +
      R"("taint": {"key": ")" + name + R"(", "effect": "NoExecute"}}})");
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
    TaintRules rules;
    rules.SetClass(Parse<api::DeviceClass>(
        R"({"metadata": {"name": "any"}, "spec": {"selectors": [{"cel": {"expression": "true"}}]}})"));
    rules.SetRule(Rule("r", row.selector));
    const auto slice = rules.SetSlice(Slice("s"));
    ASSERT_TRUE(slice) << row.what;
    EXPECT_EQ(Text(*slice), row.devices) << row.what;
  }
}

TEST(TaintRules, SlicesFollowTheRules) {
  TaintRules rules;
  rules.SetSlice(Slice("s"));
  rules.SetSlice(Slice("t", "other"));
  auto changed = rules.SetRule(Rule("r", R"("pool": "p")"));
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(Text(changed[0]), "x+own+r y+r z+r ");
  EXPECT_TRUE(rules.SetRule(Rule("r", R"("pool": "p")")).empty()) << "nothing new";
  changed = rules.SetRule(Rule("r", R"("pool": "other")"));
  ASSERT_EQ(changed.size(), 2u) << "one loses the taint, one gets it";
  EXPECT_EQ(Text(changed[0]), "x+own y z ");
  EXPECT_EQ(changed[1].metadata.name, "t");
  changed = rules.RemoveRule("r");
  ASSERT_EQ(changed.size(), 1u);
  EXPECT_EQ(changed[0].metadata.name, "t");
  EXPECT_TRUE(rules.RemoveRule("r").empty());
  rules.RemoveSlice("t");
  EXPECT_EQ(rules.SetRule(Rule("r", "")).size(), 1u);
}

TEST(TaintRules, AClassThatComesCountsAndOneThatGoesDoesNot) {
  TaintRules rules;
  rules.SetSlice(Slice("s"));
  EXPECT_TRUE(rules.SetRule(Rule("r", R"("deviceClassName": "late")")).empty());
  const auto device_class = Parse<api::DeviceClass>(R"({"metadata": {"name": "late"}})");
  EXPECT_EQ(rules.SetClass(device_class).size(), 1u);
  rules.RemoveClass("late");
  EXPECT_TRUE(rules.SetRule(Rule("other", R"("driver": "nic")")).empty());
  EXPECT_EQ(Text(*rules.SetSlice(Slice("s"))), "x+own y z ") << "when it is looked at next";
}

TEST(TaintRules, ASliceThatCannotBeToldStaysAsItWas) {
  TaintRules rules;
  rules.SetSlice(Slice("known"));
  const std::string broken = R"("selectors": [{"cel": {"expression": "device.nope"}}])";
  EXPECT_TRUE(rules.SetRule(Rule("r", broken)).empty());
  EXPECT_EQ(Text(*rules.SetSlice(Slice("known"))), "x+own y z ");
  EXPECT_FALSE(rules.SetSlice(Slice("new")));
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
