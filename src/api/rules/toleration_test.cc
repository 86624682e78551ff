#include "api/rules/toleration.h"

#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(Toleration, Tolerates) {
  struct Case {
    const char* name;
    Toleration toleration;
    bool tolerates;
  };
  const Taint taint{"k", "v", "NoSchedule", {}};
  const std::vector<Case> cases = {
      {"key, value and effect agree", {"k", "Equal", "v", "NoSchedule", {}}, true},
      {"no operator means Equal", {"k", "", "v", "", {}}, true},
      {"another value", {"k", "Equal", "w", "", {}}, false},
      {"another effect", {"k", "Equal", "v", "NoExecute", {}}, false},
      {"another key", {"x", "Exists", "", "", {}}, false},
      {"Exists ignores the value", {"k", "Exists", "w", "", {}}, true},
      {"no key means all keys", {"", "Exists", "", "", {}}, true},
      {"no key compares values with Equal", {"", "Equal", "v", "", {}}, true},
      {"an unknown operator tolerates nothing", {"k", "exists", "v", "", {}}, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Tolerates(c.toleration, taint), c.tolerates);
  }
}

TEST(Toleration, ComparesIntegers) {
  struct Case {
    const char* name;
    const char* operator_;
    const char* bound;
    const char* value;
    bool tolerates;
  };
  const Case cases[] = {
      {"greater", "Gt", "5", "6", true},
      {"equal is not greater", "Gt", "5", "5", false},
      {"less", "Lt", "5", "-6", true},
      {"equal is not less", "Lt", "5", "5", false},
      {"numbers, not strings", "Gt", "9", "10", true},
      {"the largest", "Lt", "9223372036854775807", "9223372036854775806", true},
      {"too large", "Gt", "1", "9223372036854775808", false},
      {"leading zeros", "Gt", "1", "02", false},
      {"a plus", "Gt", "+1", "2", false},
      {"minus zero", "Lt", "1", "-0", false},
      {"no number", "Lt", "1", "", false},
      {"no number to compare with", "Lt", "x", "1", false},
  };
  for (const Case& c : cases) {
    const Taint taint{"k", c.value, "NoSchedule", {}};
    EXPECT_EQ(Tolerates(Toleration{"k", c.operator_, c.bound, "", {}}, taint), c.tolerates)
        << c.name;
    EXPECT_FALSE(Tolerates(Toleration{"other", c.operator_, c.bound, "", {}}, taint)) << c.name;
  }
}

TEST(Toleration, FindsTheFirstUntoleratedTaint) {
  const std::vector<Taint> taints = {{"soft", "", "PreferNoSchedule", {}},
                                     {"a", "", "NoSchedule", {}},
                                     {"b", "", "NoExecute", {}}};
  const std::vector<Toleration> tolerate_a = {{"a", "Exists", "", "", {}}};
  EXPECT_EQ(FirstUntolerated(taints, {}, ForbidsScheduling), &taints[1]);
  EXPECT_EQ(FirstUntolerated(taints, tolerate_a, ForbidsScheduling), &taints[2]);
  EXPECT_EQ(FirstUntolerated(taints, tolerate_a, [](const Taint&) { return true; }), &taints[0]);
  EXPECT_EQ(FirstUntolerated(taints, {{"", "Exists", "", "", {}}}, ForbidsScheduling), nullptr);
}

}  // namespace
}  // namespace berth::api
