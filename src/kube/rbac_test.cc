#include "kube/rbac.h"

#include <gmock/gmock.h>

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ClusterRole, HasWhatTheSchedulerDoes) {
  const std::string role = ClusterRole(config::Behaviour(), {});
  EXPECT_THAT(role, HasSubstr("- apiGroups: [\"\"]\n  resources: [pods/binding]\n"
                              "  verbs: [create]\n"));
  EXPECT_THAT(role, HasSubstr("- apiGroups: [\"resource.k8s.io\"]\n  resources: [deviceclasses]\n"
                              "  verbs: [get, list, watch]\n"));
  EXPECT_THAT(role, HasSubstr("resources: [subjectaccessreviews]"));
  EXPECT_THAT(role, Not(HasSubstr("devicetaintrules")));
}

TEST(ClusterRole, CountsCustomResourcesOfPlugins) {
  const cluster::CustomKind floors{"example.com", "v1", "Floor", "floors", false};
  EXPECT_THAT(ClusterRole(config::Behaviour(), std::span(&floors, 1)),
              HasSubstr("- apiGroups: [\"example.com\"]\n  resources: [floors]\n"
                        "  verbs: [get, list, watch]\n"));
}

TEST(ClusterRole, ReadsMetricsForPluginsThatScoreByLoad) {
  EXPECT_THAT(ClusterRole(config::Behaviour(), {}), Not(HasSubstr("metrics.k8s.io")));
  EXPECT_THAT(ClusterRole(config::Behaviour(), {}, true),
              HasSubstr("- apiGroups: [\"metrics.k8s.io\"]\n  resources: [nodes]\n"
                        "  verbs: [get, list]\n"));
}

TEST(ClusterRole, LetsReplicasTalkToEachOtherWhenTheyShareWork) {
  const std::string rule = "- nonResourceURLs: [\"/apis/hands/v1/*\"]\n  verbs: [post]\n";
  EXPECT_THAT(ClusterRole(config::Behaviour(), {}), Not(HasSubstr("nonResourceURLs")));
  EXPECT_THAT(ClusterRole(config::Behaviour(), {}, false, true), HasSubstr(rule));
}

TEST(ReplicasRole, IsAboutLeasesOfOneNamespace) {
  const std::string role = ReplicasRole("here");
  EXPECT_THAT(role, HasSubstr("kind: Role\n"));
  EXPECT_THAT(role, HasSubstr("  namespace: here\n"));
  EXPECT_THAT(role, HasSubstr("- apiGroups: [\"coordination.k8s.io\"]\n  resources: [leases]\n"
                              "  verbs: [create, delete, get, list, update]\n"));
}

}  // namespace
}  // namespace berth::kube
