#include "api/rules/resource_name.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace berth::api {
namespace {

TEST(ResourceName, Kinds) {
  struct Case {
    std::string name;
    bool extended;
    bool scalar;
    bool pod_level;
  };
  const std::vector<Case> cases = {
      {"cpu", false, false, true},
      {"memory", false, false, true},
      {"ephemeral-storage", false, false, false},
      {"pods", false, false, false},
      {"gpu", false, false, false},
      {"example.com/gpu", true, true, false},
      {"hugepages-2Mi", false, true, true},
      {"kubernetes.io/batch", false, true, false},
      {"attachable-volumes-aws", false, true, false},
      {"requests.example.com/gpu", false, false, false},
      {"Example.com/gpu", false, false, false},
      {"example.com/", false, false, false},
      {std::string(245, 'a') + "/gpu", false, false, false},
      {std::string(244, 'a') + "/gpu", true, true, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(IsExtendedResource(c.name), c.extended);
    EXPECT_EQ(IsScalarResource(c.name), c.scalar);
    EXPECT_EQ(IsPodLevelResource(c.name), c.pod_level);
  }
}

}  // namespace
}  // namespace berth::api
