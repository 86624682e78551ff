#include "kube/client/server_version.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/testing/fake_api_client.h"

namespace berth::kube {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Result<ServerVersion> Read(std::string body) {
  return ReadServerVersion(FakeApiClient::Success(std::move(body), kJson));
}

TEST(ServerVersion, IsReadFromTheServersAnswer) {
  EXPECT_EQ(Read(R"({"major":"1","minor":"37","emulationMinor":"36","gitVersion":"v1.37.1"})"),
            (ServerVersion{1, 37, "v1.37.1"}));
  EXPECT_EQ(Read(R"({"major":"1","minor":"36+","gitVersion":"v1.36.4-gke.100"})"),
            (ServerVersion{1, 36, "v1.36.4-gke.100"}));
}

TEST(ServerVersion, NonsenseIsAnError) {
  EXPECT_FALSE(Read(""));
  EXPECT_FALSE(Read("[]"));
  EXPECT_FALSE(Read(R"({"major":"1","minor":""})"));
  EXPECT_FALSE(Read(R"({"major":"1","minor":"-3"})"));
  EXPECT_FALSE(Read(R"({"major":"1","minor":"99999999999999"})"));
  EXPECT_EQ(ReadServerVersion(FakeApiClient::Failure(403, "Forbidden", "no")).error().Message(),
            "no");
}

TEST(ServerVersion, TheNearestKnownMinorIsTaken) {
  EXPECT_EQ(NearestKubernetes({1, 36, "v1.36.4"}), 36);
  EXPECT_THAT(DistanceWarning({1, 36, "v1.36.4"}), IsEmpty());
  EXPECT_EQ(NearestKubernetes({1, 99, "v1.99.0"}), 37);
  EXPECT_THAT(DistanceWarning({1, 99, "v1.99.0"}),
              HasSubstr("v1.99.0, which is newer than any Kubernetes that this berth knows: it "
                        "decides as kube-scheduler 1.37 does"));
  EXPECT_EQ(NearestKubernetes({1, 20, "v1.20.0"}), 34);
  EXPECT_THAT(DistanceWarning({1, 20, "v1.20.0"}), HasSubstr("older"));
  EXPECT_EQ(NearestKubernetes({2, 0, "v2.0.0"}), 37);
}

}  // namespace
}  // namespace berth::kube
