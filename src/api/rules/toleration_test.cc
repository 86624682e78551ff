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
