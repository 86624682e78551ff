#include "plugins/dynamic_resources/binding_conditions.h"

#include <gtest/gtest.h>

#include "api/codec/json.h"

namespace berth::plugins::dynamic_resources {
namespace {

api::ResourceClaim Claim() {
  auto claim = api::FromJson<api::ResourceClaim>(R"({"metadata": {"name": "c"}, "status": {
    "allocation": {"allocationTimestamp": "2026-01-01T10:00:00Z", "devices": {"results": [
      {"request": "r", "driver": "gpu", "pool": "p", "device": "d",
       "bindingConditions": ["Ready"], "bindingFailureConditions": ["Broken"]}]}},
    "devices": [{"driver": "gpu", "pool": "p", "device": "d", "conditions": [
      {"type": "Broken", "status": "True", "reason": "R", "message": "m"}]}]}})");
  EXPECT_TRUE(claim.has_value());
  return *claim;
}

TEST(BindingConditionMessages, NameTheKindOfErrorFrom136On) {
  using config::Release;
  const api::ResourceClaim claim = Claim();
  struct Case {
    Release release;
    const char* failed;
    const char* overdue;
    const char* pod_overdue;
  };
  for (const Case& c :
       {Case{Release::k1_35, "claim c binding failed: reason=R, message=\"m\"",
             "claim c binding timeout", "device binding timeout"},
        Case{Release::k1_36, "device binding failed: claim=c, reason=R, message=\"m\"",
             "device binding timeout: claim=c",
             "device binding timeout: context deadline exceeded"}}) {
    const BindingRules rules{.release = c.release};
    const auto ready = IsReadyForBinding(claim, rules);
    ASSERT_FALSE(ready.has_value());
    EXPECT_EQ(ready.error().Message(), c.failed);
    EXPECT_EQ(OverdueMessage(claim, rules), c.overdue);
    EXPECT_EQ(OverdueMessage(rules), c.pod_overdue);
  }
}

TEST(BindingConditionMessages, TheTimeoutIsTheConfigurations) {
  const api::Time later = *api::Time::Parse("2026-01-01T10:00:31Z");
  EXPECT_FALSE(IsBindingOverdue(Claim(), {}, later));
  EXPECT_TRUE(IsBindingOverdue(Claim(), {.timeout_ns = 30'000'000'000}, later));
}

}  // namespace
}  // namespace berth::plugins::dynamic_resources
