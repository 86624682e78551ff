#include "config/disabled_fields.h"

#include <gtest/gtest.h>

namespace berth::config {
namespace {

TEST(DisabledFields, TolerationsThatCompareNeedTheirGate) {
  api::Pod pod;
  pod.spec.tolerations = {{"a", "Exists", "", "", {}}, {"b", "Gt", "1", "", {}}};
  Behaviour behaviour{FeatureGates(37)};
  behaviour.taint_comparison_operators = true;
  HideDisabledFields(behaviour, pod);
  EXPECT_EQ(pod.spec.tolerations.size(), 2u);
  behaviour.taint_comparison_operators = false;
  HideDisabledFields(behaviour, pod);
  ASSERT_EQ(pod.spec.tolerations.size(), 1u);
  EXPECT_EQ(pod.spec.tolerations[0].key, "a");
}

TEST(DisabledFields, ResourcesOfThePodNeedTheirGate) {
  api::Pod pod;
  pod.spec.resources.emplace();
  Behaviour behaviour{FeatureGates(37)};
  HideDisabledFields(behaviour, pod);
  EXPECT_TRUE(pod.spec.resources.has_value());
  behaviour.pod_level_resources = false;
  HideDisabledFields(behaviour, pod);
  EXPECT_FALSE(pod.spec.resources.has_value());
}

}  // namespace
}  // namespace berth::config
